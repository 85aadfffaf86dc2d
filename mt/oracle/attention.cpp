#include "mt/oracle/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"
#include "mt/oracle/rounding.h"

namespace mt::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(const HostTensor& q, const HostTensor& k, const HostTensor& v, const Attention& a) {
  require(a.heads > 0 && a.kv_heads > 0 && a.heads % a.kv_heads == 0,
          fmt::format("{} query heads can't share {} key heads; use a multiple", a.heads, a.kv_heads));
  require(a.head_dim > 0 && a.queries > 0 && a.n_kv >= 0 && a.kv_stride >= a.n_kv,
          fmt::format("attention over {} keys with a stride of {}, {} queries and a head size of {} has no meaning",
                      a.n_kv, a.kv_stride, a.queries, a.head_dim));
  require(a.sink_end >= 0 && a.window_start >= 0 && a.window >= 0,
          "sink_end, window_start and window count keys; they can't be negative");
  require(q.count() == a.heads * a.queries * a.head_dim,
          fmt::format("{} has {} elements; {} heads of {} queries of {} need {}", q.name, q.count(), a.heads, a.queries,
                      a.head_dim, a.heads * a.queries * a.head_dim));
  const std::int64_t cache = a.kv_heads * a.kv_stride * a.head_dim;
  require(k.count() == cache && v.count() == cache,
          fmt::format("{} and {} have {} and {} elements; {} heads of {} rows of {} need {}", k.name, v.name, k.count(),
                      v.count(), a.kv_heads, a.kv_stride, a.head_dim, cache));
  const auto sinks = static_cast<std::int64_t>(a.sink_logits.size());
  require(sinks <= 1 || sinks == a.heads,
          fmt::format("{} sink logits for {} heads; give none, one, or one a head", sinks, a.heads));
}

/// What one query saw: logits of the visible keys, their weights and the errors of these, and where its results go.
struct Query {
  std::int64_t index;                        // into lse
  std::vector<double> logit, weight, error;  // of each key; errors are those of logits until there are weights
  // Over keys, a head_dim each: p v, p |v|, |v - output| times p's error, |v|.
  std::vector<double> sum, magnitude, spread, total;
  double top = -kInfinity, z = 0, z_spread = 0, largest_error = 0;
  double sink_spread = 0;  // the error of the sink's weight

  bool sees_nothing() const { return top == -kInfinity; }
  double output(std::size_t d) const { return sum[d] / z; }
};

/// Logits of all queries of one key head.
void score(const HostTensor& q, const HostTensor& k, const Attention& a, std::int64_t kv_head,
           const std::vector<std::int64_t>& keys, std::vector<Query>& queries) {
  const auto dim = static_cast<std::size_t>(a.head_dim);
  const double relative = kUnit * (sum_factor(a.head_dim) + 4);
  std::vector<double> key(dim), all(queries.size() * dim);
  for (std::size_t i = 0; i < queries.size(); ++i)
    read(q, queries[i].index * a.head_dim, a.head_dim, all.data() + i * dim);
  for (const std::int64_t t : keys) {
    read(k, (kv_head * a.kv_stride + t) * a.head_dim, a.head_dim, key.data());
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const std::int64_t asked = queries[i].index % a.queries, own = a.n_kv - a.queries + asked;
      const bool before = a.window > 0 && t <= own - a.window && t >= a.sink_end;
      const double bias = a.bias ? a.bias(queries[i].index / a.queries, asked, t) : 0;
      if ((a.causal && t > own) || before || bias == -kInfinity) {
        queries[i].logit.push_back(-kInfinity);
        queries[i].error.push_back(0);
        continue;
      }
      const double* query = all.data() + i * dim;
      double dot = 0, magnitude = 0;
      for (std::size_t d = 0; d < dim; ++d) {
        dot += query[d] * key[d];
        magnitude += std::fabs(query[d] * key[d]);
      }
      const double logit = a.scale * dot + bias;
      queries[i].logit.push_back(logit);
      queries[i].error.push_back(relative * std::fabs(a.scale) * magnitude + 4 * kUnit * std::fabs(bias));
      if (logit > queries[i].top || std::isnan(logit)) queries[i].top = logit;
    }
  }
}

