#include "mt/faults/rows.h"

namespace mt::detail {
namespace {

bool is_reduction(const Kernel&, const Inst& i) { return i.op == Op::SimdReduce || i.op == Op::GroupReduce; }
bool combines(const Kernel&, const Inst& i) {
  return is_one_of(i.op, {Op::SimdReduce, Op::GroupReduce, Op::SimdScan, Op::VectorReduce, Op::Atomic}) &&
         i.combine != Combine::Exchange;
}
bool is_shuffle(const Kernel&, const Inst& i) {
  return is_one_of(i.op,
                   {Op::SimdShuffle, Op::SimdShuffleXor, Op::SimdShuffleUp, Op::SimdShuffleDown, Op::SimdBroadcast});
}
Combine other_combine(Combine c) {
  switch (c) {
    case Combine::Sum:
      return Combine::Max;
    case Combine::Prod:
      return Combine::Sum;
    case Combine::Min:
      return Combine::Max;
    case Combine::Max:
      return Combine::Min;
    case Combine::And:
      return Combine::Or;
    default:
      return Combine::And;
  }
}

}  // namespace

std::vector<Fault> parallel_faults() {
  return {
      {"drop_barrier", "a barrier is missing",
       [](const Kernel&, const Inst& i) { return i.op == Op::Barrier || i.op == Op::SimdBarrier; },
       [](const Place& p) { p.erase(); }},
      {"zero_id", "the index of the thread, lane, simdgroup or threadgroup counts as 0",
       [](const Kernel&, const Inst& i) {
         return is_one_of(i.op, {Op::GroupId, Op::ThreadId, Op::SimdId, Op::LaneId});
       },
       [](const Place& p) { p.become({.op = Op::Const, .bits = 0}); }},
      {"other_axis", "the threadgroup's index along another axis",
       [](const Kernel&, const Inst& i) { return i.op == Op::GroupId; },
       [](const Place& p) { p.inst().index = p.inst().index == 0 ? 1 : 0; }},
      {"no_reduction", "a reduction gives each thread its own value",
       [](const Kernel& k, const Inst& i) { return is_reduction(k, i) || i.op == Op::SimdScan; },
       [](const Place& p) { p.forward(p.in(0)); }},
      {"lane_0", "a reduction gives the value of lane 0",
       [](const Kernel& k, const Inst& i) { return is_reduction(k, i) || i.op == Op::VectorReduce; },
       [](const Place& p) {
         p.become({.op = p.op() == Op::VectorReduce ? Op::Extract : Op::SimdBroadcast, .index = 0, .in = {p.in(0)}});
       }},
      {"one_simdgroup", "a reduction over the threadgroup stops at the simdgroup",
       [](const Kernel&, const Inst& i) { return i.op == Op::GroupReduce; },
       [](const Place& p) { p.inst().op = Op::SimdReduce; }},
      {"other_combine", "a reduction combines by another operation", combines,
       [](const Place& p) { p.inst().combine = other_combine(p.inst().combine); }},
      {"scan_kind", "an inclusive scan in place of an exclusive one, or the other way round",
       [](const Kernel&, const Inst& i) { return i.op == Op::SimdScan; },
       [](const Place& p) { p.inst().exclusive = !p.inst().exclusive; }},
      {"shuffle_off", "a shuffle takes the next lane's value", is_shuffle,
       [](const Place& p) {
         if (p.op() != Op::SimdShuffle) {
           p.inst().index = (p.inst().index + 1) % kLanes;
           return;
         }
         const ValueId lane = p.before().binary(Op::Add, p.in(1), p.like(p.in(1), 1));
         p.set_operand(1, lane);
       }},
      {"no_shuffle", "a shuffle gives each lane its own value", is_shuffle, [](const Place& p) { p.forward(p.in(0)); }},
      {"no_atomic", "an atomic update is a load and a store",
       [](const Kernel&, const Inst& i) { return i.op == Op::Atomic && i.combine != Combine::Exchange; },
       [](const Place& p) {
         const Inst atomic = p.inst();
         Builder b = p.before();
         const ValueId old = b.load(atomic.memory, atomic.in[0]);
         b.store(atomic.memory, atomic.in[0], b.binary(op_of(atomic.combine), old, atomic.in[1]));
         p.forward(old);
       }},
  };
}

}  // namespace mt::detail
