// Products of matrices.
#pragma once
#include <cstdint>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// alpha a b + beta c, where `addend` is c [m, n], else a b.
struct Matmul {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;  // a is [k, m], else [m, k]
  bool b_transposed = false;  // b is [n, k], else [k, n]
  const HostTensor* addend = nullptr;
  double alpha = 1, beta = 1;
  double chains = 1;  // running sums that a result is made of at least
};

/// The product [m, n]. The bound is that of sums in f32 in any order; products are exact to f32's own rounding. Where
/// the magnitudes add up to more than f32 holds, the result depends on the order and is not specified.
Expected matmul(const HostTensor& a, const HostTensor& b, const Matmul& problem);

}  // namespace mt::oracle
