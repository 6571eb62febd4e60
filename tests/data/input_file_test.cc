#include "tr/data/input_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/data/files.h"
#include "tr/base/error.h"

namespace tr {
namespace {

/// Everything a file holds, read `step` bytes at a time.
Bytes read_all(const std::string& path, std::size_t step = 1000) {
  InputFile file(path);
  Bytes all;
  Bytes part(step);
  for (std::size_t count = step; count == step;) {
    count = file.read(part);
    all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

std::string failure(const std::string& path) {
  return message_of<DataError>([&] { read_all(path); });
}

}  // namespace

TEST_CASE("a file is decompressed for its first bytes, whatever its name") {
  const TemporaryDirectory directory;
  const Bytes content = counting(200'000);
  CHECK(read_all(directory.write("plain.gz", content)) == content);
  CHECK(read_all(directory.write("packed.txt", gzipped(content))) == content);
  CHECK(read_all(directory.write("packed", gzipped(content)), 7) == content);
  CHECK(read_all(directory.write("empty", {})).empty());
  CHECK(read_all(directory.write("packed nothing", gzipped({}))).empty());
}

TEST_CASE("gzip members that follow each other read as one content") {
  const TemporaryDirectory directory;
  const Bytes a = counting(70'000);
  const Bytes b = counting(11);
  CHECK(read_all(directory.write("two", gzipped(a) + gzipped(b))) == a + b);
  CHECK(read_all(directory.write("three", gzipped(a) + gzipped({}) + gzipped(b))) == a + b);
}

TEST_CASE("bytes after the gzip data are refused with their position and number") {
  const TemporaryDirectory directory;
  const Bytes packed = gzipped(counting(500));
  const std::string message = failure(directory.write("tail", packed + Bytes{0, 0, 0}));
  CHECK(contains(message, "3 bytes after the end of the gzip data at byte " + std::to_string(packed.size())));
}

TEST_CASE("gzip data cut at any byte is an error that names the byte") {
  const TemporaryDirectory directory;
  const Bytes packed = gzipped(counting(2000));
  for (std::size_t size = 2; size < packed.size(); ++size) {
    const std::string path = directory.write("cut", Bytes(packed.begin(), packed.begin() + static_cast<long>(size)));
    const std::string message = failure(path);
    INFO(message);
    CHECK(contains(message, path + ": the gzip data stops in the middle at byte " + std::to_string(size)));
  }
}

TEST_CASE("a flipped bit anywhere in the data, the CRC or the length of a gzip file is found") {
  const TemporaryDirectory directory;
  const Bytes packed = gzipped(counting(2000));
  for (std::size_t i = 10; i < packed.size(); ++i) {  // The ten bytes of the header hold the time and other trifles.
    Bytes damaged = packed;
    damaged[i] ^= 0x10;
    INFO("byte ", i);
    CHECK(contains(failure(directory.write("flipped", damaged)), "the gzip data"));
  }
  Bytes bad_crc = packed;
  bad_crc[packed.size() - 8] ^= 1;
  CHECK(contains(failure(directory.write("crc", bad_crc)), "incorrect data check"));
}

TEST_CASE("what is not a readable regular file is refused by name") {
  const TemporaryDirectory directory;
  CHECK(contains(failure(directory / "nowhere"), "/nowhere: cannot be opened: No such file"));
  CHECK(contains(failure(directory.path()), directory.path() + ": is a directory"));
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(contains(failure(directory / "pipe"), "not a regular file"));
  std::filesystem::create_symlink("loop", directory / "loop");
  CHECK(contains(failure(directory / "loop"), "/loop: cannot be opened: "));
  if (::geteuid() != 0) {  // Permissions do not bind the superuser.
    const std::string secret = directory.write("secret", counting(3));
    std::filesystem::permissions(secret, std::filesystem::perms::none);
    CHECK(contains(failure(secret), "/secret: cannot be opened: Permission denied"));
  }
}

TEST_CASE("the bound on the content holds for the best that gzip can do") {
  const TemporaryDirectory directory;
  const Bytes zeros(4'000'000, 0);
  InputFile packed(directory.write("zeros", gzipped(zeros)));
  CHECK(packed.is_gzip());
  CHECK(packed.max_content_size() >= static_cast<std::int64_t>(zeros.size()));
  CHECK(packed.max_content_size() == 1032 * packed.file_size());
  InputFile plain(directory.write("plain", counting(77)));
  CHECK_FALSE(plain.is_gzip());
  CHECK(plain.max_content_size() == 77);
}

}  // namespace tr
