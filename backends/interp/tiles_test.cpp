// What the interpreter says of tiles and copies that are used wrongly, and their values.
#include "backends/interp/testing.h"

namespace mt::interp {
namespace {

std::string kernel_of(const std::string& body, int threads = 32) {
  return "kernel @k threads " + std::to_string(threads) + R"( {
  device in %x: f32 [256]
  device out %y: f32 [256]
  threadgroup %s: f32 [256]
  %c0: u32 = const 0
  %c4: u32 = const 4
  %c8: u32 = const 8
  %f0: f32 = const 0.0
  %t: u32 = thread_id
  %sg: u32 = simd_id
  %base: u32 = mul %t, %c4
)" + body +
         "\n}";
}

struct Ran {
  std::string error;
  std::vector<double> y;
};

Ran run(const std::string& body, int threads = 32) {
  Launch launch{parsed(kernel_of(body, threads))};
  HostTensor x("x", DType::F32, {256}), y("y", DType::F32, {256});
  for (int i = 0; i < 256; ++i) x.set(i, i);
  launch.tensors = {x, y};
  Ran ran{launch.run(), {}};
  for (int i = 0; i < 256; ++i) ran.y.push_back(launch.tensors[1].at(i));
  return ran;
}

TEST(Tiles, LoadsTransposeAndFillWithZeros) {
  const Ran whole = run(R"(
  %a: f32.acc.8x8 = tile_load %x[%c0, %c8, %c8, %c8] transposed
  tile_store %y[%c0, %c8, %c8, %c8], %a)");
  ASSERT_EQ(whole.error, "");
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 8; ++c) EXPECT_EQ(whole.y[static_cast<std::size_t>(r * 8 + c)], c * 8 + r);
  const Ran ragged = run(R"(
  %c3: u32 = const 3
  %c5: u32 = const 5
  %a: f32.acc.8x8 = tile_load %x[%c0, %c8, %c3, %c5]
  tile_store %y[%c0, %c8, %c8, %c8], %a)");
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 8; ++c)
      EXPECT_EQ(ragged.y[static_cast<std::size_t>(r * 8 + c)], r < 3 && c < 5 ? r * 8 + c : 0);
}

TEST(Tiles, ProductsMapsAndRows) {
  const Ran ran = run(R"(
  %a: f32.lhs.8x8 = tile_load %x[%c0, %c8, %c8, %c8]
  %b: f32.rhs.8x8 = tile_load %x[%c8, %c8, %c8, %c8]
  %z: f32.acc.8x8 = tile_fill %f0
  %p: f32.acc.8x8 = tile_mma %z, %a, %b
  %m: f32.rows.8x1 = tile_reduce max %p
  %q: f32.acc.8x8 = tile_map %p, %m (%v: f32, %top: f32, %row: u32, %col: u32) {
    %d: f32 = sub %top, %v
    %k: f32 = load %x[%col]
    %o: f32 = add %d, %k
    yield %o
  }
  tile_store %y[%c0, %c8, %c8, %c8], %q)");
  ASSERT_EQ(ran.error, "");
  for (int r = 0; r < 8; ++r) {
    double product[8], top = -1e30;
    for (int c = 0; c < 8; ++c) {
      product[c] = 0;
      for (int k = 0; k < 8; ++k) product[c] += (r * 8 + k) * (8 + k * 8 + c);
      top = std::max(top, product[c]);
    }
    for (int c = 0; c < 8; ++c) EXPECT_EQ(ran.y[static_cast<std::size_t>(r * 8 + c)], top - product[c] + c);
  }
}

