#include "mt/harness/compile_times.h"

#include <gtest/gtest.h>

namespace mt {
namespace {

TEST(CompileTimes, SayMedianLongestAndHowManyAreAbove) {
  const std::vector<CompileTime> times = {{"a/f32", 10, false}, {"a/f32", 160, false}, {"b/f32", 30, false},
                                          {"c/f32", 40, false}, {"d/f32", 151, false}, {"c/f32", 999, true}};
  EXPECT_EQ(compile_times_text(times, 150, 2),
            "5 compiled: median 40 ms, longest 160 ms, 2 above 150 ms; 0.4 s in all\n"
            "     160 ms  a/f32\n"
            "     151 ms  d/f32\n"
            "1 from the cache on disk, whose times say nothing; an empty MT_CACHE_DIR compiles all\n");
}

TEST(CompileTimes, OfNothingAreNone) {
  EXPECT_EQ(compile_times_text({}, 150),
            "0 from the cache on disk, whose times say nothing; an empty MT_CACHE_DIR compiles all\n");
  EXPECT_EQ(compile_times_text({{"a/f32", 10, false}}, 150),
            "1 compiled: median 10 ms, longest 10 ms, 0 above 150 ms; 0.0 s in all\n"
            "      10 ms  a/f32\n");
}

}  // namespace
}  // namespace mt
