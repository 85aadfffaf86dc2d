// How products of tiles are made: which of them read their right operand where it lies, and how many rows anybody asks
// for.
//
// An operand is packed for a product once and read by every block of rows. Where rows are few that is more work than
// the product, so it takes lines of memory as they are: as rows that are scaled and added, or, where memory has the
// operand transposed, by dot products along them.
#pragma once
#include <string>
#include <vector>

#include "mt/ir/kernel.h"

namespace mt::cpu {

/// A block of sums that stays in registers: rows, and columns.
struct Block {
  int rows = 0, cols = 0;
};
/// Of a product of packed operands with that many rows; an rhs is packed in panels of as many columns.
Block packed_block(bool avx512, int rows);
/// The next one where that many rows and columns are left, and rows of the right operand are read where they lie.
Block lines_block(bool avx512, int rows, int cols);
/// The next one where that many rows are left, and dot products are made with columns of the right operand.
Block dots_block(bool avx512, int rows);

class TileProducts {
 public:
  explicit TileProducts(const Kernel& kernel);

  /// The load of the right operand that the product makes itself; null where the operand is packed before.
  const Inst* in_place(const Inst& mma) const;
  /// Whether it has no buffer, because products read it where it lies.
  bool in_place(ValueId rhs) const { return in_place_[index_of(rhs)] != 0; }
  /// Rows from the first on that reach memory or another row; the others may be anything.
  int rows(ValueId tile) const;
  /// Rows that the product has to add to: those asked for that its left operand has.
  int rows(const Inst& mma) const;
  /// Why the product's right operand is packed, or is not.
  std::string why(const Inst& mma) const;

 private:
  const Kernel& kernel_;
  std::vector<int> wanted_;       // by value
  std::vector<char> in_place_;    // by value
  std::vector<std::string> why_;  // by value, of right operands
};

}  // namespace mt::cpu
