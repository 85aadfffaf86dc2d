// Which matrix unit holds each tile of a kernel, and where in the tile the elements of a lane are.
#pragma once
#include <array>
#include <vector>

#include "mt/ir/edit.h"
#include "mt/ir/matrix_unit.h"
#include "mt/passes/pipeline.h"

namespace mt {

/// A tile as blocks of one layout, row by row; a lane's elements of one block are the lanes of one vector.
struct TileBlocks {
  BlockLayout layout;
  MatrixUnit unit = MatrixUnit::Fma;
  DType dtype = DType::F32;
  int rows = 0, cols = 0;  // in blocks

  int count() const { return rows * cols; }
  Type type() const { return {dtype, static_cast<std::uint8_t>(layout.count())}; }
  /// Where lane 0 has element `e` of block `b`.
  std::array<int, 2> at(int b, int e) const {
    const auto& p = layout.elements[static_cast<std::size_t>(e)];
    return {b / cols * layout.rows + p[0], b % cols * layout.cols + p[1]};
  }
};

/// Of a column that has one element for each row of an acc block: every lane has the rows of its acc elements.
BlockLayout rows_layout(const BlockLayout& acc);

/// Lanes that hold the same rows differ in these bits.
std::vector<int> bits_within_row(const BlockLayout& layout);

/// The row or the column that a lane adds to its elements: `weights` of the bits of `lane`, a u32.
ValueId lane_offset(Builder& b, const std::array<int, 5>& weights);

/// Tiles that flow into each other share a unit, which the dtype of the products' operands decides.
class TileUnits {
 public:
  /// Throws Error where a tile's shape is not made of whole blocks of its unit, or where two units would have to hold
  /// one tile.
  TileUnits(const Kernel& k, const TileLowering& options);
  TileBlocks of(ValueId tile) const;

 private:
  int root(ValueId v) const;
  void join(ValueId a, ValueId b);
  void require(ValueId v, DType operands, InstId by);
  void collect(InstId i);
  MatrixUnit unit_for(DType operands) const;
  void check(ValueId v) const;
  [[noreturn]] void fail(InstId at, const std::string& what) const;

  const Kernel& k_;
  const TileLowering& options_;
  mutable std::vector<int> parent_;
  std::vector<int> unit_;   // of a root: the MatrixUnit, or -1
  std::vector<DType> for_;  // of a root: the operands that decided
};

}  // namespace mt
