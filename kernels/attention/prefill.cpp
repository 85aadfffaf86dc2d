// Attention of whole sequences: every query of a head over the keys of its KV head, causal or not.
//
// A threadgroup takes the queries of some rows of a head, its simdgroups `rows` each; tiles of `keys` keys and values
// go by. Queries are the last of the sequence where it is causal: query r sees keys up to r + k_len - q_len, and with a
// window the last `window` of those. A mask [batch or 1, n_q_heads or 1, q_len or 1, k_len] is added to the scaled
// logits, -inf hiding a key, or shows the keys where it is not 0. A query that sees no key gives 0, as in PyTorch; MLX
// gives the mean of all values or NaN, by kernel. Values of keys that are hidden from a query share a product with it,
// at a weight of 0: they must be finite.
//
// The bits of a row depend on its query and on what that query may see: not on the other queries, heads and items.
#include <optional>

#include "kernels/lib/flash.h"
#include "kernels/lib/tile_ring.h"
#include "mt/oracle/attention.h"

namespace mt {
namespace {

constexpr int kMaxDim = 256;

/// Of type M: floats are added, integers show keys where they are not 0.
template <class M>
struct Mask {
  In<M> values;
  Size batch{"mask_batch"}, heads{"mask_heads"}, rows{"mask_q_len"};  // each 1, or that of the queries
  explicit Mask(Fill fill) : values("mask", {"mask_batch", "mask_heads", "mask_q_len", "k_len"}, fill) {}
};
struct Window {
  Size keys{"window"};
  In<f32> sinks{"sinks", {"n_q_heads"}, Fill::normal(0, 2)};  // logits without values, unscaled; -inf is none
};

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
  bool panels = false;  // queries, keys and values lie in panels, for products of teams
  std::optional<Mask<T>> added;
  std::optional<Mask<u8>> shown;
  std::optional<Window> window;  // of causal kernels
  int dim = 0, cols = 0;         // elements of a row, and columns of its tiles

