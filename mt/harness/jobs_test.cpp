#include "mt/harness/jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace mt {
namespace {

TEST(Jobs, EveryUnitRunsOnceWhateverTheThreads) {
  for (const int jobs : {0, 1, 3, 8}) {
    std::vector<std::atomic<int>> runs(100);
    std::atomic<int> workers = 0;
    run_jobs(jobs, runs.size(), [&] {
      ++workers;
      return [&](std::size_t unit) { ++runs[unit]; };
    });
    for (const auto& r : runs) EXPECT_EQ(r, 1) << jobs;
    EXPECT_EQ(workers, std::max(1, jobs));
  }
}

TEST(Jobs, TheFirstExceptionStopsAllAndComesBack) {
  for (const bool in_worker : {false, true}) {
    std::atomic<std::size_t> ran = 0;
    EXPECT_THROW(run_jobs(4, 1'000'000,
                          [&]() -> std::function<void(std::size_t)> {
                            if (in_worker) throw std::runtime_error("no device");
                            return [&](std::size_t) {
                              if (++ran == 10) throw std::runtime_error("broken");
                            };
                          }),
                 std::runtime_error);
    EXPECT_LT(ran, 1'000'000u);
  }
}

}  // namespace
}  // namespace mt