TEST(Tiles, BoundsRacesAndUnwrittenMemory) {
  EXPECT_EQ(run("%c250: u32 = const 250\n%a: f32.acc.8x8 = tile_load %x[%c250, %c8, %c8, %c8] ; k.cpp:3\n"
                "tile_store %y[%c0, %c8, %c8, %c8], %a")
                .error.substr(0, 61),
            "k.cpp:3: [k] tile_load of x[256] is outside its 256 elements ");
  EXPECT_EQ(run("%a: f32.acc.8x8 = tile_load %s[%c0, %c8, %c8, %c8] ; k.cpp:3\ntile_store %y[%c0, %c8, %c8, %c8], %a")
                .error.substr(0, 84),
            "k.cpp:3: [k] tile_load of threadgroup array s[0] reads memory that nothing has writt");
  // Two simdgroups write one tile.
  EXPECT_EQ(
      run("%a: f32.acc.8x8 = tile_fill %f0\ntile_store %y[%c0, %c8, %c8, %c8], %a ; k.cpp:3", 64).error.substr(0, 28),
      "k.cpp:3: [k] race on y[0]: t");
  EXPECT_EQ(run("store %s[%t], %f0 ; k.cpp:2\n%a: f32.acc.8x8 = tile_load %s[%c0, %c4, %c4, %c8] ; k.cpp:3\n"
                "tile_store %y[%c0, %c8, %c8, %c8], %a")
                .error.substr(0, 40),
            "k.cpp:3: [k] race on threadgroup array s");
}

/// 32 threads copy 4 elements each; then the kernel reads them.
std::string copied(const std::string& between, const std::string& exist = "%c4") {
  return "copy_async %s[%base], %x[%base], " + exist + " of 4 ; k.cpp:2\n" + between +
         "\n%o1: u32 = bit_xor %t, %c4\n%v: f32 = load %s[%o1] ; k.cpp:4\nstore %y[%t], %v";
}

TEST(Copies, ArriveAtTheWaitAndAreSharedBehindABarrier) {
  const Ran ran = run(copied("copy_commit\ncopy_wait 0\nbarrier"));
  ASSERT_EQ(ran.error, "");
  for (int t = 0; t < 32; ++t) EXPECT_EQ(ran.y[static_cast<std::size_t>(t)], t ^ 4);
  const std::string unwritten = "k.cpp:4: [k] load of threadgroup array s[4] reads memory that nothing has written";
  EXPECT_EQ(run(copied("copy_commit\nbarrier")).error.substr(0, unwritten.size()), unwritten);
  EXPECT_EQ(run(copied("copy_wait 0\nbarrier")).error.substr(0, unwritten.size()), unwritten);  // never committed
  EXPECT_EQ(run(copied("copy_commit\ncopy_wait 1\nbarrier")).error.substr(0, unwritten.size()), unwritten);
  EXPECT_EQ(run(copied("copy_commit\ncopy_commit\ncopy_wait 1\nbarrier")).error, "");
  EXPECT_EQ(run(copied("copy_commit\ncopy_wait 0")).error.substr(0, 32), "k.cpp:4: [k] race on threadgroup");
}

TEST(Copies, WhatDoesNotExistIsZeroAndNotRead) {
  const Ran ran = run(copied("copy_commit\ncopy_wait 0\nbarrier", "%c0"));
  ASSERT_EQ(ran.error, "");
  for (int t = 0; t < 32; ++t) EXPECT_EQ(ran.y[static_cast<std::size_t>(t)], 0);
  const std::string beyond =
      "%far: u32 = const 254\n%c2: u32 = const 2\ncopy_async %s[%base], %x[%far], %E of 4 ; k.cpp:2\ncopy_commit\n"
      "copy_wait 0\nbarrier\n%v: f32 = load %s[%t]\nstore %y[%t], %v";
  const auto with = [&](const char* exist) {
    std::string text = beyond;
    return text.replace(text.find("%E"), 2, exist);
  };
  EXPECT_EQ(run(with("%c2")).error, "");
  EXPECT_EQ(run(with("%c4")).error.substr(0, 62), "k.cpp:2: [k] copy_async of x[256] is outside its 256 elements ");
}

}  // namespace
}  // namespace mt::interp
