// Which tiles share a buffer, and the order of copies.
#include "backends/cpu/tile_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "mt/ir/tile_kernels.h"

namespace mt::cpu {
namespace {

TilePlan plan_of(const Kernel& k) { return TilePlan(k, TileProducts(k)); }

Kernel body(const std::string& text) { return tile_body("k", text, DType::F32, 16, 16, 1, 3).kernel; }
ValueId named(const Kernel& k, const std::string& name) {
  for (std::size_t v = 0; v < k.values.size(); ++v)
    if (k.values[v].name == name) return static_cast<ValueId>(v);
  throw Error("no value " + name);
}
bool share(const Kernel& k, const std::string& a, const std::string& b) {
  const TilePlan plan = plan_of(k);
  return plan.at(named(k, a)) == plan.at(named(k, b));
}

TEST(TilePlan, TheSumOfALoopStaysInPlace) {
  const Kernel k = body(R"(
  %result: $ACC = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x) {
    %next: $ACC = tile_mma %acc, %l, %r
    yield %next
  })");
  for (const char* name : {"acc", "next", "result"}) EXPECT_TRUE(share(k, "x", name)) << name;
  EXPECT_FALSE(share(k, "x", "l"));
  EXPECT_FALSE(share(k, "l", "r"));
}

TEST(TilePlan, WhatIsWantedLaterIsCopied) {
  const Kernel k = body(R"(
  %next: $ACC = tile_mma %x, %l, %r
  %result: $ACC = tile_mma %next, %l, %r
  %keep: $ROWS = tile_reduce sum %x
  tile_store %side[%beside, %one, %rows, %one], %keep)");
  EXPECT_FALSE(share(k, "x", "next"));
  EXPECT_TRUE(share(k, "next", "result"));
}

TEST(TilePlan, BranchesChangeInPlaceOrLeaveAlone) {
  const Kernel k = body(R"(
  %many: bool = gt %n, %two
  %result: $ACC = if %many {
    %scaled: $ACC = tile_map %x (%e: f32, %i: u32, %j: u32) {
      %w: f32 = add %e, %f1
      yield %w
    }
    yield %scaled
  } else {
    yield %x
  })");
  EXPECT_TRUE(share(k, "x", "scaled"));
  EXPECT_TRUE(share(k, "x", "result"));
}

TEST(TilePlan, ABranchInALoopKeepsWhatTheNextTripReads) {
  const Kernel k = body(R"(
  %result: $ACC = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %y) {
    %many: bool = gt %i, %two
    %chosen: $ACC = if %many {
      %scaled: $ACC = tile_mma %x, %l, %r
      yield %scaled
    } else {
      yield %x
    }
    %sum: $ACC = tile_map %acc, %chosen (%e: f32, %g: f32, %i2: u32, %j: u32) {
      %w: f32 = add %e, %g
      yield %w
    }
    yield %sum
  })");
  EXPECT_FALSE(share(k, "x", "scaled"));
  EXPECT_FALSE(share(k, "x", "chosen"));
  EXPECT_TRUE(share(k, "y", "sum"));
}

TEST(TilePlan, BuffersAreUsedAgain) {
  const auto loads = [](int count) {
    std::string text = "%s0: $ACC = tile_mma %x, %l, %r\n";
    for (int n = 0; n < count; ++n)
      text += fmt::format(
          "%l{0}: $LHS = tile_load %b[%part, %cols, %rows, %cols]\n%s{1}: $ACC = tile_mma %s{0}, %l{0}, %r\n", n,
          n + 1);
    return body(
        text +
        fmt::format("%one_more: $ACC = tile_mma %s{}, %l, %r\n%result: $ACC = tile_mma %one_more, %l, %r", count));
  };
  EXPECT_EQ(plan_of(loads(2)).bytes(), plan_of(loads(9)).bytes());
}

TEST(TilePlan, OperandsThatFlowIntoEachOtherHaveOneOrder) {
  const Kernel columns = body(R"(
  %t0: $LHS = tile_load %b[%part, %rows, %rows, %cols] transposed
  %result: $ACC = tile_mma %x, %t0, %r)");
  EXPECT_TRUE(plan_of(columns).by_column(named(columns, "t0")));
  EXPECT_FALSE(plan_of(columns).by_column(named(columns, "l")));
  const Kernel mixed = body(R"(
  %result: $ACC, %last: $LHS = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x, %left: $LHS = %l) {
    %next: $ACC = tile_mma %acc, %left, %r
    %new: $LHS = tile_load %b[%part, %rows, %rows, %cols] transposed
    yield %next, %new
  })");
  for (const char* name : {"l", "left", "new", "last"})
    EXPECT_FALSE(plan_of(mixed).by_column(named(mixed, name))) << name;
}

/// Every permutation and many-to-one move of four places, against moves at one time.
TEST(TilePlan, CopiesInOrderMoveAllAtOneTime) {
  constexpr std::size_t kSpare = 99;
  int rings = 0;
  for (int code = 0; code < 256; ++code) {
    std::vector<TileCopy> moves;
    std::map<std::size_t, int> memory, want;
    for (std::size_t to = 0; to < 4; ++to) {
      const std::size_t from = static_cast<std::size_t>(code >> (2 * to) & 3);
      moves.push_back({from, to, 8});
      memory[to] = static_cast<int>(to);
      want[to] = static_cast<int>(from);
    }
    for (const TileCopy& c : in_order(moves, kSpare)) {
      EXPECT_EQ(c.elements, 8);
      memory[c.to] = memory[c.from];
      rings += c.to == kSpare;
    }
    memory.erase(kSpare);
    EXPECT_EQ(memory, want) << code;
  }
  EXPECT_GT(rings, 0);
}

}  // namespace
}  // namespace mt::cpu
