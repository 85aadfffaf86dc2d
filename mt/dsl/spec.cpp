#include "mt/dsl/spec.h"

#include <fmt/format.h>

namespace mt::detail {

void check_launch(const Launch& launch) {
  if (launch.threads < kLanes || launch.threads > 1024 || launch.threads % kLanes != 0)
    throw Error(fmt::format("a threadgroup has 32 to 1024 threads in whole simdgroups of 32, not {}", launch.threads));
  for (const std::int64_t g : {launch.groups.x, launch.groups.y, launch.groups.z})
    if (g < 0) throw Error(fmt::format("a grid of {} threadgroups along one axis; sizes must not be negative", g));
}

}  // namespace mt::detail
