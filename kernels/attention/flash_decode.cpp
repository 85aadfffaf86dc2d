// Attention of the newest queries over a KV cache whose lengths are read from memory: one captured launch serves a
// cache that grows.
//
// The queries of all heads of a KV head are the rows of one tile, so that a key is read once for all of them. Keys are
// split among threadgroups, and among the simdgroups of each, which have tiles of their own on the way; what they found
// meets in threadgroup memory, and a second launch merges the splits. The cache is contiguous, or in pages that a table
// names for each item. Query i is the token at lengths[b] - queries + i, or all of them see every key. With a window a
// query sees the last `window` of its keys and the first `sink_end`; tiles that no query sees are not read. Values of
// keys that are hidden from a query share a product with it, at a weight of 0: they must be finite.
//
// How keys are split follows from the heads, from kv_stride and, on the device, from the item's own length: the bits of
// an item do not depend on the others of its batch.
#include <algorithm>
#include <optional>

#include "kernels/lib/flash.h"
#include "kernels/lib/tile_ring.h"
#include "mt/oracle/attention.h"

namespace mt {
namespace {

constexpr int kMaxSplits = 64, kMaxRows = 128, kMaxDim = 256;

/// The pages of each item, in order; those behind its last key are not looked at.
struct Pages {
  In<u32> table{"page_table", {"batch", "max_pages"}, Fill::index("n_pages")};
  Size n_pages{"n_pages"};
};

struct Window {
  Size keys{"window"};                                        // that a query sees, its own included
  Size sink_end{"sink_end"};                                  // keys before it are seen by all
  In<f32> sinks{"sinks", {"n_q_heads"}, Fill::normal(0, 2)};  // logits without values, unscaled; -inf is none
};

template <Storage T, bool kPaged>
struct FlashDecode {
  In<T> q{"q", {"batch", "n_q_heads", "queries", "head_dim"}, Fill::normal(0, 2)};
  In<T> k{"k", cache_shape()}, v{"v", cache_shape()};
  In<u32> lengths{"lengths", {"batch"}, Fill::index("kv_stride", 1)};  // keys of each item, at most kv_stride
  Out<T> out{"out", {"batch", "n_q_heads", "queries", "head_dim"}};
  Out<f32> lse{"lse", {"batch", "n_q_heads", "queries"}};  // log of the sum of exp(logit); -inf without any key
  Temp<f32> tops{"partial_top", {"batch", "n_q_heads", "queries", kMaxSplits}};
  Temp<f32> totals{"partial_total", {"batch", "n_q_heads", "queries", kMaxSplits}};
  Temp<f32> sums{"partial_values", {"batch", "n_q_heads", "queries", kMaxSplits, "head_dim"}};
  Size n_q_heads{"n_q_heads"}, n_kv_heads{"n_kv_heads"}, kv_stride{"kv_stride"};
  Scalar<f32> scale{"scale", 0.08838834764831845};
  Tunable simds{"simds", 4, {1, 2, 4, 8}};
  Tunable keys{"keys", 16, {8, 16, 32, 64, 128}};  // of a tile
  Tunable ring{"stages", 2, {0, 1, 2, 3, 4}};      // tiles on the way; 0: read where they are used
  Tunable splits{"splits", 16, {1, 2, 4, 8, 16, 32, 64}};
  Tunable piece{"piece", 16, {16, 32, 64, 128, 256}};  // columns of the values in one product
  Tunable depth{"depth", 16, {8, 16, 32, 64, 128, 256}};
  std::optional<Pages> pages;
  std::optional<Window> window;  // of causal kernels
  bool causal = true;
  int page = 0;                         // keys of a page
  int dim = 0, cols = 0;                // elements of a row, and columns of its tiles
  int queries = 0, used = 0, rows = 0;  // rows of a tile, of which `used` are queries

  FlashDecode() {
    if (kPaged) pages.emplace();
  }
  static std::vector<Dim> cache_shape() {
    if (kPaged) return {"n_pages", "n_kv_heads", "page", "head_dim"};
    return {"batch", "n_kv_heads", "kv_stride", "head_dim"};
  }

