#pragma once

#include "tr/io/options.h"

namespace tr {

/// What a test that is built once for each device runs on; which, its rule in BUILD.bazel says.
Device device_under_test();

}  // namespace tr
