// Rewrites an optimised kernel into the part of the op table that C-like text can spell exactly.
#pragma once
#include "mt/ir/kernel.h"

namespace mt::clike {

struct LegaliseOptions {
  int value_lanes = 4;   // widest vector that the language computes with; 1: none
  int memory_lanes = 4;  // widest vector of one load or store, also bounded by memory_bytes and the known alignment
  int memory_bytes = 16;
  bool matrix_words = false;  // operands of a matrix unit are words of 32 bits, two elements of 16 bits each
};

/// A copy of `kernel` in which
///  - no value but the operand or result of a load, store, pack or extract is wider than value_lanes;
///  - loads and stores are no wider than the memory limits and the alignment that is known;
///  - f16 and bf16 are only moved and converted from and to f32; 8- and 16-bit integers are computed in 32 bits;
///  - signed sums, differences, products and left shifts are made on unsigned integers, where C defines wrapping;
///  - collectives work on scalars of 32 or 64 bits, or bool for and, or;
///  - blocks of the matrix unit `fma` are multiply-adds;
///  - the third operand of copy_async is the bytes that exist, and missing where all do;
///  - with matrix_words, mma_block takes the elements of the acc one by one, then the words of lhs and rhs, gives the
///    elements of the acc, and its `bits` are the operands' dtype; load_matrix gives four words. A pack that gives u32
///    makes a word of two elements, a cast with two operands rounds two f32 to the dtype in its `bits` and makes a word
///    of them, and a load of u32 from a memory of 16 bits reads words.
/// Throws Error on an atomic of a vector.
Kernel legalise(const Kernel& kernel, const LegaliseOptions& options);

}  // namespace mt::clike
