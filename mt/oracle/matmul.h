// Products of matrices.
#pragma once
#include <cstdint>
#include <limits>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// Blocks of a product whose mask (any integers, row-major over blocks of `block` x `block`) is 0 count as zeros,
/// whatever they hold; so does what is multiplied with them.
struct Masks {
  const HostTensor *out = nullptr, *left = nullptr, *right = nullptr;
  std::int64_t block = 0;
};

/// alpha a b + beta c, where `addend` is c [m, n], else a b.
struct Matmul {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;  // a is [k, m], else [m, k]
  bool b_transposed = false;  // b is [n, k], else [k, n]
  const HostTensor* addend = nullptr;
  double alpha = 1, beta = 1;
  double chains = 1;  // running sums that a result is made of at least
  const Masks* masks = nullptr;
  std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();  // of k, what is summed
};

/// The product [m, n]. The bound is that of sums in f32 in any order; products are exact to f32's own rounding. Where
/// the magnitudes add up to more than f32 holds, the result depends on the order and is not specified.
Expected matmul(const HostTensor& a, const HostTensor& b, const Matmul& problem);

/// [products, m, n]: product i of matrix lhs[i] of a [n_a, m, k] and matrix rhs[i] of b [n_b, k, n] (or as they are
/// transposed); numbers beyond the last matrix mean the last one.
Expected gathered_matmul(const HostTensor& a, const HostTensor& b, const HostTensor& lhs, const HostTensor& rhs,
                         const Matmul& problem);
/// [products, m, n]: product i sums over k from segments[i, 0] to segments[i, 1], as far as both lie within k.
Expected segmented_matmul(const HostTensor& a, const HostTensor& b, const HostTensor& segments, const Matmul& problem);

}  // namespace mt::oracle