  void plan(const Problem& p, TargetTraits traits) {
    const std::int64_t d = p["head_dim"], kv = p["n_kv_heads"], n = p["queries"];
    require(d > 0 && d % 8 == 0 && d <= kMaxDim, "head_dim must be a multiple of 8 up to 256");
    require(kv > 0 && p["n_q_heads"] % kv == 0, "the query heads must divide evenly among the KV heads");
    require(n >= 1 && n * (p["n_q_heads"] / kv) <= kMaxRows,
            "the queries of all heads of a KV head must be 1 to 128 together");
    if (window) require(p["window"] > 0, "window must be 1 or more: a query's own key is one of it");
    dim = static_cast<int>(d);
    cols = Flash::padded(dim, traits.gpu);
    queries = static_cast<int>(n);
    used = static_cast<int>(n * (p["n_q_heads"] / kv));
    rows = (used + 15) / 16 * 16;
    const bool wide = size_of(dtype_of<T>) == 4;
    // Some 128 threadgroups fill large GPUs once, and 32 keep a CPU's cores equally busy; the split follows from shapes
    // that do not depend on the batch.
    const std::int64_t wanted = std::clamp<std::int64_t>((traits.gpu ? 128 : 32) / kv, 1, kMaxSplits);
    const std::int64_t most = window ? std::min(p["kv_stride"], p["window"] + p["sink_end"] + n) : p["kv_stride"];
    int count = 1;
    while (count * 2 <= std::min(wanted, ceil_div(most, 128))) count *= 2;
    splits = count;
    if (kPaged) {
      page = static_cast<int>(p["page"]);
      require(page > 0 && page % 16 == 0, "page must be a multiple of 16 keys");
      require(p["kv_stride"] == p["max_pages"] * page, "kv_stride must be max_pages * page");
    }
    const std::int64_t room = traits.threadgroup_kib * 1024;
    const auto fits = [&] {
      require(needed() <= room,
              "what the simdgroups found and the tiles on their way must fit threadgroup memory; use fewer simds or "
              "stages");
    };
    if (!traits.gpu) {
      simds = 1;
      rows = (used + 7) / 8 * 8;
      int tile = 64;
      while (kPaged && page % tile != 0) tile /= 2;
      keys = tile;
      ring = 0;
      piece = dim;
      depth = dim;
      return fits();
    }
    depth = wide ? 8 : 16;
    simds = 4;
    if (room > 64 * 1024 && used <= 16 && (!kPaged || page % 32 == 0)) keys = 32;
    ring = room > 64 * 1024 ? 3 : 0;
    // A tunable that was chosen elsewhere stays as it is.
    for (const int fewer : {2, 1})
      if (needed() > room && simds > fewer) simds = fewer;
    for (const int fewer : {2, 1})
      if (needed() > room && ring > fewer) ring = fewer;
    fits();
  }
  std::int64_t needed() const {
    const std::int64_t merge = simds == 1 ? 0 : std::int64_t{simds} * 4 * (std::int64_t{used} * dim + 2 * rows);
    return merge + std::int64_t{simds} * 2 * TileRing<T>::bytes(keys, cols, ring);
  }

  Stages<FlashDecode> stages() const {
    return {{"walk", &FlashDecode::walk_launch, &FlashDecode::walk},
            {"merge", &FlashDecode::merge_launch, &FlashDecode::merge}};
  }
  Launch walk_launch(const Problem& p) const {
    require(cols % depth == 0 && cols % piece == 0,
            "depth and piece must divide head_dim, rounded up to a multiple of 16 on GPUs");
    if (kPaged) require(page % keys == 0, "page must be a multiple of keys");
    return {.groups = {splits, p["n_kv_heads"], p["batch"]}, .threads = simds * kLanes};
  }
  Launch merge_launch(const Problem& p) const {
    return {.groups = {p["n_q_heads"], p["queries"], p["batch"]}, .threads = dim <= 64 ? 64 : 128};
  }

