// The type of an IR value: a dtype and a number of lanes (elements that one thread holds side by side), or a tile: a
// matrix that a simdgroup holds together.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mt/base/dtype.h"

namespace mt {

/// What a tile is used as. The target decides which lane holds which element; it may differ between roles.
/// Acc: f32, the sum of products. Lhs, Rhs: operands of a product. Rows: one f32 for each row of an Acc.
enum class TileRole : std::uint8_t { None, Acc, Lhs, Rhs, Rows };

struct Type {
  DType dtype = DType::F32;
  std::uint8_t lanes = 1;  // 1, 2, 4 or 8; 1 for tiles
  TileRole role = TileRole::None;
  std::uint16_t rows = 0, cols = 0;  // of a tile; a Rows tile has one column

  bool operator==(const Type&) const = default;
  Type with(DType d) const {
    Type t = *this;
    t.dtype = d;
    return t;
  }
  Type scalar() const { return {dtype, 1}; }
  bool is_tile() const { return role != TileRole::None; }
  int elements() const { return is_tile() ? rows * cols : lanes; }
};

inline Type tile_type(TileRole role, DType dtype, int rows, int cols) {
  return {dtype, 1, role, static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(cols)};
}

std::string_view name_of(TileRole role);
std::optional<TileRole> tile_role_from(std::string_view name);

/// `f32`, `bf16x4`; tiles as `bf16.lhs.16x64`.
std::string to_string(Type t);

}  // namespace mt
