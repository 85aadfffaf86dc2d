// Attention of the newest queries over a KV cache, one to eight queries a head: every decode kernel is this template.
//
// A threadgroup serves the queries of `heads` query heads of one KV head, so that a key is loaded once for all of them.
// Its simdgroups deal the keys among themselves and merge at the end. The 2-pass kernels also split the keys among
// threadgroups, which leave un-normalised sums for a second launch.
#include <algorithm>
#include <optional>

#include "kernels/lib/attention.h"
#include "mt/oracle/attention.h"

namespace mt {
namespace {

constexpr int kMaxBlocks = 64, kMaxQueries = 8, kMaxDim = 512;

/// Keys [0, sink_end) and [window_start, n_kv) are seen; where has_sink, exp(sink_logit) joins the sum of weights.
struct Window {
  Size sink_end{"sink_end"}, window_start{"window_start"}, has_sink{"has_sink"};
  Scalar<f32> sink_logit{"sink_logit", 0};
};

/// What a block of keys leaves for the second pass: see OnlineSoftmax.
struct Partials {
  Temp<f32> top{"partial_top", {"n_q_heads", "queries", kMaxBlocks}};
  Temp<f32> total{"partial_total", {"n_q_heads", "queries", kMaxBlocks}};
  Temp<f32> values{"partial_values", {"n_q_heads", "queries", kMaxBlocks, "head_dim"}};
};

template <Storage T>
struct Decode {
  In<T> q{"q", {"n_q_heads", "queries", "head_dim"}, Fill::normal(0, 2)};
  In<T> k{"k", {"n_kv_heads", "kv_stride", "head_dim"}}, v{"v", {"n_kv_heads", "kv_stride", "head_dim"}};
  Out<T> out{"out", {"n_q_heads", "queries", "head_dim"}};
  Size n_kv{"n_kv"}, n_q_heads{"n_q_heads"}, n_kv_heads{"n_kv_heads"};
  Scalar<f32> scale{"scale", 0.08838834764831845};
  Tunable threads{"threads", 1024, {32, 64, 128, 256, 512, 1024}};
  Tunable heads{"heads", 1, {1, 2, 4, 8}};      // query heads of a threadgroup
  Tunable lanes{"lanes", kLanes, {8, 16, 32}};  // that share a key
  Tunable step{"step", 4, {1, 2, 4, 8}};        // keys that each of a simdgroup's groups of lanes takes at a time
  Tunable width{"width", 8, {1, 2, 4, 8}};  // consecutive elements of a row in one lane, where head_dim has that many
  Tunable blocks{"blocks", 1};              // of keys, for the 2-pass kernels
  std::optional<Window> window;
  std::optional<Partials> partials;
  int only_dim = 0, only_queries = 0;  // what a registered name promises; 0: any
  int dim = 0, queries = 0;            // of the problem

  void contract(const Problem& p) const {
    const std::int64_t d = p["head_dim"], n = p["queries"], kv = p["n_kv_heads"];
    require(d > 0 && d % kLanes == 0 && d <= kMaxDim, "head_dim must be a multiple of 32 up to 512");
    if (only_dim) require(d == only_dim, "head_dim must be the one in the kernel's name");
    require(n >= 1 && n <= kMaxQueries, "there must be 1 to 8 queries a head");
    if (only_queries) require(n == only_queries, "queries must be the number in the kernel's name");
    require(kv > 0 && p["n_q_heads"] % kv == 0, "the query heads must divide evenly among the KV heads");
    require(p["n_kv"] <= p["kv_stride"], "n_kv must not exceed kv_stride, the rows that the cache has for a head");
  }

