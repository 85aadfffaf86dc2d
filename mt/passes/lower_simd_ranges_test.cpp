#include "mt/passes/lower_simd_ranges.h"

#include <set>

#include "mt/passes/algebra.h"
#include "mt/passes/fold.h"
#include "mt/passes/testing.h"

namespace mt {
namespace {

std::string loop(const std::string& begin, const std::string& flag) {
  return "%z: u32 = param %n\n%w: u32 = param %m\n%sg: u32 = simd_id\n%s: u32 = const 2\n" + begin +
         "\nfor %t: u32 = %b to %z step %s" + flag + " {\nstore %o[%t], %t\n}";
}

TEST(LowerSimdRanges, StridedTargetsOnlyLoseTheFlag) {
  EXPECT_EQ(after(lower_simd_ranges, loop("%b: u32 = add %sg, %w", " contiguous")),
            text_of(loop("%b: u32 = add %sg, %w", "")));
  EXPECT_EQ(after(lower_simd_ranges, loop("%b: u32 = add %sg, %w", ""), {.contiguous_simds = true}),
            text_of(loop("%b: u32 = add %sg, %w", "")));
}

TEST(LowerSimdRanges, ContiguousRuns) {
  EXPECT_EQ(after(lower_simd_ranges, loop("%b: u32 = add %w, %sg", " contiguous"), {.contiguous_simds = true})
                .find("contiguous"),
            std::string::npos);
  EXPECT_NE(after(lower_simd_ranges, loop("%b: u32 = add %w, %sg", " contiguous"), {.contiguous_simds = true}),
            text_of(loop("%b: u32 = add %w, %sg", "")));
}

/// Positions that the lowered loop gives to each of `simds` simdgroups, with low and end known: the bounds are
/// evaluated by replacing simd_id, n and m by constants and folding.
std::vector<std::vector<std::uint64_t>> dealt(int simds, std::uint64_t low, std::uint64_t end) {
  std::vector<std::vector<std::uint64_t>> all;
  for (int sg = 0; sg < simds; ++sg) {
    std::string text = loop("%b: u32 = add %w, %sg", " contiguous");
    text.replace(text.find("const 2"), 7, "const " + std::to_string(simds));
    Kernel k = parsed(with_body(text, simds * kLanes));
    lower_simd_ranges(k, {.contiguous_simds = true});
    for (Inst& i : k.insts) {
      if (i.op != Op::SimdId && i.op != Op::Param) continue;
      i.bits = i.op == Op::SimdId ? static_cast<std::uint64_t>(sg) : i.index == 0 ? end : low;
      i.op = Op::Const;
    }
    fold(k, {});
    all.emplace_back();
    walk(k, RegionId::Root, [&](InstId id) {
      const Inst& i = k.at(id);
      if (i.op == Op::For) {
        for (std::uint64_t t = k.def(i.in[0])->bits; t < k.def(i.in[1])->bits; t += k.def(i.in[2])->bits)
          all.back().push_back(t);
      } else if (i.op == Op::Store) {  // a loop of one trip is gone
        const Inst* index = k.def(i.in[0]);
        if (index && index->op == Op::Const) all.back().push_back(index->bits);
      }
    });
  }
  return all;
}

TEST(LowerSimdRanges, EveryPositionOnceInBalancedContiguousRuns) {
  for (const int simds : {2, 3, 8})
    for (const std::uint64_t low : {0u, 5u})
      for (const std::uint64_t end : {0u, 1u, 4u, 5u, 6u, 7u, 13u, 29u, 64u, 65u}) {
        std::uint64_t next = low;
        for (const auto& run : dealt(simds, low, end)) {
          for (const std::uint64_t t : run) EXPECT_EQ(t, next++) << simds << " " << low << " " << end;
          const std::uint64_t count = end > low ? end - low : 0, share = count / static_cast<std::uint64_t>(simds);
          EXPECT_GE(run.size(), share);
          EXPECT_LE(run.size(), share + 1);
        }
        EXPECT_EQ(next, std::max(low, end));
      }
}

TEST(LowerSimdRanges, TheLargestRangeDoesNotWrap) {
  std::string text = loop("%b: u32 = add %w, %sg", " contiguous");
  text.replace(text.find("const 2"), 7, "const 3");
  std::uint64_t before = 0;
  for (std::uint64_t sg = 0; sg < 3; ++sg) {
    Kernel k = parsed(with_body(text, 96));
    lower_simd_ranges(k, {.contiguous_simds = true});
    for (Inst& i : k.insts) {
      if (i.op != Op::SimdId && i.op != Op::Param) continue;
      i.bits = i.op == Op::SimdId ? sg : i.index == 0 ? 0xffffffffu : 0;
      i.op = Op::Const;
    }
    fold(k, {});
    walk(k, RegionId::Root, [&](InstId id) {
      const Inst& i = k.at(id);
      if (i.op != Op::For) return;
      EXPECT_EQ(k.def(i.in[0])->bits, before);
      before = k.def(i.in[1])->bits;
    });
  }
  EXPECT_EQ(before, 0xffffffffu);
}

}  // namespace
}  // namespace mt
