#include "mt/ir/opcode.h"

#include <array>

#include "mt/base/error.h"
#include "mt/ir/kernel.h"
#include "mt/ir/op_rows.h"

namespace mt {
namespace {

constexpr std::array<std::string_view, 8> kCombines = {"sum", "prod", "min", "max", "and", "or", "xor", "exchange"};

constexpr std::array<std::string_view, 5> kRoles = {"", "acc", "lhs", "rhs", "rows"};

}  // namespace

std::string_view name_of(TileRole role) { return kRoles[static_cast<std::size_t>(role)]; }
std::optional<TileRole> tile_role_from(std::string_view name) {
  for (std::size_t i = 1; i < kRoles.size(); ++i)
    if (kRoles[i] == name) return static_cast<TileRole>(i);
  return std::nullopt;
}

std::string to_string(Type t) {
  std::string s(name_of(t.dtype));
  if (t.is_tile())
    return s + "." + std::string(name_of(t.role)) + "." + std::to_string(t.rows) + "x" + std::to_string(t.cols);
  return t.lanes > 1 ? s + "x" + std::to_string(t.lanes) : s;
}

MemoryId written_by(const Inst& i) {
  const bool is_write = i.op == Op::Store || i.op == Op::Atomic || i.op == Op::TileStore || i.op == Op::CopyAsync;
  return is_write ? i.memory : MemoryId::None;
}
std::array<MemoryId, 2> read_by(const Inst& i) {
  if (i.op == Op::CopyAsync) return {i.from, MemoryId::None};
  const bool is_read =
      i.op == Op::Load || i.op == Op::Atomic || i.op == Op::TileLoad || i.op == Op::LoadMatrix || i.op == Op::MmaTeam;
  return {is_read ? i.memory : MemoryId::None, i.op == Op::MmaTeam ? i.from : MemoryId::None};
}

const OpInfo& info(Op op) { return kOpRows[static_cast<int>(op)]; }
int op_count() { return static_cast<int>(std::size(kOpRows)); }

std::optional<Op> op_from(std::string_view name) {
  for (int i = 0; i < op_count(); ++i)
    if (kOpRows[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

bool admits(DTypeClass c, DType t) {
  switch (c) {
    case kAny:
      return true;
    case kNumber:
      return t != DType::Bool;
    case kFloat:
      return is_float(t);
    case kInt:
      return is_int(t);
    case kIntBool:
      return is_int(t) || t == DType::Bool;
    case kUnsigned32:
      return t == DType::U32;
    case kBoolFirst:
      return t == DType::Bool;
  }
  MT_ICE("dtype class out of range");
}

std::string_view name_of(Combine c) { return kCombines[static_cast<std::size_t>(c)]; }
std::optional<Combine> combine_from(std::string_view name) {
  for (std::size_t i = 0; i < kCombines.size(); ++i)
    if (kCombines[i] == name) return static_cast<Combine>(i);
  return std::nullopt;
}
Op op_of(Combine c) {
  switch (c) {
    case Combine::Sum:
      return Op::Add;
    case Combine::Prod:
      return Op::Mul;
    case Combine::Min:
      return Op::Min;
    case Combine::Max:
      return Op::Max;
    case Combine::And:
      return Op::And;
    case Combine::Or:
      return Op::Or;
    case Combine::Xor:
      return Op::Xor;
    case Combine::Exchange:
      break;
  }
  MT_ICE("exchange has no binary op");
}

}  // namespace mt
