// Products of matrices with quantised ones: out[m, n] = Σ_k weight[n, k] * x[m, k], where a weight is scale * code +
// bias, or scale * code with codes and scales that are small floating-point numbers.
//
// Codes stand row-major in 32-bit words, scales and biases are those of groups of neighbours in a row. A threadgroup
// unpacks a tile of weights into threadgroup memory, rounded once to T, and its simdgroups multiply it with a tile of
// x.
//
// With experts each row of x belongs to one of several matrices: rows are sorted by expert, and a list says where each
// expert's rows begin. A threadgroup finds its tile of rows in that list; tiles never reach over two experts.
#include <algorithm>
#include <optional>

#include "kernels/lib/tile_ring.h"
#include "kernels/lib/weights.h"

namespace mt {
namespace {

/// Rows of expert e are those from offsets[e] to offsets[e + 1] (ascending); the first begins at row 0 and the last
/// ends with x, whatever the ends of the list say.
struct Experts {
  In<u32> offsets{"expert_offsets", {"n_offsets"}, Fill::constant(0)};
  Size n_offsets{"n_offsets"};
};

template <Storage T, bool kExperts, class Groups>
struct Qmm {
  static constexpr bool kFloat = std::same_as<Groups, FloatGroups>;
  In<u32> w{"w", of_expert("words"), Fill::bits()};
  Groups of_groups{of_expert("groups")};
  In<T> x{"x", {"m", "k"}};
  Out<T> out{"out", {"m", "n"}};
  Size m{"m"}, n{"n"}, k{"k"}, words{"words"}, groups{"groups"};
  Tunable bm{"bm", 32}, bn{"bn", 64}, bk{"bk", 32};
  Tunable simds_m{"simds_m", 1, {1, 2, 4}}, simds_n{"simds_n", 4, {1, 2, 4, 8}};
  Tunable depth{"depth", 16, {8, 16, 32, 64, 128}};
  Tunable stages{"stages", 2, {2, 3, 4}};  // tiles of x and of weights
  std::optional<Experts> experts;
  int bits = 4;
  int group = 0;
  bool gpu = true;

  Qmm() {
    if (kExperts) experts.emplace();
  }
  static std::vector<Dim> of_expert(const char* columns) {
    if (kExperts) return {"n_experts", "n", columns};
    return {"n", columns};
  }

  /// Codes that a thread unpacks: whole words of one group, or of two.
  int run() const { return group == 16 ? 16 : 32; }

  void plan(const Problem& p, TargetTraits traits) {
    group = static_cast<int>(of_groups.size(p));
    gpu = traits.gpu;
    const bool large = traits.threadgroup_kib > 64;
    const std::int64_t rows = p["m"];
    bm = rows <= 16 ? 16 : rows <= 32 || !large ? 32 : rows <= 64 ? 64 : 128;
    bn = 64;
    bk = traits.gpu ? size_of(dtype_of<T>) == 4 ? 32 : 64 : 128;
    if (bk > 32 && !large && traits.gpu) bk = 32;
    depth = size_of(dtype_of<T>) == 4 ? 8 : 16;
    simds_m = bm >= 64 ? 2 : 1;
    simds_n = 4;
    if (!traits.gpu) {
      simds_m = simds_n = 1;
      // Rows of a tile that do not exist take as long as others: tiles of up to 128 rows that share out what there is.
      const std::int64_t own = kExperts ? ceil_div(rows, std::max<std::int64_t>(1, p["n_experts"])) : rows;
      const std::int64_t each = ceil_div(own, std::max<std::int64_t>(1, ceil_div(own, 128)));
      bm = static_cast<int>(std::max<std::int64_t>(1, ceil_div(each, 16)) * 16);
      bn = 128;
      depth = int{bk};
    }
  }
  /// Whether a lane unpacks a row of the matrix, so that a simdgroup writes neighbours in a row of the tile: vectors of
  /// lanes are cheap then. Else lanes take what is neighbours in memory.
  bool lane_a_row() const { return !gpu && bn % kLanes == 0; }
  int rows_of_simd() const { return bm / simds_m; }
  int cols_of_simd() const { return bn / simds_n; }

