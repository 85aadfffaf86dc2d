// Accesses that are wrong whoever else runs: bounds, alignment, direction, unwritten memory, indices that wrapped.
#include "backends/interp/testing.h"

namespace mt::interp {
namespace {

TEST(Access, LoadPastTheEndNamesBufferIndexExtentAndThread) {
  EXPECT_EQ(
      run_body("%i: u32 = add %t, %nn ; k.cpp:6\n %v: f32 = load %x[%i] ; k.cpp:7\n store %y[%t], %v", 70),
      "k.cpp:7: [k] load of x[128] is outside its 128 elements in thread 58 (simdgroup 1, threadgroup 0); guard it "
      "with if_ or mend the index");
  EXPECT_EQ(run_body("%i: u32 = add %t, %nn ; k.cpp:6\n %v: f32 = load %x[%i] ; k.cpp:7\n store %y[%t], %v", 64), "");
}

TEST(Access, TheGuardedLoadIsFine) {
  EXPECT_EQ(run_body(R"(
  %i: u32 = add %t, %nn
  %end: u32 = const 128
  %in: bool = lt %i, %end
  if %in {
    %v: f32 = load %x[%i]
    store %y[%t], %v
  })",
                     70),
            "");
}

TEST(Access, NegativeAndHugeIndices) {
  EXPECT_EQ(
      run_body(R"(
  %m: i32 = const -1 ; k.cpp:2
  store %y[%m], %f1 ; k.cpp:3)"),
      "k.cpp:3: [k] store of y[-1] is outside its 128 elements in thread 0 (simdgroup 0, threadgroup 0); guard it "
      "with if_ or mend the index");
  EXPECT_EQ(run_body(R"(
  %m: u64 = const 18446744073709551615
  store %y[%m], %f1 ; k.cpp:3)"),
            "k.cpp:3: [k] store of y[18446744073709551615] is outside its 128 elements in thread 0 (simdgroup 0, "
            "threadgroup 0); guard it with if_ or mend the index");
}

TEST(Access, VectorsMustFitWhole) {
  const char* body = R"(
  %four: u32 = const 4
  %i: u32 = mul %t, %c2
  %j: u32 = add %i, %nn
  %v: f32x4 = load %x[%j] ; k.cpp:5
  %sum: f32 = extract %v, 3
  store %y[%t], %sum)";
  EXPECT_EQ(run_body(body, 0),
            "k.cpp:5: [k] load of x[126] and the 3 after it is outside its 128 elements in thread 63 (simdgroup 1, "
            "threadgroup 0); guard it with if_ or mend the index");
}

TEST(Access, ArraysHaveBoundsToo) {
  EXPECT_EQ(run_body("%i: u32 = add %t, %c1\n store %s[%i], %f1 ; k.cpp:4\n store %y[%t], %f1"),
            "k.cpp:4: [k] store of threadgroup array s[64] is outside its 64 elements in thread 63 (simdgroup 1, "
            "threadgroup 0); guard it with if_ or mend the index");
  EXPECT_EQ(
      run_body("store %p[%l], %f1 ; k.cpp:4\n store %y[%t], %f1"),
      "k.cpp:4: [k] store of thread array p[4] is outside its 4 elements in thread 4 (simdgroup 0, threadgroup 0); "
      "guard it with if_ or mend the index");
}

TEST(Access, AFalseAlignmentIsAnError) {
  const char* body = R"(
  %i: u32 = add %c0, %nn
  %v: f32x4 = load %x[%i] align 4 ; k.cpp:5
  %sum: f32 = extract %v, 3
  store %y[%t], %sum)";
  EXPECT_EQ(run_body(body, 8), "");
  EXPECT_EQ(
      run_body(body, 6),
      "k.cpp:5: [k] load of x[6] claims an address that 4 divides, which element 6 of the buffer is not, in thread 0 "
      "(simdgroup 0, threadgroup 0); take the claim back or make the index a multiple");
  Launch l = launch_of(body, 8);
  l.offset = 4;  // the view counts
  EXPECT_EQ(
      l.run(),
      "k.cpp:5: [k] load of x[8] claims an address that 4 divides, which element 9 of the buffer is not, in thread 0 "
      "(simdgroup 0, threadgroup 0); take the claim back or make the index a multiple");
  l.offset = 16;
  EXPECT_EQ(l.run(), "");
  EXPECT_EQ(l.tensors[1].at(0), 11);
}

TEST(Access, AnyByteButZeroIsTrue) {
  Launch l{.kernel = parsed(R"(kernel @bools threads 32 {
  device in %b: bool [n]
  device out %o: bool [n]
  %t: u32 = thread_id
  %v: bool = load %b[%t]
  store %o[%t], %v
})")};
  l.tensors = {HostTensor("b", DType::Bool, {32}), HostTensor("o", DType::Bool, {32})};
  for (int i = 0; i < 32; ++i) l.tensors[0].data[static_cast<std::size_t>(i)] = static_cast<std::byte>(i);
  ASSERT_EQ(l.run(), "");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(l.tensors[1].data[static_cast<std::size_t>(i)], std::byte{i != 0}) << i;
}

