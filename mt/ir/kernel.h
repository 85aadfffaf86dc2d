// A kernel as structured SSA: regions of instructions, values with types, memories and scalar parameters.
//
// Everything is an index into a table of the Kernel, so copying a Kernel clones it. Removing an instruction takes it
// out of its region's list; table entries that nothing names any more are dropped by `compact()`.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mt/base/loc.h"
#include "mt/ir/opcode.h"
#include "mt/ir/type.h"

namespace mt {

inline constexpr int kLanes = 32;  // threads of a simdgroup, on every target

enum class ValueId : std::int32_t { None = -1 };
enum class InstId : std::int32_t { None = -1 };
enum class RegionId : std::int32_t { None = -1, Root = 0 };
enum class MemoryId : std::int32_t { None = -1 };
template <class Id>
constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(static_cast<std::int32_t>(id));
}

/// One dimension of a tensor: a number, or the name of a dimension of the problem.
struct Dim {
  std::string symbol;       // empty for a fixed size
  std::int64_t extent = 0;  // used where symbol is empty
  Dim(const char* s) : symbol(s) {}
  Dim(std::string s) : symbol(std::move(s)) {}
  Dim(std::int64_t n) : extent(n) {}
  Dim(int n) : extent(n) {}
  bool operator==(const Dim&) const = default;
};

enum class Space : std::uint8_t { Device, Threadgroup, Thread };
enum class Access : std::uint8_t { In, Out, InOut };
/// How a threadgroup array of 16-bit elements is laid out. Panels: rows of 64 elements, whose order within 8 rows a
/// target may choose. Swizzled: it has chosen: element i is at i ^ (i / 64 % 8 * 8), and the indices of all accesses
/// but those of mma_team say so.
enum class Layout : std::uint8_t { Plain, Panels, Swizzled };
constexpr int kPanelColumns = 64, kPanelGroup = 8 * kPanelColumns;  // elements of a row, and of the rows that repeat

/// A buffer parameter, an array in threadgroup memory, or an array of one thread.
struct Memory {
  std::string name;
  Space space = Space::Device;
  DType dtype = DType::F32;
  Access access = Access::InOut;
  std::vector<Dim> shape = {};    // Device: row-major and contiguous
  std::int64_t count = 0;         // Threadgroup, Thread: elements
  Layout layout = Layout::Plain;  // Threadgroup
  bool temporary = false;         // Device: made by the runtime for the length of one call, not passed by the caller
  Loc loc = {};
};

struct ScalarParam {
  std::string name;
  DType dtype = DType::U32;
  std::int64_t multiple_of = 1;  // the value is known to be a multiple of this in this compilation
  bool operator==(const ScalarParam&) const = default;
};

struct Inst {
  Op op = Op::Const;
  Combine combine = Combine::Sum;  // reductions (simd, group, vector), scans, atomics
  bool exclusive = false;          // SimdScan
  bool transposed = false;  // TileLoad, TileStore, LoadMatrix, MmaTeam: memory holds columns where the tile has rows
  bool contiguous = false;  // For over simdgroups: see Kernel docs in for_simds of the DSL
  std::int32_t align = 1;   // Load, Store: elements that divide the address
  // Param: which scalar. GroupId: axis. Extract: lane. Shuffles: mask, delta or lane. CopyAsync: elements. CopyWait:
  // groups that may still be on their way. MmaBlock: the MatrixUnit. MmaTeam: lhs
  // blocks of a row. MmaWait, TileWait: products that may still be on their way.
  std::int32_t index = 0;
  MemoryId memory =
      MemoryId::None;  // Load, Store, Atomic, TileLoad, TileStore, LoadMatrix, MmaTeam; CopyAsync: the target
  MemoryId from = MemoryId::None;  // CopyAsync: the source. MmaTeam: where the lhs lies
  std::uint64_t bits = 0;          // Const: the value's bits in its dtype, zero-extended
  std::vector<ValueId> in = {};
  std::vector<ValueId> out = {};
  std::vector<RegionId> regions = {};
  RegionId home = RegionId::None;
  Loc loc = {};
};

/// The memories that the instruction reads, and the one that it writes; None where it does not. An atomic does both.
std::array<MemoryId, 2> read_by(const Inst& i);
MemoryId written_by(const Inst& i);

struct ValueInfo {
  Type type;
  InstId def = InstId::None;         // the instruction, where the value is a result
  RegionId region = RegionId::None;  // the region, where the value is its argument
  std::int32_t position = 0;         // which result or argument
  std::string name = {};             // from the source, where known
};

struct Region {
  InstId owner = InstId::None;
  std::vector<ValueId> args = {};
  std::vector<InstId> insts = {};
  std::vector<ValueId> yields = {};
};

struct Kernel {
  std::string name;
  int threads = 256;  // of a threadgroup; a multiple of 32
  std::vector<ScalarParam> scalars;
  std::vector<Memory> memories;  // device memories first, in binding order
  std::vector<Inst> insts;
  std::vector<ValueInfo> values;
  std::vector<Region> regions = std::vector<Region>(1);
  Loc loc = {};

  int simds() const { return threads / kLanes; }
  Inst& at(InstId i) { return insts[index_of(i)]; }
  const Inst& at(InstId i) const { return insts[index_of(i)]; }
  ValueInfo& at(ValueId v) { return values[index_of(v)]; }
  const ValueInfo& at(ValueId v) const { return values[index_of(v)]; }
  Region& at(RegionId r) { return regions[index_of(r)]; }
  const Region& at(RegionId r) const { return regions[index_of(r)]; }
  Memory& at(MemoryId m) { return memories[index_of(m)]; }
  const Memory& at(MemoryId m) const { return memories[index_of(m)]; }

  Type type(ValueId v) const { return at(v).type; }
  /// The instruction that makes `v`, or null where v is a region argument.
  const Inst* def(ValueId v) const { return at(v).def == InstId::None ? nullptr : &at(at(v).def); }
  /// The region where `v` is made.
  RegionId home(ValueId v) const { return at(v).def == InstId::None ? at(v).region : at(at(v).def).home; }
  /// The region around `r`; None for the root.
  RegionId parent(RegionId r) const { return at(r).owner == InstId::None ? RegionId::None : at(at(r).owner).home; }
  /// Whether a value made in `home(v)` may be named in region `r` (dominance by nesting; order is not looked at).
  bool visible(ValueId v, RegionId r) const;
};

}  // namespace mt
