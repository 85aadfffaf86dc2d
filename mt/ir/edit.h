// Making, walking and changing kernels: what passes share.
#pragma once
#include <functional>
#include <unordered_map>

#include "mt/ir/kernel.h"

namespace mt {

ValueId add_value(Kernel& k, Type type);
RegionId add_region(Kernel& k, InstId owner);
ValueId add_arg(Kernel& k, RegionId r, Type type);
/// Gives `inst` a place in the table and `results` as its result types; it is in no region yet.
InstId add_inst(Kernel& k, Inst inst, const std::vector<Type>& results);
/// Puts a table instruction at the end of `r`, or before position `at`.
void append(Kernel& k, RegionId r, InstId i);
void insert(Kernel& k, RegionId r, std::size_t at, InstId i);

/// Creates instructions at one place: the end of a region, or before an instruction. Checks arity and the type rule.
class Builder {
 public:
  explicit Builder(Kernel& k, RegionId r = RegionId::Root) : kernel(k), region(r) {}
  /// Inserts before position `at` of `r` and moves along.
  Builder(Kernel& k, RegionId r, std::size_t at) : kernel(k), region(r), position(at), at_end(false) {}

  Kernel& kernel;
  RegionId region;
  std::size_t position = 0;
  bool at_end = true;
  Loc loc;

  /// Adds `inst` and returns its id; throws Error (with `loc` of the instruction) where arity, dtype class or type rule
  /// is broken.
  InstId add(Inst inst, const std::vector<Type>& results);
  /// Adds an instruction with one result.
  ValueId value(Inst inst, Type type);

  ValueId constant(Type type, std::uint64_t bits);
  ValueId constant_int(DType dtype, std::int64_t v);
  ValueId constant_f32(float v);
  /// A pure op on the operands, typed by its rule (Same, or Pred).
  ValueId unary(Op op, ValueId a);
  ValueId binary(Op op, ValueId a, ValueId b);
  ValueId fma(ValueId a, ValueId b, ValueId c);
  ValueId select(ValueId condition, ValueId a, ValueId b);
  ValueId cast(ValueId v, DType dtype);
  ValueId bitcast(ValueId v, DType dtype);
  ValueId splat(ValueId v, int lanes);
  ValueId extract(ValueId v, int lane);
  ValueId load(MemoryId m, ValueId index, int lanes = 1);
  void store(MemoryId m, ValueId index, ValueId v);
};

/// Bits of a constant of that dtype, and back.
std::uint64_t bits_of(DType dtype, double value);
double value_of(DType dtype, std::uint64_t bits);
std::int64_t int_value_of(DType dtype, std::uint64_t bits);

/// Calls f on every instruction of region r and of the regions inside it, outermost first, in order.
void walk(const Kernel& k, RegionId r, const std::function<void(InstId)>& f);
/// Replaces every use of `from` by `to` (operands and yields), everywhere.
void replace_all(Kernel& k, ValueId from, ValueId to);
/// Applies a map of replacements to all operands and yields; chains are followed.
void replace_all(Kernel& k, const std::unordered_map<ValueId, ValueId>& map);
/// How often each value is named as an operand or a yield, by live instructions.
std::vector<int> count_uses(const Kernel& k);
/// Drops table entries that are not reachable from the root and renumbers the rest in order of appearance.
void compact(Kernel& k);
/// A copy of instruction `i` with its regions, operands replaced through `map` (which also receives the copies'
/// results). Not yet in a region.
InstId clone(Kernel& k, InstId i, std::unordered_map<ValueId, ValueId>& map);

/// Evaluates a pure op on scalars by the table's semantics: bits in, bits out. Nothing where the op has none for the
/// dtype.
std::optional<std::uint64_t> evaluate(Op op, DType operand, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0);
/// Cast semantics of the table on bits.
std::uint64_t convert(DType from, DType to, std::uint64_t bits);
/// Identity element of a combination, as bits.
std::uint64_t identity_of(Combine c, DType t);

}  // namespace mt
