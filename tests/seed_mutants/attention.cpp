#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/seed_mutants/wrong_kernels.h"

namespace mt {
namespace {

/// What one query head and query does.
struct Walk {
  std::int64_t head, query, kv_head, stride, n;
  double scale;
  std::vector<std::int64_t> keys, values;  // rows of the cache that a weight comes from and goes to
  double sink = -INFINITY;                 // a logit without a value
  bool values_are_keys = false, equal_weights = false, base_2 = false, keep_maximum = false, own_maximum = false;
  bool half_of_total = false, no_total = false, thin = false;
  std::int64_t parts = 1;  // walks whose results are averaged without weights
};
using Fault = std::function<void(const Inputs&, Walk&)>;

double weight(const Walk& w, double score, double top) {
  if (w.equal_weights) return 1;
  if (w.keep_maximum) return std::exp(static_cast<float>(score)) > 3e38 ? INFINITY : std::exp(score);
  return w.base_2 ? std::exp2(score - top) : std::exp(score - top);
}

/// Weighted sum of the keys from `first` to `last` of the list.
std::vector<double> attend(const Inputs& in, const Walk& w, std::size_t first, std::size_t last) {
  const std::int64_t d = in.size("head_dim"), row = (w.head * in.size("queries") + w.query) * d;
  const HostTensor &q = in["q"], &k = in["k"], &v = in[w.values_are_keys ? "k" : "v"];
  const auto at = [&](std::int64_t key) { return (w.kv_head * w.stride + key) * d; };
  std::vector<double> scores, result(static_cast<std::size_t>(d), 0.0);
  for (std::size_t i = first; i < last; ++i) {
    double s = 0;
    for (std::int64_t e = 0; e < d; ++e) s += q.at(row + e) * k.at(at(w.keys[i]) + e);
    scores.push_back(s * w.scale);
  }
  double top = w.sink;
  for (const double s : scores) top = std::max(top, s);
  double total = w.sink == -INFINITY ? 0 : std::exp(w.sink - top);
  // 32 simdgroups with a maximum each, for the fault that takes the wrong one of them.
  std::vector<double> tops(32, -INFINITY);
  for (std::size_t i = 0; i < scores.size(); ++i) tops[i % 32] = std::max(tops[i % 32], scores[i]);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == -INFINITY) continue;  // counts as no key
    const double p = weight(w, scores[i], top);
    if (!w.half_of_total || i < (scores.size() + 1) / 2) total += p;
    for (std::int64_t e = 0; e < d; ++e) {
      // Element e is gathered by simdgroup e mod 32, which should scale each part by its producer's maximum.
      const auto gatherer = static_cast<std::size_t>(e % 32);
      const double factor = w.own_maximum ? std::exp(scores[i] - tops[i % 32]) * std::exp(tops[gatherer] - top) : p;
      result[static_cast<std::size_t>(e)] += factor * v.at(at(w.values[first + i]) + e);
    }
  }
  for (std::int64_t e = 0; e < d; ++e) {
    double& r = result[static_cast<std::size_t>(e)];
    if (w.thin && e % 32 >= static_cast<std::int64_t>(scores.size())) r = 0;
    if (!w.no_total) r = total == 0 ? 0 : r / total;
  }
  return result;
}

void decode(const Inputs& in, Outputs& out, const Fault& fault) {
  const std::int64_t heads = in.size("n_q_heads"), queries = in.size("queries"), d = in.size("head_dim");
  const Problem& p = in.problem();
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t query = 0; query < queries; ++query) {
      Walk w{.head = h,
             .query = query,
             .kv_head = h / (heads / in.size("n_kv_heads")),
             .stride = in.size("kv_stride"),
             .n = in.size("n_kv"),
             .scale = in.real("scale")};
      const bool window = p.has("sink_end");
      for (std::int64_t i = 0; i < w.n; ++i)
        if (!window || i < p["sink_end"] || i >= p["window_start"]) w.keys.push_back(i);
      if (window && p["has_sink"] != 0) w.sink = in.real("sink_logit");
      w.values = w.keys;
      if (fault) fault(in, w);
      w.values.resize(w.keys.size());
      std::vector<double> sum(static_cast<std::size_t>(d), 0.0);
      const std::size_t n = w.keys.size(), parts = static_cast<std::size_t>(w.parts);
      for (std::size_t part = 0; part < parts; ++part) {
        const auto one = attend(in, w, n * part / parts, n * (part + 1) / parts);
        for (std::size_t e = 0; e < one.size(); ++e) sum[e] += one[e] / static_cast<double>(parts);
      }
      for (std::int64_t e = 0; e < d; ++e)
        out.at("out").set((h * queries + query) * d + e, sum[static_cast<std::size_t>(e)]);
    }
}

