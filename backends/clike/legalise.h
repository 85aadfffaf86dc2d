// Rewrites an optimised kernel into the part of the op table that C-like text can spell exactly.
#pragma once
#include "mt/ir/kernel.h"

namespace mt::clike {

struct LegaliseOptions {
  int value_lanes = 4;   // widest vector that the language computes with; 1: none
  int memory_lanes = 4;  // widest vector of one load or store, also bounded by memory_bytes and the known alignment
  int memory_bytes = 16;
};

/// A copy of `kernel` in which
///  - no value but the operand or result of a load, store, pack or extract is wider than value_lanes;
///  - loads and stores are no wider than the memory limits and the alignment that is known;
///  - f16 and bf16 are only moved and converted from and to f32; 8- and 16-bit integers are computed in 32 bits;
///  - signed sums, differences, products and left shifts are made on unsigned integers, where C defines wrapping;
///  - collectives work on scalars of 32 or 64 bits, or bool for and, or.
/// Throws Error on an atomic of a vector.
Kernel legalise(const Kernel& kernel, const LegaliseOptions& options);

}  // namespace mt::clike
