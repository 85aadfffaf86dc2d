#include "mt/ir/stats.h"

#include <gtest/gtest.h>

#include "mt/ir/text.h"

namespace mt {
namespace {

KernelStats stats_of(const std::string& body) {
  Result<Kernel> k = parse(
      "kernel @k threads 64 {\ndevice out %y: u32 [n]\nthreadgroup %s: f16 [100]\nthread %a: f32 [3]\nscalar %n: "
      "u32\n" +
      body + "\n}");
  if (!k) ADD_FAILURE() << k.error().what();
  return count_instructions(*k);
}

TEST(Stats, CountsAndBytes) {
  const KernelStats s = stats_of(
      "%a: u32 = param %n\n%b: u32 = neg %a\n%t: bool = lt %a, %b\nif %t {\nfor %i: u32 = %a to %b step %a {\n%c: u32 "
      "= neg %i\nstore %y[%c], %c\n}\n}");
  EXPECT_EQ(s.instructions, 7);
  EXPECT_EQ(s.by_op.at("neg"), 2);
  EXPECT_EQ(s.by_op.at("store"), 1);
  EXPECT_EQ(s.nesting, 2);
  EXPECT_EQ(s.threadgroup_bytes, 200);
  EXPECT_EQ(s.thread_bytes, 12);
}

TEST(Stats, RegistersOverlap) {
  EXPECT_EQ(stats_of("%a: u32 = param %n\n%b: u32 = neg %a\n%c: u32 = neg %b\nstore %y[%c], %c").live_registers, 1);
  EXPECT_EQ(stats_of("%a: u32 = param %n\n%b: u32 = neg %a\n%c: u32 = neg %b\nstore %y[%c], %a").live_registers, 2);
  EXPECT_EQ(stats_of("%a: u32 = param %n\n%v: u32x4 = splat %a\nstore %y[%a], %v").live_registers, 5);
  EXPECT_EQ(stats_of("%a: u64 = const 1\n%b: u64 = neg %a\n%c: u32 = cast %b\nstore %y[%b], %c").live_registers, 3);
}

TEST(Stats, WhatALoopUsesLivesToItsEnd) {
  const std::string loop =
      "%a: u32 = param %n\n%b: u32 = neg %a\n%q: u32 = bit_not %a\nfor %i: u32 = %a to %a step %a {\nstore %y[%b], "
      "%q\n%c: u32 = neg %i\n%d: u32 = neg %c\n%e: u32 = add %c, %d\nstore %y[%e], %d\n}";
  EXPECT_EQ(stats_of(loop).live_registers, 5) << "a, b, q, and two of the body";
}

}  // namespace
}  // namespace mt
