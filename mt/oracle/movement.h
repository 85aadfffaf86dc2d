// References that move or make elements: copies, gathers, sequences.
#pragma once
#include <cstdint>
#include <vector>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// The elements themselves; a cast where the output has another dtype.
Expected copy(const HostTensor& x);

/// out[i0, i1, …] = source[offset + i0 * strides[0] + i1 * strides[1] + …] for every index of `shape`, row-major.
/// Strides count elements; 0 repeats, negative ones walk back. Throws mt::Error where an index leaves the source.
Expected strided_copy(const HostTensor& source, const std::vector<std::int64_t>& shape,
                      const std::vector<std::int64_t>& strides, std::int64_t offset = 0);

/// Rows of `table` (its last axis) picked by `indices`; zeros for an index outside the table.
Expected gather_rows(const HostTensor& table, const HostTensor& indices);

/// start + i * step for i in [0, n), as f32: i, the product and the sum round (a fused multiply-add rounds less).
Expected arange(double start, double step, std::int64_t n);

/// 32-bit words, exact: word i is i + 1 after x ^= x << 13, x ^= x >> 17, x ^= x << 5 (Marsaglia's xorshift).
Expected random_hash(std::int64_t n);

}  // namespace mt::oracle
