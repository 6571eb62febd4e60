#include "tests/device_under_test.h"

namespace tr {

Device device_under_test() { return Device::cpu; }

}  // namespace tr
