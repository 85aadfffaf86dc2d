// Pure ops as expressions.
#pragma once
#include <vector>

#include "backends/clike/dialect.h"

namespace mt::clike {

/// `text` of an expression, in parentheses where it binds less tightly than `level`.
std::string at_level(const Expr& e, int level);
/// The expression of a pure op of a legalised kernel on printed operands.
Expr spell(const Dialect& dialect, const Kernel& k, const Inst& inst, const std::vector<Expr>& in, Needs& needs);

}  // namespace mt::clike
