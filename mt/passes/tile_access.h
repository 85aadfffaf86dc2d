// Loads and stores of tiles by the lanes that hold their elements.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "mt/passes/tile_layout.h"

namespace mt {

class TileAccess {
 public:
  TileAccess(Kernel& k, const TileLowering& options);

  /// The blocks of a tile_load.
  std::vector<ValueId> load(Builder& b, const Inst& inst, const TileBlocks& t);
  /// A tile_store of `blocks`.
  void store(Builder& b, const Inst& inst, const TileBlocks& t, const std::vector<ValueId>& blocks);
  /// How the last access is made and why, in words.
  const std::string& note() const { return note_; }

 private:
  struct Element {
    int block, e;
    int row, col;     // in the tile, of lane 0
    int down, right;  // in memory
  };
  struct Access;  // one instruction's places
  using Values = std::vector<ValueId>;

  Access access(Builder& b, const Inst& inst, const TileBlocks& t, Type tile) const;
  ValueId index(Builder& b, const Access& a, int down, int right) const;
  Values elements(Builder& b, const Access& a, bool rows_exist, bool cols_exist) const;
  Values load_some(Builder& b, const Access& a, const std::vector<Element>& some, bool cols_exist) const;
  bool in_quads(const Access& a) const;
  void store_quads(Builder& b, const Access& a, const Values& blocks) const;
  void store_all(Builder& b, const Access& a, bool rows_exist, bool cols_exist, const Values& blocks) const;
  std::string why_no_matrix_load(const Inst& inst, const TileBlocks& t, Type tile) const;
  Values matrix_load(Builder& b, const Inst& inst, const TileBlocks& t, Type tile) const;
  int zeros(ValueId v) const;

  Kernel& k_;
  const TileLowering options_;
  const std::vector<std::uint8_t> zeros_;
  std::string note_;
};

/// One element of a block, and a block of its elements.
ValueId element_of(Builder& b, ValueId block, int e);
ValueId block_of(Builder& b, const std::vector<ValueId>& elements);

/// `then` and `other` emit one branch each and give values of those types.
std::vector<ValueId> branch(Builder& b, ValueId condition, const std::vector<Type>& types,
                            const std::function<std::vector<ValueId>(Builder&)>& then,
                            const std::function<std::vector<ValueId>(Builder&)>& other = {});

}  // namespace mt
