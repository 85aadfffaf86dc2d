// The reference device: runs the IR itself, all threads of a threadgroup in lock step, and refuses what is undefined.
//
// An Error ends the launch at the first of: an index outside its memory, a false alignment, a race, a barrier or a
// collective that part of its threads miss, a read of memory that nothing wrote, index arithmetic that wraps, a loop
// that never ends.
#pragma once
#include <cstdint>
#include <string_view>

namespace mt::interp {

/// Switches of the device, set by name through Device::set_option. Beside them "threadgroup_kib", at least 1: how much
/// threadgroup memory it has, 32 KiB else; for what was planned for another target.
struct Options {
  bool nan_birth = false;  // "nan_birth", 0 or 1: an op that makes a NaN of operands that are none is an Error
  /// "max_steps", at least 1: instructions times threads that one threadgroup may spend before it counts as endless.
  std::int64_t max_steps = std::int64_t{1} << 32;
};

/// False where there is no such switch, or the value is out of its range.
bool set_option(Options& options, std::string_view name, std::int64_t value);

}  // namespace mt::interp
