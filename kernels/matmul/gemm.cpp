// Products of matrices of any size: out = a b, with a and b as they are or transposed in memory; or alpha a b + beta c.
// Forms of the same: of many matrices each product takes two by their numbers (gather); each makes its product of one
// range of the depth (segmented); blocks of a, b and out count as zero where their masks say so (masked).
//
// A threadgroup makes a tile of bm x bn elements, its simdgroups parts of it. GPUs stage tiles of a and b in
// threadgroup memory, `stages` deep; a CPU packs them straight from the matrices.
// Where a product has few tiles its depth is split among threadgroups, and a second launch adds the parts up.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

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

enum class Form { Plain, Gather, Segmented, Masked };

/// What a form reads beside its matrices.
template <Form>
struct Choice {};
template <>
struct Choice<Form::Gather> {  // numbers beyond the last matrix mean the last one
  In<u32> left{"lhs_indices", {"products"}, Fill::index("n_a")}, right{"rhs_indices", {"products"}, Fill::index("n_b")};
  Size n_a{"n_a"}, n_b{"n_b"};
};
template <>
struct Choice<Form::Segmented> {  // where each begins and ends; nothing lies beyond k, or where it ends before it
                                  // begins
  In<u32> segments{"segments", {"products", 2}, Fill::index("k", 1)};
};
template <>
struct Choice<Form::Masked> {  // 0: the block counts as zeros, whatever it holds
  In<u8> out{"out_mask", {"blocks_m", "blocks_n"}, Fill::integers(0, 2)};
  In<u8> left{"lhs_mask", {"blocks_m", "blocks_k"}, Fill::integers(0, 2)};
  In<u8> right{"rhs_mask", {"blocks_k", "blocks_n"}, Fill::integers(0, 2)};
};

template <Storage T, bool kATransposed, bool kBTransposed, Form kForm = Form::Plain>
struct Gemm {
  static std::vector<Dim> shape(const char* rows, const char* cols, const char* of = nullptr) {
    return of ? std::vector<Dim>{of, rows, cols} : std::vector<Dim>{rows, cols};
  }
  static constexpr bool kGather = kForm == Form::Gather, kMasked = kForm == Form::Masked;
  static constexpr bool kMany = kGather || kForm == Form::Segmented;  // products
  In<T> a{"a", kATransposed ? shape("k", "m", kGather ? "n_a" : nullptr) : shape("m", "k", kGather ? "n_a" : nullptr)};
  In<T> b{"b", kBTransposed ? shape("n", "k", kGather ? "n_b" : nullptr) : shape("k", "n", kGather ? "n_b" : nullptr)};
  Choice<kForm> choice;
  Out<T> out{"out", shape("m", "n", kMany ? "products" : nullptr)};
  Temp<f32> parts{"parts", {kMaxSplits, "m", "n"}};
  Size m{"m"}, n{"n"}, k{"k"};
  Tunable bm{"bm", 64}, bn{"bn", 64}, bk{"bk", 32};  // the tile, and the depth of a step
  Tunable simds_m{"simds_m", 2, {1, 2, 4, 8}}, simds_n{"simds_n", 2, {1, 2, 4, 8}};  // that share the tile
  Tunable depth{"depth", 16, {8, 16, 32, 64}};                                       // of one product of a simdgroup
  Tunable ring{"stages", 2, {1, 2, 3, 4, 5, 6}};  // tiles in threadgroup memory; 0: none
  Tunable splits{"splits", 1};                    // of the depth
  Tunable behind{"behind", 0, {0, 1}};            // products that run on into the next step
  Tunable raster{"raster", 8};                    // rows of tiles that are walked together

  std::optional<Addend<T>> addend;
  int block = 0;        // that a mask counts, a square
  bool panels = false;  // the right operand lies in panels, for products of teams

