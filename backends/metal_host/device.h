// The metal-host device.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/backend.h"
#include "backends/metal_host/launch.h"

namespace mt::metal_host {

/// Switches of the device, set by name through Device::set_option.
struct Options {
  bool check = false;          // "check", 0 or 1: every access is checked
  Schedule schedule;           // "schedule": 0 forward, 1 reverse, 2 and more random with that seed
  int workers = 1;             // "threads": OS threads that share the threadgroups of a launch
  double budget_seconds = 20;  // "budget_ms": processor time of one threadgroup before it counts as endless
};
/// False where there is no such switch, or the value is out of its range.
bool set_option(Options& options, std::string_view name, std::int64_t value);

std::unique_ptr<Device> open_device();

}  // namespace mt::metal_host
