// Tiles in the text form, and what the verifier says of them.
#include <gtest/gtest.h>

#include "mt/ir/matrix_unit.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"

namespace mt {
namespace {

const char* const kTiles = R"(kernel @tiles threads 64 {
  device in %x: bf16 [n]
  device out %y: f32 [n]
  threadgroup %s: bf16 [1024]
  scalar %n: u32

  %n1: u32 = param %n
  %stride: u32 = const 16
  %f0: f32 = const 0.0
  %lane: u32 = lane_id
  %a: bf16.lhs.16x16 = tile_load %s[%stride, %stride, %n1, %n1]
  %b: bf16.rhs.16x32 = tile_load %s[%stride, %stride, %n1, %n1] transposed
  %c: f32.acc.16x32 = tile_fill %f0
  %r: f32.rows.16x1 = tile_fill %f0
  %d: f32.acc.16x32 = tile_mma %c, %a, %b
  %e: f32.rows.16x1 = tile_reduce max %d
  %g: f32.acc.16x32 = tile_map %d, %e (%v: f32, %m: f32, %row: u32, %col: u32) {
    %w: f32 = sub %v, %m
    yield %w
  }
  %h: bf16.lhs.16x32 = tile_cast %g
  %p: f32.acc.16x32 = for %i: u32 = %stride to %n1 step %stride with (%q: f32.acc.16x32 = %g) {
    %t: f32.acc.16x32 = tile_mma %q, %a, %b
    yield %t
  }
  tile_store %y[%stride, %stride, %n1, %n1], %p
  tile_store %y[%stride, %stride, %n1, %n1], %r
  copy_async %s[%stride], %x[%n1], %n1 of 8 align 8
  copy_commit
  copy_wait 1
  %z: bf16x8 = load_matrix %s[%lane] transposed
  %four: f32x4 = splat %f0
  %k: bf16x4 = load %s[%lane]
  %u: f32x4 = mma_block %four, %z, %k, mma16
  store %y[%lane], %f0
}
)";

/// What is said of the kernel above with one piece of text replaced; empty where it is sound.
std::string said(const std::string& from, const std::string& to) {
  std::string text = kTiles;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const Result<Kernel> k = parse(text.replace(at, from.size(), to));
  if (k) return "";
  const std::string what = k.error().what();
  const std::size_t name = what.find("[tiles] ");
  return name == std::string::npos ? what : what.substr(name + 8);
}

TEST(Tiles, PrintAndParseBackToTheSame) {
  const Kernel k = parse(kTiles).take();
  EXPECT_EQ(print(k), kTiles);
  EXPECT_EQ(verify(k), "");
  EXPECT_EQ(to_string(tile_type(TileRole::Lhs, DType::F16, 8, 24)), "f16.lhs.8x24");
}

TEST(Tiles, ShapesRolesAndTypes) {
  EXPECT_EQ(said("%a: bf16.lhs.16x16", "%a: bf16.lhs.16x12"),
            "bf16.lhs.16x12 cannot be; sides of tiles are multiples of 8, at most 1024");
  EXPECT_EQ(said("%c: f32.acc.16x32", "%c: f16.acc.16x32"),
            "tile_fill makes an acc or rows tile of an f32, not f16.acc.16x32 of f32");
  EXPECT_EQ(said("tile_mma %c, %a, %b", "tile_mma %c, %b, %a"),
            "tile_mma takes an acc, an lhs and an rhs, not f32.acc.16x32, bf16.rhs.16x32 and bf16.lhs.16x16");
  EXPECT_EQ(said("%a: bf16.lhs.16x16", "%a: bf16.lhs.16x24"),
            "bf16.lhs.16x24 times bf16.rhs.16x32 does not add to f32.acc.16x32");
  EXPECT_EQ(said("%h: bf16.lhs.16x32", "%h: bf16.lhs.32x16"),
            "tile_cast makes an lhs of an acc of its shape, not bf16.lhs.32x16 of f32.acc.16x32");
  EXPECT_EQ(said("tile_reduce max %d", "tile_reduce xor %d"), "tile_reduce takes sum, prod, min or max");
  EXPECT_EQ(said("tile_load %s[", "tile_load %y["), "tile_load of bf16.lhs.16x16 from 'y', which holds f32");
  EXPECT_EQ(said("tile_store %y[", "tile_store %x["), "tile_store to 'x', which is an input; declare it out or inout");
  EXPECT_EQ(said("%w: f32 = sub %v, %m", "%w: f32 = sub %v, %m\n%bad: f32.acc.16x32 = neg %d"),
            "neg takes no tile (f32.acc.16x32); use map() for its elements");
  EXPECT_EQ(said("of 8 align 8", "of 3"), "copy_async moves 4, 8 or 16 bytes");
  EXPECT_EQ(said("copy_async %s[%stride], %x[%n1]", "copy_async %x[%stride], %s[%n1]"),
            "copy_async copies from device to threadgroup memory");
  EXPECT_EQ(said("load_matrix %s[%lane]", "load_matrix %x[%lane]"), "load_matrix reads threadgroup memory");
  EXPECT_EQ(said("%z, %k, mma16", "%z, %k, simd8"), "mma_block of simd8 takes 2, 2 and 2 elements");
}

