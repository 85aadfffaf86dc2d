#include "mt/harness/ceiling.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "mt/harness/ceiling_loops.h"

namespace mt {
namespace {

TEST(Ceiling, BalancedBytesRunAtTheRateOfACopy) {
  const Ceiling c{.copy = 100, .read = 200, .write = 50, .flops = 1000};
  EXPECT_DOUBLE_EQ(roof_of(100, 100, 0, c).seconds(), 2);
  EXPECT_DOUBLE_EQ(roof_of(300, 100, 0, c).seconds(), 2 + 1);
  EXPECT_DOUBLE_EQ(roof_of(0, 100, 0, c).seconds(), 2);
  EXPECT_TRUE(roof_of(100, 100, 100, c).memory_bound());
  EXPECT_FALSE(roof_of(100, 100, 5000, c).memory_bound());
  EXPECT_DOUBLE_EQ(roof_of(100, 100, 5000, c).seconds(), 5);
}

TEST(Ceiling, MediansAreByRate) {
  const Ceiling m = median_of({{1, 30, 5, 1}, {2, 20, 5, 1}, {3, 10, 5, 1}});
  EXPECT_DOUBLE_EQ(m.copy, 2);
  EXPECT_DOUBLE_EQ(m.read, 20);
}

TEST(Ceiling, LoopsDoWhatTheySay) {
  constexpr std::size_t bytes = 8192;
  const auto make = [] {
    return std::unique_ptr<std::byte, decltype(&std::free)>(static_cast<std::byte*>(std::aligned_alloc(64, bytes)),
                                                            &std::free);
  };
  const auto a = make(), b = make();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes / 8; ++i) {
    const std::uint64_t word = i * 0x9E3779B97F4A7C15u;
    std::memcpy(a.get() + 8 * i, &word, 8);
    sum += word;
  }
  EXPECT_EQ(read_words(a.get(), bytes), sum);
  stream_copy(b.get(), a.get(), bytes);
  EXPECT_EQ(std::memcmp(a.get(), b.get(), bytes), 0);
  stream_fill(b.get(), bytes);
  EXPECT_NE(std::memcmp(a.get(), b.get(), bytes), 0);
  float value = 0;
  EXPECT_GT(multiply_add(100, value), 0);
  EXPECT_GT(value, 0) << "the sums were computed";
}

}  // namespace
}  // namespace mt
