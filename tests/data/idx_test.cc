#include "tr/data/idx.h"

#include <doctest/doctest.h>

#include "tests/data/allocation_probe.h"
#include "tests/data/files.h"
#include "tr/base/error.h"

namespace tr {
namespace {

std::string image_failure(const std::string& path) {
  return message_of<DataError>([&] { read_idx_images(path, 4, 5); });
}

std::string label_failure(const std::string& path) {
  return message_of<DataError>([&] { read_idx_labels(path); });
}

Bytes without_last(Bytes bytes) {
  bytes.pop_back();
  return bytes;
}

}  // namespace

TEST_CASE("images and labels are read plain and gzipped, whatever the name says") {
  const TemporaryDirectory directory;
  const Bytes pixels = counting(7 * 4 * 5);
  const Bytes images = idx_file({7, 4, 5}, pixels);
  const Bytes labels = idx_file({7}, counting(7));
  for (const std::string& path : {directory.write("a", images), directory.write("b", gzipped(images)),
                                  directory.write("c.gz", images), directory.write("d.gz", gzipped(images))}) {
    const IdxImages read = read_idx_images(path, 4, 5);
    CHECK(read.count == 7);
    CHECK(read.pixels == pixels);
  }
  CHECK(read_idx_labels(directory.write("e", labels)) == counting(7));
  CHECK(read_idx_labels(directory.write("f", gzipped(labels))) == counting(7));
}

TEST_CASE("a well-compressed file that outgrows the first allocation arrives whole") {
  const TemporaryDirectory directory;
  const Bytes pixels(20'000 * 20, 9);
  CHECK(read_idx_images(directory.write("flat", gzipped(idx_file({20'000, 4, 5}, pixels))), 4, 5).pixels == pixels);
}

TEST_CASE("a byte too few and a byte too many are errors with both sizes") {
  const TemporaryDirectory directory;
  const Bytes images = idx_file({3, 4, 5}, counting(60));
  const std::string is_short = image_failure(directory.write("short", without_last(images)));
  CHECK(contains(is_short, "/short: expected 76 bytes for the 3 samples of its header, the file has 75"));
  const std::string is_long = image_failure(directory.write("long", images + Bytes{0}));
  CHECK(contains(is_long, "/long: expected 76 bytes for the 3 samples of its header, the file has 77"));
  const std::string short_gz = image_failure(directory.write("short.gz", gzipped(without_last(images))));
  CHECK(contains(short_gz, "/short.gz: expected 76 bytes after decompression, found 75"));
  const std::string long_gz = image_failure(directory.write("long.gz", gzipped(images + Bytes{0})));
  CHECK(contains(long_gz, "/long.gz: expected 76 bytes after decompression, more follow"));
}

TEST_CASE("a promise of billions of samples is refused before memory is taken for it") {
  const TemporaryDirectory directory;
  const Bytes images = idx_file({0xffffffff, 4, 5}, {});
  const Bytes labels = idx_file({0xffffffff}, {});
  const std::string plain_images = directory.write("images", images);
  const std::string packed_images = directory.write("images.gz", gzipped(images));
  const std::string plain_labels = directory.write("labels", labels);
  const std::string packed_labels = directory.write("labels.gz", gzipped(labels));
  const AllocationProbe probe;
  CHECK(contains(image_failure(plain_images),
                 "expected 85899345916 bytes for the 4294967295 samples of its header, "
                 "the file has 16"));
  CHECK(contains(image_failure(packed_images), "expected 85899345916 bytes for the 4294967295 samples"));
  CHECK(contains(label_failure(plain_labels),
                 "expected 4294967303 bytes for the 4294967295 samples of its header, "
                 "the file has 8"));
  CHECK(contains(label_failure(packed_labels), "holds at most"));
  CHECK(probe.largest() <= 1 << 16);
}

TEST_CASE("a promise that gzip could keep but does not costs no more than what is there") {
  const TemporaryDirectory directory;
  const Bytes half = counting(400'000);
  const std::string path = directory.write("half", gzipped(idx_file({40'000, 4, 5}, half)));
  const AllocationProbe probe;
  CHECK(contains(image_failure(path), "expected 800016 bytes after decompression, found 400016"));
  CHECK(probe.largest() < 2 * half.size());
}

TEST_CASE("a gzipped file cut at any byte is an error") {
  const TemporaryDirectory directory;
  const Bytes packed = gzipped(idx_file({10, 4, 5}, counting(200)));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const std::string path = directory.write("cut", Bytes(packed.begin(), packed.begin() + static_cast<long>(size)));
    const std::string message = image_failure(path);
    INFO(size, ": ", message);
    CHECK(contains(message, path + ": the "));
  }
  Bytes bad_crc = packed;
  bad_crc[packed.size() - 6] ^= 0x80;
  CHECK(contains(image_failure(directory.write("crc", bad_crc)), "incorrect data check"));
}

TEST_CASE("a plain file cut inside its header names the bytes it lacks") {
  const TemporaryDirectory directory;
  const Bytes images = idx_file({1, 4, 5}, counting(20));
  for (std::size_t size = 0; size < 16; ++size) {
    const auto path = directory.write("cut", Bytes(images.begin(), images.begin() + static_cast<long>(size)));
    CHECK(contains(image_failure(path), "the IDX header needs " + std::to_string(size < 4 ? 4 : 16) +
                                            " bytes, the file ends after " + std::to_string(size)));
  }
  CHECK(contains(image_failure(directory.write("no.gz", gzipped({}))), "the decompressed content ends after 0"));
}

TEST_CASE("labels in place of images are called labels, and the other way round") {
  const TemporaryDirectory directory;
  const std::string labels = directory.write("labels", idx_file({60}, counting(60)));
  const std::string images = directory.write("images", gzipped(idx_file({3, 4, 5}, counting(60))));
  const std::string cube = directory.write("cube", idx_file({1, 3, 4, 5}, counting(60)));
  CHECK(contains(image_failure(labels),
                 "/labels: these are labels (1 dimension), expected are images (3 dimensions); "
                 "are two files swapped?"));
  CHECK(contains(label_failure(images), "/images: these are images (3 dimensions), expected are labels (1 dimension)"));
  CHECK(contains(image_failure(cube), "/cube: these are an array of 4 dimensions"));
}

TEST_CASE("other dimensions, element types and formats are refused with what was found") {
  const TemporaryDirectory directory;
  const std::string tall = directory.write("tall", idx_file({3, 5, 4}, counting(60)));
  CHECK(contains(image_failure(tall), "/tall: dimension 1 is 5 (byte 8), expected is 4"));
  const std::string wide = directory.write("wide", idx_file({3, 4, 6}, counting(72)));
  CHECK(contains(image_failure(wide), "/wide: dimension 2 is 6 (byte 12), expected is 5"));
  Bytes floats = idx_file({3, 4, 5}, counting(240));
  floats[2] = 0x0d;
  CHECK(contains(image_failure(directory.write("floats", floats)),
                 "/floats: the elements are 32-bit floats (type 0D at byte 2), expected are unsigned bytes (type 08)"));
  Bytes unknown = idx_file({3, 4, 5}, counting(60));
  unknown[2] = 0x0a;
  CHECK(contains(image_failure(directory.write("unknown", unknown)), "it starts with 00 00 0A 03"));
  const std::string page = directory.write("page", {'<', '!', 'D', 'O', 'C'});
  CHECK(contains(image_failure(page), "/page: not an IDX file: it starts with 3C 21 44 4F, expected 00 00 08 03"));
}

TEST_CASE("a directory in place of a file is called one") {
  const TemporaryDirectory directory;
  CHECK(contains(label_failure(directory.path()), directory.path() + ": is a directory"));
}

}  // namespace tr
