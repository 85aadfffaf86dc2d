// Kernels that the tests of the text backends print: one per op and dtype, and a few hand-made ones.
#pragma once
#include <fmt/format.h>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "mt/ir/edit.h"

namespace mt::clike::testing {

inline MemoryId add_memory(Kernel& k, std::string name, DType t, Access access, std::vector<Dim> shape = {"n"}) {
  k.memories.push_back({.name = std::move(name), .dtype = t, .access = access, .shape = std::move(shape)});
  return static_cast<MemoryId>(k.memories.size() - 1);
}
inline ValueId id(Builder& b, Op op, int axis = 0) { return b.value({.op = op, .index = axis}, {DType::U32}); }

/// An `if` without results.
inline void if_then(Builder& b, ValueId condition, const std::function<void(Builder&)>& body) {
  const InstId made = b.add({.op = Op::If, .in = {condition}}, {});
  Builder inner(b.kernel, add_region(b.kernel, made));
  add_region(b.kernel, made);
  inner.loc = b.loc;
  body(inner);
}

/// A pure op of the table on vectors of `lanes`; `to` is the result's dtype of a cast or bitcast.
struct OpCase {
  Op op;
  DType on;
  DType to;
  int lanes;
  DType result() const { return info(op).type == TypeRule::Pred ? DType::Bool : to; }
  int operands() const { return info(op).arity; }
  DType operand(int k) const { return op == Op::Select && k == 0 ? DType::Bool : on; }
  std::string name() const { return fmt::format("op_{}_{}_{}x{}", info(op).name, name_of(on), name_of(to), lanes); }
};

inline std::vector<OpCase> op_cases(int lanes) {
  std::vector<OpCase> cases;
  for (int o = 0; o < op_count(); ++o) {
    const Op op = static_cast<Op>(o);
    const OpInfo& row = info(op);
    for (int t = 0; t < kDTypeCount; ++t) {
      const DType on = static_cast<DType>(t);
      if (op == Op::Cast || op == Op::Bitcast) {
        for (int u = 0; u < kDTypeCount; ++u) {
          const DType to = static_cast<DType>(u);
          const bool fits = op == Op::Cast || (size_of(on) == size_of(to) && on != DType::Bool && to != DType::Bool);
          if (to != on && fits) cases.push_back({op, on, to, lanes});
        }
      } else if (op == Op::Select) {
        cases.push_back({op, on, on, lanes});
      } else if ((row.f || row.u || row.s) && admits(row.on, on)) {
        cases.push_back({op, on, on, lanes});
      }
    }
  }
  return cases;
}

/// out[i] = op(a[i], b[i], c[i]) for i < n, `lanes` elements a thread, 64 threads a threadgroup.
inline Kernel op_kernel(const OpCase& c) {
  Kernel k;
  k.name = c.name();
  k.threads = 64;
  k.scalars = {{.name = "n"}};
  std::vector<MemoryId> in;
  for (int i = 0; i < c.operands(); ++i)
    in.push_back(add_memory(k, std::string(1, static_cast<char>('a' + i)), c.operand(i), Access::In));
  const MemoryId out = add_memory(k, "out", c.result(), Access::Out);
  Builder b(k);
  const auto lanes = static_cast<std::uint8_t>(c.lanes);
  const ValueId n = b.value({.op = Op::Param}, {DType::U32});
  const ValueId thread =
      b.binary(Op::Add, b.binary(Op::Mul, id(b, Op::GroupId), b.constant_int(DType::U32, 64)), id(b, Op::ThreadId));
  const ValueId i = b.binary(Op::Mul, thread, b.constant_int(DType::U32, c.lanes));
  if_then(b, b.binary(Op::Lt, i, n), [&](Builder& inner) {
    Inst op{.op = c.op};
    for (int j = 0; j < c.operands(); ++j)
      op.in.push_back(
          inner.value({.op = Op::Load, .align = c.lanes, .memory = in[static_cast<std::size_t>(j)], .in = {i}},
                      {c.operand(j), lanes}));
    const ValueId r = inner.value(std::move(op), {c.result(), lanes});
    inner.add({.op = Op::Store, .align = c.lanes, .memory = out, .in = {i, r}}, {});
  });
  return k;
}

/// Compares `text` with tests/golden/<file>, or writes it there when MT_BLESS=1. Returns the difference's sentence.
inline std::string golden(const std::string& file, const std::string& text) {
  const std::string path = std::string(MT_SOURCE_DIR) + "/tests/golden/" + file;
  if (const char* bless = std::getenv("MT_BLESS"); bless && std::string(bless) == "1") {
    std::ofstream(path) << text;
    return "";
  }
  std::ifstream in(path);
  if (!in) return path + " is missing; run with MT_BLESS=1 to write it";
  std::stringstream want;
  want << in.rdbuf();
  if (want.str() == text) return "";
  return path + " differs; if this is meant, run with MT_BLESS=1. Printed now:\n" + text;
}

}  // namespace mt::clike::testing
