// How each value of a kernel differs between the 32 lanes of a simdgroup, and between simdgroups.
//
// A value is a *base*, one scalar for the simdgroup, plus a *pattern*, 32 offsets known when the kernel is compiled.
// A uniform value has no pattern; thread and element indices have one (0, 1, 2, ...; 0, 4, 8, ...; 0, 0, 1, 1, ...);
// what fits neither is varying and lives in a vector. Sums and products of bases and offsets are exact modulo 2^width.
// Quotients, remainders and widenings hold only where no lane wraps: that is proven from ranges, or else the value must
// serve as an index alone, which by a rule of the language does not wrap.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "backends/cpu/range.h"
#include "mt/ir/kernel.h"
#include "mt/ir/uniformity.h"

namespace mt::cpu {

inline constexpr int kUniform = 0, kVarying = -1;

/// How the base of a patterned result comes from the operands' bases.
enum class Recipe : std::uint8_t {
  Apply,     // the same op on the bases
  Keep,      // the base of operand `operand`
  Constant,  // known_base
};

struct Shape {
  int pattern = kUniform;                // kVarying, kUniform, or an index into the offsets
  Uniformity level = Uniformity::Group;  // of the base
  std::int64_t multiple = 1;             // divides the base, of an index at least; 0: the base is zero
  bool non_negative = false;             // of an index at least
  Range range;                           // of the base
  bool known = false;                    // the base is known_base
  std::int64_t known_base = 0;
  Recipe recipe = Recipe::Apply;
  int operand = 0;          // for Recipe::Keep
  std::int64_t adjust = 0;  // added to the base that the recipe gives

  bool varying() const { return pattern == kVarying; }
  bool uniform() const { return pattern == kUniform; }
  bool operator==(const Shape&) const = default;
};

class Shapes {
 public:
  explicit Shapes(const Kernel& kernel);
  const Shape& of(ValueId v) const { return shapes_[index_of(v)]; }
  const Offsets& offsets(int pattern) const { return table_[static_cast<std::size_t>(pattern)]; }
  /// Whether lanes leave a For or While at different times.
  bool divergent(const Inst& loop) const;

 private:
  friend struct ShapeRules;
  const Kernel& kernel_;
  const std::vector<bool> data_;  // by value: more than an index is made of it
  std::vector<Shape> shapes_;
  std::vector<Offsets> table_;
  std::map<Offsets, int> index_;
};

}  // namespace mt::cpu