  void plan(const Problem& p, TargetTraits traits) {
    const std::int64_t rows = p["m"], cols = p["n"];
    panels = false;
    if (kMasked) {  // a tile and a step lie within one block each
      block = static_cast<int>(p["block"]);
      simds_m = simds_n = traits.gpu ? 2 : 1;
      ring = traits.gpu ? 2 : 0;
      bm = bn = block == 32 ? 32 : 64;
      bk = !traits.gpu ? int{bm} : size_of(dtype_of<T>) == 4 ? 16 : 32;
      depth = !traits.gpu ? int{bk} : size_of(dtype_of<T>) == 4 ? 8 : 16;
      return;
    }
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
    if (traits.teams && !wide && rows > 64 && cols > 64) {  // each simdgroup has 16 rows or 32, and all columns
      panels = true;
      const bool many = ceil_div(rows, 128) * ceil_div(cols, 256) >= 128;
      bm = 128;
      bn = many ? 256 : 128;
      bk = depth = kPanelColumns;
      simds_m = 8;
      simds_n = 1;
      ring = 4;
      behind = 1;
    }
    // Large GPUs have some 132 cores: so many tiles fill them once.
    const std::int64_t tiles = ceil_div(rows, bm) * ceil_div(cols, bn), steps = ceil_div(p["k"], bk);
    int parts_wanted = 1;
    while (!kMany && large && parts_wanted < kMaxSplits && tiles * parts_wanted * 2 <= 160 &&
           steps >= parts_wanted * 2 * 8)
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
    require(behind == 0 || bk == depth, "products run on into the next step where each has one: bk = depth");
    if (panels)
      require(bk % kPanelColumns == 0 && bn % kPanelColumns == 0, "panels take multiples of 64 for bk and bn");
    if (kForm == Form::Plain)
      require(splits >= 1 && splits <= kMaxSplits, "there must be 1 to 16 splits");
    else
      require(splits == 1, "only products of whole matrices can be split");
    if (kGather)
      require((p["n_a"] > 0 && p["n_b"] > 0) || p["products"] == 0, "products need matrices: n_a > 0 and n_b > 0");
    if (kMasked) {
      require(block == 32 || block == 64, "block must be 32 or 64");
      require(block % bm == 0 && block % bn == 0 && block % bk == 0, "bm, bn and bk must divide block");
      require(p["blocks_m"] == ceil_div(p["m"], block) && p["blocks_n"] == ceil_div(p["n"], block) &&
                  p["blocks_k"] == ceil_div(p["k"], block),
              "blocks_m, blocks_n and blocks_k must be m, n and k in blocks");
    }
    return {.groups = {ceil_div(p["m"], bm) * ceil_div(p["n"], bn), kMany ? p["products"] : splits},
            .threads = kLanes * simds_m * simds_n};
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

    Sums sums;
    for (int c = 0; c < cols_of_simd(); c += piece())
      sums.push_back(std::make_unique<TileVar<Acc>>(Acc::fill(rows_of_simd(), piece(), 0.f)));
    const Range own = range(row, col);
    if (ring == 0) {
      const Matrix<T> left = kATransposed ? matrix(left_view(), m, own.end, m) : matrix(left_view(), k, m, own.end);
      const Matrix<T> right = kBTransposed ? matrix(right_view(), k, n, own.end) : matrix(right_view(), n, own.end, n);
      for_(own.steps, [&](U32 step) {
        const U32 d = own.begin + step * int{bk};
        where_kept(row, col, d, [&] {
          const Lhs<T> x = left_part(left, row + own_row, d);
          *sums[0] = mma(sums[0]->get(), x, right_part(right, col + own_col, d));
        });
      });
    } else {
      staged(sums, row, col, own_row, own_col, own);
    }
    int c = 0;
    for (const auto& sum : sums) {
      put(sum->get(), row + own_row, col + own_col + c);
      c += piece();
    }
  }
  void put(const Acc& sum, const U32& first_row, const U32& first_col) const {
    if (splits > 1) return store(matrix(parts.at(group_id(1)), n, m, n).at(first_row, first_col), sum);
    const auto to = matrix(out_view(), n, m, n).at(first_row, first_col);
    if (!addend) return store(to, sum);
    store(to, map(sum, [&](F32 v, U32 r, U32 c) {
            // Elements outside the matrix are not stored; they look at one inside.
            return with_addend(v, addend->c.at(min(first_row + r, m - 1u), min(first_col + c, n - 1u)).load(0));
          }));
  }
  View<T, true, false> left_view() const {
    if constexpr (kGather)
      return a.at(min(choice.left.load(group_id(1)), choice.n_a - 1u));
    else
      return a;
  }
  View<T, true, false> right_view() const {
    if constexpr (kGather)
      return b.at(min(choice.right.load(group_id(1)), choice.n_b - 1u));
    else
      return b;
  }
  View<T, false, true> out_view() const {
    if constexpr (kMany)
      return out.at(group_id(1));
    else
      return out;
  }
  /// Of the depth, what this threadgroup adds up: `steps` steps from `begin` on, and nothing from `end` on.
  struct Range {
    U32 begin, end, steps;
  };
  Range range(const U32& row, const U32& col) const {
    if constexpr (kForm == Form::Segmented) {
      const auto segment = choice.segments.row(group_id(1));
      const U32 end = min(segment.load(1), k), begin = min(segment.load(0), end);
      return {begin, end, (end - begin + (bk - 1)) / int{bk}};
    }
    const U32 all = (k + (bk - 1)) / int{bk};
    if constexpr (kMasked) {
      const Bool kept = choice.out.at(row / block, col / block).load(0) != 0;
      return {U32(0), U32(k), select(kept, all, 0u)};
    }
    if (splits == 1) return {U32(0), U32(k), all};
    const U32 share = (all + (splits - 1)) / int{splits}, first = min(group_id(1) * share, all);
    return {first * int{bk}, U32(k), min(share, all - first)};
  }
  /// body() unless a mask takes the blocks of this step for zeros.
  template <class F>
  void where_kept(const U32& row, const U32& col, const U32& d, F&& body) const {
    if constexpr (kMasked)
      if_((choice.left.at(row / block, d / block).load(0) != 0) &
              (choice.right.at(d / block, col / block).load(0) != 0),
          body);
    else
      body();
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
  static int panel_of(int col) { return col / kPanelColumns * kPanelColumns; }
  /// Columns of the product in one tile of a simdgroup: all, or those of a panel.
  int piece() const { return panels && !kBTransposed ? kPanelColumns : cols_of_simd(); }
  /// `depth` columns of the left from (i, d) on.
  Lhs<T> left_part(const Matrix<T>& left, const U32& i, const U32& d) const {
    return kATransposed ? load_lhs_t(left.at(d, i), rows_of_simd(), depth)
                        : load_lhs(left.at(i, d), rows_of_simd(), depth);
  }
  /// `depth` rows of the right from (d, j) on.
  Rhs<T> right_part(const Matrix<T>& right, const U32& j, const U32& d) const {
    return kBTransposed ? load_rhs_t(right.at(j, d), depth, piece()) : load_rhs(right.at(d, j), depth, piece());
  }
  /// What they share of the columns of the threadgroup's tile.
  using Sums = std::vector<std::unique_ptr<TileVar<Acc>>>;
  void staged(const Sums& sums, const U32& row, const U32& col, const U32& own_row, const U32& own_col,
              const Range& own) const {
    const View<T, true, false> from_a = left_view(), from_b = right_view();
    const Layout layout = panels ? Layout::Panels : Layout::Plain;
    const TileRing<T> left("left", kATransposed ? bk : bm, kATransposed ? bm : bk, ring, RingOf::Group,
                           kATransposed ? Layout::Plain : layout);
    const TileRing<T> right("right", kBTransposed ? bn : bk, kBTransposed ? bk : bn, ring, RingOf::Group, layout);
    const auto fetch = [&](const U32& step, const U32& slot) {
      const U32 d = own.begin + step * int{bk};
      if (kATransposed)
        left.fetch(slot, from_a, d, row, own.end, m, cast<u64>(m));
      else
        left.fetch(slot, from_a, row, d, m, own.end, cast<u64>(k));
      if (kBTransposed)
        right.fetch(slot, from_b, col, d, n, own.end, cast<u64>(k));
      else
        right.fetch(slot, from_b, d, col, own.end, n, cast<u64>(n));
    };
    pipelined(
        own.steps, ring, RingOf::Group, fetch,
        [&](const U32& step, const U32& slot) {
          where_kept(row, col, own.begin + step * int{bk}, [&] {
            for (int d = 0; d < bk; d += depth) {
              const Lhs<T> x = panels && !kATransposed ? left_part(left.at(slot, panel_of(d)), own_row,
                                                                   U32(static_cast<u32>(d % kPanelColumns)))
                                                       : left_part(left.at(slot), own_row, U32(d));
              int c = 0;
              for (const auto& sum : sums) {
                const Rhs<T> y = !panels        ? right_part(right.at(slot), own_col, U32(d))
                                 : kBTransposed ? right_part(right.at(slot, panel_of(d)), own_col,
                                                             U32(static_cast<u32>(d % kPanelColumns)))
                                                : right_part(right.at(slot, c), U32(0), U32(d));
                *sum = mma(sum->get(), x, y);
                c += piece();
              }
            }
          });
        },
        behind * (cols_of_simd() / piece()));
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
    if constexpr (kGather)
      return {{"out", oracle::gathered_matmul(in["a"], in["b"], in["lhs_indices"], in["rhs_indices"], p)}};
    if constexpr (kForm == Form::Segmented)
      return {{"out", oracle::segmented_matmul(in["a"], in["b"], in["segments"], p)}};
    oracle::Masks masks;
    if constexpr (kMasked) {
      masks = {&in["out_mask"], &in["lhs_mask"], &in["rhs_mask"], block};
      p.masks = &masks;
    }
    return {{"out", oracle::matmul(in["a"], in["b"], p)}};
  }
  static Problem problem(std::int64_t rows, std::int64_t cols, std::int64_t deep) {
    return {{"m", rows}, {"n", cols}, {"k", deep}};
  }
  Problems tests_of_form() const {
    Problems all;
    const auto of = [](Problem p, std::int64_t products) { return p.with("products", products); };
    if constexpr (kGather) {
      const auto from = [&](const Problem& p, std::int64_t products, std::int64_t lefts, std::int64_t rights) {
        all.push_back(of(p, products).with("n_a", lefts).with("n_b", rights));
        return all.back();
      };
      from(problem(1, 1, 1), 3, 2, 5);
      from(problem(17, 33, 70), 7, 4, 3);
      from(problem(65, 127, 40), 3, 3, 1);
      from(problem(130, 70, 129), 2, 1, 6);
      from(problem(5, 7, 0), 2, 2, 2);
      from(problem(5, 0, 8), 2, 2, 2);
      from(problem(5, 7, 8), 0, 2, 2);
      const Problem wild = from(problem(34, 50, 40), 4, 3, 5);
      all.push_back(wild.with_edges());
      all.push_back(wild.with_element("lhs_indices", 1, 7).with_element("rhs_indices", 2, 4294967295.));
    }
    if constexpr (kForm == Form::Segmented) {
      for (const auto& [rows, cols, deep] :
           {std::array{1, 1, 1}, {17, 33, 70}, {65, 127, 300}, {130, 70, 129}, {5, 7, 0}, {0, 7, 8}})
        all.push_back(of(problem(rows, cols, deep), 5));
      const Problem p = of(problem(34, 50, 320), 3);
      all.push_back(of(p, 0));
      all.push_back(p.with_edges());
      // Side by side, empty, and beyond the end.
      const auto segments = [&](std::initializer_list<double> ends) {
        Problem q = of(p, static_cast<std::int64_t>(ends.size() / 2));
        for (std::size_t i = 0; i < ends.size(); ++i)
          q = q.with_element("segments", static_cast<std::int64_t>(i), ends.begin()[i]);
        all.push_back(q);
      };
      segments({0, 128, 128, 129, 129, 320});
      segments({7, 7, 300, 20, 0, 320, 319, 4294967295.});
    }
    if constexpr (kMasked)
      for (const int size : {32, 64}) {
        const auto masked = [&](const Problem& p) {
          return p.with("block", size)
              .with("blocks_m", ceil_div(p["m"], size))
              .with("blocks_n", ceil_div(p["n"], size))
              .with("blocks_k", ceil_div(p["k"], size));
        };
        for (const auto& [rows, cols, deep] :
             {std::array{1, 1, 1}, {64, 64, 64}, {200, 333, 170}, {65, 127, 300}, {130, 70, 129}, {5, 7, 0}, {0, 7, 8}})
          all.push_back(masked(problem(rows, cols, deep)));
        all.push_back(masked(problem(134, 150, 140)).with_edges());
      }
    return all;
  }
  Problems tests() const {
    if constexpr (kForm != Form::Plain) return tests_of_form();
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
  Problems benches() const {
    const Problem large = problem(1024, 1024, 1024);
    if constexpr (kGather) return {large.with("products", 8).with("n_a", 8).with("n_b", 8)};
    if constexpr (kForm == Form::Segmented) return {large.with("products", 4)};
    if constexpr (kMasked)
      return {large.with("block", 64).with("blocks_m", 16).with("blocks_n", 16).with("blocks_k", 16)};
    return {large, problem(4096, 4096, 4096), problem(32, 4096, 4096)};
  }
  Work work(const Problem& p) const {
    const double size = size_of(dtype_of<T>), rows = static_cast<double>(p["m"]), cols = static_cast<double>(p["n"]),
                 deep = static_cast<double>(p["k"]);
    // Of masked products and segments, at most: what they read is said by tensors.
    const double products = kMany ? static_cast<double>(p["products"]) : 1;
    const double lefts = kGather ? static_cast<double>(std::min(p["n_a"], p["products"])) : 1,
                 rights = kGather ? static_cast<double>(std::min(p["n_b"], p["products"])) : 1;
    return {.read = (lefts * rows + rights * cols) * deep * size + (addend ? rows * cols * size : 0),
            .written = products * rows * cols * size,
            .flops = (kGather ? products : 1) * 2 * rows * cols * deep};
  }
  std::vector<std::string> batch() const {
    if (kMany) return {"products"};
    return {};
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
template <class T>
using GatherNn = Gemm<T, false, false, Form::Gather>;
template <class T>
using GatherNt = Gemm<T, false, true, Form::Gather>;
template <class T>
using Segmented = Gemm<T, false, false, Form::Segmented>;
template <class T>
using Masked = Gemm<T, false, false, Form::Masked>;

const bool registered = [] {
  kernel<GemmNn>("mt_steel_gemm", Floats{});
  kernel<GemmNt>("mt_steel_gemm_nt", Floats{});
  kernel<GemmTn>("mt_steel_gemm_tn", Floats{});
  kernel<GemmTt>("mt_steel_gemm_tt", Floats{});
  kernel<GemmNn>("mt_steel_gemm_addmm", Floats{}, [](auto& k) { k.addend.emplace(); });
  kernel<GatherNn>("mt_steel_gemm_gather", Floats{});
  kernel<GatherNt>("mt_steel_gemm_gather_nt", Floats{});
  kernel<Segmented>("mt_steel_gemm_segmented", Floats{});
  kernel<Masked>("mt_steel_gemm_masked", Floats{});
  return true;
}();

}  // namespace
}  // namespace mt
