// Operations of a whole simdgroup or threadgroup. Every thread of it must take part.
#pragma once
#include "mt/dsl/identity.h"
#include "mt/dsl/value.h"

namespace mt {

namespace detail {
template <DeviceExpr X>
auto collective(Inst inst, const X& x, Here here) {
  const auto v = as_value(x);
  inst.in.insert(inst.in.begin(), v.id());
  return value_from<element_t<X>, form_of<X>>(trace().value(std::move(inst), trace().kernel.type(v.id()), here));
}
}  // namespace detail

#define MT_REDUCTION(name, Id, How)                                              \
  template <DeviceExpr X>                                                        \
  auto name(const X& x, Here here = Here::current()) {                           \
    return detail::collective({.op = Op::Id, .combine = Combine::How}, x, here); \
  }
MT_REDUCTION(simd_sum, SimdReduce, Sum)
MT_REDUCTION(simd_prod, SimdReduce, Prod)
MT_REDUCTION(simd_max, SimdReduce, Max)
MT_REDUCTION(simd_min, SimdReduce, Min)
MT_REDUCTION(simd_and, SimdReduce, And)
MT_REDUCTION(simd_or, SimdReduce, Or)
MT_REDUCTION(simd_xor, SimdReduce, Xor)
/// Over the threadgroup; also a barrier.
MT_REDUCTION(group_sum, GroupReduce, Sum)
MT_REDUCTION(group_prod, GroupReduce, Prod)
MT_REDUCTION(group_max, GroupReduce, Max)
MT_REDUCTION(group_min, GroupReduce, Min)
MT_REDUCTION(group_and, GroupReduce, And)
MT_REDUCTION(group_or, GroupReduce, Or)
#undef MT_REDUCTION
/// Reductions by a combination that is chosen while tracing.
template <DeviceExpr X>
auto simd_reduce(Combine c, const X& x, Here here = Here::current()) {
  return detail::collective({.op = Op::SimdReduce, .combine = c}, x, here);
}
template <DeviceExpr X>
auto group_reduce(Combine c, const X& x, Here here = Here::current()) {
  return detail::collective({.op = Op::GroupReduce, .combine = c}, x, here);
}
inline Bool simd_any(const Bool& x, Here here = Here::current()) { return simd_or(x, here); }
inline Bool simd_all(const Bool& x, Here here = Here::current()) { return simd_and(x, here); }

/// Combination over lanes 0 … own.
template <DeviceExpr X>
auto simd_scan(Combine c, const X& x, Here here = Here::current()) {
  return detail::collective({.op = Op::SimdScan, .combine = c}, x, here);
}
/// Combination over lanes 0 … own - 1; lane 0 gets the identity.
template <DeviceExpr X>
auto simd_scan_exclusive(Combine c, const X& x, Here here = Here::current()) {
  return detail::collective({.op = Op::SimdScan, .combine = c, .exclusive = true}, x, here);
}
/// The value of lane `lane` modulo 32.
template <DeviceExpr X>
auto simd_shuffle(const X& x, At<u32, Form::One> lane, Here here = Here::current()) {
  return detail::collective({.op = Op::SimdShuffle, .in = {lane.id}}, x, here);
}
template <DeviceExpr X>
auto simd_shuffle_xor(const X& x, int mask, Here here = Here::current()) {
  return detail::collective({.op = Op::SimdShuffleXor, .index = mask}, x, here);
}
/// The value of the lane `delta` below; the own value where there is none.
template <DeviceExpr X>
auto simd_shuffle_up(const X& x, int delta, Here here = Here::current()) {
  return detail::collective({.op = Op::SimdShuffleUp, .index = delta}, x, here);
}
/// The value of the lane `delta` above; the own value where there is none.
template <DeviceExpr X>
auto simd_shuffle_down(const X& x, int delta, Here here = Here::current()) {
  return detail::collective({.op = Op::SimdShuffleDown, .index = delta}, x, here);
}
template <DeviceExpr X>
auto simd_broadcast(const X& x, int lane, Here here = Here::current()) {
  return detail::collective({.op = Op::SimdBroadcast, .index = lane}, x, here);
}

/// All threads of the threadgroup arrive; threadgroup memory written before is seen after.
inline void barrier(Here here = Here::current()) { trace().effect({.op = Op::Barrier}, here); }
/// The same among the lanes of a simdgroup.
inline void simd_barrier(Here here = Here::current()) { trace().effect({.op = Op::SimdBarrier}, here); }

}  // namespace mt
