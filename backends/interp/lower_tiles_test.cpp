// Tiles as the interpreter runs them and as lower_tiles makes them for each matrix unit give the same numbers. All
// values are small multiples of a power of two, so that sums are exact in any order.
#include <fmt/format.h>

#include <algorithm>

#include "backends/interp/testing.h"
#include "mt/ir/matrix_unit.h"
#include "mt/ir/tile_chain.h"
#include "mt/ir/verify.h"
#include "mt/passes/lower_tiles.h"

namespace mt::interp {
namespace {

Launch launch_of(const TileChain& c) {
  Launch l{.kernel = tile_chain(c)};
  const std::vector<int> counts = tile_chain_counts(c);
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const Memory& m = l.kernel.memories[n];
    l.tensors.emplace_back(m.name, m.dtype, std::vector<std::int64_t>{counts[n]});
    for (int i = 0; i < counts[n]; ++i)
      l.tensors.back().set(i, ((i * 7 + i / 5 * 3 + static_cast<int>(n)) % 9 - 4) * 0.25);
  }
  l.scalars = tile_chain_scalars(c);
  return l;
}

struct Target {
  const char* name;
  TileLowering tiles;
};
const Target kTargets[] = {
    {"apple", {true, MatrixUnit::Simd8, MatrixUnit::Simd8, false, false}},
    {"nvidia", {true, MatrixUnit::Mma16, MatrixUnit::Fma, true, true}},
    {"nvidia without load_matrix", {true, MatrixUnit::Mma16, MatrixUnit::Fma, false, false}},
    {"no unit", {true, MatrixUnit::Fma, MatrixUnit::Fma, false, false}},
};

/// Runs the case as it is, lowered, and through all passes; says how often load_matrix and copy_async stand in the
/// text of the kernel for "nvidia".
void expect_same(const TileChain& c, int* matrix_loads = nullptr, int* copies = nullptr) {
  SCOPED_TRACE(c.name());
  Launch expected = launch_of(c);
  ASSERT_EQ(verify(expected.kernel), "") << print(expected.kernel);
  ASSERT_EQ(expected.run(), "") << print(expected.kernel);
  for (const Target& target : kTargets)
    for (const bool all : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", target.name, all ? "all passes" : "lowered"));
      Launch l = launch_of(c);
      const PipelineOptions options{.tiles = target.tiles, .verify_each = false};
      if (all) {
        optimise(l.kernel, options);
      } else {
        ASSERT_TRUE(lower_tiles(l.kernel, options));
        compact(l.kernel);
      }
      ASSERT_EQ(verify(l.kernel), "") << print(l.kernel);
      const auto count = [&](const std::string& prefix) {
        return static_cast<int>(std::count_if(l.kernel.insts.begin(), l.kernel.insts.end(),
                                              [&](const Inst& i) { return info(i.op).name.starts_with(prefix); }));
      };
      EXPECT_EQ(count("tile_"), 0) << print(l.kernel);
      if (matrix_loads && target.tiles.load_matrix) *matrix_loads = count("load_matrix");
      if (copies && target.tiles.copy_async) *copies = count("copy_async");
      if (!target.tiles.copy_async) {
        EXPECT_EQ(count("copy_"), 0) << print(l.kernel);
      }
      ASSERT_EQ(l.run(), "") << print(l.kernel);
      for (std::size_t n = 0; n < l.tensors.size(); ++n)
        for (std::int64_t i = 0; i < l.tensors[n].count(); ++i)
          ASSERT_EQ(l.tensors[n].at(i), expected.tensors[n].at(i)) << l.tensors[n].name << "[" << i << "]\n"
                                                                   << print(l.kernel);
    }
}

TEST(LowerTiles, EveryDtypeShapeAndOrientation) {
  for (const DType t : {DType::BF16, DType::F16, DType::F32})
    for (const bool lhs_t : {false, true})
      for (const bool rhs_t : {false, true})
        for (const auto& [rows, cols, depth] : {std::array{16, 16, 16}, {32, 16, 32}, {16, 48, 16}})
          if ((rows == 16 && cols == 16) || lhs_t != rhs_t)
            expect_same({.t = t,
                         .rows = rows,
                         .cols = cols,
                         .depth = depth,
                         .lhs_t = lhs_t,
                         .rhs_t = rhs_t,
                         .known = lhs_t,
                         .m = rows,
                         .n = cols,
                         .k = 2 * depth});
}

TEST(LowerTiles, RaggedEdgesAreNeitherReadNorWritten) {
  for (const DType t : {DType::BF16, DType::F32})
    for (const bool turned : {false, true})
      for (const auto& [m, n, k] : {std::array{13, 16, 32}, {16, 9, 32}, {16, 16, 21}, {1, 1, 1}, {15, 15, 33}})
        expect_same({.t = t, .lhs_t = turned, .rhs_t = turned, .m = m, .n = n, .k = k, .pad = 3});
}

TEST(LowerTiles, ThroughThreadgroupMemory) {
  for (const DType t : {DType::BF16, DType::F16, DType::F32})
    for (const bool lhs_t : {false, true})
      for (const bool rhs_t : {false, true}) {
        const bool known = lhs_t == rhs_t;
        const TileChain c{.t = t,
                          .cols = t == DType::BF16 ? 48 : 32,
                          .depth = t == DType::F16 ? 32 : 16,
                          .lhs_t = lhs_t,
                          .rhs_t = rhs_t,
                          .shared = true,
                          .known = known,
                          .n = t == DType::BF16 ? 48 : 32,
                          .k = t == DType::F16 ? 64 : 32,
                          .copy = 16 / size_of(t)};
        int loads = 0, copies = 0;
        expect_same(c, &loads, &copies);
        EXPECT_EQ(loads > 0, t != DType::F32);
        EXPECT_GT(copies, 0);
      }
}

TEST(LowerTiles, ThreadgroupMemoryThatIsNotAligned) {
  for (const int pad : {1, 2, 4}) {
    int loads = 0, copies = 0;
    expect_same({.shared = true, .pad = pad, .copy = 8}, &loads, &copies);
    EXPECT_EQ(loads, 0);
    EXPECT_EQ(copies > 0, pad > 1);
    expect_same({.shared = true, .m = 13, .n = 11, .k = 19, .pad = pad, .copy = 4});
  }
  int loads = 0;
  expect_same({.shared = true, .first = 4}, &loads);
  EXPECT_EQ(loads, 0);
}

TEST(LowerTiles, AShapeThatNoUnitTakesSaysWhatToWrite) {
  for (const auto& [rows, cols, depth] : {std::array{24, 16, 16}, {16, 16, 8}}) {
    Kernel k = tile_chain({.rows = rows, .cols = cols, .depth = depth, .m = rows, .k = 16});
    try {
      lower_tiles(k, {.tiles = kTargets[1].tiles});
      ADD_FAILURE() << "took " << rows << " x " << cols << " x " << depth;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("multiples of 16"), std::string::npos) << e.what();
    }
  }
}

TEST(LowerTiles, NotesSayHowAndWhy) {
  const auto notes = [](const TileChain& c, const TileLowering& tiles) {
    std::string text;
    for (const std::string& n : tile_notes(tile_chain(c), {.tiles = tiles})) text += n + "\n";
    return text;
  };
  const std::string good = notes({.shared = true}, kTargets[1].tiles);
  EXPECT_NE(good.find("tile_load bf16.lhs.16x16: load_matrix"), std::string::npos) << good;
  EXPECT_NE(good.find("not in threadgroup memory"), std::string::npos) << good;
  EXPECT_NE(good.find("blocks of 16 x 8 x 16 by mma16"), std::string::npos) << good;
  EXPECT_NE(good.find("copies of 16 bytes behind the work"), std::string::npos) << good;
  const std::string odd = notes({.shared = true, .pad = 1}, kTargets[1].tiles);
  EXPECT_NE(odd.find("not known to be a multiple of 8"), std::string::npos) << odd;
  EXPECT_NE(odd.find("loads and stores (its places"), std::string::npos) << odd;
}

}  // namespace
}  // namespace mt::interp
