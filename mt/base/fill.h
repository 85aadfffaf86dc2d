// How an input tensor is filled: a description; mt/oracle/fill generates the numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mt {

/// What one case lays over all its float inputs in place of the declared numbers; mt/oracle/values says how.
enum class Values : std::uint8_t {
  Declared,
  Zeros,
  Ones,
  Equal,         // one number everywhere
  Tiny,          // the declared ones times 2^-20: subnormal in f16
  Large,         // the declared ones times 2^6
  Alternating,   // v, -v, w, -w, …: sums that cancel to nothing
  Ramp,          // a sawtooth along the flat index
  Rising,        // near 1/8 + row / 256, row counting along the axis before the last
  Spike,         // one large element a row among small ones
  MinusInf,      // -inf everywhere
  HeadMinusInf,  // -inf in the first half of each row
  NanTail,       // NaN in the last third of the axis before the last: rows of a cache that are not in use
};
std::string_view name_of(Values values);  // "zeros", "head_minus_inf", …

struct Fill {
  enum class Kind : std::uint8_t { Normal, Uniform, Integers, Bits, Constant, Iota, RowScaled, RowShifted };
  Kind kind = Kind::Normal;
  double a = 0, b = 1;  // Normal: mean, deviation. Uniform: low, high. Integers: low, high (both included). Constant:
                        // a. RowShifted: shift, deviation. Bits: a is a mask of each word, 0 for all of it
  std::string below;    // Integers: high is b plus this dimension of the problem minus 1
  bool edges = true;    // floats: in cases that ask for edge values, plant ±0, subnormals, max, ±inf, NaN and ties
  bool flat_rows = false;  // rows 2, 10, 18, … hold one value each: no spread, no variance
  bool holes = false;      // a third of the elements, and rows 3, 11, 19, … wholly, are -inf; 0 in integers
  bool operator==(const Fill&) const = default;

  static Fill normal(double mean = 0, double deviation = 1) { return {Kind::Normal, mean, deviation, {}, true}; }
  static Fill uniform(double low, double high) { return {Kind::Uniform, low, high, {}, true}; }
  static Fill positive(double low = 0.01, double high = 8) { return {Kind::Uniform, low, high, {}, true}; }
  static Fill unit() { return {Kind::Uniform, -1, 1, {}, true}; }
  static Fill integers(double low, double high) { return {Kind::Integers, low, high, {}, true}; }
  /// Integers from 0 to a dimension of the problem, exclusive: indices into it, and `beyond` wrong ones after them.
  static Fill index(std::string dimension, int beyond = 0) {
    return {Kind::Integers, 0, static_cast<double>(beyond), std::move(dimension), true};
  }
  /// Random 32-bit words (packed codes), all bits of them.
  static Fill bits() { return {Kind::Bits, 0, 0, {}, false}; }
  static Fill constant(double value) { return {Kind::Constant, value, 0, {}, false}; }
  static Fill iota() { return {Kind::Iota, 0, 0, {}, false}; }
  /// Normal, with a magnitude of its own for each row (2^-6 … 2^6): an error of one row can't hide behind another.
  static Fill row_scaled(double deviation = 1) { return {Kind::RowScaled, 0, deviation, {}, true}; }
  /// Normal, around 0, `shift` and -`shift` in turn from row to row: logits whose exponentials leave the range of f32
  /// unless the maximum is taken off.
  static Fill row_shifted(double deviation, double shift) { return {Kind::RowShifted, shift, deviation, {}, true}; }
  Fill with_flat_rows() const {
    Fill f = *this;
    f.flat_rows = true;
    return f;
  }
  /// What a mask is: some elements hide, and some rows hide all.
  Fill with_holes() const {
    Fill f = *this;
    f.holes = true;
    return f;
  }
  Fill without_edges() const {
    Fill f = *this;
    f.edges = false;
    return f;
  }
};

}  // namespace mt
