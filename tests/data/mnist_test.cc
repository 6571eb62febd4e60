#include "tr/data/mnist.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "tests/data/files.h"
#include "tr/base/error.h"

namespace tr {
namespace {

constexpr const char* real_files = "examples/data/mnist";

/// Five training and two test samples in a directory of their own.
class FakeMnist {
 public:
  FakeMnist() {
    put("train-images-idx3-ubyte", idx_file({5, 28, 28}, counting(5 * 784)));
    put("train-labels-idx1-ubyte", idx_file({5}, {0, 9, 1, 2, 3}));
    put("t10k-images-idx3-ubyte", idx_file({2, 28, 28}, counting(2 * 784)));
    put("t10k-labels-idx1-ubyte", idx_file({2}, {4, 5}));
  }
  void put(const std::string& name, const Bytes& bytes) { directory_.write(name, bytes); }
  void remove(const std::string& name) { std::filesystem::remove_all(path() + "/" + name); }
  void rename(const std::string& from, const std::string& to) {
    std::filesystem::rename(path() + "/" + from, path() + "/" + to);
  }
  const std::string& path() const { return directory_.path(); }
  DataSplits open() const { return Mnist::open(path()); }
  std::string failure() const {
    return message_of<DataError>([this] { open(); });
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("the published files have the published facts") {
  const DataSplits mnist = Mnist::open(real_files);
  CHECK(mnist.train.size() == 60'000);
  CHECK(mnist.test.size() == 10'000);

  std::array<int, 10> counts{};
  for (const std::int32_t label : mnist.train.labels) ++counts[static_cast<std::size_t>(label)];
  CHECK(counts == std::array<int, 10>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949});
  CHECK(std::count(mnist.test.labels.begin(), mnist.test.labels.end(), 0) == 980);

  std::array<std::int64_t, 256> histogram{};
  std::array<int, 784> inked{};  // Training images in which a pixel is not zero.
  const std::uint8_t* pixel = mnist.train.images.data();
  for (int i = 0; i < 60'000; ++i) {
    for (int& count : inked) {
      ++histogram[*pixel];
      count += *pixel++ != 0 ? 1 : 0;
    }
  }
  CHECK(std::count(inked.begin(), inked.end(), 0) == 67);
  CHECK(std::count_if(inked.begin(), inked.end(), [](int n) { return n > 0 && n < 60; }) == 122);

  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t value = 0; value < 256; ++value) {
    const double share = static_cast<double>(value) / 255.0;
    sum += share * static_cast<double>(histogram[value]);
    squares += share * share * static_cast<double>(histogram[value]);
  }
  const double mean = sum / (60'000.0 * 784.0);
  const double std = std::sqrt(squares / (60'000.0 * 784.0) - mean * mean);
  CHECK(std::abs(mean - 0.13066) < 5e-6);
  CHECK(std::abs(std - 0.30811) < 5e-6);
  CHECK(std::abs(mean - double{Mnist::normalization.mean[0]}) < 5e-6);
  CHECK(std::abs(std - double{Mnist::normalization.std[0]}) < 5e-6);
}

TEST_CASE("each file is found with and without .gz and in both spellings") {
  FakeMnist mnist;
  mnist.put("train-labels-idx1-ubyte.gz", gzipped(idx_file({5}, {0, 9, 1, 2, 3})));
  mnist.remove("train-labels-idx1-ubyte");
  mnist.rename("t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte");
  mnist.rename("t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte.gz");
  const DataSplits splits = mnist.open();
  CHECK(splits.train.labels == std::vector<std::int32_t>{0, 9, 1, 2, 3});
  CHECK(splits.test.labels == std::vector<std::int32_t>{4, 5});
  CHECK(splits.train.images == counting(5 * 784));
  CHECK(splits.test.images == counting(2 * 784));
  CHECK(splits.train.sample == Mnist::sample);
  CHECK(splits.train.classes == 10);
}

TEST_CASE("a directory with one of the names does not hide the file under the other") {
  FakeMnist mnist;
  mnist.rename("train-images-idx3-ubyte", "train-images.idx3-ubyte");
  std::filesystem::create_directory(mnist.path() + "/train-images-idx3-ubyte");
  CHECK(mnist.open().train.size() == 5);
  mnist.remove("train-images.idx3-ubyte");
  CHECK(contains(mnist.failure(), "train-images-idx3-ubyte: is a directory"));
}

TEST_CASE("a missing file is named with the directory, the names tried and the remedy") {
  FakeMnist mnist;
  mnist.remove("t10k-labels-idx1-ubyte");
  const std::string message = mnist.failure();
  INFO(message);
  CHECK(contains(message, "no t10k-labels-idx1-ubyte in directory " + mnist.path()));
  CHECK(contains(message,
                 "(tried t10k-labels-idx1-ubyte, t10k-labels-idx1-ubyte.gz, t10k-labels.idx1-ubyte, "
                 "t10k-labels.idx1-ubyte.gz)"));
  CHECK(contains(message, "--data DIR"));
  const std::string nowhere = message_of<DataError>([] { Mnist::open("/no/such/directory"); });
  CHECK(contains(nowhere, "no directory \"/no/such/directory\"; give the directory that holds the four MNIST files"));
  CHECK(contains(nowhere, "--data DIR"));
}

TEST_CASE("images and labels that differ in number are refused with both counts and files") {
  FakeMnist mnist;
  mnist.put("train-labels-idx1-ubyte", idx_file({3}, {1, 2, 3}));
  const std::string message = mnist.failure();
  CHECK(contains(message, "5 images in " + mnist.path() + "/train-images-idx3-ubyte but 3 labels in " + mnist.path() +
                              "/train-labels-idx1-ubyte"));
}

TEST_CASE("sixty thousand images with the test labels are refused by their counts") {
  FakeMnist mnist;
  const auto copy = [&](const char* from, const char* to) {
    std::filesystem::copy_file(std::string(real_files) + "/" + from, mnist.path() + "/" + to,
                               std::filesystem::copy_options::overwrite_existing);
  };
  copy("train-images-idx3-ubyte.gz", "train-images-idx3-ubyte");
  copy("t10k-labels-idx1-ubyte.gz", "train-labels-idx1-ubyte");
  const std::string message = mnist.failure();
  CHECK(contains(message, "60000 images in "));
  CHECK(contains(message, "but 10000 labels in "));
}

TEST_CASE("swapped files are refused by what they hold") {
  FakeMnist mnist;
  mnist.rename("train-images-idx3-ubyte", "kept");
  mnist.rename("train-labels-idx1-ubyte", "train-images-idx3-ubyte");
  mnist.rename("kept", "train-labels-idx1-ubyte");
  CHECK(contains(mnist.failure(), "train-labels-idx1-ubyte: these are images"));
  mnist.put("train-labels-idx1-ubyte", idx_file({5}, {0, 1, 2, 3, 4}));
  CHECK(contains(mnist.failure(), "train-images-idx3-ubyte: these are labels"));
}

TEST_CASE("a label outside the classes is refused with the file and the sample") {
  FakeMnist mnist;
  mnist.put("t10k-labels-idx1-ubyte", idx_file({2}, {4, 10}));
  CHECK(contains(mnist.failure(), "/t10k-labels-idx1-ubyte: the label of sample 1 is 10, legal is [0, 9]"));
}

TEST_CASE("a data set without samples is refused by its path") {
  FakeMnist mnist;
  mnist.put("train-images-idx3-ubyte", idx_file({0, 28, 28}, {}));
  mnist.put("train-labels-idx1-ubyte", idx_file({0}, {}));
  CHECK(contains(mnist.failure(), "0 samples in " + mnist.path() + "/train-images-idx3-ubyte"));
}

TEST_CASE("images of another size are refused") {
  FakeMnist mnist;
  mnist.put("train-images-idx3-ubyte", idx_file({5, 32, 32}, counting(5 * 1024)));
  CHECK(contains(mnist.failure(), "dimension 1 is 32 (byte 8), expected is 28"));
}

}  // namespace tr