  void plan(const Problem& p, TargetTraits traits) {
    contract(p);
    dim = static_cast<int>(p["head_dim"]);
    queries = static_cast<int>(p["queries"]);
    const std::int64_t shared = p["n_q_heads"] / p["n_kv_heads"], n = p["n_kv"];
    const int most = traits.gpu && !partials ? 1 : std::max(1, std::min(4, 8 / queries));
    int together = most;
    while (shared % together != 0) together /= 2;
    heads = together;
    if (traits.gpu) {
      // Few lanes a key mean few steps to sum a score and many registers for the row: where threadgroups are small a
      // lane holds some 64 numbers of the weighted sums, else 8.
      const int rows = heads * queries, wanted = dim * rows / (partials ? 64 : 8);
      int few = partials ? 8 : 16;
      while (few < kLanes && few < wanted) few *= 2;
      lanes = few;
      width = 16 / size_of(dtype_of<T>);
      const int held = rows * dim / lanes, groups = kLanes / lanes;
      const int room = 16384 / (4 * dim) * kLanes;  // the merge's threadgroup memory
      const int most_threads = partials ? 128 : held <= 8 ? 1024 : held <= 32 ? 512 : 256;
      step = partials ? (held <= 32 ? 8 : 4) : groups > 1 ? 2 : held < 8 ? 4 : held <= 32 ? 2 : 1;
      int count = kLanes;
      while (count * 2 <= std::min(room, most_threads) && count / kLanes * step * groups < n) count *= 2;
      threads = count;
      // Some 256 threadgroups fill large GPUs once.
      const std::int64_t wave = std::max<std::int64_t>(1, 256 / std::max<std::int64_t>(1, p["n_q_heads"] / heads));
      blocks = static_cast<int>(std::clamp<std::int64_t>(std::min(ceil_div(n, 128), wave), 1, kMaxBlocks));
    } else {
      threads = kLanes;
      step = heads * queries <= 4 ? 4 : 2;
      width = 1;
      blocks = static_cast<int>(std::clamp<std::int64_t>(ceil_div(n, 2048), 1, kMaxBlocks));
    }
  }

  Stages<Decode> stages() const {
    if (!partials) return {{"", &Decode::walk_launch, &Decode::walk}};
    return {{"pass1", &Decode::walk_launch, &Decode::walk}, {"pass2", &Decode::merge_launch, &Decode::merge}};
  }
  Launch walk_launch(const Problem& p) const {
    require(blocks >= 1 && blocks <= kMaxBlocks, "there must be 1 to 64 blocks of keys");
    require(p["n_q_heads"] / p["n_kv_heads"] % heads == 0, "heads must divide the query heads of a KV head");
    return {.groups = {p["n_q_heads"] / heads, partials ? int{blocks} : 1}, .threads = threads};
  }
  Launch merge_launch(const Problem& p) const {
    return {.groups = {p["n_q_heads"], p["queries"]}, .threads = threads == kLanes ? kLanes : 128};
  }

  /// The seen keys, counted without gaps, and the place in the cache of the i-th of them.
  struct Seen {
    U32 count, sink_end, gap;
    U32 at(const U32& i) const { return i + select(i >= sink_end, gap, U32(0)); }
  };
  Seen seen() const {
    if (!window) return {n_kv, n_kv, U32(0)};
    const U32 end = min(window->sink_end, n_kv), start = min(max(window->window_start, end), n_kv);
    return {end + (n_kv - start), end, start - end};
  }