  /// What the queries of an item see, counted without the tiles between the sinks and the window: `count` keys of
  /// which those from `edge` on stand `gap` further on. Both are multiples of a tile.
  struct Seen {
    U32 count, edge, gap, back;  // back: keys of a window
    bool gapless;
    U32 at(const U32& i) const { return gapless ? i : i + select(i >= edge, gap, U32(0)); }
  };
  Seen seen(const U32& n) const {
    if (!window) return {n, n, U32(0), n, true};
    const U32 tile(static_cast<u32>(int{keys})), back = min(window->keys, n), asked(static_cast<u32>(queries) - 1u);
    const U32 start = (n - min(n, back + asked)) / tile * tile;  // of the first query's window
    const U32 edge = min((min(window->sink_end, n) + (keys - 1)) / tile * tile, start);
    return {n - (start - edge), edge, start - edge, back, false};
  }

  void walk() const {
    const U32 split = group_id(), kv_head = group_id(1), batch = group_id(2);
    const U32 n = min(lengths.at(batch).load(0), kv_stride);
    const Seen all = seen(n);
    // Splits of whole tiles; the last ones may have less, or nothing.
    const U32 share = ((all.count + (splits - 1)) / int{splits} + (keys - 1)) / int{keys} * int{keys};
    const U32 begin = min(split * share, all.count), end = begin + min(share, all.count - begin);
    const int round = keys * simds;
    const U32 steps = (end - begin + (round - 1)) / round;

    const U32 first_head = kv_head * (used / queries);
    const auto asked = matrix(q.at(batch, first_head), dim, used, dim);
    const auto query = each(cols / depth, [&](int i) { return load_lhs(asked.at(0, i * depth), rows, depth); });
    const F32 unit = Flash::unit(scale);
    Flash found(rows, cols, piece);
    const auto first_of = [&](const U32& step) { return begin + (step * int{simds} + simd_id()) * int{keys}; };
    const auto visit = [&](const U32& place, const Matrix<T>& key, const Matrix<T>& value) {
      TileVar<Acc> logits(Acc::fill(rows, keys, 0.f));
      for (int i = 0; i < cols / depth; ++i)
        logits = mma(logits.get(), query[static_cast<std::size_t>(i)], load_rhs_t(key.at(0, i * depth), depth, keys));
      if_(scale < 0.f, [&] { logits = map(logits.get(), [](F32 s, U32, U32) { return -s; }); });
      const bool tail = causal && queries > 1;
      const U32 from = all.at(place), last = from + int{keys};
      const Bool inside = place + int{keys} <= end, below = tail ? inside & (last + (queries - 1) <= n) : inside;
      const Bool whole = window ? below & ((from + all.back >= n) | (last <= window->sink_end)) : below;
      if_(!whole, [&] {
        logits = map(logits.get(), [&](F32 s, U32 r, U32 c) {
          const U32 at = from + c;
          const Bool exists = place + c < end, before = tail ? exists & (at + queries <= n + r % queries) : exists;
          const auto near = [&] { return (at + all.back + queries > n + r % queries) | (at < window->sink_end); };
          return select(window ? before & near() : before, s, -inf);
        });
      });
      found.add<T>(logits, unit, [&](int d, int width) { return load_rhs(value.at(0, d), keys, width); });
    };
    // The rows of the cache from a place on, as many as a tile has.
    const auto rows_from = [&](const auto& cache, const U32& place) {
      const U32 from = all.at(place);
      if constexpr (kPaged) {
        const U32 at = pages->table.at(batch, min(from, max(n, 1u) - 1u) / page).load(0);
        return cache.at(min(at, pages->n_pages - 1u), kv_head, from % page);
      } else {
        return cache.at(batch, kv_head, from);
      }
    };
    if (ring == 0) {
      for_(steps, [&](U32 step) {
        const U32 place = first_of(step), left = end - min(place, end);
        visit(place, matrix(rows_from(k, place), dim, left, dim), matrix(rows_from(v, place), dim, left, dim));
      });
    } else {
      const TileRing<T> key_ring("keys", keys, cols, ring, RingOf::Simd);
      const TileRing<T> value_ring("values", keys, cols, ring, RingOf::Simd);
      const auto fetch = [&](const U32& step, const U32& slot) {
        const U32 place = first_of(step), left = end - min(place, end);
        key_ring.fetch(slot, rows_from(k, place), 0, 0, left, dim, dim);
        value_ring.fetch(slot, rows_from(v, place), 0, 0, left, dim, dim);
      };
      pipelined(steps, ring, RingOf::Simd, fetch, [&](const U32& step, const U32& slot) {
        visit(first_of(step), key_ring.at(slot), value_ring.at(slot));
      });
    }
    leave(found, batch, first_head, split);
  }
  /// The simdgroups' results meet, and the split's are left for the merge.
  void leave(const Flash& found, const U32& batch, const U32& first_head, const U32& split) const {
    if (simds == 1) {
      const auto column = [&](const auto& t) {
        return matrix(t.at(batch, first_head, 0), kMaxSplits, used, kMaxSplits).at(0, split);
      };
      store(column(tops), found.top());
      store(column(totals), found.total());
      const auto values = matrix(sums.at(batch, first_head, 0, split), kMaxSplits * dim, used, dim);
      found.each_piece([&](int d, const Acc& sum) { store(values.at(0, d), sum); });
      return;
    }
    const Shared<f32> top("top", std::int64_t{simds} * rows), total("total", std::int64_t{simds} * rows);
    const Shared<f32> value("value", std::int64_t{simds} * used * dim);
    store(matrix(top, simd_id() * rows, 1), found.top());
    store(matrix(total, simd_id() * rows, 1), found.total());
    found.each_piece([&](int d, const Acc& sum) {
      store(matrix(value, simd_id() * (used * dim) + d, dim, used, std::min(int{piece}, dim - d)), sum);
    });
    barrier();
    const int width = 4;
    for_(thread_id() * width, U32(static_cast<u32>(used * dim)), static_cast<u32>(threads() * width), [&](U32 i) {
      const U32 r = i / dim, d = i % dim;
      Var<f32> highest(top[r]);
      for (int s = 1; s < simds; ++s) highest = max(highest, top[r + s * rows]);
      const F32 reference = select(highest == -inf, 0.f, highest);
      Var<f32> all(0.f);
      VecVar<f32> values(width, 0.f);
      for (int s = 0; s < simds; ++s) {
        const F32 weight = exp2(top[r + s * rows] - reference);
        all = fma(weight, total[r + s * rows], all);
        values = fma(splat(weight, width), value.load(i + s * (used * dim), width), values);
      }
      const U32 head = first_head + r / queries, query = r % queries;
      sums.at(batch, head, query, split).store(d, values);
      if_(d == 0, [&] {
        tops.at(batch, head, query).store(split, highest);
        totals.at(batch, head, query).store(split, all);
      });
    });
  }

