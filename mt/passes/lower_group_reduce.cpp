#include "mt/passes/lower_group_reduce.h"

#include <algorithm>
#include <string>

#include "mt/passes/rewrite.h"

namespace mt {
namespace {

class Lower : public Rewriter {
 public:
  explicit Lower(Kernel& k) : Rewriter(k), scratch_(kDTypeCount, MemoryId::None) {
    for (const Memory& m : k.memories) shares_memory_ = shares_memory_ || m.space == Space::Threadgroup;
  }

 private:
  bool visit(InstId id) override {
    const Inst i = k_.at(id);
    if (i.op != Op::GroupReduce) return true;
    Builder b = here();
    const Type type = k_.type(i.out[0]);
    ValueId all = reduce(b, i.combine, i.in[0]);
    if (k_.simds() == 1) {
      if (shares_memory_) b.add({.op = Op::SimdBarrier}, {});  // the order that group_reduce promises
    } else {
      all = across(b, i.combine, all, type);
    }
    replace(i.out[0], all);
    return false;
  }

  ValueId reduce(Builder& b, Combine c, ValueId v) {
    return b.value({.op = Op::SimdReduce, .combine = c, .in = {v}}, k_.type(v));
  }

  ValueId across(Builder& b, Combine combine, ValueId mine, Type type) {
    const MemoryId slots = scratch(type);
    const ValueId lane = b.value({.op = Op::LaneId}, {DType::U32});
    const ValueId first = b.binary(Op::Eq, lane, b.constant_int(DType::U32, 0));
    const ValueId sg = b.value({.op = Op::SimdId}, {DType::U32});
    const ValueId own = slot(b, sg, type);
    const InstId branch = b.add({.op = Op::If, .in = {first}}, {});
    const RegionId then_region = add_region(k_, branch);
    add_region(k_, branch);
    Builder inner(k_, then_region);
    inner.loc = b.loc;
    inner.add({.op = Op::Store, .align = type.lanes, .memory = slots, .in = {own, mine}}, {});
    b.add({.op = Op::Barrier}, {});

    // Every thread combines all slots itself: their indices are the same for all, so the result is, too, for every
    // analysis, and the loads are wide and without conflicts.
    std::vector<ValueId> parts;
    for (int n = 0; n < k_.simds(); ++n) {
      const ValueId at = b.constant_int(DType::U32, n * type.lanes);
      parts.push_back(b.value({.op = Op::Load, .align = type.lanes, .memory = slots, .in = {at}}, type));
    }
    while (parts.size() > 1) {  // neighbours first
      std::vector<ValueId> next;
      for (std::size_t n = 0; n + 1 < parts.size(); n += 2)
        next.push_back(b.binary(op_of(combine), parts[n], parts[n + 1]));
      if (parts.size() % 2 == 1) next.push_back(parts.back());
      parts = std::move(next);
    }
    b.add({.op = Op::Barrier}, {});
    return parts[0];
  }

  ValueId slot(Builder& b, ValueId simd, Type type) {
    return type.lanes == 1 ? simd : b.binary(Op::Mul, simd, b.constant_int(DType::U32, type.lanes));
  }

  MemoryId scratch(Type type) {
    MemoryId& m = scratch_[static_cast<std::size_t>(type.dtype)];
    const std::int64_t count = std::int64_t{k_.simds()} * type.lanes;
    if (m == MemoryId::None) {
      const std::string base = "group_reduce_" + std::string(name_of(type.dtype));
      std::string name = base;
      const auto taken = [&](const Memory& other) { return other.name == name; };
      for (int n = 2; std::any_of(k_.memories.begin(), k_.memories.end(), taken); ++n)
        name = base + "_" + std::to_string(n);
      m = static_cast<MemoryId>(k_.memories.size());
      k_.memories.push_back({.name = name, .space = Space::Threadgroup, .dtype = type.dtype, .count = count});
    }
    k_.at(m).count = std::max(k_.at(m).count, count);
    return m;
  }

  std::vector<MemoryId> scratch_;  // by dtype
  bool shares_memory_ = false;
};

}  // namespace

bool lower_group_reduce(Kernel& kernel, const PipelineOptions& options) {
  return options.lower_group_reduce && Lower(kernel).run();
}

}  // namespace mt
