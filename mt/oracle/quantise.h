// Quantisation in groups of neighbours in a row. Affine: a value is scale * code + bias, with one scale and bias a
// group. Formats of small floating-point codes: a value is scale * code.
#pragma once
#include <cstdint>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"
#include "mt/oracle/float_codes.h"
#include "mt/oracle/operand.h"

namespace mt::oracle {

struct QuantisedExpected {
  Expected words;           // packed codes (see codes.h): `code_bits` and `codes_per_row` are set
  Expected scales, biases;  // [rows, groups of a row]
};

/// Quantises each row (last axis) of x in groups of `group` elements, the last one perhaps shorter. With lo and hi the
/// extremes of a group: scale = (hi - lo) / (2^bits - 1), or 1 where that is below 1e-7; bias = lo;
/// code = trunc((x - bias) / scale + 1/2), within 0 … 2^bits - 1. Codes come from the scale and bias in f32, before
/// these are rounded for the store; next to a tie either neighbour is right.
/// Throws mt::Error for values that are not finite: they have no codes.
QuantisedExpected affine_quantise(const HostTensor& x, int bits, std::int64_t group);

/// scale * code + bias. `words` holds rows of `row` codes; `scales` and `biases` have one element a group of a row.
Expected affine_dequantise(const HostTensor& words, const HostTensor& scales, const HostTensor& biases, int bits,
                           std::int64_t group, std::int64_t row);

/// y [M, N] = x [M, K] times the transposed quantised matrix [N, K]: y[m, n] = sum over k of w[n, k] * x[m, k] with
/// w = scale * code + bias. One row of x makes it a matrix-vector product. The bound covers sums of code * x that are
/// scaled afterwards, and biases applied to sums of x. Where x, scale or bias is infinite, or so large that some such
/// sum may pass the largest f32, these forms differ and the result is not specified; a NaN gives NaN in all of them.
/// `rounding`: of weights before they are multiplied; a product with one beyond its largest number is not specified.
/// `chains`: running sums that a result is made of at least.
Expected quantised_matmul(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                          const HostTensor& biases, int bits, std::int64_t group, const OperandRounding& rounding = {},
                          double chains = 64);

/// Weights of floating-point codes: factor * scale * code. Scales are bytes.
struct FloatWeights {
  int bits = 4;
  std::int64_t group = 32;
  Codes codes = Codes::E2m1;
  Scales scales = Scales::E8m0;
  double factor = 1;  // of all of them
};

/// factor * scale * code of each code; `words` holds rows of `row` codes, `scales` a byte a group of a row. Exact but
/// for what a factor other than 1 rounds, and for numbers below the normal range of f32, which may become 0.
Expected float_dequantise(const HostTensor& words, const HostTensor& scales, const FloatWeights& weights,
                          std::int64_t row);

/// y [M, N] = x [M, K] times the transposed matrix [N, K] of such weights. As quantised_matmul, with what the weights
/// lose exactly where they are rounded to another dtype; the factor may be applied to weights or to results.
Expected float_quantised_matmul(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                                const FloatWeights& weights, const OperandRounding& rounding = {}, double chains = 64);

/// The same where rows of x belong to matrices of their own: `words` [experts, N, words], scales and biases alike, and
/// expert e has the rows from offsets[e] to offsets[e + 1], the first from 0 and the last to the end.
Expected quantised_matmul_of_experts(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                                     const HostTensor& biases, const HostTensor& offsets, int bits, std::int64_t group,
                                     const OperandRounding& rounding, double chains);
Expected float_quantised_matmul_of_experts(const HostTensor& x, const HostTensor& words, const HostTensor& scales,
                                           const HostTensor& offsets, const FloatWeights& weights,
                                           const OperandRounding& rounding, double chains);

}  // namespace mt::oracle
