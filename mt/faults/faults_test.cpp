// Every fault can be planted, leaves a kernel that verifies and differs, and hits what its name says.
#include "mt/faults/faults.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "mt/faults/expressions.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"

namespace mt {
namespace {

/// Something of everything.
constexpr const char* kEverything = R"(kernel @all threads 64 {
  device in %x: f32 [rows, n]
  device in %w: f32 [n]
  device out %y: f32 [rows, n]
  device out %h: f16 [n]
  device inout %hits: u32 [n]
  threadgroup %t: f32 [64]
  scalar %n: u32
  scalar %m: u32

  %0: u32 = group_id 0
  %1: u32 = thread_id
  %2: u32 = param %n
  %3: u32 = mul %0, %2
  %4: u32 = const 1
  %inf: f32 = const -inf
  %zero: f32 = const 0.0
  %two: f32 = const 2.0
  %v: f32 = var %zero
  for %i: u32 = %1 to %2 step %4 {
    %5: u32 = add %3, %i
    %6: f32 = load %x[%5]
    %7: f32 = load %w[%i]
    %8: f32 = get %v
    %9: f32 = fma %6, %7, %8
    set %v, %9
  }
  %10: f32 = get %v
  %11: f32 = group_reduce sum %10
  %12: f32 = simd_reduce max %11
  %13: f32 = simd_scan sum %12
  %14: f32 = simd_shuffle_xor %13, 1
  %15: f32 = max %14, %11
  %16: f32 = exp %15
  %17: f32 = div %16, %two
  %18: f32 = round %17
  %19: i32 = cast %18
  %20: i64 = cast %19
  %21: f32 = cast %20
  store %t[%1], %21
  barrier
  %22: f32 = load %t[%1]
  %23: bool = lt %1, %2
  %24: bool = lt %22, %two
  %25: bool = bit_and %23, %24
  %26: f32 = select %25, %22, %zero
  %nine: u32 = const 9
  %27: u32 = bit_and %1, %nine
  %28: bool = eq %27, %4
  if %25 {
    %29: u32 = atomic sum %hits[%1], %4
    store %y[%1], %26
    %30: f16 = cast %26
    store %h[%1], %30
  }
  %33: u32 = while with (%j: u32 = %4) {
    %31: bool = lt %j, %2
    yield %31, %j
  } do (%k: u32) {
    %32: u32 = add %k, %4
    yield %32
  }
}
)";

Kernel everything() {
  Result<Kernel> k = parse(kEverything);
  if (!k) throw k.error();
  return k.take();
}

TEST(Faults, EachIsPlantedAndSeen) {
  const Kernel k = everything();
  const std::string right = print(k);
  for (const Fault& f : faults()) {
    int places = 0;
    for (const Expression& e : expressions(k)) {
      Kernel wrong = k;
      if (plant(wrong, e.insts, f) == 0) continue;
      EXPECT_NE(print(wrong), right) << f.name;
      places += verify(wrong).empty();
    }
    EXPECT_GT(places, 0) << f.name << " has no sound place in a kernel that has everything";
  }
}

TEST(Faults, NamesAreDistinctAndFound) {
  std::set<std::string_view> names;
  for (const Fault& f : faults()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    EXPECT_EQ(find_fault(f.name), &f);
    EXPECT_FALSE(f.what.empty());
  }
  EXPECT_EQ(find_fault("no such fault"), nullptr);
}

/// What planting `fault` in every instruction of `op` leaves.
std::string planted(const char* fault, Op op) {
  Kernel k = everything();
  std::vector<InstId> places;
  walk(k, RegionId::Root, [&](InstId i) {
    if (k.at(i).op == op) places.push_back(i);
  });
  EXPECT_GT(plant(k, places, *find_fault(fault)), 0);
  return print(k);
}
void expect_in(const std::string& text, const char* part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST(Faults, DoWhatTheySay) {
  EXPECT_EQ(planted("drop_barrier", Op::Barrier).find("barrier"), std::string::npos);
  EXPECT_EQ(planted("no_reduction", Op::GroupReduce).find("group_reduce"), std::string::npos);
  expect_in(planted("lane_0", Op::SimdReduce), "= simd_broadcast");
  expect_in(planted("scan_kind", Op::SimdScan), "simd_scan sum exclusive");
  expect_in(planted("shuffle_off", Op::SimdShuffleXor), ", 2\n");
  expect_in(planted("or_equal", Op::Lt), "= le ");
  expect_in(planted("other_tensor", Op::Load), "load %w");
  expect_in(planted("other_scalar", Op::Param), "param %m");
  expect_in(planted("constant_above", Op::Const), "const 2\n");
  expect_in(planted("no_atomic", Op::Atomic), "load %hits");
  expect_in(planted("nan_side", Op::Lt), "= ge ");
  expect_in(planted("cuts", Op::Cast), "const 4294959104");
}

}  // namespace
}  // namespace mt
