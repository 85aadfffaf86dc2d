// Attention of whole sequences: every query of a head over the keys of its KV head, causal or not.
//
// A threadgroup takes the queries of some rows of a head, its simdgroups `rows` each; tiles of `keys` keys and values
// go by. Queries are the last of the sequence where it is causal: query r sees keys up to r + k_len - q_len. Values of
// keys that are hidden from a query share a product with it, at a weight of 0: they must be finite.
#include "kernels/lib/flash.h"
#include "kernels/lib/tile_ring.h"
#include "mt/oracle/attention.h"

namespace mt {
namespace {

constexpr int kMaxDim = 256;

template <Storage T>
struct Prefill {
  In<T> q{"q", {"batch", "n_q_heads", "q_len", "head_dim"}, Fill::normal(0, 2)};
  In<T> k{"k", {"batch", "n_kv_heads", "k_len", "head_dim"}};
  In<T> v{"v", {"batch", "n_kv_heads", "k_len", "head_dim"}};
  Out<T> out{"out", {"batch", "n_q_heads", "q_len", "head_dim"}};
  Size q_len{"q_len"}, k_len{"k_len"}, n_q_heads{"n_q_heads"}, n_kv_heads{"n_kv_heads"};
  Scalar<f32> scale{"scale", 0.08838834764831845};
  Tunable simds{"simds", 4, {1, 2, 4, 8}};
  Tunable rows{"rows", 16, {16, 32, 64}};                 // queries of a simdgroup
  Tunable keys{"keys", 32, {8, 16, 32, 64, 128}};         // of a tile
  Tunable stages{"stages", 1, {0, 1, 2, 3}};              // tiles in threadgroup memory; 0: none
  Tunable piece{"piece", 16, {16, 32, 64, 128, 256}};     // columns of the values in one product
  Tunable depth{"depth", 16, {8, 16, 32, 64, 128, 256}};  // of one product of queries and keys
  bool causal = true, hold_query = true;
  int dim = 0;

  void contract(const Problem& p) const {
    const std::int64_t d = p["head_dim"];
    require(d > 0 && d % 32 == 0 && d <= kMaxDim, "head_dim must be a multiple of 32 up to 256");
    require(p["n_kv_heads"] > 0 && p["n_q_heads"] % p["n_kv_heads"] == 0,
            "the query heads must divide evenly among the KV heads");
  }
  void plan(const Problem& p, TargetTraits traits) {
    contract(p);
    dim = static_cast<int>(p["head_dim"]);
    if (!traits.gpu) {
      simds = 1;
      rows = 64;
      keys = 128;
      stages = 0;
      piece = dim;
      depth = dim;
      return;
    }
    const std::int64_t room = traits.threadgroup_kib * 1024;
    const bool wide = size_of(dtype_of<T>) == 4;
    hold_query = !wide && dim <= 128;
    simds = 4;
    rows = 16;
    stages = room > 64 * 1024 ? 2 : 1;
    int fit = wide || dim > 128 ? 32 : 64;
    while (fit > 8 && 2 * TileRing<T>::bytes(fit, dim, stages) > room) fit /= 2;
    keys = fit;
    piece = 16;
    depth = wide ? 8 : 16;
  }
  Launch launch(const Problem& p) const {
    require(dim % depth == 0 && dim % piece == 0, "depth and piece must divide head_dim");
    return {.groups = {ceil_div(p["q_len"], simds * rows), p["n_q_heads"], p["batch"]}, .threads = simds * kLanes};
  }

