#include "backends/cpu/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace mt::cpu {
namespace {

TEST(Workers, EveryPieceRunsOnce) {
  for (const int threads : {1, 2, 5}) {
    Workers w(threads);
    for (const std::int64_t total : {1, 7, 1000}) {
      std::vector<std::atomic<int>> hits(static_cast<std::size_t>(total));
      w.run(total, 3, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++hits[static_cast<std::size_t>(i)];
      });
      for (const auto& h : hits) EXPECT_EQ(h, 1);
    }
  }
}

TEST(Workers, AnExceptionComesOutAndTheNextCallWorks) {
  Workers w(2);
  const auto fail = [](std::int64_t begin, std::int64_t) {
    if (begin >= 0) throw std::runtime_error("piece");
  };
  EXPECT_THROW(w.run(10, 1, fail), std::runtime_error);
  std::atomic<int> pieces{0};
  w.run(10, 1, [&](std::int64_t b, std::int64_t e) { pieces += static_cast<int>(e - b); });
  EXPECT_EQ(pieces, 10);
}

TEST(Threads, TheEnvironmentsCountIsReadWhole) {
  const char* before = std::getenv("MT_THREADS");
  const std::string kept = before ? before : "";
  for (const char* const wrong : {"abc", "0", "-4", "2x", "1025", "99999999999"}) {
    setenv("MT_THREADS", wrong, 1);
    EXPECT_THROW(find_backend("cpu")->open().take(), Error) << wrong;
  }
  setenv("MT_THREADS", "3", 1);
  EXPECT_EQ(find_backend("cpu")->open().take()->info().details.at("threads"), "3");
  if (before)
    setenv("MT_THREADS", kept.c_str(), 1);
  else
    unsetenv("MT_THREADS");
}

}  // namespace
}  // namespace mt::cpu
