#include "mt/dsl/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include "mt/dsl/source_names.h"

#include "mt/dsl/facts.h"

namespace mt {
namespace {

thread_local Signature* current_signature = nullptr;
thread_local Trace* current_trace = nullptr;
thread_local bool assume_nothing = false;

/// Largest power of two up to 8 that divides n: what vector accesses can use of a row length.
std::int64_t vector_divisor(std::int64_t n) { return n % 8 == 0 ? 8 : n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1; }

/// Whether a size is a stride somewhere: only then does its divisibility matter to an address.
bool is_stride(const Signature& signature, const std::string& symbol) {
  for (const TensorParam& t : signature.tensors)
    for (std::size_t i = 1; i < t.shape.size(); ++i)
      if (t.shape[i].symbol == symbol) return true;
  return false;
}

}  // namespace

const TensorParam* Signature::tensor(std::string_view name) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(), [&](const TensorParam& t) { return t.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}
int Signature::scalar(std::string_view name) const {
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i].name == name) return static_cast<int>(i);
  return -1;
}

std::int64_t extent_of(const Dim& dim, const Problem& problem) {
  return dim.symbol.empty() ? dim.extent : problem[dim.symbol];
}
std::vector<std::int64_t> shape_of(const TensorParam& tensor, const Problem& problem) {
  std::vector<std::int64_t> shape;
  for (const Dim& d : tensor.shape) shape.push_back(extent_of(d, problem));
  return shape;
}

Signature& declaring() {
  if (!current_signature)
    throw Error("a kernel parameter is declared outside a kernel struct; make it a member of one");
  return *current_signature;
}
DeclareScope::DeclareScope(Signature& s) : outer_(current_signature) { current_signature = &s; }
DeclareScope::~DeclareScope() { current_signature = outer_; }

WithoutFacts::WithoutFacts() : outer_(assume_nothing) { assume_nothing = true; }
WithoutFacts::~WithoutFacts() { assume_nothing = outer_; }

Trace& trace() {
  if (!current_trace) throw Error("device code is used outside a kernel's body; call it from body()");
  return *current_trace;
}

Trace::Trace(const Signature& signature, const Problem& p, std::string name, int threads, TargetTraits target)
    : builder(kernel), traits(target), problem(p), outer_(current_trace) {
  kernel.name = std::move(name);
  kernel.threads = threads;
  for (const TensorParam& t : signature.tensors) {
    kernel.memories.push_back(
        {.name = t.name, .dtype = t.dtype, .access = t.access, .shape = t.shape, .temporary = t.temporary});
  }
  const auto declare = [&](const std::string& symbol, DType dtype) {
    const auto known = [&](const ScalarParam& s) { return s.name == symbol; };
    if (std::any_of(kernel.scalars.begin(), kernel.scalars.end(), known)) return;
    const bool stride = !assume_nothing && is_int(dtype) && is_stride(signature, symbol) && p.has(symbol);
    kernel.scalars.push_back({symbol, dtype, stride ? vector_divisor(p[symbol]) : 1});
  };
  for (const ScalarDecl& s : signature.scalars) declare(s.name, s.dtype);
  for (const TensorParam& t : signature.tensors)
    for (const Dim& d : t.shape)
      if (!d.symbol.empty()) declare(d.symbol, DType::U32);
  current_trace = this;
}
Trace::~Trace() { current_trace = outer_; }

ValueId Trace::value(Inst inst, Type type, Here here) {
  inst.loc = here;
  return builder.value(std::move(inst), type);
}
void Trace::effect(Inst inst, Here here) {
  inst.loc = here;
  builder.add(std::move(inst), {});
}

Kernel Trace::finish() {
  std::vector<bool> loaded(kernel.memories.size()), stored(kernel.memories.size()), scalar(kernel.scalars.size());
  walk(kernel, RegionId::Root, [&](InstId i) {
    const Inst& inst = kernel.at(i);
    if (inst.op == Op::Param) scalar[static_cast<std::size_t>(inst.index)] = true;
    for (const MemoryId m : read_by(inst))
      if (m != MemoryId::None) loaded[index_of(m)] = true;
    if (const MemoryId m = written_by(inst); m != MemoryId::None) stored[index_of(m)] = true;
  });
  std::vector<int> memory_to(kernel.memories.size(), -1), scalar_to(kernel.scalars.size(), -1);
  std::vector<Memory> memories;
  std::vector<ScalarParam> scalars;
  for (const bool device : {true, false})
    for (std::size_t m = 0; m < kernel.memories.size(); ++m) {
      Memory& memory = kernel.memories[m];
      if ((memory.space == Space::Device) != device || !(loaded[m] || stored[m])) continue;
      if (memory.temporary) memory.access = !stored[m] ? Access::In : !loaded[m] ? Access::Out : Access::InOut;
      memory_to[m] = static_cast<int>(memories.size());
      memories.push_back(memory);
    }
  for (std::size_t s = 0; s < kernel.scalars.size(); ++s)
    if (scalar[s]) {
      scalar_to[s] = static_cast<int>(scalars.size());
      scalars.push_back(kernel.scalars[s]);
    }
  for (Inst& inst : kernel.insts) {
    if (inst.op == Op::Param) inst.index = scalar_to[static_cast<std::size_t>(inst.index)];
    for (MemoryId* m : {&inst.memory, &inst.from})
      if (*m != MemoryId::None) *m = static_cast<MemoryId>(memory_to[index_of(*m)]);
  }
  kernel.memories = std::move(memories);
  kernel.scalars = std::move(scalars);
  name_values(kernel);
  return std::move(kernel);
}

}  // namespace mt