  void walk() const {
    const LaneShare share(dim, width, lanes);
    const int rows = heads * queries, groups = share.groups();
    const U32 head = group_id() * int{heads}, kv_head = head / (n_q_heads / n_kv_heads);
    const auto row = [&](int r) { return std::pair(head + r / queries, r % queries); };  // of q: head and query
    const F32 to_base2 = scale * kLog2E;
    const auto asked = each(rows, [&](int r) {
      const LaneRow x = share.load(query_row(q, row(r).first, row(r).second));
      return each(share.chunks, [&](int c) { return x[c] * to_base2; });
    });
    auto walks = each(rows, [&](int) { return OnlineSoftmax(share); });

    const Seen keys = seen();
    // Equivalent if constant_above, first_operand of div, other_op of div: the blocks are larger, and the last have
    // less.
    const U32 block = (keys.count + (blocks - 1)) / int{blocks};
    const U32 first = partials ? min(group_id(1) * block, keys.count) : U32(0);
    const U32 count = partials ? min(block, keys.count - first) : keys.count;
    const auto place = [&](const U32& i) { return window ? keys.at(first + i) : first + i; };
    // The keys from the i-th of the block on: n for each group of lanes.
    const auto visit = [&](const U32& i, int n) {
      const auto at = each(n, [&](int j) { return place(groups == 1 ? i + j : i + j * groups + share.group()); });
      const auto key = each(n, [&](int j) { return share.load(k.at(kv_head, at[j])); });
      const auto value = each(n, [&](int j) { return share.load(v.at(kv_head, at[j])); });
      for (int r : unroll(rows)) walks[r].add(pack(n, [&](int j) { return share.dot(asked[r], key[j]); }), value);
    };
    const int together = step * groups;
    for_simds(count / together, [&](U32 i) { visit(i * together, step); });
    const U32 rest = count % together, done = count - rest;
    if (groups == 1) {
      if (step > 1) for_simds(rest, [&](U32 i) { visit(done + i, 1); });
    } else {
      // A group past the last key works on that key and adds nothing.
      for_simds((rest + (groups - 1)) / groups, [&](U32 i) {
        const U32 wanted = done + i * groups + share.group();
        const Bool live = wanted < count;
        const U32 at = place(min(wanted, count - 1));
        const LaneRow key = share.load(k.at(kv_head, at)), read = share.load(v.at(kv_head, at));
        // Equivalent if select_first, zero_is_one: its weight is 0, and the key that it reads is a visible one.
        const LaneRow value =
            each(share.chunks, [&](int c) { return select(live, read[c], splat(F32(0.f), share.width)); });
        for (int r : unroll(rows)) {
          // Equivalent if finite: that has a weight of 0 as well.
          const F32 score = select(live, share.dot(asked[r], key), -inf);
          walks[r].add(pack(1, [&](int) { return score; }), {value});
        }
      });
      for (int r : unroll(rows)) walks[r].gather(share);
    }

    const SimdMerge merged(share);
    for (int r : unroll(rows)) {
      if (partials)
        leave(merged, walks[r], row(r).first, row(r).second);
      else
        write(merged, walks[r], query_row(out, row(r).first, row(r).second));
    }
  }
  void leave(const SimdMerge& merged, const OnlineSoftmax& walk, const U32& head, int query) const {
    const U32 block = group_id(1);
    merged(walk, [&](F32 top, F32 total, U32 d, auto values) {
      // Equivalent if constant_above: every thread has both.
      if_(d == 0, [&] {
        part(partials->top, head, query, block).store(0, top);
        part(partials->total, head, query, block).store(0, total);
      });
      part(partials->values, head, query, block).store(d, values);
    });
  }
  /// What a block left, and the row of a query in q or out.
  template <class Tensor, class Query>
  auto part(const Tensor& t, const U32& head, const Query& query, const U32& block) const {
    // Equivalent if first_operand, other_op of add: the kernels of two passes have one query a head, whose number is 0.
    return t.at(head, query, block);
  }
  template <class Tensor, class Query>
  auto query_row(const Tensor& t, const U32& head, const Query& query) const {
    // Equivalent if first_operand in ffai_sdpa_decode*, first_operand in mt_sdpa_vector*: these have one query a head.
    // Equivalent if other_op of add in ffai_sdpa_decode*: its number is 0.
    return t.at(head, query);
  }
  template <class Row>
  void write(const SimdMerge& merged, const OnlineSoftmax& walk, const Row& row) const {
    merged(walk,
           [&](F32 top, F32 total, U32 d, auto values) { row.store(d, values * inverse(with_sink(top, total))); });
  }
  /// The sum of all weights. Where that of a sink overflows, the keys' are nothing beside it, and the result is 0.
  F32 with_sink(const F32& top, const F32& total) const {
    if (!window) return total;
    // Equivalent if finite: that has a weight of 0, and without any key the sum does not matter.
    const F32 sink = select(window->has_sink != 0, window->sink_logit * kLog2E, -inf);
    return total + exp2(sink - top);
  }
  /// 1 / sum; of weights that are all 0, 0.
  // Equivalent if zero_is_one: the weighted sum is 0 too where the weights are.
  static F32 inverse(const F32& sum) { return select(sum == 0.f, 0.f, recip(sum)); }

