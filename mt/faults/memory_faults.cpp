#include "mt/faults/rows.h"

namespace mt::detail {
namespace {

bool is_access(const Kernel&, const Inst& i) { return is_one_of(i.op, {Op::Load, Op::Store, Op::Atomic}); }

/// The next device memory that the access could mean; None where there is no other.
MemoryId other_memory(const Kernel& k, const Inst& i) {
  const Memory& now = k.at(i.memory);
  const std::size_t n = k.memories.size();
  for (std::size_t step = 1; step < n; ++step) {
    const std::size_t at = (index_of(i.memory) + step) % n;
    const Memory& m = k.memories[at];
    if (m.space == now.space && m.dtype == now.dtype && m.access == now.access)
      return static_cast<MemoryId>(static_cast<std::int32_t>(at));
  }
  return MemoryId::None;
}
/// The next scalar of the same dtype.
std::int32_t other_scalar(const Kernel& k, const Inst& i) {
  const auto n = static_cast<std::int32_t>(k.scalars.size());
  for (std::int32_t step = 1; step < n; ++step) {
    const std::int32_t at = (i.index + step) % n;
    if (k.scalars[static_cast<std::size_t>(at)].dtype == k.scalars[static_cast<std::size_t>(i.index)].dtype) return at;
  }
  return -1;
}

void round_stored(const Place& p, std::size_t operand, DType narrow) {
  Builder b = p.before();
  p.set_operand(operand, b.cast(b.cast(p.in(operand), narrow), DType::F32));
}
bool writes_f32(const Kernel& k, const Inst& i) {
  return (i.op == Op::Store || i.op == Op::Set) && operand_type(k, i, 1).dtype == DType::F32;
}

}  // namespace

std::vector<Fault> memory_faults() {
  return {
      {"drop_store", "a store is missing", [](const Kernel&, const Inst& i) { return i.op == Op::Store; },
       [](const Place& p) { p.erase(); }},
      {"drop_set", "an assignment is missing", [](const Kernel&, const Inst& i) { return i.op == Op::Set; },
       [](const Place& p) { p.erase(); }},
      {"next_element", "a load or store is one element further", is_access,
       [](const Place& p) {
         const ValueId one = p.like(p.in(0), 1);
         p.set_operand(0, p.before().binary(Op::Add, p.in(0), one));
         if (p.op() != Op::Atomic) p.inst().align = 1;
       }},
      {"other_tensor", "a load or store means another tensor",
       [](const Kernel& k, const Inst& i) { return is_access(k, i) && other_memory(k, i) != MemoryId::None; },
       [](const Place& p) { p.inst().memory = other_memory(p.kernel, p.inst()); }},
      {"other_scalar", "a parameter in place of another",
       [](const Kernel& k, const Inst& i) { return i.op == Op::Param && other_scalar(k, i) >= 0; },
       [](const Place& p) { p.inst().index = other_scalar(p.kernel, p.inst()); }},
      {"through_f16", "a stored or assigned value is rounded to f16", writes_f32,
       [](const Place& p) { round_stored(p, 1, DType::F16); }},
      {"through_bf16", "a stored or assigned value is rounded to bf16", writes_f32,
       [](const Place& p) { round_stored(p, 1, DType::BF16); }},
  };
}

}  // namespace mt::detail
