#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tr {

/// Images of an IDX file: `count` of height × width bytes each, row by row.
struct IdxImages {
  int count = 0;
  std::vector<std::uint8_t> pixels;
};

/// Reads an IDX file of unsigned bytes in three dimensions, count × `height` × `width` (the format is described on
/// http://yann.lecun.com/exdb/mnist: 00 00 08 03, three big-endian 32-bit sizes, the bytes). Plain or gzip, decided by
/// the first two bytes.
///
/// Throws DataError naming the file and what was expected and found: another kind of file (labels are named as such),
/// other dimensions, a byte too few or too many, damaged gzip data. A size is checked against the file before memory of
/// that size is taken.
IdxImages read_idx_images(const std::string& path, int height, int width);

/// Reads an IDX file of unsigned bytes in one dimension; otherwise as read_idx_images.
std::vector<std::uint8_t> read_idx_labels(const std::string& path);

}  // namespace tr
