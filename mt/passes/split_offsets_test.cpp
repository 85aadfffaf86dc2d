#include "mt/passes/split_offsets.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

std::string widened(const std::string& x, const std::string& c, const std::string& to) {
  return "%z: u32 = param %n\n%w: u32 = param %m\n%c: u32 = const " + c + "\n%a: u32 = add " + x + ", %c\n%b: " + to +
         " = cast %a\nstore %o[%b], %z";
}

TEST(SplitOffsets, WhereTheSumCannotWrap) {
  EXPECT_EQ(after(split_offsets, widened("%z", "3", "u64")), text_of(R"(
    %z: u32 = param %n
    %w: u32 = param %m
    %c: u32 = const 3
    %a: u32 = add %z, %c
    %q: u64 = cast %z
    %d: u64 = const 3
    %b: u64 = add %q, %d
    store %o[%b], %z)"));
}

TEST(SplitOffsets, NotWhereItMight) {
  for (const auto& [x, c, to] : {std::tuple{"%z", "4", "u64"}, {"%w", "1", "u64"}, {"%z", "3", "i32"}})
    EXPECT_EQ(after(split_offsets, widened(x, c, to)), text_of(widened(x, c, to)));
}

}  // namespace
}  // namespace mt
