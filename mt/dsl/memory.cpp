#include "mt/dsl/memory.h"

#include <fmt/format.h>
#include <algorithm>

namespace mt {
namespace {

[[noreturn]] void fail(Here here, const std::string& what) {
  throw Error(fmt::format("{}: [{}] {}", to_string(Loc(here)), trace().kernel.name, what));
}

ValueId u64_of(ValueId v, Here here) { return detail::cast(v, DType::U64, here); }

}  // namespace

namespace detail {

ValueId load(MemoryId m, ValueId index, int lanes, DType compute, Here here) {
  Trace& t = trace();
  if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8)
    fail(here, fmt::format("a load takes 1, 2, 4 or 8 lanes, not {}", lanes));
  const Type type{t.kernel.at(m).dtype, static_cast<std::uint8_t>(lanes)};
  const ValueId raw = t.value({.op = Op::Load, .memory = m, .in = {index}}, type, here);
  return cast(raw, compute, here);
}

void store(MemoryId m, ValueId index, ValueId value, Here here) {
  Trace& t = trace();
  t.effect({.op = Op::Store, .memory = m, .in = {index, cast(value, t.kernel.at(m).dtype, here)}}, here);
}

ValueId atomic(Combine c, MemoryId m, ValueId index, ValueId value, Here here) {
  Trace& t = trace();
  if (size_of(t.kernel.at(m).dtype) != 4) fail(here, "atomics work on 32-bit elements");
  return t.value({.op = Op::Atomic, .combine = c, .memory = m, .in = {index, value}}, t.kernel.type(value), here);
}

ValueId offset(MemoryId m, const std::vector<Index>& coordinates, Here here) {
  Trace& t = trace();
  const std::vector<Dim> shape = t.kernel.at(m).shape;
  if (coordinates.size() > shape.size())
    fail(here, fmt::format("{} has {} dimensions, not {}", t.kernel.at(m).name, shape.size(), coordinates.size()));
  ValueId sum = ValueId::None;
  for (std::size_t d = 0; d < shape.size(); ++d) {  // Horner: ((i0 * n1 + i1) * n2 + i2) …
    if (d > 0) {
      const ValueId extent = shape[d].symbol.empty() ? literal_int(DType::U64, shape[d].extent, here)
                                                     : u64_of(scalar_param(shape[d].symbol, here), here);
      sum = binary(Op::Mul, sum, extent, here);
    }
    if (d < coordinates.size()) {
      const ValueId i = u64_of(coordinates[d].id, here);
      sum = d == 0 ? i : binary(Op::Add, sum, i, here);
    }
  }
  return sum;
}

ValueId add_offset(ValueId base, ValueId index, Here here) { return binary(Op::Add, base, u64_of(index, here), here); }

ValueId scalar_param(std::string_view name, Here here) {
  Trace& t = trace();
  for (std::size_t i = 0; i < t.kernel.scalars.size(); ++i)
    if (t.kernel.scalars[i].name == name)
      return t.value({.op = Op::Param, .index = static_cast<std::int32_t>(i)}, {t.kernel.scalars[i].dtype}, here);
  fail(here, fmt::format("no scalar parameter {}; declare it as a member of the kernel", name));
}

std::int64_t scalar_fact(std::string_view name) {
  const auto& all = trace().kernel.scalars;
  const auto it = std::find_if(all.begin(), all.end(), [&](const ScalarParam& s) { return s.name == name; });
  return it == all.end() ? 1 : it->multiple_of;
}

MemoryId array(std::string name, Space space, DType dtype, std::int64_t count, Layout layout, Here here) {
  Kernel& k = trace().kernel;
  if (count <= 0) fail(here, fmt::format("array {} has no elements", name));
  if (layout != Layout::Plain && (size_of(dtype) != 2 || count % kPanelGroup != 0))
    fail(here,
         fmt::format("array {} cannot lie in panels: they hold elements of 16 bits, {} in each whole group of 8 rows",
                     name, kPanelGroup));
  const auto taken = [&](const std::string& n) {
    return std::any_of(k.memories.begin(), k.memories.end(), [&](const Memory& m) { return m.name == n; });
  };
  std::string unique = name;
  for (int i = 2; taken(unique); ++i) unique = fmt::format("{}_{}", name, i);
  k.memories.push_back({.name = unique, .space = space, .dtype = dtype, .count = count, .layout = layout, .loc = here});
  return static_cast<MemoryId>(k.memories.size() - 1);
}

int declare_tensor(TensorParam p) {
  Signature& s = declaring();
  if (s.tensor(p.name)) throw Error(fmt::format("two tensors are called {}", p.name));
  s.tensors.push_back(std::move(p));
  return static_cast<int>(s.tensors.size() - 1);
}
Fill& fill_of(MemoryId tensor) { return declaring().tensors[index_of(tensor)].fill; }
void declare_scalar(ScalarDecl d) {
  Signature& s = declaring();
  if (s.scalar(d.name) >= 0) throw Error(fmt::format("two scalars are called {}", d.name));
  s.scalars.push_back(std::move(d));
}

}  // namespace detail

Tunable::Tunable(std::string name, int value, std::vector<int> choices)
    : signature_(&declaring()), index_(signature_->tunables.size()) {
  signature_->tunables.push_back({std::move(name), value, false, std::move(choices)});
}
Tunable& Tunable::operator=(int value) {
  if (!declared().overridden) declared().value = value;
  return *this;
}

}  // namespace mt
