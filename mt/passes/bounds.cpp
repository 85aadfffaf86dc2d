#include "mt/passes/bounds.h"

#include <algorithm>
#include <limits>

#include "mt/ir/edit.h"

namespace mt {
namespace {

constexpr int kDepth = 12;  // definitions; addresses of tiles are short

struct Range {
  std::uint64_t low, high;
};

class Bounds {
 public:
  explicit Bounds(const Kernel& k) : k_(k) {}

  Range of(ValueId v, int depth = kDepth) const {
    const Type t = k_.type(v);
    const Range all = {0, largest(t.dtype)};
    if (t.lanes != 1 || t.is_tile() || !is_unsigned(t.dtype) || depth == 0) return all;
    const Inst* def = k_.def(v);
    if (!def) return argument(v, depth);
    const Range found = result(*def, t.dtype, depth - 1);
    return found.high > all.high || found.low > found.high ? all : found;
  }

 private:
  static std::uint64_t largest(DType t) {
    if (!is_unsigned(t)) return std::numeric_limits<std::uint64_t>::max();
    return std::numeric_limits<std::uint64_t>::max() >> (64 - bits_of(t));
  }

  /// What a loop counts: from its begin to the last step below its end.
  Range argument(ValueId v, int depth) const {
    const ValueInfo& value = k_.at(v);
    const InstId owner = k_.at(value.region).owner;
    const DType t = value.type.dtype;
    const Range all = {0, largest(t)};
    if (owner == InstId::None || k_.at(owner).op != Op::For || value.position != 0) return all;
    const Inst& loop = k_.at(owner);
    const Range begin = of(loop.in[0], depth - 1), end = of(loop.in[1], depth - 1), step = of(loop.in[2], depth - 1);
    if (step.high > largest(t) - end.high) return all;  // it may wrap and start again from below
    if (end.high == 0) return {0, 0};
    const bool exact = begin.low == begin.high && step.low == step.high && step.low > 0 && end.high > begin.low;
    const std::uint64_t last = end.high - 1;
    return {begin.low, exact ? begin.low + (last - begin.low) / step.low * step.low : last};
  }

  Range result(const Inst& i, DType t, int depth) const {
    const std::uint64_t top = largest(t);
    const Range all = {0, top};
    const auto a = [&] { return of(i.in[0], depth); };
    const auto b = [&] { return of(i.in[1], depth); };
    switch (i.op) {
      case Op::Const:
        return {i.bits, i.bits};
      case Op::LaneId:
        return {0, kLanes - 1};
      case Op::SimdId:
        return {0, static_cast<std::uint64_t>(k_.simds() - 1)};
      case Op::ThreadId:
        return {0, static_cast<std::uint64_t>(k_.threads - 1)};
      case Op::Cast: {
        const DType from = k_.type(i.in[0]).dtype;
        if (!is_unsigned(from)) return all;
        const Range x = a();
        return x.high > top ? all : x;
      }
      case Op::Add: {
        const Range x = a(), y = b();
        return y.high > top - x.high ? all : Range{x.low + y.low, x.high + y.high};
      }
      case Op::Mul: {
        const Range x = a(), y = b();
        return x.high != 0 && y.high > top / x.high ? all : Range{x.low * y.low, x.high * y.high};
      }
      case Op::Sub:
        return difference(i, depth);
      case Op::Min: {
        const Range x = a(), y = b();
        return {std::min(x.low, y.low), std::min(x.high, y.high)};
      }
      case Op::Max: {
        const Range x = a(), y = b();
        return {std::max(x.low, y.low), std::max(x.high, y.high)};
      }
      case Op::And:
        return {0, std::min(a().high, b().high)};
      case Op::Div:
      case Op::Rem:
      case Op::Shr: {
        const Range x = a(), y = b();
        if (i.op == Op::Shr) return y.low == y.high && y.low < 64 ? Range{x.low >> y.low, x.high >> y.low} : all;
        if (y.low == 0) return all;
        return i.op == Op::Rem ? Range{0, std::min(x.high, y.high - 1)} : Range{x.low / y.high, x.high / y.low};
      }
      case Op::Shl: {
        const Range x = a(), y = b();
        const bool fits = y.low == y.high && y.low < 64 && x.high <= top >> y.low;
        return fits ? Range{x.low << y.low, x.high << y.low} : all;
      }
      case Op::Select: {
        const Range x = b(), y = of(i.in[2], depth);
        return {std::min(x.low, y.low), std::max(x.high, y.high)};
      }
      default:
        return all;
    }
  }

  /// a - b, and a - min(a, b), which is never below 0.
  Range difference(const Inst& i, int depth) const {
    const Range x = of(i.in[0], depth), y = of(i.in[1], depth);
    if (y.high <= x.low) return {x.low - y.high, x.high - y.low};
    const Inst* less = k_.def(i.in[1]);
    if (!less || less->op != Op::Min) return {0, largest(k_.type(i.in[0]).dtype)};
    for (const std::size_t n : {0u, 1u}) {
      if (!same(less->in[n], i.in[0])) continue;
      const Range taken = of(less->in[1 - n], depth);
      return {x.low > taken.high ? x.low - taken.high : 0, x.high};
    }
    return {0, largest(k_.type(i.in[0]).dtype)};
  }
  bool same(ValueId a, ValueId b) const {
    const Inst *x = k_.def(a), *y = k_.def(b);
    return a == b || (x && y && x->op == Op::Const && y->op == Op::Const && x->bits == y->bits);
  }

  const Kernel& k_;
};

}  // namespace

std::uint64_t at_least(const Kernel& k, ValueId v) { return Bounds(k).of(v).low; }
std::uint64_t at_most(const Kernel& k, ValueId v) { return Bounds(k).of(v).high; }

}  // namespace mt
