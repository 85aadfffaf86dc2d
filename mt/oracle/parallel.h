// Loops over elements or rows on all cores.
#pragma once
#include <cstdint>
#include <functional>

namespace mt::oracle {

/// Calls body(begin, end) for pieces of [0, count) of at most `grain` items, from several threads. The first exception
/// that a body throws is thrown again here. Pieces are the same for every number of threads.
void parallel_for(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body);

/// A grain that gives a piece about `work` units where one item costs `cost`.
constexpr std::int64_t grain_for(std::int64_t cost, std::int64_t work = 1 << 18) {
  return cost >= work ? 1 : work / (cost < 1 ? 1 : cost);
}

}  // namespace mt::oracle
