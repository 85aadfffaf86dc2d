// Units of work shared among threads that each need something of their own, a device for instance.
#pragma once
#include <cstddef>
#include <functional>

namespace mt {

/// Runs the units 0 … count - 1 on `jobs` threads, this one among them: each calls `worker` once, and what that gives
/// for one unit after another. The first exception stops all and is thrown again here.
void run_jobs(int jobs, std::size_t count, const std::function<std::function<void(std::size_t unit)>()>& worker);

}  // namespace mt