TEST(Tiles, WhatTheRegionOfAMapMayDo) {
  EXPECT_EQ(said("%w: f32 = sub %v, %m", "barrier\n%w: f32 = sub %v, %m"),
            "tile_map computes elements by pure operations and loads, without barrier; lanes are not elements");
  EXPECT_EQ(said("%w: f32 = sub %v, %m", "%l: u32 = lane_id\n%w: f32 = sub %v, %m"),
            "tile_map computes elements by pure operations and loads, without lane_id; lanes are not elements");
  EXPECT_EQ(said("%w: f32 = sub %v, %m", "%l: f32 = cast %lane\n%w: f32 = sub %v, %l"),
            "map() uses a value that differs between lanes; elements of a tile know their row and column");
  EXPECT_EQ(said("%w: f32 = sub %v, %m", "%l: f32 = cast %row\n%w: f32 = sub %v, %l"), "");
  EXPECT_EQ(said("(%v: f32, %m: f32, %row: u32, %col: u32)", "(%v: f32, %m: f32, %row: u32)"),
            "the region of tile_map takes the elements, the row and the column, and yields one f32");
}

TEST(Tiles, OperandsAreEqualOnAllLanes) {
  EXPECT_EQ(said("%a: bf16.lhs.16x16 = tile_load %s[%stride", "%a: bf16.lhs.16x16 = tile_load %s[%lane"),
            "an operand of tile_load differs between the lanes that hold the tile; use what is equal on all");
  EXPECT_EQ(said("  copy_commit\n",
                 "  copy_commit\n%few: bool = lt %lane, %stride\nif %few {\n"
                 "tile_store %y[%stride, %stride, %n1, %n1], %r\n}\n"),
            "tile_store is reached by a part of the simdgroup; move it out of the if_ or loop whose condition differs "
            "between lanes");
}

TEST(MatrixUnit, EveryElementOfABlockHasAPlaceAndReplicasAgree) {
  for (int u = 0; u < kMatrixUnits; ++u) {
    const UnitInfo& unit = info(static_cast<MatrixUnit>(u));
    for (const TileRole role : {TileRole::Acc, TileRole::Lhs, TileRole::Rhs}) {
      const BlockLayout& l = unit.of(role);
      std::vector<int> held(static_cast<std::size_t>(l.rows * l.cols));
      for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < l.count(); ++e) {
          const auto [r, c] = l.at(lane, e);
          ASSERT_TRUE(r >= 0 && r < l.rows && c >= 0 && c < l.cols) << unit.name;
          ++held[static_cast<std::size_t>(r * l.cols + c)];
        }
      for (const int h : held) EXPECT_EQ(h, 32 * l.count() / (l.rows * l.cols)) << unit.name << name_of(role);
    }
    EXPECT_EQ(unit.lhs.cols, unit.rhs.rows);
    EXPECT_EQ(unit.acc.rows, unit.lhs.rows);
    EXPECT_EQ(unit.acc.cols, unit.rhs.cols);
  }
}

}  // namespace
}  // namespace mt
