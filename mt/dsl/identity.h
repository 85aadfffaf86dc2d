// Who a thread is. A threadgroup has `threads()` threads in `simd_count()` simdgroups of 32 lanes.
#pragma once
#include "mt/dsl/value.h"

namespace mt {

namespace detail {
inline U32 identity(Op op, int axis, Here here) {
  return value_from<u32, Form::One>(trace().value({.op = op, .index = axis}, {DType::U32}, here));
}
}  // namespace detail

/// Index of the threadgroup along an axis of the grid (0: x, 1: y, 2: z).
inline U32 group_id(int axis = 0, Here here = Here::current()) { return detail::identity(Op::GroupId, axis, here); }
inline U32 thread_id(Here here = Here::current()) { return detail::identity(Op::ThreadId, 0, here); }
inline U32 simd_id(Here here = Here::current()) { return detail::identity(Op::SimdId, 0, here); }
inline U32 lane_id(Here here = Here::current()) { return detail::identity(Op::LaneId, 0, here); }
/// Counts of the launch, known while tracing.
inline int threads() { return trace().kernel.threads; }
inline int simd_count() { return trace().kernel.simds(); }

/// Index of the thread in a grid of one axis.
inline U64 global_id(Here here = Here::current()) {
  return U64(group_id(0, here), here) * At<u64, Form::One>(threads(), here) + U64(thread_id(here), here);
}

}  // namespace mt
