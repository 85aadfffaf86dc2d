#include "mt/oracle/movement.h"

#include <gtest/gtest.h>

#include "mt/base/error.h"
#include "mt/oracle/compare.h"
#include "mt/oracle/testing.h"

namespace mt::oracle {
namespace {

using Values = std::vector<double>;

TEST(Movement, CopyIsExactAndCastsRoundAtTheStore) {
  const Expected e = copy(vec({1, 2049, -0.5}));
  EXPECT_EQ(e.value, (Values{1, 2049, -0.5}));
  EXPECT_TRUE(compare(e, vec({1, 2048, -0.5}, DType::F16)).passed());
  EXPECT_FALSE(compare(e, vec({1, 2050, -0.5}, DType::F16)).passed());
}

TEST(Movement, StridedCopyTransposesBroadcastsAndReverses) {
  const HostTensor x = vec({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(strided_copy(x, {3, 2}, {1, 3}).value, (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(strided_copy(x, {2, 2}, {0, 1}, 4).value, (Values{4, 5, 4, 5}));
  EXPECT_EQ(strided_copy(x, {3}, {-2}, 5).value, (Values{5, 3, 1}));
  EXPECT_EQ(strided_copy(x, {2, 1, 3}, {3, 7, 1}).value, (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(strided_copy(x, {2, 0}, {1, 1}).value.empty());
  EXPECT_THROW(strided_copy(x, {3}, {3}), Error);
  EXPECT_THROW(strided_copy(x, {2}, {-1}), Error);
  EXPECT_THROW(strided_copy(x, {2}, {1, 1}), Error);
}

TEST(Movement, GatherPicksRowsAndZerosOutsideTheTable) {
  const HostTensor table = tensor(DType::BF16, {3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(gather_rows(table, vec({2, 0, 2}, DType::U32)).value, (Values{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(gather_rows(table, vec({3, 1}, DType::U32)).value, (Values{0, 0, 3, 4}));
  EXPECT_EQ(gather_rows(table, vec({1, -1}, DType::I32)).value, (Values{3, 4, 0, 0}));
}

TEST(Movement, ArangeAcceptsBothRoundingsAndNoOffByOne) {
  for (const double step : {1.0, 0.1f * 1.0, -3e-5f * 1.0}) {
    const std::int64_t n = 100000;
    HostTensor separate("out", DType::F32, {n}), fused = separate, shifted = separate;
    const float start = 2.25f, f32_step = static_cast<float>(step);
    for (std::int64_t i = 0; i < n; ++i) {
      const float product = static_cast<float>(i) * f32_step;
      separate.set(i, static_cast<double>(start + product));
      fused.set(i, static_cast<double>(start) + static_cast<double>(i) * static_cast<double>(f32_step));
      shifted.set(i, static_cast<double>(start) + static_cast<double>(i + 1) * static_cast<double>(f32_step));
    }
    const Expected e = arange(2.25, static_cast<double>(f32_step), n);
    EXPECT_TRUE(compare(e, separate).passed()) << compare(e, separate).sentence;
    EXPECT_TRUE(compare(e, fused).passed()) << compare(e, fused).sentence;
    EXPECT_EQ(compare(e, shifted).wrong, n);
  }
  EXPECT_EQ(arange(0, 1, 1000).bound, Values(1000, 0));
}

TEST(Movement, RandomHashIsXorshiftOfTheIndexPlusOne) {
  const Expected e = random_hash(1000);
  EXPECT_EQ(e.value[0], 270369);  // Marsaglia's generator from the seed 1
  EXPECT_EQ(e.value[1], 540738);
  EXPECT_EQ(random_hash(123457).value.back(), 3044167877);  // an index whose high bits reach the right shift
  EXPECT_EQ(e.value.size(), 1000u);
  EXPECT_EQ(e.bound, Values(1000, 0));
}

}  // namespace
}  // namespace mt::oracle
