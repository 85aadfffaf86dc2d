// Kernels of one op each, by op and dtype: what tests of targets run and print.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "mt/ir/edit.h"

namespace mt {

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
  for (int i = 0; i < c.operands(); ++i)
    k.memories.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                          .dtype = c.operand(i),
                          .access = Access::In,
                          .shape = {"n"}});
  k.memories.push_back({.name = "out", .dtype = c.result(), .access = Access::Out, .shape = {"n"}});
  Builder b(k);
  const auto lanes = static_cast<std::uint8_t>(c.lanes);
  const ValueId n = b.value({.op = Op::Param}, {DType::U32});
  const ValueId first =
      b.binary(Op::Mul, b.value({.op = Op::GroupId}, {DType::U32}), b.constant_int(DType::U32, k.threads));
  const ValueId thread = b.binary(Op::Add, first, b.value({.op = Op::ThreadId}, {DType::U32}));
  const ValueId i = b.binary(Op::Mul, thread, b.constant_int(DType::U32, c.lanes));
  const InstId guard = b.add({.op = Op::If, .in = {b.binary(Op::Lt, i, n)}}, {});
  Builder inner(k, add_region(k, guard));
  add_region(k, guard);
  Inst op{.op = c.op};
  for (int j = 0; j < c.operands(); ++j)
    op.in.push_back(inner.value({.op = Op::Load, .align = c.lanes, .memory = static_cast<MemoryId>(j), .in = {i}},
                                {c.operand(j), lanes}));
  const ValueId r = inner.value(std::move(op), {c.result(), lanes});
  inner.add({.op = Op::Store, .align = c.lanes, .memory = static_cast<MemoryId>(c.operands()), .in = {i, r}}, {});
  return k;
}

}  // namespace mt
