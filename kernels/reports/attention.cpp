// Reports about decode attention: masks and windows, empty caches, head counts and sizes, strides, large scores.
#include <cmath>

#include "mt/dsl/reports.h"

namespace mt {
namespace {

struct Shape {
  int q_heads = 4, kv_heads = 2, queries = 1, dim = 128, keys = 40, stride = 40;
};

Problem decode(const Shape& s) {
  const Problem p{{"n_q_heads", s.q_heads}, {"n_kv_heads", s.kv_heads}, {"queries", s.queries},
                  {"head_dim", s.dim},      {"n_kv", s.keys},           {"kv_stride", s.stride}};
  return p.with_real("scale", 1 / std::sqrt(static_cast<double>(s.dim)));
}
/// Keys before `sink_end` and from `start` on are seen.
Problem window(const Shape& s, int sink_end, int start) {
  return decode(s).with("sink_end", sink_end).with("window_start", start).with("has_sink", 0);
}
Problem with_sink(const Problem& p, double logit) { return p.with("has_sink", 1).with_real("sink_logit", logit); }

const bool empty = report({
    {"M-01", "ffai_sdpa_decode", window({.keys = 8, .stride = 8}, 0, 8)},
    {"M-01", "ffai_sdpa_decode_d64", window({.dim = 64, .keys = 8, .stride = 8}, 0, 8)},
    {"M-01", "sdpa_decode_batched_q8", decode({.queries = 8, .keys = 0, .stride = 8})},
    {"M-02", "sdpa_decode_batched_q4", decode({.queries = 4, .dim = 64, .keys = 0, .stride = 3})},
    {"M-03", "mt_sdpa_vector", decode({.keys = 0, .stride = 16})},
    {"M-06", "ffai_sdpa_decode_2pass", decode({.keys = 0, .stride = 16})},
    {"M-06", "ffai_sdpa_decode_2pass", decode({.keys = 3, .stride = 16})},
    {"M-37", "ffai_sdpa_decode", window({.keys = 64, .stride = 64}, 0, 1000)},
});

const bool windows = report({
    {"M-07", "ffai_sdpa_decode", window({.keys = 128, .stride = 128}, 0, 17)},
    {"M-09", "ffai_sdpa_decode", window({.q_heads = 12, .kv_heads = 12, .keys = 50, .stride = 64}, 21, 50)},
    {"M-11", "ffai_sdpa_decode", with_sink(window({.keys = 60, .stride = 60}, 0, 14), 0.5)},
    {"M-14", "ffai_sdpa_decode", window({.keys = 300, .stride = 300}, 0, 256)},
    {"M-30", "ffai_sdpa_decode", window({.keys = 1, .stride = 1}, 0, 0)},
    {"M-30", "ffai_sdpa_decode", window({.keys = 3, .stride = 3}, 0, 0)},
    {"M-30", "ffai_sdpa_decode", window({.keys = 19, .stride = 19}, 0, 16)},
    {"M-30", "ffai_sdpa_decode", window({.keys = 99, .stride = 99}, 0, 86)},
    {"M-30", "ffai_sdpa_decode", window({.keys = 199, .stride = 199}, 0, 176)},
    {"M-30", "ffai_sdpa_decode", window({.keys = 1177, .stride = 1177}, 0, 1140)},
    {"M-30", "ffai_sdpa_decode", window({.keys = 1999, .stride = 1999}, 0, 1956)},
    {"M-41", "ffai_sdpa_decode", with_sink(window({.keys = 40, .stride = 40}, 0, 0), 2)},
    {"M-41", "ffai_sdpa_decode_d64", with_sink(window({.dim = 64, .keys = 40, .stride = 40}, 0, 0), 2)},
});

const bool shapes = report({
    {"M-19", "mt_sdpa_vector", decode({.q_heads = 6, .kv_heads = 2, .keys = 33, .stride = 50})},
    {"M-21", "mt_sdpa_vector_d64", decode({.q_heads = 8, .kv_heads = 8, .dim = 64, .keys = 82, .stride = 82})},
    {"M-26", "ffai_sdpa_decode_2pass", decode({.keys = 257, .stride = 257})},
    {"M-27", "ffai_sdpa_decode_2pass_d64", decode({.dim = 64, .keys = 2049, .stride = 2049})},
    {"M-29", "mt_sdpa_vector", decode({.q_heads = 10, .kv_heads = 2, .keys = 45, .stride = 45})},
    {"M-29", "mt_sdpa_vector_d192", decode({.q_heads = 10, .kv_heads = 2, .dim = 192, .keys = 45, .stride = 45})},
    {"M-29", "sdpa_decode_batched", decode({.q_heads = 16, .kv_heads = 1, .dim = 512, .keys = 33, .stride = 33})},
    {"M-31", "sdpa_decode_batched",
     decode({.q_heads = 4, .kv_heads = 1, .queries = 6, .dim = 512, .keys = 37, .stride = 41})},
    {"M-38", "sdpa_decode_batched_q2", decode({.queries = 2, .dim = 64, .keys = 113, .stride = 113})},
    {"M-38", "sdpa_decode_batched_q4", decode({.queries = 4, .dim = 64, .keys = 113, .stride = 113})},
    {"M-38", "sdpa_decode_batched_q8", decode({.queries = 8, .dim = 64, .keys = 113, .stride = 113})},
    {"M-46", "mt_sdpa_vector", decode({.keys = 15, .stride = 48})},
    {"M-46", "mt_sdpa_vector", decode({.keys = 16, .stride = 48})},
    {"M-46", "mt_sdpa_vector", decode({.keys = 17, .stride = 48})},
    {"M-46", "mt_sdpa_vector", decode({.keys = 32, .stride = 48})},
    {"M-47", "mt_sdpa_vector", decode({.keys = 61, .stride = 256})},
    {"M-47", "ffai_sdpa_decode_2pass", decode({.keys = 61, .stride = 256})},
    {"M-50", "mt_sdpa_vector", decode({.keys = 77, .stride = 77})},
    {"M-50", "mt_sdpa_vector_d256", decode({.dim = 256, .keys = 77, .stride = 77})},
});

// The rows of the cache behind the keys hold NaN: they must not be read, not even to be weighed with 0.
const bool spare = report({
    {"M-25", "mt_sdpa_vector", decode({.keys = 40, .stride = 60}).with_values(Values::NanTail)},
    {"M-25", "mt_sdpa_vector_d64", decode({.dim = 64, .keys = 33, .stride = 50}).with_values(Values::NanTail)},
    {"M-25", "ffai_sdpa_decode_2pass", decode({.keys = 300, .stride = 450}).with_values(Values::NanTail)},
    {"M-25", "sdpa_decode_batched_q2", decode({.queries = 2, .keys = 17, .stride = 26}).with_values(Values::NanTail)},
    {"M-25", "ffai_sdpa_decode", window({.keys = 60, .stride = 90}, 0, 44).with_values(Values::NanTail)},
    {"M-46", "mt_sdpa_vector", decode({.keys = 32, .stride = 48}).with_values(Values::NanTail)},
});

const bool values = report({
    {"M-13", "mt_sdpa_vector", decode({}).with_values(Values::Equal).with_real("scale", -1000)},
    {"M-13", "ffai_sdpa_decode_2pass", decode({}).with_values(Values::Equal).with_real("scale", -1000)},
    {"M-35", "mt_sdpa_vector", decode({.keys = 100, .stride = 100}).with_values(Values::Large)},
    {"M-35", "ffai_sdpa_decode_2pass", decode({.keys = 300, .stride = 300}).with_values(Values::Large)},
    {"M-42", "mt_sdpa_vector", decode({.keys = 50, .stride = 50}).with_values(Values::Ramp)},
    {"M-42", "mt_sdpa_vector", decode({.keys = 50, .stride = 50}).with_values(Values::Spike)},
    {"M-42", "sdpa_decode_batched_q2", decode({.queries = 2, .keys = 50, .stride = 50}).with_values(Values::Ramp)},
});

}  // namespace
}  // namespace mt