TEST(Access, AStoreToAnInputDoesNotCompile) {
  Launch l = launch_of("store %y[%t], %f1 ; k.cpp:9");
  l.kernel.memories[1].access = Access::In;
  EXPECT_EQ(l.run(), "k.cpp:9: [k] store to y, which is an input; declare it Out or InOut");
}

TEST(Access, ReadingWhatNothingWrote) {
  EXPECT_EQ(
      run_body(R"(
  %first: bool = lt %t, %c2
  if %first {
    store %s[%t], %f1
  }
  barrier
  %i: u32 = bit_and %t, %c1
  %ok: f32 = load %s[%i]
  %bad: f32 = load %s[%c2] ; k.cpp:9
  store %y[%t], %bad)"),
      "k.cpp:9: [k] load of threadgroup array s[2] reads memory that nothing has written in thread 0 (simdgroup 0, "
      "threadgroup 0); write it first");
  EXPECT_EQ(run_body("store %p[%c0], %f1\n %v: f32 = load %p[%c1] ; k.cpp:9\n store %y[%t], %v"),
            "k.cpp:9: [k] load of thread array p[1] reads memory that nothing has written in thread 0 (simdgroup 0, "
            "threadgroup 0); write it first");
  EXPECT_EQ(
      run_body("%v: f32 = load %o[%t] ; k.cpp:9\n store %y[%t], %v"),
      "k.cpp:9: [k] load of o[0] reads output that this launch has not written in thread 0 (simdgroup 0, threadgroup "
      "0); write it first");
  EXPECT_EQ(run_body("store %o[%t], %f1\n %v: f32 = load %o[%t]\n store %y[%t], %v"), "");
}

TEST(Access, ArraysAreForgottenBetweenThreadgroups) {
  const std::string body = R"(
  %zero: bool = eq %g, %c0
  if %zero {
    store %p[%c0], %f1
    store %s[%t], %f1
  }
)";
  const std::string write = "%i: u32 = mul %g, %nn\n %j: u32 = add %i, %t\n store %y[%j], %v";
  EXPECT_EQ(
      run_body(body + "%v: f32 = load %s[%t] ; k.cpp:9\n" + write, 64, 2),
      "k.cpp:9: [k] load of threadgroup array s[0] reads memory that nothing has written in thread 0 (simdgroup 0, "
      "threadgroup 1); write it first");
  EXPECT_EQ(run_body(body + "%v: f32 = load %p[%c0] ; k.cpp:9\n" + write, 64, 2),
            "k.cpp:9: [k] load of thread array p[0] reads memory that nothing has written in thread 0 (simdgroup 0, "
            "threadgroup 1); write it first");
}

const char* const kWrapped =
    "k.cpp:9: [k] the index of this load of x[0] comes of u32 arithmetic that wrapped around in thread 1 (simdgroup 0, "
    "threadgroup 0); compute it in 64 bits or keep it in range";

TEST(Access, AnIndexThatWrappedIsAnErrorWhereItIsUsed) {
  // (t * 2^31) * 2 wraps for t = 1; the sum goes through a select, a variable, a loop and a branch.
  const std::string big = "%h: u32 = const 2147483648\n %m: u32 = mul %t, %h\n ";
  const std::string two = "%t2: bool = lt %t, %c2\n if %t2 {\n %i: u32 = mul %m, %c2\n ";
  const std::string use = "%v: f32 = load %x[%j] ; k.cpp:9\n store %y[%t], %v\n }";
  EXPECT_EQ(run_body(big + two + "%j: u32 = add %i, %c0\n" + use), kWrapped);
  EXPECT_EQ(run_body(big + two + "%w: u32 = var %c0\n set %w, %i\n %j: u32 = get %w\n" + use), kWrapped);
  EXPECT_EQ(run_body(big + two + "%j: u32 = select %t2, %i, %c0\n" + use), kWrapped);
  EXPECT_EQ(run_body(big + two +
                     "%j: u32, %j2: u32 = for %q: u32 = %c0 to %c2 step %c1 with (%a: u32 = %i, %b: u32 = %c0) {\n "
                     "yield %b, %a\n }\n" +
                     use),
            kWrapped);
  const auto swapped_once = [&](const std::string& a, const std::string& b) {
    return run_body(big + two + "%j: u32, %j2: u32 = for %q: u32 = %c0 to %c1 step %c1 with (%a: u32 = " + a +
                    ", %b: u32 = " + b + ") {\n yield %b, %a\n }\n" + use);
  };
  EXPECT_EQ(swapped_once("%c0", "%i"), kWrapped);
  EXPECT_EQ(swapped_once("%i", "%c0"), "");
  EXPECT_EQ(run_body(big + two + "%j: u32 = if %t2 {\n yield %i\n } else {\n yield %c0\n }\n" + use), kWrapped);
  // A value that wrapped and is not used, or went through a remainder, is no index that wrapped.
  EXPECT_EQ(run_body(big + two + "%no: bool = gt %t, %c2\n %j: u32 = select %no, %i, %c0\n" + use), "");
  EXPECT_EQ(run_body(big + two + "%j: u32 = rem %i, %c63\n" + use), "");
}

