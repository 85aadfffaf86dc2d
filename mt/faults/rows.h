// The tables that make up the list of faults, one file a group.
#pragma once
#include "mt/faults/faults.h"

namespace mt::detail {

std::vector<Fault> control_faults();     // branches, loops, comparisons
std::vector<Fault> arithmetic_faults();  // operands, ops, constants, precision
std::vector<Fault> parallel_faults();    // barriers, reductions, shuffles, thread and group indices
std::vector<Fault> memory_faults();      // loads, stores, parameters

inline Type type_of(const Kernel& k, const Inst& i) { return i.out.empty() ? Type{} : k.type(i.out[0]); }
inline Type operand_type(const Kernel& k, const Inst& i, std::size_t n = 0) {
  return n < i.in.size() ? k.type(i.in[n]) : Type{};
}
inline bool is_one_of(Op op, std::initializer_list<Op> list) {
  for (const Op o : list)
    if (o == op) return true;
  return false;
}
/// An op of one or two operands in place of another.
inline Inst of(Op op, std::vector<ValueId> in) { return {.op = op, .in = std::move(in)}; }

}  // namespace mt::detail
