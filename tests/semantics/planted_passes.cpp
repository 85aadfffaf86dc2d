#include "tests/semantics/planted_passes.h"

#include <algorithm>
#include <map>

#include "tests/semantics/places.h"

namespace mt {
namespace {

/// Ifs without control inside become straight code: what both sides store is stored.
bool keep_both_stores(Kernel& k, const PipelineOptions&) {
  bool changed = false;
  for (const InstId id : in_order(k)) {
    const Inst i = k.at(id);
    if (i.op != Op::If || !i.out.empty()) continue;
    const auto plain = [&](InstId inner) { return k.at(inner).regions.empty(); };
    std::vector<InstId> moved;
    for (const RegionId r : i.regions) moved.insert(moved.end(), k.at(r).insts.begin(), k.at(r).insts.end());
    if (moved.empty() || !std::all_of(moved.begin(), moved.end(), plain)) continue;
    auto& list = k.at(i.home).insts;
    const std::size_t at = position(k, id);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), moved.begin(), moved.end());
    for (const InstId m : moved) k.at(m).home = i.home;
    changed = true;
  }
  return changed;
}

/// Loops end after a whole number of steps at or before their end.
bool floor_of_trips(Kernel& k, const PipelineOptions&) {
  bool changed = false;
  for (const InstId id : in_order(k)) {
    const Inst i = k.at(id);
    if (i.op != Op::For || i.contiguous) continue;
    Builder b(k, i.home, position(k, id));
    const ValueId room = b.binary(Op::Sub, i.in[1], i.in[0]);
    const ValueId rest = b.binary(Op::Rem, room, i.in[2]);
    const ValueId end = b.binary(Op::Sub, i.in[1], rest);
    // An empty range stays as it is.
    k.at(id).in[1] = b.select(b.binary(Op::Lt, i.in[0], i.in[1]), end, i.in[1]);
    changed = true;
  }
  return changed;
}

/// A load takes what an earlier load of the same element gave, whatever was stored since.
bool reuse_across_stores(Kernel& k, const PipelineOptions&) {
  bool changed = false;
  for (std::size_t r = 0; r < k.regions.size(); ++r) {
    std::map<std::tuple<MemoryId, ValueId, int>, ValueId> seen;
    std::map<std::pair<ValueId, std::uint64_t>, ValueId> sums;  // value + constant
    auto& list = k.regions[r].insts;
    const std::vector<InstId> before = list;
    for (const InstId id : before) {
      const Inst& i = k.at(id);
      ValueId index = i.in.empty() ? ValueId::None : i.in[0];
      if (i.op == Op::Add && k.def(i.in[1]) && k.def(i.in[1])->op == Op::Const)
        sums.emplace(std::pair{i.in[0], k.def(i.in[1])->bits}, i.out[0]);
      if (i.op != Op::Load) continue;
      if (const Inst* add = k.def(index); add && add->op == Op::Add && k.def(add->in[1])->op == Op::Const)
        index = sums.at({add->in[0], k.def(add->in[1])->bits});
      const auto [it, fresh] = seen.emplace(std::tuple{i.memory, index, k.type(i.out[0]).lanes}, i.out[0]);
      if (fresh) continue;
      replace_all(k, i.out[0], it->second);
      list.erase(std::remove(list.begin(), list.end(), id), list.end());
      changed = true;
    }
  }
  return changed;
}

/// The last barrier goes.
bool drop_a_barrier(Kernel& k, const PipelineOptions&) {
  const std::vector<InstId> list = in_order(k);
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    const InstId id = *it;
    if (k.at(id).op != Op::Barrier) continue;
    auto& insts = k.at(k.at(id).home).insts;
    insts.erase(std::remove(insts.begin(), insts.end(), id), insts.end());
    return true;
  }
  return false;
}

/// Unsigned integers widen as if they had a sign.
bool extend_the_sign(Kernel& k, const PipelineOptions&) {
  bool changed = false;
  for (const InstId id : in_order(k)) {
    const Inst i = k.at(id);
    if (i.op != Op::Cast) continue;
    const Type from = k.type(i.in[0]), to = k.type(i.out[0]);
    if (!is_unsigned(from.dtype) || !is_int(to.dtype) || bits_of(to.dtype) <= bits_of(from.dtype)) continue;
    const DType twin = from.dtype == DType::U8 ? DType::I8 : from.dtype == DType::U16 ? DType::I16 : DType::I32;
    Builder b(k, i.home, position(k, id));
    k.at(id).in[0] = b.bitcast(i.in[0], twin);
    changed = true;
  }
  return changed;
}

}  // namespace

std::vector<Pass> planted_passes() {
  return {{"planted", "BothStores: an if becomes straight code and both sides store", keep_both_stores},
          {"planted", "FloorOfTrips: the rest of a range that the step does not divide is lost", floor_of_trips},
          {"planted", "ReuseAcrossStores: a load is taken for an earlier one", reuse_across_stores},
          {"planted", "DroppedBarrier: the last barrier goes", drop_a_barrier},
          {"planted", "ExtendedSign: unsigned integers widen as signed ones", extend_the_sign}};
}

}  // namespace mt
