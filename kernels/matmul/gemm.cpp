// Products of matrices of any size: out = a b, with a and b as they are or transposed in memory; or alpha a b + beta c.
//
// A threadgroup makes a tile of bm x bn elements, its simdgroups parts of it. GPUs stage tiles of a and b in
// threadgroup memory, `stages` deep; a CPU packs them straight from the matrices.
// Where a product has few tiles its depth is split among threadgroups, and a second launch adds the parts up.
#include <algorithm>
#include <optional>

#include "kernels/lib/tile_ring.h"
#include "mt/oracle/matmul.h"

namespace mt {
namespace {

constexpr int kMaxSplits = 16;

/// alpha a b + beta c.
template <Storage T>
struct Addend {
  In<T> c{"c", {"m", "n"}, Fill::normal().without_edges()};
  Scalar<f32> alpha{"alpha", 1}, beta{"beta", 1};
};

template <Storage T, bool kATransposed, bool kBTransposed>
struct Gemm {
  In<T> a{"a", kATransposed ? std::vector<Dim>{"k", "m"} : std::vector<Dim>{"m", "k"}};
  In<T> b{"b", kBTransposed ? std::vector<Dim>{"n", "k"} : std::vector<Dim>{"k", "n"}};
  Out<T> out{"out", {"m", "n"}};
  Temp<f32> parts{"parts", {kMaxSplits, "m", "n"}};
  Size m{"m"}, n{"n"}, k{"k"};
  Tunable bm{"bm", 64}, bn{"bn", 64}, bk{"bk", 32};  // the tile, and the depth of a step
  Tunable simds_m{"simds_m", 2, {1, 2, 4, 8}}, simds_n{"simds_n", 2, {1, 2, 4, 8}};  // that share the tile
  Tunable depth{"depth", 16, {8, 16, 32, 64}};                                       // of one product of a simdgroup
  Tunable ring{"stages", 2, {1, 2, 3, 4, 5, 6}};  // tiles in threadgroup memory; 0: none
  Tunable splits{"splits", 1};                    // of the depth
  Tunable raster{"raster", 8};                    // rows of tiles that are walked together

  std::optional<Addend<T>> addend;

  void plan(const Problem& p, TargetTraits traits) {
    const std::int64_t rows = p["m"], cols = p["n"];
    if (!traits.gpu) {
      simds_m = simds_n = 1;
      ring = 0;
      bm = rows <= 16 ? 16 : rows <= 64 ? 64 : 128;
      bn = 128;
      bk = 128;
      depth = int{bk};
      raster = 1;
      return;
    }
    const bool large = traits.threadgroup_kib > 64, wide = size_of(dtype_of<T>) == 4;
    bm = large && rows > 64 ? 128 : rows > 32 ? 64 : 32;
    bn = large && cols > 64 ? 128 : 64;
    bk = wide ? 16 : 32;
    depth = wide ? 8 : 16;
    simds_m = bm >= 64 ? 2 : 1;
    simds_n = 2;
    ring = large ? 4 : 2;
    // Large GPUs have some 132 cores: so many tiles fill them once.
    const std::int64_t tiles = ceil_div(rows, bm) * ceil_div(cols, bn), steps = ceil_div(p["k"], bk);
    int parts_wanted = 1;
    while (large && parts_wanted < kMaxSplits && tiles * parts_wanted * 2 <= 160 && steps >= parts_wanted * 2 * 8)
      parts_wanted *= 2;
    splits = parts_wanted;
  }
  int rows_of_simd() const { return bm / simds_m; }
  int cols_of_simd() const { return bn / simds_n; }

