// Races, barriers and collectives.
#include "backends/interp/testing.h"

namespace mt::interp {
namespace {

/// The value of the thread with the number xor `mask`, through threadgroup memory, with `between` in the middle.
std::string exchange(const std::string& mask, const std::string& between) {
  return run_body("%m: u32 = const " + mask + "\n store %s[%t], %xt ; k.cpp:5\n" + between +
                  "\n %o1: u32 = bit_xor %t, %m\n %v: f32 = load %s[%o1] ; k.cpp:8\n store %y[%t], %v");
}

TEST(Order, ReadAfterWriteNeedsABarrier) {
  EXPECT_EQ(
      exchange("32", ""),
      "k.cpp:8: [k] race on threadgroup array s[32]: thread 0 (simdgroup 0, threadgroup 0) reads it and thread 32 "
      "(simdgroup 1) wrote it at k.cpp:5 with no barrier between; put barrier() there");
  EXPECT_EQ(exchange("32", "simd_barrier").substr(0, 21), "k.cpp:8: [k] race on ");
  EXPECT_EQ(exchange("32", "barrier"), "");
  EXPECT_EQ(exchange("32", "%r: f32 = group_reduce sum %xt"), "");
}

TEST(Order, LanesOfASimdgroupNeedASimdBarrier) {
  EXPECT_EQ(exchange("1", ""),
            "k.cpp:8: [k] race on threadgroup array s[1]: thread 0 (simdgroup 0, threadgroup 0) reads it and thread 1 "
            "(simdgroup 0) wrote it at k.cpp:5 with no barrier between; put simd_barrier() or barrier() there");
  EXPECT_EQ(exchange("1", "%r: f32 = simd_reduce sum %xt").substr(0, 21), "k.cpp:8: [k] race on ");
  EXPECT_EQ(exchange("1", "simd_barrier"), "");
  EXPECT_EQ(exchange("1", "barrier"), "");
}

TEST(Order, WriteAfterReadNeedsABarrier) {
  const auto rotate = [](const std::string& between) {
    return run_body(R"(
  %big: u32 = const 32
  store %s[%t], %xt ; k.cpp:3
  barrier
  %o1: u32 = bit_xor %t, %big
  %v: f32 = load %s[%o1] ; k.cpp:6
  )" + between + R"(
  store %s[%t], %v ; k.cpp:8
  store %y[%t], %v)");
  };
  EXPECT_EQ(
      rotate(""),
      "k.cpp:8: [k] race on threadgroup array s[0]: thread 0 (simdgroup 0, threadgroup 0) writes it and thread 32 "
      "(simdgroup 1) read it at k.cpp:6 with no barrier between; put barrier() there");
  EXPECT_EQ(rotate("barrier"), "");
}

TEST(Order, ManyReadersAreAllRemembered) {
  // Everybody reads s[0]; then one thread writes it, the reader that is recorded last (63), first (0) or neither.
  for (const char* writer : {"63", "0", "40", "5"}) {
    const auto body = [&](const std::string& between) {
      return run_body(std::string(R"(
  %w: u32 = const )") +
                      writer + R"(
  %first: bool = eq %t, %c0
  if %first {
    store %s[%c0], %f1
  }
  barrier
  %v: f32 = load %s[%c0]
  )" + between + R"(
  %is: bool = eq %t, %w
  if %is {
    store %s[%c0], %v ; k.cpp:9
  }
  store %y[%t], %v)");
    };
    EXPECT_EQ(body("").substr(0, 39), "k.cpp:9: [k] race on threadgroup array ") << writer;
    EXPECT_EQ(body("simd_barrier").substr(0, 39), "k.cpp:9: [k] race on threadgroup array ") << writer;
    EXPECT_EQ(body("barrier"), "") << writer;
  }
}

TEST(Order, ReadersOfOneSimdgroupAreOrderedByItsBarrier) {
  const auto body = [](const char* writer, const std::string& between) {
    return run_body(R"(
  %first: bool = eq %l, %c0
  if %first {
    store %s[%sg], %xt
  }
  simd_barrier
  %v: f32 = load %s[%sg]
  )" + between + R"(
  %w: u32 = const )" +
                    writer + R"(
  %is: bool = eq %l, %w
  if %is {
    store %s[%sg], %v ; k.cpp:9
  }
  store %y[%t], %v)");
  };
  for (const char* writer : {"0", "1", "31"}) {
    EXPECT_EQ(body(writer, "").substr(0, 39), "k.cpp:9: [k] race on threadgroup array ") << writer;
    EXPECT_EQ(body(writer, "simd_barrier"), "") << writer;
  }
}

TEST(Order, TwoWritersOfOneElementRace) {
  EXPECT_EQ(run_body("store %s[%c0], %f1 ; k.cpp:4\n store %y[%t], %f1"),
            "k.cpp:4: [k] race on threadgroup array s[0]: thread 1 (simdgroup 0, threadgroup 0) writes it and thread 0 "
            "(simdgroup 0) wrote it at k.cpp:4 with no barrier between; put simd_barrier() or barrier() there");
}

TEST(Order, DeviceMemoryIsNotOrderedByBarriers) {
  EXPECT_EQ(
      run_body(R"(
  %m: u32 = const 32
  store %y[%t], %xt ; k.cpp:5
  barrier
  %i: u32 = bit_xor %t, %m
  %v: f32 = load %y[%i] ; k.cpp:8
  store %o[%t], %v)"),
      "k.cpp:8: [k] race on y[32]: thread 0 (simdgroup 0, threadgroup 0) reads it and thread 32 (simdgroup 1) wrote "
      "it at k.cpp:5; a barrier does not order device memory, exchange values through threadgroup memory");
  EXPECT_EQ(run_body("%v: f32 = load %y[%t]\n %w: f32 = add %v, %f1\n store %y[%t], %w"), "");  // in place
  EXPECT_EQ(run_body("%v: f32 = load %y[%c0]\n store %o[%t], %v"), "");                         // all read one
}

TEST(Order, ThreadgroupsOfALaunchAreUnordered) {
  EXPECT_EQ(run_body("store %y[%t], %f1 ; k.cpp:5", 64, 2),
            "k.cpp:5: [k] race on y[0]: thread 0 (simdgroup 0, threadgroup 1) writes it and threadgroup 0 wrote it at "
            "k.cpp:5; threadgroups of a launch are unordered, use an atomic or a second launch");
  // Threadgroup 1 writes what 0 has read, 1 reads what 0 has written.
  const auto shifted = [](const std::string& loaded, const std::string& stored) {
    return run_body(
        "%i: u32 = mul %g, %nn\n %j: u32 = add %i, %t\n %r: u32 = sub %c1, %g\n %k1: u32 = mul %r, %nn\n "
        "%q: u32 = add %k1, %t\n %v: f32 = load %y[" +
            loaded + "] ; k.cpp:7\n store %y[" + stored + "], %v ; k.cpp:8",
        64, 2);
  };
  EXPECT_EQ(shifted("%q", "%j"),
            "k.cpp:7: [k] race on y[0]: thread 0 (simdgroup 0, threadgroup 1) reads it and threadgroup 0 wrote it at "
            "k.cpp:8; threadgroups of a launch are unordered, use an atomic or a second launch");
  EXPECT_EQ(shifted("%j", "%j"), "");
  EXPECT_EQ(
      run_body("%v: f32 = load %y[%t] ; k.cpp:7\n %one: bool = eq %g, %c2\n if %one {\n store %y[%t], %v ; k.cpp:8\n }",
               64, 3),
      "k.cpp:8: [k] race on y[0]: thread 0 (simdgroup 0, threadgroup 2) writes it and threadgroup 1 read it; "
      "threadgroups of a launch are unordered, use an atomic or a second launch");
}

TEST(Order, AtomicsNeverRaceWithAtomics) {
  Launch l = launch_of(
      "%a: u32 = atomic sum %u[%c0], %c1\n %b: u32 = atomic max %u[%c1], %t\n %c: u32 = atomic exchange %u[%c2], %t");
  l.groups = {3, 1, 1};
  ASSERT_EQ(l.run(), "");
  EXPECT_EQ(l.tensors[2].int_at(0), 3 * 64);
  EXPECT_EQ(l.tensors[2].int_at(1), 63);
  EXPECT_EQ(l.tensors[2].int_at(2), 63);
  EXPECT_EQ(
      run_body("%a: u32 = atomic sum %u[%c0], %c1 ; k.cpp:5\n %v: u32 = load %u[%c0] ; k.cpp:6\n store %u[%t], %v"),
      "k.cpp:6: [k] race on u[0]: thread 0 (simdgroup 0, threadgroup 0) reads it and thread 63 (simdgroup 1) changed "
      "it at k.cpp:5; a barrier does not order device memory, exchange values through threadgroup memory");
  EXPECT_EQ(
      run_body("%z: bool = eq %t, %c0\n if %z {\n store %u[%c0], %c1 ; k.cpp:5\n }\n %a: u32 = atomic sum %u[%c0], %c1 "
               "; k.cpp:6"),
      "k.cpp:6: [k] race on u[0]: thread 1 (simdgroup 0, threadgroup 0) changes it and thread 0 (simdgroup 0) wrote "
      "it at k.cpp:5; a barrier does not order device memory, exchange values through threadgroup memory");
}

TEST(Order, AtomicsGiveTheOldValue) {
  Launch l = launch_of("%a: u32 = atomic sum %u[%c0], %c2\n %f: f32 = cast %a\n store %y[%t], %f");
  ASSERT_EQ(l.run(), "");
  for (int t = 0; t < 64; ++t) EXPECT_EQ(l.tensors[1].at(t), 2 * t);
}

/// The kernel of with_body with `op` in the taken side of `if condition`; the verifier would refuse it.
std::string guarded(Inst op, Op compare, DType result) {
  Launch l = launch_of("store %y[%t], %xt");
  Kernel& k = l.kernel;
  const auto value = [&](std::size_t i) { return k.at(k.at(RegionId::Root).insts[i]).out[0]; };
  Builder b(k);
  const ValueId condition = b.binary(compare, value(0), value(6));  // thread_id against 2
  const InstId branch = b.add({.op = Op::If, .in = {condition}, .loc = {"k.cpp", 4}}, {});
  Builder inner(k, add_region(k, branch));
  add_region(k, branch);
  op.loc = {"k.cpp", 5};
  if (info(op.op).arity > 0) op.in = {value(10)};
  inner.add(op, info(op.op).type == TypeRule::Void ? std::vector<Type>{} : std::vector<Type>{{result}});
  return l.run();
}

TEST(Order, PartOfTheThreadsIsNotEnough) {
  EXPECT_EQ(
      guarded({.op = Op::Barrier}, Op::Lt, DType::F32),
      "k.cpp:5: [k] barrier is reached by 2 of the 64 threads of a threadgroup and missed by thread 2 (simdgroup 0, "
      "threadgroup 0); move it out of control flow that differs between threads");
  EXPECT_EQ(guarded({.op = Op::GroupReduce}, Op::Ge, DType::F32),
            "k.cpp:5: [k] group_reduce is reached by 62 of the 64 threads of a threadgroup and missed by thread 0 "
            "(simdgroup 0, threadgroup 0); move it out of control flow that differs between threads");
  EXPECT_EQ(
      guarded({.op = Op::SimdReduce}, Op::Lt, DType::F32),
      "k.cpp:5: [k] simd_reduce is reached by 2 of the 32 lanes of a simdgroup and missed by thread 2 (simdgroup 0, "
      "threadgroup 0); move it out of control flow that differs between lanes");
  EXPECT_EQ(guarded({.op = Op::SimdShuffleXor, .index = 1}, Op::Ge, DType::F32).substr(0, 47),
            "k.cpp:5: [k] simd_shuffle_xor is reached by 30 ");
  EXPECT_EQ(guarded({.op = Op::SimdBarrier}, Op::Lt, DType::F32).substr(0, 41),
            "k.cpp:5: [k] simd_barrier is reached by 2");
}

TEST(Order, WholeSimdgroupsMayPart) {
  Launch l = launch_of(R"(
  %one: bool = eq %sg, %c1
  if %one {
    %r: f32 = simd_reduce sum %xt
    simd_barrier
    store %y[%t], %r
  })");
  ASSERT_EQ(l.run(), "");
  for (int t = 0; t < 64; ++t) EXPECT_EQ(l.tensors[1].at(t), t < 32 ? 0 : (32 + 63) * 16) << t;
}

TEST(Order, CollectivesGiveWhatTheTableSays) {
  Launch l = launch_of(R"(
  %five: u32 = const 5
  %seven: u32 = const 7
  %m: u32 = mul %t, %seven
  %a: u32 = simd_scan sum %m
  %b: u32 = simd_scan max exclusive %m
  %c: u32 = simd_shuffle %m, %m
  %d: u32 = simd_shuffle_xor %m, 5
  %e: u32 = simd_shuffle_up %m, 3
  %f: u32 = simd_shuffle_down %m, 4
  %h: u32 = simd_broadcast %m, 9
  %i: u32 = simd_reduce min %m
  %j: u32 = group_reduce sum %m
  %mix0: u32 = mul %a, %five
  %mix1: u32 = bit_xor %mix0, %b
  %mix2: u32 = mul %mix1, %five
  %mix3: u32 = bit_xor %mix2, %c
  %mix4: u32 = mul %mix3, %five
  %mix5: u32 = bit_xor %mix4, %d
  %mix6: u32 = mul %mix5, %five
  %mix7: u32 = bit_xor %mix6, %e
  %mix8: u32 = mul %mix7, %five
  %mix9: u32 = bit_xor %mix8, %f
  %mix10: u32 = mul %mix9, %five
  %mix11: u32 = bit_xor %mix10, %h
  %mix12: u32 = mul %mix11, %five
  %mix13: u32 = bit_xor %mix12, %i
  %mix14: u32 = mul %mix13, %five
  %mix15: u32 = bit_xor %mix14, %j
  store %u[%t], %mix15)");
  ASSERT_EQ(l.run(), "");
  for (std::uint32_t t = 0; t < 64; ++t) {
    const std::uint32_t lane = t % 32, base = t - lane;
    const auto m = [&](std::uint32_t other) { return 7 * (base + other); };
    std::uint32_t scan = 0;
    for (std::uint32_t o = 0; o <= lane; ++o) scan += m(o);
    const std::uint32_t parts[] = {scan,
                                   lane ? m(lane - 1) : 0,
                                   m(7 * t % 32),
                                   m(lane ^ 5),
                                   m(lane < 3 ? lane : lane - 3),
                                   m(lane > 27 ? lane : lane + 4),
                                   m(9),
                                   m(0),
                                   7 * 63 * 32};
    std::uint32_t mix = 0;
    for (const std::uint32_t p : parts) mix = mix * 5 ^ p;
    EXPECT_EQ(static_cast<std::uint32_t>(l.tensors[2].int_at(t)), mix) << t;
  }
}

TEST(Order, FloatReductionsTakeEveryCombination) {
  const std::vector<std::pair<std::string, double>> all = {{"sum", 96}, {"prod", 0x1p32}, {"min", 1}, {"max", 2}};
  for (const auto& [combine, want] : all) {
    Launch l = launch_of(
        "%o1: u32 = bit_and %t, %c1\n %o2: u32 = add %o1, %c1\n %f: f32 = cast %o2\n %r: f32 = group_reduce " +
        combine + " %f\n %q: f32 = simd_reduce " + combine + " %f\n store %y[%t], %r\n store %o[%t], %q");
    ASSERT_EQ(l.run(), "");
    for (int t = 0; t < 64; ++t) {
      EXPECT_EQ(l.tensors[1].at(t), want) << combine;
      EXPECT_EQ(l.tensors[3].at(t), combine == "sum" ? 48 : combine == "prod" ? 0x1p16 : want) << combine;
    }
  }
}

}  // namespace
}  // namespace mt::interp
