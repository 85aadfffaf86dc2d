// Where the integers that values stand for lie, before they are cut to the width of their dtype.
#pragma once
#include <array>
#include <cstdint>

#include "mt/base/dtype.h"
#include "mt/ir/opcode.h"
#include "mt/ir/uniformity.h"

namespace mt::cpu {

using Offsets = std::array<std::int64_t, kLanes>;

/// An integer that is `low` at least and `high` at most, if it is `exact`: nothing that led to it wrapped.
struct Range {
  std::int64_t low = 0, high = 0;
  bool exact = false;
  bool operator==(const Range&) const = default;
};
inline constexpr Range kUnknown{};

/// Of any value of an integer dtype; unknown for u64, whose upper half no i64 holds.
Range full(DType t);
/// The range if every integer of it, plus any of the offsets, is one of the dtype's; else unknown.
Range fitted(const Range& r, DType t, const Offsets& o = {});
Range hull(const Range& a, const Range& b);
/// Of a sum, difference or product; unknown for other ops, and where 64 bits do not hold it.
Range combined(Op op, const Range& a, const Range& b);

}  // namespace mt::cpu