  Stages<Gemm> stages() const {
    if (splits == 1) return {{"", &Gemm::product_launch, &Gemm::multiply}};
    return {{"parts", &Gemm::product_launch, &Gemm::multiply}, {"sum", &Gemm::sum_launch, &Gemm::sum_parts}};
  }
  Launch product_launch(const Problem& p) const {
    require(bm % (16 * simds_m) == 0 && bn % (16 * simds_n) == 0,
            "bm and bn must give each simdgroup a multiple of 16 rows and columns");
    require(bk % depth == 0 && depth % 8 == 0, "bk must be a multiple of depth, and that of 8");
    require(splits >= 1 && splits <= kMaxSplits, "there must be 1 to 16 splits");
    return {.groups = {ceil_div(p["m"], bm) * ceil_div(p["n"], bn), splits}, .threads = kLanes * simds_m * simds_n};
  }
  Launch sum_launch(const Problem& p) const {
    return {.groups = {map_groups(p["m"] * p["n"], 4, 256)}, .threads = 256};
  }

  void multiply() const {
    const U32 tiles_m = (m + (bm - 1)) / int{bm}, tiles_n = (n + (bn - 1)) / int{bn};
    // Tiles of `raster` rows of tiles follow each other column by column: they share what they read.
    const U32 id = group_id(), band = tiles_n * int{raster};
    const U32 top = id / band * int{raster}, height = min(tiles_m - top, static_cast<u32>(raster)), place = id % band;
    const U32 row = (top + place % height) * int{bm}, col = place / height * int{bn};
    const U32 own_row = simd_id() / int{simds_n} * rows_of_simd(), own_col = simd_id() % int{simds_n} * cols_of_simd();

    TileVar<Acc> acc(Acc::fill(rows_of_simd(), cols_of_simd(), 0.f));
    // The steps of this split.
    const U32 all = (k + (bk - 1)) / int{bk}, share = (all + (splits - 1)) / int{splits};
    const U32 begin = splits == 1 ? U32(0) : min(group_id(1) * share, all);
    const U32 steps = splits == 1 ? all : min(share, all - begin);
    if (ring == 0) {
      const Matrix<T> left = kATransposed ? matrix(a, m, k, m) : matrix(a, k, m, k);
      const Matrix<T> right = kBTransposed ? matrix(b, k, n, k) : matrix(b, n, k, n);
      for_(steps,
           [&](U32 step) { acc = product(acc, left, right, row + own_row, col + own_col, (begin + step) * int{bk}); });
    } else {
      staged(acc, row, col, own_row, own_col, begin, steps);
    }
    const U32 first_row = row + own_row, first_col = col + own_col;
    if (splits > 1) {
      store(matrix(parts.at(group_id(1)), n, m, n).at(first_row, first_col), acc.get());
      return;
    }
    if (addend)
      acc = map(acc.get(), [&](F32 v, U32 r, U32 c) {
        // Elements outside the matrix are not stored; they look at one inside.
        return with_addend(v, addend->c.at(min(first_row + r, m - 1u), min(first_col + c, n - 1u)).load(0));
      });
    store(matrix(out, n, m, n).at(first_row, first_col), acc.get());
  }
  F32 with_addend(const F32& v, const F32& c) const { return fma(v, addend->alpha, c * addend->beta); }
  void sum_parts() const {
    map_(cast<u64>(m) * cast<u64>(n), 4, [&](U64 i, int lanes) {
      VecVar<f32> total(parts.at(0).load(i, lanes));
      for (int s = 1; s < splits; ++s) total += parts.at(s).load(i, lanes);
      if (addend)
        total = fma(as_value(total), splat(F32(addend->alpha), lanes), addend->c.load(i, lanes) * addend->beta);
      out.store(i, as_value(total));
    });
  }
  /// acc plus `depth` columns of the left from (i, d) on times `depth` rows of the right from (d, j) on.
  Acc product(const Acc& acc, const Matrix<T>& left, const Matrix<T>& right, const U32& i, const U32& j,
              const U32& d) const {
    const Lhs<T> x = kATransposed ? load_lhs_t(left.at(d, i), rows_of_simd(), depth)
                                  : load_lhs(left.at(i, d), rows_of_simd(), depth);
    const Rhs<T> y = kBTransposed ? load_rhs_t(right.at(j, d), depth, cols_of_simd())
                                  : load_rhs(right.at(d, j), depth, cols_of_simd());
    return mma(acc, x, y);
  }
  void staged(TileVar<Acc>& acc, const U32& row, const U32& col, const U32& own_row, const U32& own_col,
              const U32& begin, const U32& steps) const {
    const TileRing<T> left("left", kATransposed ? bk : bm, kATransposed ? bm : bk, ring);
    const TileRing<T> right("right", kBTransposed ? bn : bk, kBTransposed ? bk : bn, ring);
    const auto fetch = [&](const U32& step, const U32& slot) {
      const U32 d = (begin + step) * int{bk};
      if (kATransposed)
        left.fetch(slot, a, d, row, k, m, cast<u64>(m));
      else
        left.fetch(slot, a, row, d, m, k, cast<u64>(k));
      if (kBTransposed)
        right.fetch(slot, b, col, d, n, k, cast<u64>(k));
      else
        right.fetch(slot, b, d, col, k, n, cast<u64>(n));
    };
    pipelined(steps, ring, RingOf::Group, fetch, [&](const U32&, const U32& slot) {
      for (int d = 0; d < bk; d += depth) acc = product(acc, left.at(slot), right.at(slot), own_row, own_col, U32(d));
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    oracle::Matmul p{.m = in.size("m"),
                     .n = in.size("n"),
                     .k = in.size("k"),
                     .a_transposed = kATransposed,
                     .b_transposed = kBTransposed};
    if (addend) {
      p.addend = &in["c"];
      p.alpha = in.real("alpha");
      p.beta = in.real("beta");
    }
    return {{"out", oracle::matmul(in["a"], in["b"], p)}};
  }
  static Problem problem(std::int64_t rows, std::int64_t cols, std::int64_t deep) {
    return {{"m", rows}, {"n", cols}, {"k", deep}};
  }
  Problems tests() const {
    Problems all;
    for (const auto& [rows, cols, deep] : {std::array{1, 1, 1},
                                           {16, 16, 16},
                                           {17, 33, 70},
                                           {64, 64, 64},
                                           {65, 127, 129},
                                           {128, 256, 104},
                                           {3, 200, 512},
                                           {200, 1, 40},
                                           {1, 150, 33},
                                           {130, 40, 1},
                                           {0, 5, 8},
                                           {5, 0, 8},
                                           {5, 7, 0},
                                           {72, 136, 264}})
      all.push_back(problem(rows, cols, deep));
    if (!addend) all.push_back(problem(34, 50, 40).with_edges());
    if (addend) all.push_back(problem(34, 50, 40).with_real("alpha", -0.5).with_real("beta", 3));
    for (const int parts_wanted : {2, 4, 16}) {
      all.push_back(problem(20, 40, 300).with_tunable("splits", parts_wanted));
      all.push_back(problem(33, 65, 31).with_tunable("splits", parts_wanted));
    }
    return all;
  }
  Problems benches() const { return {problem(1024, 1024, 1024), problem(4096, 4096, 4096), problem(32, 4096, 4096)}; }
  Work work(const Problem& p) const {
    const double size = size_of(dtype_of<T>), rows = static_cast<double>(p["m"]), cols = static_cast<double>(p["n"]),
                 deep = static_cast<double>(p["k"]);
    return {.read = (rows + cols) * deep * size + (addend ? rows * cols * size : 0),
            .written = rows * cols * size,
            .flops = 2 * rows * cols * deep};
  }
};

template <class T>
using GemmNn = Gemm<T, false, false>;
template <class T>
using GemmNt = Gemm<T, false, true>;
template <class T>
using GemmTn = Gemm<T, true, false>;
template <class T>
using GemmTt = Gemm<T, true, true>;

const bool registered = [] {
  kernel<GemmNn>("mt_steel_gemm", Floats{});
  kernel<GemmNt>("mt_steel_gemm_nt", Floats{});
  kernel<GemmTn>("mt_steel_gemm_tn", Floats{});
  kernel<GemmTt>("mt_steel_gemm_tt", Floats{});
  kernel<GemmNn>("mt_steel_gemm_addmm", Floats{}, [](auto& k) { k.addend.emplace(); });
  return true;
}();

}  // namespace
}  // namespace mt
