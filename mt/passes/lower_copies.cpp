#include "mt/passes/lower_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "mt/passes/bounds.h"
#include "mt/passes/tile_access.h"

namespace mt {
namespace {

constexpr int kLeastBytes = 4;  // of an asynchronous copy
constexpr int kMostLanes = 8;   // of a value

ValueId plus(Builder& b, ValueId v, int n) {
  return n == 0 ? v : b.binary(Op::Add, v, b.constant_int(b.kernel.type(v).dtype, n));
}
/// How many of the elements from `first` on exist.
ValueId left(Builder& b, ValueId exist, int first) {
  if (first == 0) return exist;
  return b.binary(Op::Sub, exist, b.binary(Op::Min, exist, b.constant_int(DType::U32, first)));
}

}  // namespace

std::string lower_copy(Builder& b, const Inst& inst, int align, bool async) {
  Kernel& k = b.kernel;
  const DType t = k.at(inst.memory).dtype;
  const int count = inst.index, size = size_of(t);
  const ValueId to = inst.in[0], from = inst.in[1], exist = inst.in[2];
  align = std::min(align, count);
  if (async && align * size >= kLeastBytes) {
    for (int first = 0; first < count; first += align)
      b.add({.op = Op::CopyAsync,
             .align = align,
             .index = align,
             .memory = inst.memory,
             .from = inst.from,
             .in = {plus(b, to, first), plus(b, from, first), left(b, exist, first)},
             .loc = inst.loc},
            {});
    return fmt::format("copies of {} bytes behind the work", align * size);
  }
  const auto whole = [&](Builder& in) {
    for (int first = 0; first < count; first += kMostLanes) {
      const int lanes = std::min(count - first, kMostLanes);
      in.store(inst.memory, plus(in, to, first), in.load(inst.from, plus(in, from, first), lanes));
    }
    return std::vector<ValueId>{};
  };
  const auto ragged = [&](Builder& in) {
    for (int e = 0; e < count; ++e) {
      const ValueId exists = in.binary(Op::Lt, in.constant_int(DType::U32, e), exist);
      const ValueId v = branch(
          in, exists, {{t}}, [&](Builder& x) { return std::vector{x.load(inst.from, plus(x, from, e))}; },
          [&](Builder& x) { return std::vector{x.constant({t}, 0)}; })[0];
      in.store(inst.memory, plus(in, to, e), v);
    }
    return std::vector<ValueId>{};
  };
  if (at_least(k, exist) >= static_cast<std::uint64_t>(count))
    whole(b);
  else
    branch(b, b.binary(Op::Ge, exist, b.constant_int(DType::U32, count)), {}, whole, ragged);
  if (!async) return "loads and stores (the target has no copies behind the work)";
  return fmt::format(
      "loads and stores (its places are known to be multiples of {} bytes, and copies behind the work "
      "need {})",
      align * size, kLeastBytes);
}

}  // namespace mt
