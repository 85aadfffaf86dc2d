// Which instructions of a trace come from one expression of the kernel's C++ source.
//
// A trace repeats expressions: loops over host numbers unroll, lambdas run for vectors and for single elements. An
// expression is known by its line, its op, where its operands come from, what first uses it and which control flow it
// stands in. Counts that a plan chooses are left out, so that one expression has the same key in every trace of a
// kernel, whatever the problem.
#pragma once
#include <cstdint>
#include <vector>

#include "mt/ir/kernel.h"

namespace mt {

struct Expression {
  std::uint64_t key = 0;
  Op op = Op::Const;
  Loc loc;
  std::vector<InstId> insts;  // in order
};

/// All instructions of the kernel by expression, in order of their first instruction.
std::vector<Expression> expressions(const Kernel& kernel);

}  // namespace mt
