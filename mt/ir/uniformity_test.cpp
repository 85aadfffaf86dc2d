#include "mt/ir/uniformity.h"

#include <gtest/gtest.h>

#include "mt/ir/text.h"

namespace mt {
namespace {

constexpr auto G = Uniformity::Group, S = Uniformity::Simd, V = Uniformity::Varying;

/// Uniformity of the value of that name in a body.
class Of {
 public:
  explicit Of(const std::string& body, int threads = 64) {
    Result<Kernel> k =
        parse("kernel @k threads " + std::to_string(threads) +
              " {\ndevice in %x: u32 [n]\ndevice inout %y: u32 [n]\nthreadgroup %s: u32 [64]\nthread %a: u32 [4]\n"
              "thread %b: u32 [4]\nscalar %n: u32\n%one: u32 = const 1\n%size: u32 = param %n\n"
              "%group: u32 = group_id 0\n%thread: u32 = thread_id\n%sg: u32 = simd_id\n%lane: u32 = lane_id\n" +
              body + "\nstore %y[%one], %one\n}");
    if (!k) ADD_FAILURE() << k.error().what();
    kernel_ = k.take();
    of_ = uniformity(kernel_);
  }
  Uniformity operator[](const std::string& name) const {
    for (std::size_t i = 0; i < kernel_.values.size(); ++i)
      if (kernel_.values[i].name == name) return of_[i];
    ADD_FAILURE() << "no value " << name;
    return V;
  }

