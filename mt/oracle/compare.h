// Compares what a kernel left in memory with what a reference expects.
#pragma once
#include <cstdint>
#include <string>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

struct CompareResult {
  std::int64_t compared = 0;
  std::int64_t unspecified = 0;  // elements that may hold anything: not among those compared
  std::int64_t wrong = 0;
  double max_error = 0;           // error over what is allowed, the worst element; above 1 exactly where one is wrong
  double worst_error = 0;         // absolute error of that element; infinite where a NaN or an infinity is out of place
  double worst_bound = 0;         // what it may be: at least worst_error where the element is right
  double max_absolute_error = 0;  // infinite where a NaN or an infinity is out of place
  std::int64_t first_wrong = -1;  // flat index
  std::string sentence;
  bool passed() const { return compared + unspecified > 0 && wrong == 0; }
};

struct CompareOptions {
  bool signed_zeros = false;  // +0 and -0 differ
};

/// Compares every element of `actual` with `expected`.
///
/// An element is right where it lies between the roundings, to the tensor's dtype, of both ends of the expected range
/// value ± bound (or low - bound … high + bound): what any f32 computation inside the bound could have stored,
/// overflow to infinity included. Integers are not rounded. An expected NaN asks for a NaN, an infinity for the same
/// infinity. Elements that are not specified are counted and left alone. Integers of 64 bits are compared as doubles,
/// exact up to 2^53.
///
/// Throws mt::Error where there is nothing to compare, sizes differ, or a bound is NaN, negative or infinite.
CompareResult compare(const Expected& expected, const HostTensor& actual, const CompareOptions& options = {});

}  // namespace mt::oracle
