// Reports about rows: lengths that fill no tile, numbers that overflow narrow sums, angles far out.
#include "mt/dsl/reports.h"

namespace mt {
namespace {

Problem rows(std::int64_t count, std::int64_t n) { return {{"rows", count}, {"n", n}}; }
Problem flat(std::int64_t n) { return {{"n", n}}; }

const bool tails = report({
    {"T-15", "mt_row_reduce", rows(3, 12)},
    {"T-15", "mt_row_reduce", rows(3, 20)},
    {"T-15", "mt_row_reduce", rows(3, 28)},
    {"T-19", "mt_softmax", rows(3, 24)},
    {"T-19", "mt_softmax", rows(3, 40)},
    {"T-19", "mt_softmax", rows(3, 56)},
    {"T-21", "mt_row_reduce", rows(5, 3)},
    {"T-21", "mt_row_reduce_prod", rows(5, 3)},
    {"T-22", "mt_row_reduce_max", rows(3, 576)},
    {"T-25", "mt_rms_norm", rows(3, 192)},
    {"T-25", "mt_rms_norm", rows(3, 229)},
    {"T-25", "mt_rms_norm", rows(3, 257)},
    {"T-25", "mt_row_reduce", rows(3, 48)},
    {"T-25", "mt_row_reduce", rows(3, 96)},
    {"T-26", "mt_copy", flat(1003)},
    {"T-30", "mt_layer_norm", rows(3, 33)},
    {"T-30", "mt_layer_norm", rows(3, 132)},
    {"T-30", "mt_layer_norm", rows(3, 260)},
    {"T-30", "mt_rms_norm", rows(3, 33)},
    {"T-30", "mt_rms_norm", rows(3, 132)},
    {"T-30", "mt_rms_norm", rows(3, 260)},
    {"T-31", "mt_rms_norm", rows(3, 1536)},
    {"T-39", "mt_copy", flat(466)},
    {"T-39", "mt_copy", flat(470)},
    {"T-39", "mt_cast_to_f32", flat(470)},
});

const bool numbers = report({
    {"R-02", "mt_row_reduce", rows(1, 70000).with_values(Values::Ones)},
    {"R-02", "mt_all_reduce", flat(70000).with_values(Values::Ones)},
    {"R-05", "mt_rms_norm", rows(4, 300).with_values(Values::Spike)},
    {"R-05", "mt_layer_norm", rows(4, 300).with_values(Values::Spike)},
    {"R-14", "mt_pow", flat(500).with_edges()},
    {"R-14", "mt_pow", flat(500).with_values(Values::Alternating)},
    {"R-18", "mt_mul", flat(500).with_values(Values::Tiny)},
    {"R-18", "mt_copy", flat(500).with_values(Values::Tiny)},
    {"R-18", "vector_add", flat(500).with_values(Values::Tiny)},
    {"R-19", "mt_logsumexp", rows(9, 50).with_edges()},
    {"R-21", "mt_gelu", flat(500).with_values(Values::Large)},
    {"R-21", "mt_fused_gate_gelu", flat(500).with_values(Values::Large)},
    {"R-21", "mt_tanh_op", flat(500).with_values(Values::Large)},
    {"R-21", "mt_silu", flat(500).with_values(Values::Large)},
    {"R-22", "mt_row_reduce", rows(4, 1000).with_values(Values::Alternating)},
    {"R-23", "mt_all_reduce", flat(100000).with_values(Values::Alternating)},
    {"R-23", "mt_row_reduce", rows(2, 70000).with_values(Values::Equal)},
});

Problem rope(std::int64_t batch, std::int64_t heads, std::int64_t seq, std::int64_t dim, std::int64_t offset,
             bool seq_first = false) {
  return {{"batch", batch},   {"heads", heads},
          {"seq", seq},       {"rows", heads * seq},
          {"head_dim", dim},  {"head_stride", seq_first ? 1 : seq},
          {"offset", offset}, {"seq_stride", seq_first ? heads : 1}};
}

const bool angles = report({
    {"R-06", "mt_rope", rope(1, 2, 1, 128, 131071)},
    {"R-06", "ffai_rope_llama", Problem{{"n_heads", 3}, {"head_dim", 128}, {"position", 131071}}},
    {"R-07", "mt_rope", rope(1, 2, 3, 64, 20000)},
    {"S-05", "mt_rope", rope(2, 5, 9, 64, 7, true)},
    {"S-09", "mt_rope", rope(1, 3, 17, 80, 100, true)},
    {"D-03", "mt_rope", rope(3, 6, 5, 32, 0)},
    {"T-13", "mt_rope", rope(2, 1, 1, 64, 5)},
    {"T-13", "mt_rope", rope(4, 4, 1, 64, 5)},
    {"T-13", "mt_rope", rope(8, 7, 1, 64, 5)},
    {"T-13", "mt_rope", rope(8, 7, 1, 64, 5, true)},
});

}  // namespace
}  // namespace mt
