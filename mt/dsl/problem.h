// A problem: sizes and real parameters by name. Everything about a launch follows from it.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mt/base/error.h"
#include "mt/base/fill.h"

namespace mt {

class Problem {
 public:
  Problem() = default;
  Problem(std::initializer_list<std::pair<const std::string, std::int64_t>> sizes) : sizes_(sizes) {}

  /// Size `name`; Error where the problem has none.
  std::int64_t operator[](std::string_view name) const;
  std::int64_t get(std::string_view name, std::int64_t fallback) const;
  bool has(std::string_view name) const { return sizes_.find(std::string(name)) != sizes_.end(); }
  Problem with(std::string_view name, std::int64_t value) const;

  double real(std::string_view name, double fallback) const;
  Problem with_real(std::string_view name, double value) const;

  /// Inputs of this case hold edge values (±0, subnormals, max, ±inf, NaN, ties) among the random ones.
  Problem with_edges() const;
  bool edges() const { return edges_; }
  /// Float inputs of this case hold a pattern in place of the declared numbers.
  Problem with_values(Values values) const;
  Values values() const { return values_; }
  /// One element of input `tensor` is `value`, whatever the fill and the pattern say. `at` counts rows' elements one
  /// after another; below 0 it counts from the end, -1 being the last.
  struct Element {
    std::string tensor;
    std::int64_t at = 0;
    double value = 0;
  };
  Problem with_element(std::string_view tensor, std::int64_t at, double value) const;
  const std::vector<Element>& elements() const { return elements_; }
  /// Inputs are random numbers as their fills declare them, and nothing else.
  bool plain() const { return !edges_ && values_ == Values::Declared && elements_.empty(); }
  /// This case plans with that value of a tunable, unless the command line or a tuner has chosen one: so a small
  /// problem reaches what the plan keeps for large ones.
  Problem with_tunable(std::string_view name, int value) const;
  const std::map<std::string, int>& tunables() const { return tunables_; }
  Problem with_seed(std::uint64_t seed) const;
  std::uint64_t seed() const { return seed_; }

  const std::map<std::string, std::int64_t>& sizes() const { return sizes_; }
  const std::map<std::string, double>& reals() const { return reals_; }
  /// `key:value/key:value`, the form bench names use; elements are `tensor[at]:value`, tunables `name=value`.
  std::string text() const;

 private:
  std::map<std::string, std::int64_t> sizes_;
  std::map<std::string, double> reals_;
  std::uint64_t seed_ = 1;
  bool edges_ = false;
  Values values_ = Values::Declared;
  std::vector<Element> elements_;
  std::map<std::string, int> tunables_;
};

using Problems = std::vector<Problem>;

/// One problem for each value of one size.
Problems over(const Problem& base, std::string_view size, std::initializer_list<std::int64_t> values);
/// One problem for each of `bases` and each value.
Problems over(const Problems& bases, std::string_view size, std::initializer_list<std::int64_t> values);
Problems operator+(Problems a, const Problems& b);

/// States a precondition: throws Error with `why` where `holds` is false. `why` says what must hold.
void require(bool holds, std::string_view why);

/// While it lives, notes names on this thread: what `require` is asked for, whether it holds or not, or which sizes and
/// real parameters of problems are read. The innermost of a kind notes.
class Noted {
 public:
  enum Kind { Preconditions, Reads };
  explicit Noted(Kind kind);
  ~Noted();
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  const std::set<std::string>& all() const { return all_; }
  static void add(Kind kind, std::string_view name);

 private:
  Kind kind_;
  std::set<std::string> all_;
  Noted* outer_;
};

/// Threadgroups along the axes, the last of which may be left out: `{x}`, `{x, y}`. A zero launches nothing.
struct Grid {
  std::int64_t x = 1, y = 1, z = 1;
  std::int64_t operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
};

/// Geometry of one launch, computed from the problem.
struct Launch {
  Grid groups;
  int threads = 256;  // of a threadgroup: 32..1024, a multiple of 32
};

/// What the problem asks of the machine, for the roofline.
struct Work {
  double read = 0;     // bytes that must come from memory
  double written = 0;  // bytes that must go to memory
  double flops = 0;
};

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace mt