  void merge() const {
    // Equivalent if zero_id: the kernels of two passes have one query a head.
    const U32 head = group_id(), query = group_id(1), last = static_cast<u32>(blocks - 1);
    const auto top_of = [&](const U32& b) { return part(partials->top, head, query, b).load(0); };
    // Every simdgroup weighs all blocks; its lanes take them side by side, the last one again past the end.
    const int turns = static_cast<int>(ceil_div(blocks, kLanes));
    const auto block =
        each(turns, [&](int t) { return t == 0 ? lane_id() : lane_id() + static_cast<u32>(t * kLanes); });
    const auto own = each(turns, [&](int t) { return min(block[t], last); });
    const auto tops = each(turns, [&](int t) { return top_of(own[t]); });
    Var<f32> top(tops[0]), total(0.f);
    // Equivalent if loses_nan, loses_second_nan: the weight of a NaN is one too.
    for (int t = 1; t < turns; ++t) top = max(top, tops[t]);
    const F32 highest = simd_max(top);
    for (int t = 0; t < turns; ++t) {
      const F32 weight = exp2(tops[t] - highest) * part(partials->total, head, query, own[t]).load(0);
      total += select(block[t] <= last, weight, 0.f);
    }
    const F32 scale_out = inverse(simd_sum(total));
    for_(thread_id(), U32(static_cast<u32>(dim)), static_cast<u32>(mt::threads()), [&](U32 d) {
      Var<f32> value(0.f);
      for_(int{blocks}, [&](U32 b) {
        value = fma(exp2(top_of(b) - highest), part(partials->values, head, query, b).load(d), value);
      });
      query_row(out, head, query).store(d, value * scale_out);
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    oracle::Attention a{.heads = in.size("n_q_heads"),
                        .kv_heads = in.size("n_kv_heads"),
                        .queries = in.size("queries"),
                        .head_dim = in.size("head_dim"),
                        .n_kv = in.size("n_kv"),
                        .kv_stride = in.size("kv_stride"),
                        .scale = in.real("scale")};
    if (window) {
      a.sink_end = in.size("sink_end");
      a.window_start = in.size("window_start");
      if (in.size("has_sink")) a.sink_logits = {in.real("sink_logit")};
    }
    return {{"out", oracle::attention(in["q"], in["k"], in["v"], a).output}};
  }

  Problems tests() const {
    const int d = only_dim ? only_dim : 128;
    const auto base = [&](int kv_heads, int shared, int n, int stride) {
      Problem p{{"n_q_heads", kv_heads * shared},
                {"n_kv_heads", kv_heads},
                {"queries", only_queries ? only_queries : 3},
                {"head_dim", d},
                {"n_kv", n},
                {"kv_stride", stride}};
      return complete(p, 0, 0);
    };
    Problems all;
    for (const int n : {0, 1, 31, 33, 64, 127, 300}) all.push_back(base(2, 4, n, n + 5));
    all.push_back(base(3, 1, 70, 70));
    all.push_back(base(1, 8, 70, 96));
    all.push_back(base(3, 6, 45, 64));
    // Scores so far apart that one key takes all: at another place for each of 32 rows.
    for (const int n : {64, 129})
      all.push_back(base(8, 4, n, n).with_real("scale", 6 / std::sqrt(static_cast<double>(d))).with_seed(n));
    // Scores whose exponentials leave the range of f32.
    for (const int n : {31, 64, 127, 300})
      all.push_back(base(2, 4, n, n).with_real("scale", 60 / std::sqrt(static_cast<double>(d))));
    if (partials) all.push_back(base(2, 4, 2500, 2500));
    if (only_dim == 0)
      for (const int other : {32, 64, 96, 192, 256, 512})
        for (const int n : {50, 51, 53}) all.push_back(complete(base(1, 2, n, n + 1).with("head_dim", other), 0, 0));
    if (only_queries == 0)
      for (const int other : {1, 2, 4, 5, 8}) all.push_back(base(2, 2, 51, 52).with("queries", other));
    std::vector<int> dims{only_dim};
    if (!only_dim)
      dims = only_queries ? std::vector<int>{32, 96, 128, kMaxDim} : std::vector<int>{32, 128, 256, kMaxDim};
    for (const int other : dims) all = all + walk_tests(other);
    if (window) {
      const Problem p = base(2, 4, 100, 128);
      const int cases[][2] = {{4, 40}, {4, 100}, {0, 99}, {100, 100}, {300, 0}, {0, 200}, {60, 30}, {33, 97}};
      for (const auto& [end, start] : cases) {
        all.push_back(complete(p, end, start));
        all.push_back(complete(p, end, start).with("has_sink", 1).with_real("sink_logit", 1.5));
      }
      all.push_back(complete(base(2, 4, 0, 8), 0, 0).with("has_sink", 1).with_real("sink_logit", -3));
      all.push_back(complete(p, 0, 0).with("has_sink", 1).with_real("sink_logit", 40));
    }
    return all;
  }
  /// What single walks and their meetings do with few keys: of one or two simdgroups, and of many blocks. 55 keys leave
  /// some for the end, however many are taken together.
  Problems walk_tests(int d) const {
    const auto few = [&](int n, int block_count = 1) {
      Problem p{{"n_q_heads", 1}, {"n_kv_heads", 1}, {"queries", only_queries ? only_queries : d == kMaxDim ? 3 : 1},
                {"head_dim", d},  {"n_kv", n},       {"kv_stride", n}};
      p = complete(p, 0, 0);
      return partials ? p.with_tunable("blocks", block_count) : p;
    };
    const auto two_heads = [](const Problem& p) {
      return p.with("n_q_heads", 2).with("n_kv_heads", 2).with("kv_stride", p["n_kv"] + 2);
    };
    const auto sunk = [](const Problem& p, double logit) {
      return p.with("has_sink", 1).with_real("sink_logit", logit);
    };
    const auto scaled = [](const Problem& p, double by) { return p.with_real("scale", by); };
    Problems all;
    for (const int simds : {1, 2}) {
      const auto add = [&](const Problem& p) { all.push_back(p.with_tunable("threads", simds * kLanes)); };
      for (const int n : {0, 8, 55}) add(few(n));
      add(two_heads(few(55)));
      if (only_dim || d == kMaxDim) add(few(55).with_tunable("step", 4));
      // Scores that grow from key to key: everything gathered so far is rescaled again and again.
      add(few(303).with_values(Values::Rising));
      // Scores whose exponentials leave the range of f32, in falling and in rising order, and of one key at the end.
      for (const int sign : {-1, 1}) add(scaled(few(55).with_values(Values::Rising), sign * 6000.0 / d));
      for (const int key : {48, 52, 53, 54})
        add(scaled(few(55).with_values(Values::Ones), 1).with_element("k", key * d, 300));
      // The last key weighs as much as all others together, and what it weighs differs.
      for (const int n : {2, 55}) {
        const double most = 3 + 64 * std::log(n - 1);
        add(scaled(few(n).with_values(Values::Ones), 1.0 / 64)
                .with_element("k", (n - 1) * d, most)
                .with_element("v", (n - 1) * d, -1));
      }
      // The only score is -inf: a key without weight.
      add(few(1).with_values(Values::Ones).with_element("k", 0, -HUGE_VAL));
      if (!window) continue;
      for (const double logit : {1.5, -100., 30.}) add(sunk(few(55), logit));
      add(few(55).with_real("sink_logit", 200));
      for (const auto& [end, start] : {std::pair{3, 5}, {53, 54}, {2, 40}, {5, 55}}) add(complete(few(55), end, start));
    }
    if (!partials) return all;
    const auto add = [&](const Problem& p) { all.push_back(p.with_tunable("threads", int{kLanes})); };
    for (const auto& [n, count] : {std::pair{5, 4}, {55, 4}, {70, 40}, {130, 64}, {0, 33}}) add(few(n, count));
    for (const int sign : {-1, 1}) add(scaled(few(64, 64).with_values(Values::Rising), sign * 6000.0 / d));
    // The only block that counts is neither the last nor one of the first 32.
    add(scaled(few(40, 40).with_values(Values::Ones), 1).with_element("k", 35 * d, 300));
    return all;
  }
  Problems benches() const {
    const int d = only_dim ? only_dim : 128;
    const Problem p{{"n_q_heads", 32}, {"n_kv_heads", 8}, {"queries", only_queries ? only_queries : 4},
                    {"head_dim", d},   {"n_kv", 0},       {"kv_stride", 0}};
    Problems all;
    for (const int n : {4096, 1024, 32768}) all.push_back(complete(p.with("n_kv", n).with("kv_stride", n), 0, 0));
    return all;
  }
  /// Adds the scale that is usual and, where the kernel has a window, its ends.
  Problem complete(const Problem& p, int sink_end, int window_start) const {
    Problem all = p.with_real("scale", 1 / std::sqrt(static_cast<double>(p["head_dim"])));
    if (window) all = all.with("sink_end", sink_end).with("window_start", window_start).with("has_sink", 0);
    return all;
  }
  Work work(const Problem& p) const {
    double keys = static_cast<double>(p["n_kv"]);
    if (window) {
      const std::int64_t end = std::min(p["sink_end"], p["n_kv"]);
      keys = static_cast<double>(p["n_kv"] + end - std::clamp(p["window_start"], end, p["n_kv"]));
    }
    const double d = static_cast<double>(p["head_dim"]), size = size_of(dtype_of<T>);
    const double rows = static_cast<double>(p["n_q_heads"] * p["queries"]);
    return {.read = (2 * static_cast<double>(p["n_kv_heads"]) * keys + rows) * d * size,
            .written = rows * d * size,
            .flops = 4 * rows * keys * d};
  }
  std::vector<std::string> batch() const { return {"n_kv_heads", "n_q_heads"}; }  // a KV head and its query heads
};

/// Configures a name: what it promises of head_dim and queries.
auto fixed(int dim, int queries) {
  return [=](auto& k) {
    k.only_dim = dim;
    k.only_queries = queries;
  };
}
auto windowed(int dim) {
  return [=](auto& k) {
    fixed(dim, 1)(k);
    k.window.emplace();
  };
}
auto two_pass(int dim) {
  return [=](auto& k) {
    fixed(dim, 1)(k);
    k.partials.emplace();
  };
}

const bool registered = [] {
  kernel<Decode>("mt_sdpa_vector", Floats{}, fixed(128, 1));
  for (const int d : {64, 96, 192, 256}) kernel<Decode>("mt_sdpa_vector_d" + std::to_string(d), Floats{}, fixed(d, 1));
  kernel<Decode>("ffai_sdpa_decode", Floats{}, windowed(128));
  for (const int d : {64, 96, 256}) kernel<Decode>("ffai_sdpa_decode_d" + std::to_string(d), Floats{}, windowed(d));
  kernel<Decode>("ffai_sdpa_decode_2pass", Floats{}, two_pass(128));
  for (const int d : {64, 96, 256})
    kernel<Decode>("ffai_sdpa_decode_2pass_d" + std::to_string(d), Floats{}, two_pass(d));
  kernel<Decode>("sdpa_decode_batched", Floats{}, fixed(0, 0));
  for (const int n : {2, 4, 8}) kernel<Decode>("sdpa_decode_batched_q" + std::to_string(n), Floats{}, fixed(0, n));
  return true;
}();

}  // namespace
}  // namespace mt
