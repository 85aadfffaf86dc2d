// Scaled dot-product attention for decoding: a few queries a head against a cache of keys and values.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"
#include "mt/oracle/operand.h"

namespace mt::oracle {

struct Attention {
  std::int64_t heads = 1, kv_heads = 1;  // kv_heads divides heads; head h reads key head h / (heads / kv_heads)
  std::int64_t queries = 1;              // a head; all see the same keys
  std::int64_t head_dim = 0;
  std::int64_t n_kv = 0;       // keys in the cache
  std::int64_t kv_stride = 0;  // rows between the keys of one head and the next, at least n_kv; 0 means n_kv
  double scale = 1;            // as the kernel holds it, in f32
  // Visible keys are [0, sink_end) and [window_start, n_kv).
  std::int64_t sink_end = 0, window_start = 0;
  // Logits that join the softmax without a value, unscaled: none, one for all heads, or one a head.
  std::vector<double> sink_logits = {};
  // Query i of `queries` sees keys up to n_kv - queries + i only: the queries are the last of the sequence.
  bool causal = false;
  // Above 0: query i sees the last `window` of the keys up to n_kv - queries + i only, and those before sink_end.
  std::int64_t window = 0;
  // What joins the scaled logit of (head, query, key); -inf hides the key. Empty: nothing.
  std::function<double(std::int64_t, std::int64_t, std::int64_t)> bias = {};
  OperandRounding weights = {};  // as they meet the values
  // Unit roundoff of partial outputs that a kernel in several passes stores between them: 2^-11 for f16, 2^-8 for bf16;
  // 0 where they stay in f32.
  double partial_roundoff = 0;
};

struct AttentionExpected {
  Expected output;  // [heads, queries, head_dim]
  Expected lse;     // [heads, queries]: log of the sum of exp(logit) in natural logarithm, sinks included
};

/// softmax(scale * q k^T) v with q [heads, queries, head_dim] and k, v [kv_heads, kv_stride, head_dim]. Where no key is
/// visible, or every logit is -inf, the output is 0 and the lse that of the sink alone, -inf without one. Rows of k and
/// v that are not visible are not read.
///
/// The bound follows errors from each logit through its weight: a logit is off by at most
/// (sum_factor(head_dim) + 4) u * scale * sum |q||k| and 4 u of its bias, which moves the weight p by the same relative
/// amount e, and the output by p e (v - output) / sum p, since weights are divided by their own sum. Rounding of the
/// two sums comes on top.
AttentionExpected attention(const HostTensor& q, const HostTensor& k, const HostTensor& v, const Attention& problem);

/// The same for a batch: each tensor with a leading axis of items, item b of which has lengths[b] keys (at most
/// kv_stride, which must be given).
AttentionExpected attention(const HostTensor& q, const HostTensor& k, const HostTensor& v, const HostTensor& lengths,
                            const Attention& problem);

/// The bias that a mask [batch or 1, heads or 1, queries or 1, keys] stands for, heads being counted through the batch:
/// a mask of floats is added, one of integers shows the keys where it is not 0.
std::function<double(std::int64_t, std::int64_t, std::int64_t)> bias_of(const HostTensor& mask, std::int64_t heads);

/// The cache [batch, kv_heads, pages of an item * page, head_dim] that pages [n_pages, kv_heads, page, head_dim] and a
/// table [batch, pages of an item] describe.
HostTensor from_pages(const HostTensor& pages, const HostTensor& table);

}  // namespace mt::oracle
