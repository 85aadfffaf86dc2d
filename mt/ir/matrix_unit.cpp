#include "mt/ir/matrix_unit.h"

#include "mt/base/error.h"

namespace mt {

std::array<int, 2> BlockLayout::at(int lane, int e) const {
  std::array<int, 2> p = elements[static_cast<std::size_t>(e)];
  for (std::size_t bit = 0; bit < row.size(); ++bit)
    if (lane >> bit & 1) {
      p[0] += row[bit];
      p[1] += col[bit];
    }
  return p;
}

const BlockLayout& UnitInfo::of(TileRole role) const {
  MT_ASSERT(role != TileRole::None && role != TileRole::Rows, "a block is of an acc, an lhs or an rhs");
  return role == TileRole::Acc ? acc : role == TileRole::Lhs ? lhs : rhs;
}

const UnitInfo& info(MatrixUnit unit) {
  static const BlockLayout eight{8, 8, {0, 1, 2, 0, 4}, {2, 0, 0, 4, 0}, {{0, 0}, {0, 1}}};
  static const std::array<UnitInfo, kMatrixUnits> units = {{
      {"fma",
       {8, 16, {0, 0, 1, 2, 4}, {4, 8, 0, 0, 0}, {{0, 0}, {0, 1}, {0, 2}, {0, 3}}},
       {8, 1, {0, 0, 1, 2, 4}, {0, 0, 0, 0, 0}, {{0, 0}}},
       {1, 16, {0, 0, 0, 0, 0}, {4, 8, 0, 0, 0}, {{0, 0}, {0, 1}, {0, 2}, {0, 3}}}},
      {"simd8", eight, eight, eight},
      {"mma16",
       {16, 8, {0, 0, 1, 2, 4}, {2, 4, 0, 0, 0}, {{0, 0}, {0, 1}, {8, 0}, {8, 1}}},
       {16, 16, {0, 0, 1, 2, 4}, {2, 4, 0, 0, 0}, {{0, 0}, {0, 1}, {8, 0}, {8, 1}, {0, 8}, {0, 9}, {8, 8}, {8, 9}}},
       {16, 8, {2, 4, 0, 0, 0}, {0, 0, 1, 2, 4}, {{0, 0}, {1, 0}, {8, 0}, {9, 0}}}},
  }};
  return units[static_cast<std::size_t>(unit)];
}

}  // namespace mt
