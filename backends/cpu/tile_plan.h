// Where the tiles of a kernel live. No tile is a vector: each has a buffer of f32 in the scratch memory of its
// simdgroup.
//
// Values that flow into each other (an acc and its sum, what a loop carries, what an if yields) share a buffer where
// one dies as the other begins; what can't is copied. Operands that products read where they lie have none. Buffers
// whose values are never wanted at one time share memory.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "backends/cpu/tile_products.h"
#include "mt/ir/kernel.h"

namespace mt::cpu {

/// A copy of one buffer to another: places in the simdgroup's memory, and elements.
struct TileCopy {
  std::size_t from = 0, to = 0;
  int elements = 0;
  bool operator==(const TileCopy&) const = default;
};

/// Copies with the effect of all `moves` at one time, in an order in which nothing is overwritten that is still wanted.
/// Places are equal or apart. `spare`: where a ring of moves puts down one of its members.
std::vector<TileCopy> in_order(std::vector<TileCopy> moves, std::size_t spare);

class TilePlan {
 public:
  TilePlan(const Kernel& kernel, const TileProducts& products);
  /// Bytes of one simdgroup; a multiple of 64; 0 without tiles.
  std::size_t bytes() const { return bytes_; }
  /// First byte of the buffer of a tile; a multiple of 64.
  std::size_t at(ValueId tile) const { return at_[index_of(tile)]; }
  /// Of an lhs: element (i, k) is at k * rows + i instead of i * depth + k.
  bool by_column(ValueId lhs) const { return by_column_[index_of(lhs)] != 0; }
  /// What it takes that each second value holds what the first one holds, for all of them at one time. Pairs of other
  /// values than tiles are left out.
  std::vector<TileCopy> copies(const std::vector<std::pair<ValueId, ValueId>>& moves) const;

 private:
  const Kernel& kernel_;
  std::vector<std::size_t> at_;  // by value
  std::vector<char> by_column_;  // by value
  std::size_t bytes_ = 0, spare_ = 0;
};

}  // namespace mt::cpu