/// Adds every visible key's value to the queries that weigh it.
void gather(const HostTensor& v, const Attention& a, std::int64_t kv_head, const std::vector<std::int64_t>& keys,
            std::vector<Query>& queries) {
  const auto dim = static_cast<std::size_t>(a.head_dim);
  std::vector<double> value(dim);
  for (std::size_t j = 0; j < keys.size(); ++j) {
    read(v, (kv_head * a.kv_stride + keys[j]) * a.head_dim, a.head_dim, value.data());
    for (Query& query : queries) {
      query.weight.push_back(0);
      if (query.logit[j] == -kInfinity) continue;
      const double gap = query.logit[j] - query.top, p = std::exp(gap);
      query.weight[j] = p;
      query.error[j] += exp_error(gap) + kUnit * kRescalings * kExpError;
      query.largest_error = std::max(query.largest_error, query.error[j]);
      query.z += p;
      query.z_spread += p * query.error[j];
      for (std::size_t d = 0; d < dim; ++d) {
        query.sum[d] += p * value[d];
        query.magnitude[d] += p * std::fabs(value[d]);
        query.total[d] += std::fabs(value[d]);
      }
    }
  }
}

/// What errors of weights make of the outputs: a weight enters the weighted sum and the sum of weights alike, so that
/// its error counts by how far its value is from the output. A target may flush weights below kTiny.
void spread(const HostTensor& v, const Attention& a, std::int64_t kv_head, const std::vector<std::int64_t>& keys,
            std::vector<Query>& queries) {
  const auto dim = static_cast<std::size_t>(a.head_dim);
  std::vector<double> value(dim);
  for (std::size_t j = 0; j < keys.size(); ++j) {
    read(v, (kv_head * a.kv_stride + keys[j]) * a.head_dim, a.head_dim, value.data());
    for (Query& query : queries) {
      if (query.logit[j] == -kInfinity) continue;
      const double error = query.weight[j] * query.error[j] + kTiny;
      for (std::size_t d = 0; d < dim; ++d) query.spread[d] += error * std::fabs(value[d] - query.output(d));
    }
  }
}

void finish(const Query& query, const Attention& a, std::int64_t keys, AttentionExpected& out) {
  if (query.sees_nothing()) {
    out.lse.value[static_cast<std::size_t>(query.index)] = -kInfinity;
    return;  // outputs stay exact zeros
  }
  const double summing = kUnit * (walk_factor(keys) + kRescalings), z_error = query.z_spread / query.z + summing;
  // Errors of logits may be large enough for their products to count.
  const double growth = std::exp(2 * std::min(query.largest_error, 100.0));
  for (std::int64_t d = 0; d < a.head_dim; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const double o = query.output(at), weights = query.spread[at] + query.sink_spread * std::fabs(o);
    const double carried = growth * weights +
                           (summing + a.partial_roundoff + a.weights.relative) * query.magnitude[at] +
                           a.weights.floor * query.total[at];
    put(out.output, query.index * a.head_dim + d,
        {o, carried / query.z + std::fabs(o) * (summing + 3 * kUnit) + kTiny});
  }
  const double tail = std::log(query.z), lse = query.top + tail;
  // The maximum is itself a logit with an error; it moves the sum back by as much, up to the rounding of the result.
  put(out.lse, query.index, {lse, z_error + kUnit * (kLogError * std::fabs(tail) + 3 * std::fabs(lse)) + kTiny});
}

}  // namespace

