#include "mt/harness/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mt {
namespace {

TEST(Statistics, Quantiles) {
  const Summary s = summarise({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.p25, 2);
  EXPECT_DOUBLE_EQ(s.p75, 4);
  EXPECT_DOUBLE_EQ(s.least, 1);
  EXPECT_DOUBLE_EQ(s.spread(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(summarise({1, 2}).median, 1.5);
  EXPECT_EQ(summarise({}).count, 0u);
}

TEST(Statistics, OneOutlierDoesNotMoveTheMedian) {
  std::vector<double> samples(30, 1.0);
  samples.push_back(1000);
  EXPECT_DOUBLE_EQ(summarise(samples).median, 1);
  EXPECT_DOUBLE_EQ(median_uncertainty(samples), 0);
}

TEST(Statistics, UncertaintyShrinksWithTheCount) {
  const auto noisy = [](int n) {
    std::vector<double> s;
    for (int i = 0; i < n; ++i) s.push_back(1 + 0.1 * std::sin(i * 12.9898));
    return s;
  };
  EXPECT_TRUE(std::isinf(median_uncertainty(noisy(5))));
  EXPECT_GT(median_uncertainty(noisy(20)), median_uncertainty(noisy(2000)));
  EXPECT_LT(median_uncertainty(noisy(2000)), 0.02);
}

TEST(Statistics, StopsWhenSettledOrOutOfBudget) {
  const StoppingCriterion c{.least = 10, .most = 50, .seconds = 1, .uncertainty = 0.01};
  std::vector<double> same(9, 1.0);
  EXPECT_FALSE(c.enough(same, 0.1)) << "too few";
  same.push_back(1.0);
  EXPECT_TRUE(c.enough(same, 0.1)) << "settled";
  std::vector<double> wild;
  for (int i = 0; i < 12; ++i) wild.push_back(1 + i);
  EXPECT_FALSE(c.enough(wild, 0.1));
  EXPECT_TRUE(c.enough(wild, 1.1)) << "budget";
  EXPECT_FALSE(c.enough({1, 2}, 5)) << "slow kernels are measured a few times all the same";
  wild.resize(50, 100.0);
  EXPECT_TRUE(c.enough(wild, 0.1)) << "most";
}

}  // namespace
}  // namespace mt