void keep(Walk& w, std::int64_t count) {
  w.keys.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(w.keys.size()))));
}
void skip(Walk& w, std::size_t first, std::size_t last) {
  const auto begin = static_cast<std::ptrdiff_t>(std::min(first, w.keys.size()));
  const auto end = static_cast<std::ptrdiff_t>(std::min(last, w.keys.size()));
  w.keys.erase(w.keys.begin() + begin, w.keys.begin() + end);
  w.values.erase(w.values.begin() + begin, w.values.begin() + end);
}
void all_keys(Walk& w) {
  w.keys.resize(static_cast<std::size_t>(w.n));
  std::iota(w.keys.begin(), w.keys.end(), 0);
  w.values = w.keys;
}

}  // namespace

std::vector<WrongKernel> wrong_attention() {
  std::vector<WrongKernel> all;
  const auto add = [&](const char* kernel, const char* name, Fault fault) {
    all.push_back({kernel, name, [fault](const Inputs& in, Outputs& out) { decode(in, out, fault); }});
  };
  const char* one = "mt_sdpa_vector_d64";
  add(one, "", nullptr);
  add(one, "second half of the keys ignored", [](const Inputs&, Walk& w) { keep(w, (w.n + 1) / 2); });
  add(one, "first 17 keys only", [](const Inputs&, Walk& w) { keep(w, 17); });
  add(one, "always KV head 0", [](const Inputs&, Walk& w) { w.kv_head = 0; });
  add(one, "KV head by remainder", [](const Inputs& in, Walk& w) { w.kv_head = w.head % in.size("n_kv_heads"); });
  add(one, "last 32 keys dropped", [](const Inputs&, Walk& w) { keep(w, w.n > 32 ? w.n - 32 : w.n); });
  add(one, "keys after the last whole 32 dropped", [](const Inputs&, Walk& w) { keep(w, w.n - w.n % 32); });
  add(one, "values are keys", [](const Inputs&, Walk& w) { w.values_are_keys = true; });
  add(one, "scale missing", [](const Inputs&, Walk& w) { w.scale = 1; });
  add(one, "scale twice", [](const Inputs&, Walk& w) { w.scale *= w.scale; });
  add(one, "not divided by the sum", [](const Inputs&, Walk& w) { w.no_total = true; });
  add(one, "divided by half of the sum", [](const Inputs&, Walk& w) { w.half_of_total = true; });
  add(one, "own maximum in place of each producer's", [](const Inputs&, Walk& w) { w.own_maximum = true; });
  add(one, "zeros where a simdgroup has no key", [](const Inputs&, Walk& w) { w.thin = true; });
  add(one, "last key only", [](const Inputs&, Walk& w) { skip(w, 0, w.keys.empty() ? 0 : w.keys.size() - 1); });
  add(one, "values of the next key", [](const Inputs&, Walk& w) {
    if (!w.values.empty()) std::rotate(w.values.begin(), w.values.begin() + 1, w.values.end());
  });
  add(one, "all weights equal", [](const Inputs&, Walk& w) { w.equal_weights = true; });
  add(one, "heads n_kv apart in place of kv_stride", [](const Inputs&, Walk& w) { w.stride = w.n; });
  add(one, "exp2 without log2(e)", [](const Inputs&, Walk& w) { w.base_2 = true; });
  add(one, "a block of 16 keys skipped", [](const Inputs&, Walk& w) { skip(w, 16, 32); });
  add(one, "first key twice", [](const Inputs&, Walk& w) {
    if (w.keys.empty()) return;
    w.keys.push_back(w.keys[0]);
    w.values.push_back(w.values[0]);
  });
  add(one, "query of head 0", [](const Inputs&, Walk& w) { w.head = 0; });
  add(one, "maximum not taken off", [](const Inputs&, Walk& w) { w.keep_maximum = true; });
  const char* windowed = "ffai_sdpa_decode_d64";
  add(windowed, "", nullptr);
  add(windowed, "window ignored", [](const Inputs&, Walk& w) { all_keys(w); });
  add(windowed, "keys before the window ignored", [](const Inputs& in, Walk& w) {
    const auto first =
        std::find_if(w.keys.begin(), w.keys.end(), [&](std::int64_t i) { return i >= in.problem()["window_start"]; });
    skip(w, 0, static_cast<std::size_t>(first - w.keys.begin()));
  });
  add(windowed, "sink logit ignored", [](const Inputs&, Walk& w) { w.sink = -INFINITY; });
  const char* batched = "sdpa_decode_batched_q4";
  add(batched, "", nullptr);
  add(batched, "all queries are query 0", [](const Inputs&, Walk& w) { w.query = 0; });
  add(batched, "last query left out", [](const Inputs& in, Walk& w) {
    if (w.query + 1 == in.size("queries")) w.keys.clear();
  });
  add(batched, "causal among the queries",
      [](const Inputs& in, Walk& w) { keep(w, w.n - (in.size("queries") - 1 - w.query)); });
  const char* two_pass = "ffai_sdpa_decode_2pass_d64";
  add(two_pass, "", nullptr);
  add(two_pass, "parts averaged without weights", [](const Inputs&, Walk& w) { w.parts = (w.n + 255) / 256; });
  add(two_pass, "last part dropped", [](const Inputs&, Walk& w) { keep(w, w.n > 256 ? w.n - w.n % 256 : w.n); });
  return all;
}

}  // namespace mt
