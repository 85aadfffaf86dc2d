// Atomics: one read-modify-write a lane, or one for all lanes where they meet at one place and nobody asks for the old
// value. Threadgroup memory belongs to the running thread, so plain accesses do there.
#include "backends/cpu/emitter.h"
#include "mt/ir/edit.h"

namespace mt::cpu {

Ref Emitter::atomic_one(const Inst& i, const Ref& p, const Ref& value) {
  const DType t = kernel_.at(i.memory).dtype;
  const El el = memory_el_of(t);
  const int bytes = bytes_of(el);
  if (kernel_.at(i.memory).space != Space::Device) {
    const Ref old = w_.load(el, 1, p, bytes);
    w_.store(to_memory(combine(i.combine, t, from_memory(old, t), from_memory(value, t)), t), p, bytes);
    return old;
  }
  const bool sgn = is_signed(t);
  const char* name = nullptr;
  switch (i.combine) {
    case Combine::Sum:
      name = t == DType::F32 ? "fadd" : is_int(t) ? "add" : nullptr;
      break;
    case Combine::And:
      name = is_int(t) ? "and" : nullptr;
      break;
    case Combine::Or:
      name = is_int(t) ? "or" : nullptr;
      break;
    case Combine::Xor:
      name = is_int(t) ? "xor" : nullptr;
      break;
    case Combine::Min:
      name = is_int(t) ? (sgn ? "min" : "umin") : nullptr;
      break;
    case Combine::Max:
      name = is_int(t) ? (sgn ? "max" : "umax") : nullptr;
      break;
    case Combine::Exchange:
      name = "xchg";
      break;
    case Combine::Prod:
      break;
  }
  if (name)
    return w_.emit(
        el, 1,
        fmt::format("atomicrmw {} ptr {}, {} {} monotonic, align {}", name, p.name, name_of(el), value.name, bytes));
  // What the machine has no instruction for: try until nobody was in between.
  const El bits = bytes == 8 ? El::I64 : bytes == 4 ? El::I32 : bytes == 2 ? El::I16 : El::I8;
  const Ref seen = w_.stack(bits, 1);
  w_.set(seen,
         w_.emit(bits, 1, fmt::format("load atomic {}, ptr {} monotonic, align {}", name_of(bits), p.name, bytes)));
  const std::string again = w_.label("again"), done = w_.label("swapped");
  w_.place(again);
  const Ref old = w_.get(seen, bits, 1);
  const Ref made = to_memory(combine(i.combine, t, from_memory(w_.bitcast(old, el, 1), t), from_memory(value, t)), t);
  const Ref pair = w_.emit(bits, 1,
                           fmt::format("cmpxchg ptr {}, {} {}, {} {} monotonic monotonic, align {}", p.name,
                                       name_of(bits), old.name, name_of(bits), w_.bitcast(made, bits, 1).name, bytes));
  w_.set(seen, w_.emit(bits, 1, fmt::format("extractvalue {{ {}, i1 }} {}, 0", name_of(bits), pair.name)));
  const Ref good = w_.emit(El::I1, 1, fmt::format("extractvalue {{ {}, i1 }} {}, 1", name_of(bits), pair.name));
  w_.branch(good, done, again);
  w_.place(done);
  return w_.bitcast(old, el, 1);
}

void Emitter::atomic(const Inst& i) {
  const ValueId index = i.in[0], operand = i.in[1];
  const DType t = kernel_.at(i.memory).dtype;
  const El el = memory_el_of(t);
  const bool wanted = !i.out.empty() && uses_[index_of(i.out[0])] > 0;
  if (!wanted && shapes_.of(index).uniform() && i.combine != Combine::Exchange) {
    Ref v = wide(operand);
    if (mask_) v = w_.select(*mask_, v, Writer::constant(t, identity_of(i.combine, t), kLanes));
    const Ref p = pointer_at(i.memory, base_index(index));
    atomic_one(i, p, to_memory(reduce(i.combine, t, v, 1), t));
    if (!i.out.empty()) define(i.out[0], {type(i.out[0]), kVarying, Writer::zero(el_of(t), kLanes)});
    return;
  }
  const Ref where = w_.stack(El::Ptr, kLanes), values = w_.stack(el, kLanes), olds = w_.stack(el, kLanes);
  w_.set(where, lane_pointers(i.memory, index));
  w_.set(values, to_memory(wide(operand), t));
  w_.set(olds, Writer::zero(el, kLanes));
  each_lane([&](const Ref& lane) {
    const Ref p = w_.load(El::Ptr, 1, w_.element(where, El::Ptr, lane), 8);
    const Ref v = w_.load(el, 1, w_.element(values, el, lane), bytes_of(el));
    w_.store(atomic_one(i, p, v), w_.element(olds, el, lane), bytes_of(el));
  });
  if (!i.out.empty()) define(i.out[0], {type(i.out[0]), kVarying, from_memory(w_.get(olds, el, kLanes), t)});
}

}  // namespace mt::cpu
