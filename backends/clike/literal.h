// Constants as C-like text.
#pragma once
#include <cstdint>

#include "backends/clike/dialect.h"

namespace mt::clike {

/// The literal of a scalar constant. Floats print the fewest digits that read back to the same bits.
Expr literal(const Dialect& dialect, DType t, std::uint64_t bits, Needs& needs);

}  // namespace mt::clike