  Launch launch(const Problem& p) const {
    require_groups(p, of_groups.size(p), bits, kFloat);
    require(bm % (16 * simds_m) == 0 && bn % (16 * simds_n) == 0,
            "bm and bn must give each simdgroup a multiple of 16 rows and columns");
    require(bk % depth == 0 && bk % 32 == 0, "bk must be a multiple of depth and of 32");
    if (kExperts)
      require(p["n_experts"] >= 1 && p["n_offsets"] == p["n_experts"] + 1, "n_offsets must be n_experts + 1");
    const std::int64_t tiles = ceil_div(p["m"], bm);  // every expert may end with a part of one
    const std::int64_t most = kExperts ? std::min(tiles + p["n_experts"] - 1, p["m"]) : tiles;
    return {.groups = {ceil_div(p["n"], bn), most}, .threads = kLanes * simds_m * simds_n};
  }

  /// The rows from `row` to `end` of x, and the matrix that they meet.
  struct Part {
    U32 row, end, expert;
  };
  void body() const {
    if constexpr (!kExperts) {
      tile({group_id(1) * int{bm}, m, U32(0)});
    } else {
      Var<u32> row(m), end(0u), expert(0u), before(0u);  // tiles of the experts before
      const U32 own = group_id(1), last = experts->n_offsets - 2u;
      for_(experts->n_offsets - 1u, [&](U32 e) {
        const U32 begin = select(e == 0, 0u, min(experts->offsets.load(e), m));
        const U32 stop = select(e == last, m, min(experts->offsets.load(e + 1u), m));
        const U32 tiles = (stop - min(begin, stop) + (bm - 1)) / int{bm};
        const Bool mine = (own >= before) & (own - before < tiles);
        row = select(mine, begin + (own - before) * int{bm}, row);
        end = select(mine, stop, end);
        expert = select(mine, e, expert);
        before = before + tiles;
      });
      if_(row < end, [&] { tile({row, end, expert}); });
    }
  }
  void tile(const Part& part) const {
    const U32 col = group_id() * int{bn};
    const U32 own_row = simd_id() / int{simds_n} * rows_of_simd(), own_col = simd_id() % int{simds_n} * cols_of_simd();
    const U32 steps = (k + (bk - 1)) / int{bk};
    const TileRing<T> left("left", bm, bk, stages),
        right("right", lane_a_row() ? bk : bn, lane_a_row() ? bn : bk, stages);
    TileVar<Acc> acc(Acc::fill(rows_of_simd(), cols_of_simd(), 0.f));
    const auto fetch = [&](const U32& step, const U32& slot) {
      left.fetch(slot, x, part.row, step * int{bk}, part.end, k, cast<u64>(k));
      unpack(right, slot, part.expert, col, step * int{bk});
    };
    pipelined(steps, stages, RingOf::Group, fetch, [&](const U32&, const U32& slot) {
      for (int d = 0; d < bk; d += depth)
        acc = mma(acc.get(), load_lhs(left.at(slot).at(own_row, d), rows_of_simd(), depth),
                  lane_a_row() ? load_rhs(right.at(slot).at(d, own_col), depth, cols_of_simd())
                               : load_rhs_t(right.at(slot).at(own_col, d), depth, cols_of_simd()));
    });
    store(matrix(out, n, part.end, n).at(part.row + own_row, col + own_col), of_groups.finish(acc.get()));
  }
  template <class Tensor>
  static auto line(const Tensor& t, const U32& expert, const U32& row) {
    if constexpr (kExperts)
      return t.at(expert, row);
    else
      return t.at(row);
  }
  /// Weights of rows from `col` and codes from `first` on, into a tile [n][k], or [k][n] where a lane has a row; 0
  /// beyond the matrix.
  void unpack(const TileRing<T>& to, const U32& slot, const U32& expert, const U32& col, const U32& first) const {
    const int own = run(), runs = bk / own;
    if (lane_a_row()) {
      for_simds(bn / kLanes * runs, [&](U32 i) {
        const U32 r = i / runs * kLanes + lane_id(), c = i % runs * own;
        unpack_run(expert, col + r, first + c, [&](auto&& weight) {
          for (int e = 0; e < own; ++e) to.put(to.place(slot, c + e, r), pack(1, [&](int) { return weight(e); }));
        });
      });
    } else {
      share_out(bn * runs, thread_id(), threads(), [&](U32 i) {
        const U32 r = i / runs, c = i % runs * own, target = to.place(slot, r, c);
        unpack_run(expert, col + r, first + c, [&](auto&& weight) {
          for (int e = 0; e < own; e += 8) to.put(target + e, pack(8, [&](int j) { return weight(e + j); }));
        });
      });
    }
  }
  /// put(weight): weight(e) is that of code `code` + e in a row.
  template <class F>
  void unpack_run(const U32& expert, const U32& row, const U32& code, F&& put) const {
    const int own = run();
    if_((row < n) & (code < k), [&] {
      const auto codes = line(w, expert, row);
      const U32 word = code / own * (own * bits / 32), g = code / group;
      std::vector<U32> packed;
      for (int j = 0; j < own * bits / 32; ++j) packed.push_back(codes.load(word + j));
      const auto factors = of_groups.factors([&](const auto& t) { return line(t, expert, row); }, g);
      put([&](int e) {
        const int bit = e * bits, at = bit / 32, shift = bit % 32;
        const U32 low = packed[static_cast<std::size_t>(at)] >> shift;
        const bool straddles = shift + bits > 32;
        const U32 value = straddles ? low | packed[static_cast<std::size_t>(at + 1)] << (32 - shift) : low;
        return of_groups.weight(of_groups.alone(value, bits), factors);
      });
      // Equivalent if zero_is_one: columns behind the last are not stored, and codes behind the last meet zeros of x.
    }).else_([&] { put([&](int) { return F32(0.f); }); });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    const oracle::OperandRounding rounding = kOperandRounding<T>;
    if constexpr (kFloat) {
      const oracle::FloatWeights weights = of_groups.of_oracle(in);
      if (kExperts)
        return {{"out", oracle::float_quantised_matmul_of_experts(in["x"], in["w"], in["scales"], in["expert_offsets"],
                                                                  weights, rounding, 1)}};
      return {{"out", oracle::float_quantised_matmul(in["x"], in["w"], in["scales"], weights, rounding, 1)}};
    } else {
      const std::int64_t size = in.size("group_size");
      if (kExperts)
        return {{"out", oracle::quantised_matmul_of_experts(in["x"], in["w"], in["scales"], in["biases"],
                                                            in["expert_offsets"], bits, size, rounding, 1)}};
      return {{"out", oracle::quantised_matmul(in["x"], in["w"], in["scales"], in["biases"], bits, size, rounding, 1)}};
    }
  }
  /// `size`: of a group, where the format does not say it.
  Problem problem(std::int64_t rows, std::int64_t cols, std::int64_t deep, std::int64_t size) const {
    if constexpr (kFloat) size = of_groups.format.group;
    const Problem p{{"m", rows}, {"n", cols}, {"k", deep}, {"words", deep * bits / 32}, {"groups", deep / size}};
    return kFloat ? p : p.with("group_size", size);
  }
  /// The same with experts of so many rows each.
  static Problem shared(Problem p, const std::vector<int>& counts) {
    p = p.with("n_experts", static_cast<std::int64_t>(counts.size()));
    p = p.with("n_offsets", static_cast<std::int64_t>(counts.size()) + 1);
    int begin = 0;
    for (std::size_t e = 0; e < counts.size(); ++e) {
      p = p.with_element("expert_offsets", static_cast<std::int64_t>(e), begin);
      begin += counts[e];
    }
    return p.with_element("expert_offsets", static_cast<std::int64_t>(counts.size()), begin);
  }
  Problems tests() const {
    Problems all;
    if (kExperts) {
      all.push_back(shared(problem(1, 1, 32, 32), {1}));
      all.push_back(shared(problem(40, 65, 64, 64), {40, 0}));
      all.push_back(shared(problem(53, 40, 128, 64), {0, 17, 0, 33, 3}));
      all.push_back(shared(problem(100, 70, 96, 32), {1, 64, 2, 33}));
      all.push_back(shared(problem(6, 8, 64, 64), {1, 1, 1, 1, 1, 1, 0, 0}));
      all.push_back(shared(problem(0, 8, 64, 64), {0, 0}));
      // As many tiles as there can be, and all of them needed.
      all.push_back(shared(problem(1240, 1, 32, 32), std::vector<int>(40, 31)).with_tunable("bm", 16));
      all.push_back(shared(problem(70, 70, 96, 32), {33, 37}).with_tunable("bm", 32).with_tunable("simds_m", 2));
      return all;
    }
    for (const auto& [rows, cols, deep, size] : {std::array{1, 1, 32, 32},
                                                 {16, 64, 64, 64},
                                                 {17, 65, 192, 64},
                                                 {33, 40, 128, 128},
                                                 {70, 130, 320, 64},
                                                 {130, 70, 96, 32},
                                                 {0, 8, 64, 64},
                                                 {4, 0, 64, 64},
                                                 {3, 5, 0, 64}})
      all.push_back(problem(rows, cols, deep, size));
    all.push_back(problem(50, 70, 96, 32).with_tunable("bm", 32).with_tunable("simds_m", 2));
    if constexpr (kFloat) {
      const Problem p = problem(5, 9, 160, 0);
      // The largest numbers and the least ones; a NaN among them.
      all.push_back(p.with_element("w", 1, bits == 8 ? 0x7e017efe : 0x7f81ffff).with_element("scales", 2, 1));
      if (bits == 8) all.push_back(p.with_element("w", 21, 0x01ff0203));
      all.push_back(of_groups.with_nan_scale(p, 6).with_element("scales", 11, 0));
      if (of_groups.size(p) == 16) {
        all.push_back(problem(3, 5, 16, 0).with_real("global_scale", 0.375));
        all.push_back(problem(17, 70, 208, 0).with_real("global_scale", -3e4).with_element("scales", 3, 0xc1));
      }
    }
    return all;
  }
  Problems benches() const {
    if (kExperts) return {shared(problem(512, 1536, 4096, 64), std::vector<int>(64, 8))};
    return {problem(16, 4096, 4096, 64), problem(64, 4096, 4096, 64), problem(512, 4096, 4096, 64)};
  }
  Work work(const Problem& p) const {
    const double size = size_of(dtype_of<T>), rows = static_cast<double>(p["m"]), cols = static_cast<double>(p["n"]),
                 deep = static_cast<double>(p["k"]);
    const double matrices = kExperts ? static_cast<double>(p["n_experts"]) : 1;
    return {.read = matrices * cols *
                        (static_cast<double>(p["words"]) * 4 + static_cast<double>(p["groups"]) * Groups::kBytes) +
                    rows * deep * size,
            .written = rows * cols * size,
            .flops = 2 * rows * cols * deep};
  }
  /// The depth is summed in the same steps whatever tiles the rows make.
  std::vector<std::string> batch() const {
    if (kExperts) return {};
    return {"m"};
  }
};

template <class T>
using Single = Qmm<T, false, AffineGroups<T>>;
template <class T>
using OfExperts = Qmm<T, true, AffineGroups<T>>;
template <class T>
using FloatSingle = Qmm<T, false, FloatGroups>;
template <class T>
using FloatOfExperts = Qmm<T, true, FloatGroups>;

const bool registered = [] {
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    const std::string name = "_b" + std::to_string(bits);
    kernel<Single>("mt_qmm_mma" + name, Floats{}, [bits](auto& k) { k.bits = bits; });
    kernel<OfExperts>("mt_moe_gather_qmm_mma" + name, Floats{}, [bits](auto& k) { k.bits = bits; });
  }
  for (const FloatFormat& f : kFloatFormats) {
    const std::string name = std::string("_") + f.name;
    kernel<FloatSingle>("mt_qmm_mma" + name, Floats{}, [f](auto& k) { set_format(k, f); });
    kernel<FloatOfExperts>("mt_moe_gather_qmm_mma" + name, Floats{}, [f](auto& k) { set_format(k, f); });
  }
  return true;
}();

}  // namespace
}  // namespace mt
