// Weights in groups of neighbours, as a product meets them: packed codes, and what a group's scale makes of a code.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kernels/lib/affine.h"
#include "kernels/lib/float_codes.h"
#include "mt/oracle/quantise.h"

namespace mt {

/// scale * code + bias with codes that are integers of any number of bits. The problem says how large a group is.
template <Storage T>
struct AffineGroups {
  In<T> scales, biases;
  explicit AffineGroups(const std::vector<Dim>& shape)
      : scales("scales", shape, Fill::uniform(0.01, 0.1)), biases("biases", shape) {}

  static std::int64_t size(const Problem& p) { return p["group_size"]; }
  static constexpr int kBytes = 2 * size_of(dtype_of<T>);  // of the factors of a group
  struct Factors {
    F32 scale, bias;
  };
  /// Of group `g` of the row that `row` makes of a tensor.
  template <class Row>
  Factors factors(Row&& row, Index g) const {
    return {row(scales).load(g), row(biases).load(g)};
  }
  Factors with_global(const Factors& f) const { return f; }
  /// A code without what stands above it.
  static U32 alone(const U32& bits_and_more, int bits) { return bits_and_more & ((1u << bits) - 1); }
  template <Form F>
  static BasicValue<f32, F> weight(const BasicValue<u32, F>& code, const Factors& f) {
    // Equivalent if other_sign: a code has 8 bits at most.
    return fma(cast<f32>(cast<i32>(code)), f.scale, f.bias);
  }
  Acc finish(const Acc& sums) const { return sums; }
};

/// A format of floating-point codes with scales of one byte.
struct FloatFormat {
  const char* name;
  int bits, group;
  FloatCode code;
  bool e8m0;    // scales, else E4M3
  bool global;  // a factor of all weights beside them

  /// Random codes for tests: no NaN among them, and where there would be one, numbers below 2.
  Fill codes() const {
    Fill f = Fill::bits();
    if (code.has_nan) f.a = 0xbfbfbfbf;
    return f;
  }
};
/// MLX's modes, OCP Microscaling and NVIDIA's format.
inline constexpr FloatFormat kFloatFormats[] = {
    {"mxfp4", 4, 32, kE2m1, true, false}, {"nvfp4", 4, 16, kE2m1, false, true}, {"mxfp8", 8, 32, kE4m3, true, false}};

/// scale * code, or with a factor of the whole matrix: factor * scale * code.
struct FloatGroups {
  In<u8> scales;
  std::optional<Scalar<f32>> global;
  FloatFormat format = kFloatFormats[0];
  explicit FloatGroups(const std::vector<Dim>& shape) : scales("scales", shape) { choose(format); }

  void choose(const FloatFormat& f) {
    format = f;
    scales.fill_with(f.e8m0 ? Fill::integers(118, 131) : Fill::integers(1, 0x50));
    if (f.global) global.emplace("global_scale", 1);
  }
  oracle::FloatWeights of_oracle(const Inputs& in) const {
    return {.bits = format.bits,
            .group = format.group,
            .codes = format.code.has_nan ? oracle::Codes::E4m3 : oracle::Codes::E2m1,
            .scales = format.e8m0 ? oracle::Scales::E8m0 : oracle::Scales::E4m3,
            .factor = global ? in.real("global_scale") : 1};
  }

  /// A test with a NaN for a scale, of a group that without it would sum up to an infinity and not to another NaN.
  Problem with_nan_scale(const Problem& p, std::int64_t at) const {
    const std::int64_t words = format.group * format.bits / 32, groups = p["groups"];
    Problem q = p.with_values(Values::Ones).with_element("scales", at, format.e8m0 ? 255 : 0x7f);
    for (std::int64_t i = 0; i < words; ++i)  // codes of 1
      q = q.with_element("w", at / groups * p["words"] + at % groups * words + i,
                         format.bits == 8 ? 0x38383838 : 0x22222222);
    return q;
  }

  std::int64_t size(const Problem&) const { return format.group; }
  static constexpr int kBytes = 1;
  struct Factors {
    F32 scale;
  };
  template <class Row>
  Factors factors(Row&& row, Index g) const {
    const U32 code = row(scales).load(g);
    return {format.e8m0 ? decode_e8m0(code) : decode(code, kE4m3)};
  }
  Factors with_global(const Factors& f) const { return global ? Factors{f.scale * *global} : f; }
  static const U32& alone(const U32& bits_and_more, int) { return bits_and_more; }
  template <Form F>
  BasicValue<f32, F> weight(const BasicValue<u32, F>& code, const Factors& f) const {
    return decode(code, format.code) * f.scale;
  }
  /// What sums of products with weights lack.
  Acc finish(const Acc& sums) const {
    return global ? map(sums, [&](F32 v, U32, U32) { return v * *global; }) : sums;
  }
};

/// Makes `k` the product with weights of that format.
template <class K>
void set_format(K& k, const FloatFormat& f) {
  k.bits = f.bits;
  k.of_groups.choose(f);
  k.w.fill_with(f.codes());
}

/// Rows of k codes: whole groups, and whole words. Problems whose format fixes the group have no group_size.
inline void require_groups(const Problem& p, std::int64_t group, int bits, bool fixed) {
  if (!fixed) require(group > 0 && group % 32 == 0, "group_size must be a multiple of 32");
  require(p["k"] % group == 0, fixed ? "k must be a multiple of the group" : "k must be a multiple of group_size");
  require(p["words"] * 32 == p["k"] * bits, "words must be k * bits / 32");
  require(p["groups"] * group == p["k"], "groups must be k / group_size");
}

}  // namespace mt