  void contract(const Problem& p) const {
    const std::int64_t d = p["head_dim"];
    require(d > 0 && d % 8 == 0 && d <= kMaxDim, "head_dim must be a multiple of 8 up to 256");
    require(p["n_kv_heads"] > 0 && p["n_q_heads"] % p["n_kv_heads"] == 0,
            "the query heads must divide evenly among the KV heads");
    if (window) require(p["window"] > 0, "window must be 1 or more: a query's own key is one of it");
    if (!added && !shown) return;
    const auto one_or = [&](const char* mask, const char* own) { return p[mask] == 1 || p[mask] == p[own]; };
    require(one_or("mask_batch", "batch"), "mask_batch must be 1 or batch");
    require(one_or("mask_heads", "n_q_heads"), "mask_heads must be 1 or n_q_heads");
    require(one_or("mask_q_len", "q_len"), "mask_q_len must be 1 or q_len");
  }
  void plan(const Problem& p, TargetTraits traits) {
    contract(p);
    dim = static_cast<int>(p["head_dim"]);
    cols = Flash::padded(dim, traits.gpu);
    panels = traits.teams && size_of(dtype_of<T>) == 2 && dim > 32;
    if (panels) {
      cols = (dim + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
      hold_query = false;
      simds = 4;
      rows = 16;
      stages = 2;
      keys = 64;
      piece = kPanelColumns;
      depth = kPanelColumns;
      return;
    }
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
    while (fit > 8 && 2 * TileRing<T>::bytes(fit, cols, stages) > room) fit /= 2;
    keys = fit;
    piece = 16;
    depth = wide ? 8 : 16;
  }
  Launch launch(const Problem& p) const {
    require(cols % depth == 0 && cols % piece == 0,
            "depth and piece must divide head_dim, rounded up to a multiple of 16 on GPUs");
    if (panels)
      require(rows == 16 && stages > 0 && depth <= kPanelColumns && piece <= kPanelColumns,
              "panels take 16 rows, stages, and at most 64 columns for depth and piece");
    return {.groups = {p["n_q_heads"], ceil_div(p["q_len"], simds * rows), p["batch"]}, .threads = simds * kLanes};
  }

  void body() const {
    const int together = simds * rows;
    const U32 head = group_id(), batch = group_id(2), kv_head = head / (n_q_heads / n_kv_heads);
    // The last queries see most keys: those of all heads start first.
    const U32 tiles = (q_len + (together - 1)) / together;
    const U32 first = (tiles - 1u - group_id(1)) * together, own = first + simd_id() * int{rows};
    const auto asked = matrix(q.at(batch, head), dim, q_len, dim).at(own, 0);
    std::optional<TileRing<T>> queries;
    if (panels) queries.emplace("queries", together, cols, 1, RingOf::Group, Layout::Panels);
    const auto load_query = [&](int i) {
      if (!panels) return load_lhs(asked.at(0, i * depth), rows, depth);
      const int col = i * depth;
      return load_lhs(queries->at(U32(0), panel_of(col)).at(simd_id() * int{rows}, in_panel(col)), rows, depth);
    };
    // Held from tile to tile, or read again for each where registers are short.
    const auto held = each(hold_query ? cols / depth : 0, load_query);
    const auto query = [&](int i) { return hold_query ? held[static_cast<std::size_t>(i)] : load_query(i); };
    const U32 seen = causal ? after(first + together + k_len, q_len) : U32(k_len);
    const U32 end = min(k_len, seen), steps = (end + (keys - 1)) / int{keys};
    const F32 to_base2 = scale * kLog2E, unit = added ? F32(1.f) : Flash::unit(scale);
    // The first query's window begins at key first + k_len + 1 - q_len - back.
    const U32 back = window ? min(window->keys, k_len) : U32(0);
    const U32 skipped = window ? after(first + k_len + 1u, q_len + back) / int{keys} : U32(0);

    Flash walk = window ? Flash(rows, cols, piece, window->sinks.load(head) * kLog2E) : Flash(rows, cols, piece);
    // key(c), value(c): the tile's rows from column c on.
    const auto product = [&](auto&& key) {
      Acc sum = Acc::fill(rows, keys, 0.f);
      for (int i = 0; i < cols / depth; ++i) sum = mma(sum, query(i), load_rhs_t(key(i * depth), depth, keys));
      return sum;
    };
    const auto visit = [&](const U32& step, const Acc& products, auto&& value) {
      const U32 from = step * int{keys};
      TileVar<Acc> logits(products);
      if (added) {
        const Acc bias = load_acc(added_rows(batch, head).at(own, from), rows, keys);
        logits = map(logits.get(), bias, [&](F32 s, F32 b, U32, U32) { return fma(b, kLog2E, s * to_base2); });
      } else {
        if_(scale < 0.f, [&] { logits = map(logits.get(), [](F32 s, U32, U32) { return -s; }); });
      }
      const U32 last = from + int{keys};
      const Bool inside = last <= k_len, below = causal ? inside & (last + q_len <= own + k_len + 1u) : inside;
      const Bool whole = window ? below & (from + back + q_len >= own + int{rows} + k_len) : below;
      const auto visible = [&](const U32& r, const U32& c) {
        const U32 at = from + c;
        const Bool exists = at < k_len, before = causal ? exists & (at + q_len <= own + r + k_len) : exists;
        return window ? before & (at + back + q_len > own + r + k_len) : before;
      };
      if_(!whole,
          [&] { logits = map(logits.get(), [&](F32 s, U32 r, U32 c) { return select(visible(r, c), s, -inf); }); });
      if (shown)
        logits = map(logits.get(), [&](F32 s, U32 r, U32 c) {
          const U32 row = min(own + r, shown->rows - 1u), at = min(from + c, k_len - 1u);
          const auto flags = shown->values.at(min(batch, shown->batch - 1u), min(head, shown->heads - 1u), row);
          return select(flags.load(at) != 0u, s, -inf);
        });
      walk.add<T>(logits, unit, [&](int d, int width) { return load_rhs(value(d), keys, width); });
    };
    const auto key_rows = k.at(batch, kv_head), value_rows = v.at(batch, kv_head);
    if (stages == 0) {
      const Matrix<T> all_keys = matrix(key_rows, dim, k_len, dim), all_values = matrix(value_rows, dim, k_len, dim);
      for_(skipped, steps, 1u, [&](U32 step) {
        const U32 from = step * int{keys};
        visit(step, product([&](int c) { return all_keys.at(from, c); }),
              [&](int c) { return all_values.at(from, c); });
      });
    } else {
      const Layout layout = panels ? Layout::Panels : Layout::Plain;
      const TileRing<T> key_ring("keys", keys, cols, stages, RingOf::Group, layout),
          value_ring("values", keys, cols, stages, RingOf::Group, layout);
      const auto part = [&](const TileRing<T>& ring, const U32& slot, int c) {
        return panels ? ring.at(slot, panel_of(c)).at(0, in_panel(c)) : ring.at(slot).at(0, c);
      };
      // They arrive with the first tiles.
      if (panels) queries->fetch(U32(0), q.at(batch, head), first, 0, q_len, dim, dim);
      const auto fetch = [&](const U32& step, const U32& slot) {
        const U32 from = (skipped + step) * int{keys};
        key_ring.fetch(slot, key_rows, from, 0, k_len, dim, dim);
        value_ring.fetch(slot, value_rows, from, 0, k_len, dim, dim);
      };
      pipelined(steps - skipped, stages, RingOf::Group, fetch, [&](const U32& step, const U32& slot) {
        visit(skipped + step, product([&](int c) { return part(key_ring, slot, c); }),
              [&](int c) { return part(value_ring, slot, c); });
      });
    }
    const Rows inverse = walk.inverse();
    const auto result = matrix(out.at(batch, head), dim, q_len, dim).at(own, 0);
    walk.each_piece([&](int d, const Acc& sum) {
      store(result.at(0, d), map(sum, inverse, [](F32 o, F32 i, U32, U32) { return o * i; }));
    });
  }
  static int panel_of(int col) { return col / kPanelColumns * kPanelColumns; }
  static U32 in_panel(int col) { return U32(static_cast<u32>(col % kPanelColumns)); }
  /// The mask's rows for a head; all of them are one where it has one.
  Matrix<T> added_rows(const U32& batch, const U32& head) const {
    const auto values = added->values.at(min(batch, added->batch - 1u), min(head, added->heads - 1u));
    return matrix(values, select(added->rows == 1u, 0u, k_len), q_len, k_len);
  }
  /// a - b, or 0.
  static U32 after(const U32& a, const U32& b) { return a - min(a, b); }

  ExpectedOutputs oracle(const Inputs& in) const {
    const std::int64_t heads = in.size("n_q_heads"), items = in.size("batch");
    oracle::Attention a{.heads = items * heads,
                        .kv_heads = items * in.size("n_kv_heads"),
                        .queries = in.size("q_len"),
                        .head_dim = in.size("head_dim"),
                        .n_kv = in.size("k_len"),
                        .scale = in.real("scale"),
                        .causal = causal,
                        .weights = Flash::weight_rounding<T>()};
    if (window) {
      a.window = in.size("window");
      for (std::int64_t h = 0; h < a.heads; ++h) a.sink_logits.push_back(in["sinks"].at(h % heads));
    }
    if (added || shown) a.bias = oracle::bias_of(in["mask"], heads);
    return {{"out", oracle::attention(in["q"], in["k"], in["v"], a).output}};
  }
  Problem problem(int batch, int q_heads, int kv_heads, int queries, int n, int d) const {
    const Problem p = Problem{{"batch", batch},   {"n_q_heads", q_heads}, {"n_kv_heads", kv_heads},
                              {"q_len", queries}, {"k_len", n},           {"head_dim", d}}
                          .with_real("scale", 1 / std::sqrt(static_cast<double>(d)));
    if (window) return p.with("window", 40);
    if (added || shown) return p.with("mask_batch", batch).with("mask_heads", q_heads).with("mask_q_len", queries);
    return p;
  }
  Problems tests() const {
    Problems all;
    for (const auto& [queries, n] : {std::array{1, 1}, {1, 70}, {16, 16}, {33, 47}, {64, 64}, {65, 200}, {130, 130}})
      all.push_back(problem(1, 2, 1, queries, n, 64));
    all.push_back(problem(2, 4, 2, 40, 40, 128));
    all.push_back(problem(1, 3, 3, 20, 50, 96));
    all.push_back(problem(1, 2, 2, 40, 60, 256));
    for (const int d : {8, 72, 80}) all.push_back(problem(1, 4, 2, 20, 50, d));
    all.push_back(problem(1, 1, 1, 50, 20, 64));  // the first queries see nothing
    all.push_back(problem(1, 1, 1, 9, 0, 64));
    all.push_back(problem(1, 8, 1, 40, 150, 64).with_real("scale", 2));
    for (const int count : {0, 1, 2, 3})
      all.push_back(problem(1, 2, 1, 40, 150, 32).with_tunable("stages", count).with_tunable("keys", 16));
    for (const double sign : {-1, 1})
      all.push_back(problem(1, 1, 1, 20, 150, 32).with_values(Values::Rising).with_real("scale", sign * 200));
    if (window) return all + window_tests();
    if (added || shown) return all + mask_tests();
    return all;
  }
  Problems window_tests() const {
    Problems all;
    const auto small_tiles = [](const Problem& p) { return p.with_tunable("keys", 16); };
    for (const int n : {1, 2, 15, 16, 17, 33, 150, 5000})
      all.push_back(small_tiles(problem(1, 2, 1, 70, 150, 32).with("window", n)));
    all.push_back(small_tiles(problem(1, 1, 1, 50, 20, 32).with("window", 5)));
    // Sinks that take nothing, and all.
    const Problem p = problem(1, 3, 1, 20, 40, 32);
    for (const double sink : {-HUGE_VAL, -200., 30., 300.})
      all.push_back(p.with_element("sinks", 0, sink).with_element("sinks", 2, sink));
    return all;
  }
  Problems mask_tests() const {
    Problems all;
    // One mask for all items, heads or queries.
    const Problem p = problem(3, 4, 2, 20, 50, 32);
    for (const auto& [items, heads, queries] : {std::array{1, 1, 20}, {3, 1, 20}, {1, 4, 20}, {3, 1, 1}, {3, 4, 1}})
      all.push_back(p.with("mask_batch", items).with("mask_heads", heads).with("mask_q_len", queries));
    // A row that a single element shows, far behind tiles that are hidden, and one that shows nothing.
    Problem few = problem(1, 1, 1, 2, 150, 32).with_tunable("keys", 16);
    for (int c = 0; c < 150; ++c) few = few.with_element("mask", c, added ? -HUGE_VAL : 0);
    all.push_back(few);
    all.push_back(few.with_element("mask", 149, 1));
    return all;
  }
  Problems benches() const { return {problem(1, 32, 8, 512, 512, 128), problem(1, 32, 8, 4096, 4096, 128)}; }
  Work work(const Problem& p) const {
    const double size = size_of(dtype_of<T>), d = static_cast<double>(p["head_dim"]),
                 batch = static_cast<double>(p["batch"]), queries = static_cast<double>(p["q_len"]),
                 n = static_cast<double>(p["k_len"]), heads = static_cast<double>(p["n_q_heads"]);
    double pairs = causal ? std::max(0.0, queries * n - queries * (queries - 1) / 2) : queries * n;
    double keys_read = n, mask = 0;
    if (window) {
      const double most = static_cast<double>(p["window"]);
      pairs = std::min(pairs, queries * most);
      keys_read = std::min(n, queries + most);
    }
    if (added || shown) {
      mask = static_cast<double>(p["mask_batch"] * p["mask_heads"] * p["mask_q_len"]) * n * (added ? size : 1);
    }
    return {.read = batch * d * size * (heads * queries + 2 * static_cast<double>(p["n_kv_heads"]) * keys_read) + mask,
            .written = batch * heads * queries * d * size,
            .flops = 4 * batch * heads * pairs * d};
  }
  std::vector<std::string> batch() const {
    if (added || shown) return {"batch", "mask_batch"};
    return {"batch"};
  }
  /// Heads, and queries: the last ones see the same keys whatever stands before them.
  std::vector<std::vector<std::string>> independent() const {
    if (added || shown) return {{"n_kv_heads", "n_q_heads", "mask_heads"}, {"q_len", "mask_q_len"}};
    return {{"n_kv_heads", "n_q_heads"}, {"q_len"}};
  }
};

const bool registered = [] {
  kernel<Prefill>("mt_sdpa_prefill", Floats{});
  kernel<Prefill>("mt_sdpa_full", Floats{}, [](auto& k) { k.causal = false; });
  kernel<Prefill>("mt_sdpa_prefill_window", Floats{}, [](auto& k) { k.window.emplace(); });
  for (const bool causal : {true, false}) {
    const std::string name = causal ? "mt_sdpa_prefill" : "mt_sdpa_full";
    kernel<Prefill>(name + "_mask", Floats{}, [=](auto& k) {
      k.causal = causal;
      k.added.emplace(Fill::normal(0, 2).with_holes().without_edges());
    });
    kernel<Prefill>(name + "_bool_mask", Floats{}, [=](auto& k) {
      k.causal = causal;
      k.shown.emplace(Fill::integers(1, 3).with_holes());
    });
  }
  return true;
}();

}  // namespace
}  // namespace mt