AttentionExpected attention(const HostTensor& q, const HostTensor& k, const HostTensor& v, const Attention& problem) {
  Attention a = problem;
  if (a.kv_stride == 0) a.kv_stride = a.n_kv;
  check(q, k, v, a);
  std::vector<std::int64_t> keys;
  for (std::int64_t t = 0; t < a.n_kv; ++t)
    if (t < a.sink_end || t >= a.window_start) keys.push_back(t);
  AttentionExpected out{blank(q.count()), blank(a.heads * a.queries)};
  const std::int64_t shared = a.heads / a.kv_heads;
  parallel_for(a.kv_heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t kv_head = begin; kv_head < end; ++kv_head) {
      std::vector<Query> queries(static_cast<std::size_t>(shared * a.queries));
      for (std::size_t i = 0; i < queries.size(); ++i) {
        Query& query = queries[i];
        query.index = kv_head * shared * a.queries + static_cast<std::int64_t>(i);
        query.sum.resize(static_cast<std::size_t>(a.head_dim));
        query.magnitude = query.spread = query.total = query.sum;
      }
      score(q, k, a, kv_head, keys, queries);
      for (Query& query : queries) {
        if (a.sink_logits.empty()) continue;
        const auto head = static_cast<std::size_t>(query.index / a.queries);
        const double sink = a.sink_logits.size() == 1 ? a.sink_logits[0] : a.sink_logits[head];
        if (!(query.top >= sink) && !std::isnan(query.top)) query.top = sink;
        if (sink == -kInfinity) continue;
        query.z = std::exp(sink - query.top);
        query.sink_spread =
            query.z * (exp_error(sink - query.top) + kUnit * (2 * std::fabs(sink) + kRescalings * kExpError));
        query.z_spread = query.sink_spread;
      }
      gather(v, a, kv_head, keys, queries);
      spread(v, a, kv_head, keys, queries);
      for (const Query& query : queries) finish(query, a, static_cast<std::int64_t>(keys.size()), out);
    }
  });
  return out;
}

AttentionExpected attention(const HostTensor& q, const HostTensor& k, const HostTensor& v, const HostTensor& lengths,
                            const Attention& problem) {
  AttentionExpected all;
  const std::int64_t items = lengths.count();
  const auto item = [&](const HostTensor& t, std::int64_t b) {
    HostTensor part(t.name, t.dtype, {t.count() / items});
    const auto bytes = static_cast<std::size_t>(part.count() * size_of(t.dtype));
    std::memcpy(part.data.data(), t.data.data() + static_cast<std::size_t>(b) * bytes, bytes);
    return part;
  };
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::int64_t b = 0; b < items; ++b) {
    Attention a = problem;
    a.n_kv = std::min(static_cast<std::int64_t>(lengths.int_at(b)), a.kv_stride);
    const AttentionExpected one = attention(item(q, b), item(k, b), item(v, b), a);
    append(all.output.value, one.output.value);
    append(all.output.bound, one.output.bound);
    append(all.lse.value, one.lse.value);
    append(all.lse.bound, one.lse.bound);
  }
  return all;
}

std::function<double(std::int64_t, std::int64_t, std::int64_t)> bias_of(const HostTensor& mask, std::int64_t heads) {
  require(mask.shape.size() == 4, "a mask has four axes: batch, heads, queries, keys");
  // An axis of one element is the same for all.
  const auto along = [&mask](std::size_t axis, std::int64_t i) { return mask.shape[axis] == 1 ? 0 : i; };
  return [&mask, heads, along](std::int64_t head, std::int64_t query, std::int64_t key) {
    const std::int64_t place = along(0, head / heads) * mask.shape[1] + along(1, head % heads);
    const std::int64_t at = (place * mask.shape[2] + along(2, query)) * mask.shape[3] + key;
    if (is_float(mask.dtype)) return mask.at(at);
    return mask.at(at) == 0 ? -kInfinity : 0;
  };
}

HostTensor from_pages(const HostTensor& pages, const HostTensor& table) {
  require(pages.shape.size() == 4 && table.shape.size() == 2, "pages have four axes, their table has two");
  const std::int64_t heads = pages.shape[1], page = pages.shape[2], dim = pages.shape[3];
  const std::int64_t items = table.shape[0], each = table.shape[1];
  HostTensor cache(pages.name, pages.dtype, {items, heads, each * page, dim});
  const auto bytes = static_cast<std::size_t>(page * dim * size_of(pages.dtype));
  for (std::int64_t b = 0; b < items; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < each; ++i) {
        const auto from = static_cast<std::size_t>(table.int_at(b * each + i) * heads + h);
        const auto to = static_cast<std::size_t>((b * heads + h) * each + i);
        std::memcpy(cache.data.data() + to * bytes, pages.data.data() + from * bytes, bytes);
      }
  return cache;
}

}  // namespace mt::oracle