  void merge() const {
    const U32 head = group_id(), query = group_id(1), batch = group_id(2);
    const auto top = tops.at(batch, head, query), total = totals.at(batch, head, query);
    Var<f32> highest(top.load(0)), all(0.f);
    for (int s = 1; s < splits; ++s) highest = max(highest, top.load(s));
    const F32 sink = window ? window->sinks.load(head) * kLog2E : F32(0.f);
    if (window) highest = max(highest, sink);
    const F32 reference = select(highest == -inf, 0.f, highest);
    if (window) all = exp2(sink - reference);
    const auto weight = each(splits, [&](int s) { return exp2(top.load(s) - reference); });
    for (int s = 0; s < splits; ++s) all = fma(weight[static_cast<std::size_t>(s)], total.load(s), all);
    const F32 inverse = select(all == 0.f, 0.f, recip(all));
    for_(thread_id(), U32(static_cast<u32>(dim)), static_cast<u32>(threads()), [&](U32 d) {
      Var<f32> value(0.f);
      for (int s = 0; s < splits; ++s)
        value = fma(weight[static_cast<std::size_t>(s)], sums.at(batch, head, query, U32(s)).load(d), value);
      out.at(batch, head, query).store(d, value * inverse);
    });
    if_(thread_id() == 0, [&] { lse.at(batch, head).store(query, (highest + log2(all)) * 0.6931471805599453); });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    oracle::Attention a{.heads = in.size("n_q_heads"),
                        .kv_heads = in.size("n_kv_heads"),
                        .queries = in.size("queries"),
                        .head_dim = in.size("head_dim"),
                        .kv_stride = in.size("kv_stride"),
                        .scale = in.real("scale"),
                        .causal = causal,
                        .weights = Flash::weight_rounding<T>()};
    if (window) {
      a.window = in.size("window");
      a.sink_end = in.size("sink_end");
      for (std::int64_t h = 0; h < a.heads; ++h) a.sink_logits.push_back(in["sinks"].at(h));
    }
    oracle::AttentionExpected all =
        kPaged ? oracle::attention(in["q"], oracle::from_pages(in["k"], in["page_table"]),
                                   oracle::from_pages(in["v"], in["page_table"]), in["lengths"], a)
               : oracle::attention(in["q"], in["k"], in["v"], in["lengths"], a);
    return {{"out", std::move(all.output)}, {"lse", std::move(all.lse)}};
  }
  Problem problem(int batch, int q_heads, int kv_heads, int asked, int stride, int d) const {
    Problem p{{"batch", batch},   {"n_q_heads", q_heads}, {"n_kv_heads", kv_heads},
              {"queries", asked}, {"kv_stride", stride},  {"head_dim", d}};
    if (window) p = p.with("window", 60).with("sink_end", 5);
    if (kPaged) {
      const int size = stride % 64 == 0 ? 64 : 16, count = (stride + size - 1) / size;
      p = p.with("page", size)
              .with("max_pages", count)
              .with("n_pages", batch * count + 3)
              .with("kv_stride", count * size);
    }
    return p.with_real("scale", 1 / std::sqrt(static_cast<double>(d)));
  }
  /// Every item has all keys.
  static Problem full(Problem p) {
    for (std::int64_t b = 0; b < p["batch"]; ++b) p = p.with_element("lengths", b, static_cast<double>(p["kv_stride"]));
    return p;
  }
  Problems tests() const {
    Problems all;
    for (const int n : {1, 15, 16, 17, 64, 130, 300}) all.push_back(full(problem(1, 4, 1, 1, n, 64)));
    all.push_back(full(problem(1, 8, 2, 1, 700, 128)));
    for (const int count : {2, 4, 8}) all.push_back(full(problem(1, 8, 2, count, 150, 128)));
    all.push_back(problem(5, 4, 2, 1, 200, 64));
    all.push_back(problem(2, 2, 1, 1, 40, 32));
    all.push_back(problem(3, 6, 2, 3, 150, 96));
    all.push_back(full(problem(1, 16, 1, 2, 90, 64)));
    all.push_back(full(problem(2, 3, 3, 1, 90, 256)));
    for (const int d : {8, 72, 80}) all.push_back(full(problem(2, 6, 2, 2, 90, d)));
    all.push_back(full(problem(1, 4, 1, 16, 90, 64)));
    all.push_back(full(problem(1, 4, 1, 8, 5, 64)));  // the first queries see nothing
    all.push_back(problem(1, 2, 1, 1, 0, 64));
    all.push_back(full(problem(1, 8, 2, 1, 300, 64)).with_real("scale", 4));
    // Scores that rise or fall so far from split to split that their exponentials leave the range of f32.
    for (const double sign : {-1, 1}) {
      const Problem p = full(problem(1, 2, 1, 1, 300, 32)).with_values(Values::Rising).with_real("scale", sign * 200);
      all.push_back(p);
      all.push_back(p.with_tunable("splits", 8));
    }
    // Tiles on their way, which plans for little threadgroup memory leave out.
    for (const int count : {1, 2, 3})
      for (const int n : {40, 150})
        all.push_back(full(problem(1, 2, 1, 2, n, 32))
                          .with_tunable("stages", count)
                          .with_tunable("simds", 2)
                          .with_tunable("keys", 16));
    // The last key, alone in its tile, weighs as much as all others together.
    for (const int n : {17, 65})
      all.push_back(full(problem(1, 1, 1, 1, n, 32))
                        .with_values(Values::Ones)
                        .with_real("scale", 1.0 / 32)
                        .with_element("k", (n - 1) * 32, 1 + 32 * std::log(n - 1))
                        .with_element("v", (n - 1) * 32, -1));
    if (window) return all + window_tests();
    return all;
  }
  Problems window_tests() const {
    Problems all;
    // Ends in, at and beside tiles; windows and sinks that meet, overlap, or reach further than the cache.
    const int cases[][2] = {{1, 0},  {15, 0},  {16, 16},  {17, 1},    {64, 33},
                            {1, 96}, {90, 40}, {5000, 0}, {30, 5000}, {100, 17}};
    for (const auto& [size, end] : cases) {
      const auto ends = [size = size, end = end](const Problem& p) {
        return p.with("window", size).with("sink_end", end);
      };
      all.push_back(ends(full(problem(1, 2, 1, 1, 200, 32))));
      all.push_back(ends(full(problem(1, 2, 1, 3, 200, 32))).with_tunable("splits", 4).with_tunable("keys", 16));
    }
    all.push_back(problem(5, 4, 2, 2, 200, 32).with("window", 20).with_tunable("splits", 2));
    all.push_back(full(problem(1, 1, 1, 4, 3, 32)).with("window", 2));  // the first query sees nothing
    // Sinks that take nothing, and all, and sinks alone.
    const Problem p = full(problem(1, 3, 1, 1, 100, 32));
    for (const double sink : {-HUGE_VAL, -200., 30., 300.}) {
      all.push_back(p.with_element("sinks", 0, sink).with_element("sinks", 2, sink));
      all.push_back(problem(1, 3, 1, 1, 32, 32).with_element("lengths", 0, 0).with_element("sinks", 1, sink));
    }
    return all;
  }
  Problems benches() const {
    return {full(problem(1, 32, 8, 1, 4096, 128)), full(problem(1, 32, 8, 8, 4096, 128)),
            full(problem(1, 32, 8, 1, 32768, 128)), full(problem(1, 32, 8, 8, 32768, 128))};
  }
  Work work(const Problem& p) const {
    const double size = size_of(dtype_of<T>), d = static_cast<double>(p["head_dim"]),
                 items = static_cast<double>(p["batch"]), n = keys_seen(p),
                 asked = static_cast<double>(p["n_q_heads"] * p["queries"]);
    return {.read = items * d * size * (asked + 2 * static_cast<double>(p["n_kv_heads"]) * n),
            .written = items * asked * (d * size + 4),
            .flops = 4 * items * asked * n * d};
  }
  double keys_seen(const Problem& p) const {
    const std::int64_t n = p["kv_stride"];
    return static_cast<double>(window ? std::min(n, p["window"] + p["sink_end"]) : n);
  }
  /// Pages are not divided among items.
  std::vector<std::string> batch() const {
    if (kPaged) return {};
    return {"batch"};
  }
};

template <class T>
using Contiguous = FlashDecode<T, false>;
template <class T>
using Paged = FlashDecode<T, true>;

const bool registered = [] {
  kernel<Contiguous>("mt_flash_decode", Floats{});
  kernel<Contiguous>("mt_flash_decode_flat", Floats{}, [](auto& k) { k.causal = false; });
  kernel<Contiguous>("mt_flash_decode_window", Floats{}, [](auto& k) { k.window.emplace(); });
  kernel<Paged>("mt_flash_decode_paged", Floats{});
  kernel<Paged>("mt_flash_decode_paged_window", Floats{}, [](auto& k) { k.window.emplace(); });
  return true;
}();

}  // namespace
}  // namespace mt