 private:
  Kernel kernel_;
  std::vector<Uniformity> of_;
};

TEST(Uniformity, SourcesAndPureOps) {
  const Of u("%p: u32 = add %group, %size\n%q: u32 = add %p, %sg\n%r: u32 = mul %q, %lane");
  EXPECT_EQ(u["one"], G);
  EXPECT_EQ(u["size"], G);
  EXPECT_EQ(u["group"], G);
  EXPECT_EQ(u["thread"], V);
  EXPECT_EQ(u["sg"], S);
  EXPECT_EQ(u["lane"], V);
  EXPECT_EQ(u["p"], G);
  EXPECT_EQ(u["q"], S);
  EXPECT_EQ(u["r"], V);
}

TEST(Uniformity, OneSimdgroupIsTheThreadgroup) {
  const Of u("%r: u32 = simd_reduce sum %lane\n%l: u32 = load %s[%one]", 32);
  EXPECT_EQ(u["sg"], G);
  EXPECT_EQ(u["r"], G);
  EXPECT_EQ(u["l"], G);
  EXPECT_EQ(u["lane"], V);
}

TEST(Uniformity, Loads) {
  const Of u(
      "%in: u32 = load %x[%group]\n%ins: u32 = load %x[%sg]\n%inv: u32 = load %x[%lane]\n%w: u32 = load %y[%one]\n"
      "%t: u32 = load %s[%one]\n%ts: u32 = load %s[%sg]\n%tv: u32 = load %s[%lane]");
  EXPECT_EQ(u["in"], G);
  EXPECT_EQ(u["ins"], S);
  EXPECT_EQ(u["inv"], V);
  EXPECT_EQ(u["w"], G) << "a store meanwhile would be a race";
  EXPECT_EQ(u["t"], G);
  EXPECT_EQ(u["ts"], S);
  EXPECT_EQ(u["tv"], V);
}

TEST(Uniformity, MemoryWithAtomicsMayBeWatched) {
  const Of u(
      "%at: u32 = atomic sum %y[%one], %one\n%w: u32 = load %y[%one]\n%ats: u32 = atomic sum %s[%one], %one\nbarrier\n"
      "%t: u32 = load %s[%one]");
  EXPECT_EQ(u["w"], V);
  EXPECT_EQ(u["t"], G);
}

TEST(Uniformity, ThreadArraysHoldWhatIsStored) {
  const Of u("store %a[%one], %group\n%la: u32 = load %a[%one]\nstore %b[%one], %lane\n%lb: u32 = load %b[%one]");
  EXPECT_EQ(u["la"], G);
  EXPECT_EQ(u["lb"], V);
}

TEST(Uniformity, Collectives) {
  const Of u(
      "%r: u32 = simd_reduce sum %lane\n%rg: u32 = simd_reduce sum %group\n%b: u32 = simd_broadcast %lane, 3\n"
      "%c: u32 = simd_scan sum %one\n%h: u32 = simd_shuffle %lane, %group\n%hv: u32 = simd_shuffle %lane, %lane\n"
      "%hs: u32 = simd_shuffle %sg, %lane\n%d: u32 = simd_shuffle_down %lane, 1\n%e: u32 = simd_shuffle_xor %group, 1\n"
      "%g: u32 = group_reduce max %lane\n%at: u32 = atomic sum %y[%one], %one");
  EXPECT_EQ(u["r"], S);
  EXPECT_EQ(u["rg"], G);
  EXPECT_EQ(u["b"], S);
  EXPECT_EQ(u["c"], V);
  EXPECT_EQ(u["h"], S);
  EXPECT_EQ(u["hv"], V);
  EXPECT_EQ(u["hs"], S);
  EXPECT_EQ(u["d"], V);
  EXPECT_EQ(u["e"], G);
  EXPECT_EQ(u["g"], G);
  EXPECT_EQ(u["at"], V);
}

TEST(Uniformity, AConditionMakesResultsDiffer) {
  const Of u(
      "%c: bool = lt %lane, %one\n%d: bool = lt %group, %one\n"
      "%r: u32 = if %c {\nyield %one\n} else {\nyield %size\n}\n%q: u32 = if %d {\nyield %one\n} else {\nyield %sg\n}");
  EXPECT_EQ(u["r"], V);
  EXPECT_EQ(u["q"], S);
}

TEST(Uniformity, ForTripsMakeResultsDifferButNotTheIterations) {
  const Of u(
      "%r: u32 = for %t: u32 = %one to %lane step %one with (%p: u32 = %one) {\n%next: u32 = add %p, %one\nyield "
      "%next\n}\n"
      "%r2: u32 = for %t2: u32 = %sg to %size step %one with (%p2: u32 = %one) {\nyield %one\n}");
  EXPECT_EQ(u["t"], G);
  EXPECT_EQ(u["p"], G);
  EXPECT_EQ(u["r"], V);
  EXPECT_EQ(u["t2"], S);
  EXPECT_EQ(u["p2"], G);
  EXPECT_EQ(u["r2"], S);
}

TEST(Uniformity, CarriedValuesReachAFixpointThroughNestedLoops) {
  const Of u(
      "%r: u32, %r2: u32 = for %t: u32 = %one to %size step %one with (%p: u32 = %one, %q: u32 = %one) {\n"
      "%in: u32 = for %t2: u32 = %one to %size step %one with (%p2: u32 = %q) {\nyield %p2\n}\n"
      "%lanes: u32 = add %p, %lane\nyield %lanes, %p\n}");
  EXPECT_EQ(u["p"], V);
  EXPECT_EQ(u["q"], V);
  EXPECT_EQ(u["in"], V);
  EXPECT_EQ(u["r2"], V);
}

TEST(Uniformity, WhileResultsDifferWithTheirCondition) {
  const Of u(
      "%r: u32, %k: u32 = while with (%p: u32 = %one) {\n%c: bool = lt %p, %sg\nyield %c, %p, %one\n} do (%q: u32, %o: "
      "u32) {\n"
      "%next: u32 = add %q, %one\nyield %next\n}");
  EXPECT_EQ(u["p"], G);
  EXPECT_EQ(u["q"], G);
  EXPECT_EQ(u["c"], S);
  EXPECT_EQ(u["r"], S);
  EXPECT_EQ(u["k"], S);
}

TEST(Uniformity, VariablesTakeWhatIsSetAndWhere) {
  const Of u(
      "%c: bool = lt %lane, %one\n%v: u32 = var %one\n%w: u32 = var %one\n%z: u32 = var %one\n"
      "if %c {\nset %v, %size\n%inner: u32 = var %one\nset %inner, %size\n%gi: u32 = get %inner\n}\nset %w, %sg\n"
      "%gv: u32 = get %v\n%gw: u32 = get %w\n%gz: u32 = get %z");
  EXPECT_EQ(u["gv"], V);
  EXPECT_EQ(u["gi"], G) << "declared under the same condition";
  EXPECT_EQ(u["gw"], S);
  EXPECT_EQ(u["gz"], G);
}

}  // namespace
}  // namespace mt
