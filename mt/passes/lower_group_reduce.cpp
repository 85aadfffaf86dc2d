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
    const int simds = k_.simds();
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

    const ValueId last = b.constant_int(DType::U32, simds - 1);
    const ValueId from = simds == kLanes ? lane : b.binary(Op::Min, lane, last);
    ValueId part = b.value({.op = Op::Load, .align = type.lanes, .memory = slots, .in = {slot(b, from, type)}}, type);
    if (simds < kLanes) {
      const ValueId holds = b.binary(Op::Le, lane, last);
      part = b.select(holds, part, b.constant(type, identity_of(combine, type.dtype)));
    }
    const ValueId all = reduce(b, combine, part);
    b.add({.op = Op::Barrier}, {});
    return all;
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
