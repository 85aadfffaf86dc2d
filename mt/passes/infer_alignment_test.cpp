#include "mt/passes/infer_alignment.h"

#include "mt/passes/divisibility.h"
#include "mt/passes/testing.h"

namespace mt {
namespace {

int zeros_of(const std::string& body) {
  const Kernel k = parsed(
      with_body("%z: u32 = param %n\n%w: u32 = param %m\n%lane: u32 = lane_id\n%1: u32 = const 1\n%2: u32 = const 2\n"
                "%12: u32 = const 12\n" +
                body + "\nstore %o[%r], %z"));
  for (std::size_t v = 0; v < k.values.size(); ++v)
    if (k.values[v].name == "r") return zero_bits(k)[v];
  ADD_FAILURE();
  return -1;
}

TEST(Divisibility, OfExpressions) {
  EXPECT_EQ(zeros_of("%r: u32 = mul %lane, %12"), 2);
  EXPECT_EQ(zeros_of("%r: u32 = mul %z, %12"), 4) << "n is a multiple of 4";
  EXPECT_EQ(zeros_of("%r: u32 = add %z, %12"), 2);
  EXPECT_EQ(zeros_of("%r: u32 = add %z, %lane"), 0);
  EXPECT_EQ(zeros_of("%r: u32 = add %w, %12"), 0);
  EXPECT_EQ(zeros_of("%r: u32 = sub %z, %2"), 1);
  EXPECT_EQ(zeros_of("%r: u32 = shl %lane, %2"), 2);
  EXPECT_EQ(zeros_of("%r: u32 = shr %z, %1"), 1);
  EXPECT_EQ(zeros_of("%4: u32 = const 4\n%r: u32 = div %z, %4"), 0);
  EXPECT_EQ(zeros_of("%r: u32 = div %z, %2"), 1);
  EXPECT_EQ(zeros_of("%r: u32 = div %z, %12"), 0);
  EXPECT_EQ(zeros_of("%r: u32 = rem %z, %12"), 2);
  EXPECT_EQ(zeros_of("%r: u32 = bit_and %lane, %12"), 2);
  EXPECT_EQ(zeros_of("%r: u32 = bit_or %z, %2"), 1);
  EXPECT_EQ(zeros_of("%c: bool = lt %lane, %z\n%r: u32 = select %c, %z, %2"), 1);
  EXPECT_EQ(zeros_of("%r: u32 = simd_broadcast %z, 3"), 2);
  EXPECT_EQ(zeros_of("%q: u64 = cast %z\n%r: u64 = mul %q, %q"), 4);
  EXPECT_EQ(zeros_of("%q: f32 = cast %z\n%r: u32 = cast %q"), 0);
  EXPECT_EQ(zeros_of("%r: u32 = load %i[%z]"), 0);
}

TEST(Divisibility, OfControlFlow) {
  EXPECT_EQ(zeros_of("%c: bool = lt %lane, %z\n%r: u32 = if %c {\nyield %z\n} else {\nyield %2\n}"), 1);
  EXPECT_EQ(zeros_of("%q: u32 = const 0\n%r: u32 = for %t: u32 = %q to %w step %12 with (%c: u32 = %q) {\n%p: u32 = "
                     "add %c, %t\nyield %p\n}"),
            2);
  EXPECT_EQ(zeros_of("%q: u32, %r: u32 = while with (%a: u32 = %z) {\n%c: bool = lt %lane, %a\nyield %c, %a, %a\n} "
                     "do (%d: u32, %e: u32) {\n%f: u32 = mul %d, %lane\nyield %f\n}"),
            2);
  EXPECT_EQ(zeros_of("%q: u32, %r: u32 = while with (%a: u32 = %z) {\n%c: bool = lt %lane, %a\nyield %c, %a, %a\n} "
                     "do (%d: u32, %e: u32) {\n%f: u32 = shr %d, %1\nyield %f\n}"),
            0);
}

TEST(InferAlignment, UpToTheLanes) {
  EXPECT_EQ(after(infer_alignment, R"(
    %z: u32 = param %n
    %w: u32 = param %m
    %2: u32 = const 2
    %p: u32 = mul %w, %2
    %a: f32x8 = load %x[%z]
    %b: f32x2 = load %x[%z]
    %c: f32x4 = load %x[%p]
    %d: f32x4 = load %x[%w]
    %e: f32 = load %x[%z]
    store %y[%z], %a
    store %y[%p], %b
    store %y[%w], %c align 2)"),
            text_of(R"(
    %z: u32 = param %n
    %w: u32 = param %m
    %2: u32 = const 2
    %p: u32 = mul %w, %2
    %a: f32x8 = load %x[%z] align 4
    %b: f32x2 = load %x[%z] align 2
    %c: f32x4 = load %x[%p] align 2
    %d: f32x4 = load %x[%w]
    %e: f32 = load %x[%z]
    store %y[%z], %a align 4
    store %y[%p], %b align 2
    store %y[%w], %c align 2)"));
}

}  // namespace
}  // namespace mt