TEST(Access, CastsThatLoseTheNumberCountAsWrapped) {
  EXPECT_EQ(run_body(R"(
  %b: u64 = const 4294967296
  %t64: u64 = cast %t
  %i: u64 = add %t64, %b
  %j: u32 = cast %i
  %v: f32 = load %x[%j] ; k.cpp:9
  store %y[%t], %v)")
                .substr(0, 50),
            "k.cpp:9: [k] the index of this load of x[0] comes ");
  EXPECT_EQ(run_body(R"(
  %t64: i64 = cast %t
  %j: i32 = cast %t64
  %v: f32 = load %x[%j]
  store %y[%t], %v)"),
            "");
}

TEST(Access, LoopIndicesMustNotWrap) {
  EXPECT_EQ(run_body(R"(
  %e: u32 = const 4294967295
  %s: u32 = const 2147483648
  for %i: u32 = %c1 to %e step %s { ; k.cpp:4
    store %y[%t], %f1
  })"),
            "k.cpp:4: [k] the index of the loop wraps around past the largest of its type in thread 0 (simdgroup 0, "
            "threadgroup 0); end it earlier or use a 64-bit index");
}

TEST(Access, EndlessLoopsRunOutOfSteps) {
  Launch l = launch_of("%z: u32 = sub %nn, %nn\n for %i: u32 = %c0 to %c1 step %z { ; k.cpp:4\n store %y[%t], %f1\n }");
  l.options = {{"max_steps", 100000}};
  EXPECT_EQ(
      l.run(),
      "k.cpp:4: [k] threadgroup 0 has spent 100000 steps, the budget of a threadgroup, without ending; end the loop "
      "or raise max_steps");
  l = launch_of("%b: u32 = mul %g, %nn\n %j: u32 = add %b, %t\n store %y[%j], %f1");
  l.groups = {2, 1, 1};
  l.options = {{"max_steps", 64 * 8}};  // enough for each threadgroup, not for both
  EXPECT_EQ(l.run(), "");
}

TEST(Access, NanBirthIsAnErrorOnRequest) {
  const std::string zero = "%z: f32 = sub %xt, %xt\n %v: f32 = div %z, %z ; k.cpp:9\n store %y[%t], %v";
  EXPECT_EQ(run_body(zero), "");
  Launch l = launch_of(zero);
  l.options = {{"nan_birth", 1}};
  EXPECT_EQ(
      l.run(),
      "k.cpp:9: [k] div makes a NaN of 0, 0 in thread 0 (simdgroup 0, threadgroup 0); guard the operands or select "
      "another value");
  l = launch_of(
      "%i: f32 = const inf\n %odd: u32 = bit_and %t, %c1\n %b: bool = ne %odd, %c0\n %n: f32 = neg %i\n "
      "%a: f32 = select %b, %i, %n\n %v: f32 = simd_reduce sum %a ; k.cpp:9\n store %y[%t], %v");
  l.options = {{"nan_birth", 1}};
  EXPECT_EQ(l.run(),
            "k.cpp:9: [k] simd_reduce makes a NaN of values in thread 0 (simdgroup 0, threadgroup 0); guard the "
            "operands or select another value");
  l = launch_of(
      "%a: f32 = const nan:0x7fc00000\n %v: f32 = add %a, %xt\n %r: f32 = simd_reduce max %v\n store %y[%t], %r");
  l.options = {{"nan_birth", 1}};
  EXPECT_EQ(l.run(), "");  // NaN in, NaN out
  l = launch_of(
      "%n: f32 = const nan:0x7fc00000\n %z: f32 = sub %xt, %xt\n %a: f32x2 = pack %n, %z\n "
      "%b: f32x2 = div %a, %a ; k.cpp:9\n store %y[%c0], %b");
  l.options = {{"nan_birth", 1}};  // lane by lane
  EXPECT_EQ(
      l.run(),
      "k.cpp:9: [k] div makes a NaN of 0, 0 in thread 0 (simdgroup 0, threadgroup 0); guard the operands or select "
      "another value");
}

TEST(Access, WrongArgumentsAreRefused) {
  Launch l = launch_of("store %y[%t], %f1");
  l.tensors.pop_back();
  EXPECT_EQ(l.run(), "[k] takes 4 buffers and 1 scalars, not 3 and 1");
  l = launch_of("store %y[%t], %f1");
  l.kernel.threads = 48;
  EXPECT_EQ(l.run(), "[k] a threadgroup has 32 to 1024 threads in whole simdgroups, not 48");
  const auto device = find_backend("interp")->open().take();
  EXPECT_FALSE(device->set_option("nan_birth", 2));
  EXPECT_FALSE(device->set_option("max_steps", 0));
  EXPECT_FALSE(device->set_option("speed", 1));
  EXPECT_FALSE(find_backend("interp")->open(1));
}

}  // namespace
}  // namespace mt::interp
