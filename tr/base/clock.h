#pragma once

namespace tr {

/// Seconds since an arbitrary moment, on a clock that is never set back; only differences mean anything.
double steady_seconds();

}  // namespace tr
