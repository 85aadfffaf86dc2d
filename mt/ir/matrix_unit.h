// What multiplies small blocks of matrices on a target, and which lane of a simdgroup holds which element of a block.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mt/ir/type.h"

namespace mt {

enum class MatrixUnit : std::uint8_t {
  Fma,    // no matrix unit: multiply-adds of each lane, exact in f32
  Simd8,  // Apple: 8 x 8 x 8 by a simdgroup, f32, f16 or bf16 operands
  Mma16,  // NVIDIA, from compute capability 8.0: 16 x 8 x 16 by a warp, f16 or bf16 operands
};

/// Element e of lane l is at (row, col) = (sum of row[i] over the set bits i of l, the same for col) + elements[e].
struct BlockLayout {
  int rows, cols;
  std::array<int, 5> row, col;
  std::vector<std::array<int, 2>> elements;

  int count() const { return static_cast<int>(elements.size()); }
  std::array<int, 2> at(int lane, int e) const;
};

struct UnitInfo {
  std::string_view name;
  BlockLayout acc, lhs, rhs;
  const BlockLayout& of(TileRole role) const;
};

/// Sources of the layouts: PTX ISA, mma.m16n8k16 fragments; the 8 x 8 layout is the one of simdgroup_matrix on Apple
/// GPUs, where lane l holds (l / 16 * 4 + l / 2 % 4, l / 8 % 2 * 4 + l % 2 * 2) and the element to the right.
const UnitInfo& info(MatrixUnit unit);
/// Simdgroups that multiply together by one operand in threadgroup memory, from compute capability 9.0 (wgmma), and the
/// most columns that such a product has. Each simdgroup holds blocks of Mma16.
constexpr int kTeam = 4, kMaxTeamColumns = 256;
constexpr int kMatrixUnits = 3;

}  // namespace mt
