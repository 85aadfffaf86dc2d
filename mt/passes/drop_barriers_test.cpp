#include "mt/passes/drop_barriers.h"

#include "mt/passes/testing.h"

namespace mt {
namespace {

const std::string kHead = "%z: u32 = param %n\n%c: bool = lt %z, %z\n%a: f32 = load %x[%z]\n";

TEST(DropBarriers, WithoutAnAccessBeforeOrBehind) {
  EXPECT_EQ(after(drop_barriers, kHead + R"(
    barrier
    store %s[%z], %a
    barrier
    store %y[%z], %a
    barrier
    %b: f32 = load %s[%z]
    barrier
    barrier
    store %y[%z], %b
    barrier
    if %c {
      store %o[%z], %z
    })"),
            text_of(kHead + R"(
    store %s[%z], %a
    barrier
    store %y[%z], %a
    %b: f32 = load %s[%z]
    store %y[%z], %b
    if %c {
      store %o[%z], %z
    })"));
}

TEST(DropBarriers, NeededOnesStay) {
  const std::string bodies[] = {
      "store %s[%z], %a\nbarrier\n%b: f32 = load %s[%z]\nbarrier\nstore %s[%z], %b\nstore %y[%z], %b",
      "store %y[%z], %a\nbarrier\n%b: f32 = load %y[%z]\nstore %y[%z], %b",
      "for %t: u32 = %z to %z step %z {\nbarrier\n%b: f32 = load %s[%z]\nbarrier\nstore %s[%t], %b\nstore %y[%t], "
      "%b\n}",
      "store %s[%z], %a\nif %c {\nbarrier\n%b: f32 = load %s[%z]\nstore %y[%z], %b\n}\nbarrier\n%d: f32 = load "
      "%s[%z]\nstore %y[%z], %d",
      "store %s[%z], %a\nfor %t: u32 = %z to %z step %z {\n}\nbarrier\n%b: f32 = load %s[%z]\nstore %y[%z], %b",
      "%g: f32 = group_reduce sum %a\nstore %s[%z], %g\nbarrier\n%b: f32 = load %s[%z]\nstore %y[%z], %b"};
  for (const std::string& body : bodies) EXPECT_EQ(after(drop_barriers, kHead + body), text_of(kHead + body));
}

TEST(DropBarriers, BranchesAndReductionsCloseWhatWasOpen) {
  EXPECT_EQ(
      after(drop_barriers, kHead + "store %s[%z], %a\n%g: f32 = group_reduce sum %a\nbarrier\n%b: f32 = load %s[%z]\n"
                                   "store %y[%z], %b\nstore %y[%z], %g"),
      text_of(kHead + "store %s[%z], %a\n%g: f32 = group_reduce sum %a\n%b: f32 = load %s[%z]\nstore %y[%z], %b\nstore "
                      "%y[%z], %g"));
  EXPECT_EQ(
      after(drop_barriers, kHead + "store %s[%z], %a\nif %c {\nbarrier\n} else {\nbarrier\n}\nbarrier\n%b: f32 = load "
                                   "%s[%z]\nstore %y[%z], %b"),
      text_of(kHead +
              "store %s[%z], %a\nif %c {\nbarrier\n} else {\nbarrier\n}\n%b: f32 = load %s[%z]\nstore %y[%z], %b"));
}

}  // namespace
}  // namespace mt
