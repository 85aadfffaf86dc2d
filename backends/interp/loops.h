// Elementwise loops over storage, specialised by op and dtype from the op table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mt/ir/kernel.h"

namespace mt::interp {

/// n elements of each operand, at the size of its dtype; operands that the op lacks repeat `a`.
struct Span {
  void* out;
  const void* a;
  const void* b;
  const void* c;
  std::size_t n;
  Op op;
  DType type;  // of the operands
};
using Loop = void (*)(const Span&);

/// The loop of a pure op with value semantics in the table; null where it has none for the dtype.
Loop loop_of(Op op, DType type);
/// The loop of a cast (a to out).
Loop cast_of(DType from, DType to);

/// The bits of one element, zero-extended, and back.
inline std::uint64_t bits_at(const void* p, int size, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(p) + i * static_cast<std::size_t>(size),
              static_cast<std::size_t>(size));
  return bits;
}
inline void put_bits(void* p, int size, std::size_t i, std::uint64_t bits) {
  std::memcpy(static_cast<std::byte*>(p) + i * static_cast<std::size_t>(size), &bits, static_cast<std::size_t>(size));
}

/// Element indices of a simdgroup's lanes as signed 64-bit numbers; null where the dtype is no 32- or 64-bit integer.
/// A u64 beyond 2^63 comes out negative.
using Widen = void (*)(std::int64_t* out, const void* in);
Widen widen_of(DType type);

}  // namespace mt::interp