  void body() const {
    const int together = simds * rows;
    const U32 head = group_id(1), batch = group_id(2), kv_head = head / (n_q_heads / n_kv_heads);
    // The last queries see most keys: they start first.
    const U32 tiles = (q_len + (together - 1)) / together;
    const U32 first = (tiles - 1u - group_id()) * together, own = first + simd_id() * int{rows};
    const auto asked = matrix(q.at(batch, head), dim, q_len, dim).at(own, 0);
    const auto load_query = [&](int i) { return load_lhs(asked.at(0, i * depth), rows, depth); };
    // Held from tile to tile, or read again for each where registers are short.
    const auto held = each(hold_query ? dim / depth : 0, load_query);
    const auto query = [&](int i) { return hold_query ? held[static_cast<std::size_t>(i)] : load_query(i); };
    const U32 seen = causal ? after(first + together + k_len, q_len) : U32(k_len);
    const U32 end = min(k_len, seen), steps = (end + (keys - 1)) / int{keys};
    const F32 to_base2 = scale * kLog2E;

    Flash walk(rows, dim, piece);
    const auto visit = [&](const U32& step, const Matrix<T>& key, const Matrix<T>& value) {
      const U32 from = step * int{keys};
      TileVar<Acc> logits(Acc::fill(rows, keys, 0.f));
      for (int i = 0; i < dim / depth; ++i)
        logits = mma(logits.get(), query(i), load_rhs_t(key.at(0, i * depth), depth, keys));
      logits = map(logits.get(), [&](F32 s, U32, U32) { return s * to_base2; });
      const U32 last = from + int{keys};
      const Bool inside = last <= k_len, whole = causal ? inside & (last + q_len <= own + k_len + 1u) : inside;
      if_(!whole, [&] {
        logits = map(logits.get(), [&](F32 s, U32 r, U32 c) {
          const U32 at = from + c;
          const Bool exists = at < k_len;
          return select(causal ? exists & (at + q_len <= own + r + k_len) : exists, s, -inf);
        });
      });
      walk.add<T>(logits, [&](int d, int width) { return load_rhs(value.at(0, d), keys, width); });
    };
    const auto key_rows = k.at(batch, kv_head), value_rows = v.at(batch, kv_head);
    if (stages == 0) {
      const Matrix<T> all_keys = matrix(key_rows, dim, k_len, dim), all_values = matrix(value_rows, dim, k_len, dim);
      for_(steps, [&](U32 step) { visit(step, all_keys.at(step * int{keys}, 0), all_values.at(step * int{keys}, 0)); });
    } else {
      const TileRing<T> key_ring("keys", keys, dim, stages), value_ring("values", keys, dim, stages);
      const auto fetch = [&](const U32& step, const U32& slot) {
        const U32 from = step * int{keys};
        key_ring.fetch(slot, key_rows, from, 0, k_len, dim, dim);
        value_ring.fetch(slot, value_rows, from, 0, k_len, dim, dim);
      };
      pipelined(steps, stages, RingOf::Group, fetch,
                [&](const U32& step, const U32& slot) { visit(step, key_ring.at(slot), value_ring.at(slot)); });
    }
    const Rows inverse = walk.inverse();
    const auto result = matrix(out.at(batch, head), dim, q_len, dim).at(own, 0);
    walk.each_piece([&](int d, const Acc& sum) {
      store(result.at(0, d), map(sum, inverse, [](F32 o, F32 i, U32, U32) { return o * i; }));
    });
  }
  /// a - b, or 0.
  static U32 after(const U32& a, const Size& b) { return a - min(a, b); }

  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::attention(in["q"], in["k"], in["v"],
                                      {.heads = in.size("batch") * in.size("n_q_heads"),
                                       .kv_heads = in.size("batch") * in.size("n_kv_heads"),
                                       .queries = in.size("q_len"),
                                       .head_dim = in.size("head_dim"),
                                       .n_kv = in.size("k_len"),
                                       .scale = in.real("scale"),
                                       .causal = causal,
                                       .weights = kOperandRounding<T>})
                        .output}};
  }
  static Problem problem(int batch, int q_heads, int kv_heads, int queries, int n, int d) {
    return Problem{{"batch", batch},   {"n_q_heads", q_heads}, {"n_kv_heads", kv_heads},
                   {"q_len", queries}, {"k_len", n},           {"head_dim", d}}
        .with_real("scale", 1 / std::sqrt(static_cast<double>(d)));
  }
  Problems tests() const {
    Problems all;
    for (const auto& [queries, n] : {std::array{1, 1}, {1, 70}, {16, 16}, {33, 47}, {64, 64}, {65, 200}, {130, 130}})
      all.push_back(problem(1, 2, 1, queries, n, 64));
    all.push_back(problem(2, 4, 2, 40, 40, 128));
    all.push_back(problem(1, 3, 3, 20, 50, 96));
    all.push_back(problem(1, 2, 2, 40, 60, 256));
    all.push_back(problem(1, 1, 1, 50, 20, 64));  // the first queries see nothing
    all.push_back(problem(1, 1, 1, 9, 0, 64));
    all.push_back(problem(1, 8, 1, 40, 150, 64).with_real("scale", 2));
    for (const int count : {0, 1, 2, 3})
      all.push_back(problem(1, 2, 1, 40, 150, 32).with_tunable("stages", count).with_tunable("keys", 16));
    for (const double sign : {-1, 1})
      all.push_back(problem(1, 1, 1, 20, 150, 32).with_values(Values::Rising).with_real("scale", sign * 200));
    return all;
  }
  Problems benches() const { return {problem(1, 32, 8, 512, 512, 128), problem(1, 32, 8, 4096, 4096, 128)}; }
  Work work(const Problem& p) const {
    const double size = size_of(dtype_of<T>), d = static_cast<double>(p["head_dim"]),
                 batch = static_cast<double>(p["batch"]), queries = static_cast<double>(p["q_len"]),
                 n = static_cast<double>(p["k_len"]), heads = static_cast<double>(p["n_q_heads"]);
    const double pairs = causal ? std::max(0.0, queries * n - queries * (queries - 1) / 2) : queries * n;
    return {.read = batch * d * size * (heads * queries + 2 * static_cast<double>(p["n_kv_heads"]) * n),
            .written = batch * heads * queries * d * size,
            .flops = 4 * batch * heads * pairs * d};
  }
  std::vector<std::string> batch() const { return {"batch"}; }
};

const bool registered = [] {
  kernel<Prefill>("mt_sdpa_prefill", Floats{});
  kernel<Prefill>("mt_sdpa_full", Floats{}, [](auto& k) { k.causal = false; });
  return true;
}();

}  // namespace
}  // namespace mt
