#pragma once

namespace tr::cpu {

/// While it lives, this thread takes denormal numbers for zero and writes zero in their place (DAZ and FTZ): moments
/// that fade away would otherwise cost a hundred cycles an operation. The former mode returns with the destructor. Only
/// x86 has the switch; elsewhere it does nothing.
class DenormalsOff {
 public:
  DenormalsOff();
  ~DenormalsOff();
  DenormalsOff(const DenormalsOff&) = delete;
  DenormalsOff& operator=(const DenormalsOff&) = delete;

 private:
  unsigned former_ = 0;
};

}  // namespace tr::cpu
