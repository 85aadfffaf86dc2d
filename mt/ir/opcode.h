// Opcodes and what the table says of each.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "mt/base/dtype.h"

namespace mt {

enum class Op : std::uint8_t {
#define OP(Id, ...) Id,
#include "mt/ir/ops.def"
};

/// How the result type follows from the operands: Same as operand 0, Pred: bool with operand 0's lanes, Given by the
/// instruction, Void: no result.
enum class TypeRule : std::uint8_t { Given, Same, Pred, Void };
/// What an op does besides computing. Converges: lanes of a simdgroup meet. Syncs: threads meet and memory is ordered.
enum class Effect : std::uint8_t { Pure, Reads, Writes, ReadsWrites, Allocs, Converges, Syncs, Control };
/// Which dtypes operand 0 may have.
enum DTypeClass : std::uint8_t { kAny, kNumber, kFloat, kInt, kIntBool, kUnsigned32, kBoolFirst };
bool admits(DTypeClass c, DType t);

struct OpInfo {
  std::string_view name;
  int arity = 0;  // -1: any number
  TypeRule type = TypeRule::Given;
  DTypeClass on = kAny;
  Effect effect = Effect::Pure;
  bool commutes = false;
  const char* c = nullptr;
  float (*f)(float a, float b, float c) = nullptr;
  std::uint64_t (*u)(std::uint64_t a, std::uint64_t b) = nullptr;
  std::int64_t (*s)(std::int64_t a, std::int64_t b) = nullptr;
  double ulp = 0;  // 0: correctly rounded or exact
  std::string_view doc = {};
};

const OpInfo& info(Op op);
int op_count();
std::optional<Op> op_from(std::string_view name);

/// The operation of a reduction, scan or atomic.
enum class Combine : std::uint8_t { Sum, Prod, Min, Max, And, Or, Xor, Exchange };
std::string_view name_of(Combine c);
std::optional<Combine> combine_from(std::string_view name);
/// The binary op that the combination applies (Exchange has none).
Op op_of(Combine c);

}  // namespace mt
