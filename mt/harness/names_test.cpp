#include "mt/harness/names.h"

#include <gtest/gtest.h>

namespace mt {
namespace {

TEST(Names, FilterIsASubstringOrAGlob) {
  EXPECT_TRUE(matches("", "mt_softmax"));
  EXPECT_TRUE(matches("soft", "mt_softmax"));
  EXPECT_FALSE(matches("softer", "mt_softmax"));
  EXPECT_TRUE(matches("mt_*max", "mt_softmax"));
  EXPECT_FALSE(matches("*soft", "mt_softmax"));
  EXPECT_TRUE(matches("mt_sor[t]", "mt_sort"));
  EXPECT_FALSE(matches("mt_sor?", "mt_softmax"));
}

TEST(Names, DistanceCountsEdits) {
  EXPECT_EQ(edit_distance("sort", "sort"), 0u);
  EXPECT_EQ(edit_distance("sort", "sotr"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Names, NearestNamesComeFirstAndStrangersNotAtAll) {
  const std::vector<std::string> names{"mt_rms_norm", "mt_layer_norm", "mt_softmax", "mt_sort"};
  EXPECT_EQ(nearest("rms_nrom", names).front(), "mt_rms_norm");
  EXPECT_EQ(nearest("mt_sotr", names).front(), "mt_sort");
  EXPECT_EQ(nearest("mt_add", {"mt_abs", "mt_acos", "vector_add"}).front(), "vector_add");
  EXPECT_TRUE(nearest("zzzzqqqq", names).empty());
  EXPECT_LE(nearest("mt_s", names).size(), 3u);
}

TEST(Names, Lists) {
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(listed({"a", "b"}, "or"), "a or b");
}

}  // namespace
}  // namespace mt
