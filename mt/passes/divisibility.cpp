#include "mt/passes/divisibility.h"

#include <algorithm>
#include <bit>

#include "mt/ir/edit.h"

namespace mt {
namespace {

constexpr int kAll = 64;  // of zero, and of what has not been looked at

/// Starts from "all bits are zero" and lowers until nothing changes.
class Analysis {
 public:
  explicit Analysis(const Kernel& k) : k_(k), bits_(k.values.size(), kAll) {
    for (std::size_t v = 0; v < k.values.size(); ++v)
      if (!is_int(k.values[v].type.dtype) || k.values[v].type.lanes != 1) bits_[v] = 0;
  }

  std::vector<std::uint8_t> run() {
    do {
      changed_ = false;
      walk(k_, RegionId::Root, [&](InstId i) { inst(k_.at(i)); });
    } while (changed_);
    return std::move(bits_);
  }

 private:
  int at(ValueId v) const { return bits_[index_of(v)]; }
  void lower(ValueId v, int to) {
    std::uint8_t& slot = bits_[index_of(v)];
    if (to >= slot) return;
    slot = static_cast<std::uint8_t>(std::max(to, 0));
    changed_ = true;
  }

  void inst(const Inst& i) {
    if (i.op == Op::If) {
      for (std::size_t n = 0; n < i.out.size(); ++n)
        for (const RegionId r : i.regions) lower(i.out[n], at(k_.at(r).yields[n]));
    } else if (i.op == Op::For) {
      const Region& body = k_.at(i.regions[0]);
      lower(body.args[0], std::min(at(i.in[0]), at(i.in[2])));
      for (std::size_t n = 0; n < i.out.size(); ++n) {
        const int both = std::min(at(i.in[n + 3]), at(body.yields[n]));
        lower(body.args[n + 1], both);
        lower(i.out[n], both);
      }
    } else if (i.op == Op::TileMap) {
      for (const ValueId v : k_.at(i.regions[0]).args) lower(v, 0);
    } else if (i.op == Op::While) {
      const Region &test = k_.at(i.regions[0]), &body = k_.at(i.regions[1]);
      for (std::size_t n = 0; n < i.in.size(); ++n) lower(test.args[n], std::min(at(i.in[n]), at(body.yields[n])));
      for (std::size_t n = 0; n < i.out.size(); ++n) {
        lower(body.args[n], at(test.yields[n + 1]));
        lower(i.out[n], at(test.yields[n + 1]));
      }
    } else {
      for (const ValueId v : i.out) lower(v, result(i));
    }
  }

  int result(const Inst& i) const {
    const auto a = [&] { return at(i.in[0]); };
    const auto b = [&] { return at(i.in[1]); };
    switch (i.op) {
      case Op::Const:
        return i.bits == 0 ? kAll : std::countr_zero(i.bits);
      case Op::Param:
        return std::countr_zero(static_cast<std::uint64_t>(k_.scalars[static_cast<std::size_t>(i.index)].multiple_of));
      case Op::Add:
      case Op::Sub:
      case Op::Or:
      case Op::Xor:
      case Op::Min:
      case Op::Max:
      case Op::Rem:
        return std::min(a(), b());
      case Op::And:
        return std::max(a(), b());
      case Op::Mul:
        return std::min(kAll, a() + b());
      case Op::Neg:
      case Op::Var:
      case Op::SimdReduce:  // each combination keeps common zeros, but for a product's, which are more
      case Op::SimdBroadcast:
      case Op::SimdShuffle:
      case Op::SimdShuffleXor:
      case Op::SimdShuffleUp:
      case Op::SimdShuffleDown:
      case Op::GroupReduce:
        return a();
      case Op::Select:
        return std::min(b(), at(i.in[2]));
      case Op::Cast:
      case Op::Bitcast:
        // Narrowing drops high bits; a bool or a float says nothing.
        return is_int(k_.type(i.in[0]).dtype) ? a() : 0;
      case Op::Shl:
        return shifted(i, 1);
      case Op::Shr:
        return shifted(i, -1);
      case Op::Div:
        return divided(i);
      default:
        return 0;
    }
  }
  std::optional<std::uint64_t> constant(ValueId v) const {
    const Inst* def = k_.def(v);
    return def && def->op == Op::Const ? std::optional(def->bits) : std::nullopt;
  }
  int shifted(const Inst& i, int sign) const {
    const int of = at(i.in[0]);
    if (of == kAll) return kAll;
    const auto count = constant(i.in[1]);
    if (!count) return sign > 0 ? of : 0;
    const int by = static_cast<int>(std::min<std::uint64_t>(*count, kAll));
    return sign > 0 ? std::min(kAll, of + by) : std::max(0, of - by);
  }
  int divided(const Inst& i) const {
    const int of = at(i.in[0]);
    if (of == kAll) return kAll;
    const auto by = constant(i.in[1]);
    // A multiple of the divisor divides without a rest.
    if (!by || !std::has_single_bit(*by) || std::countr_zero(*by) > of) return 0;
    return of - std::countr_zero(*by);
  }

  const Kernel& k_;
  std::vector<std::uint8_t> bits_;
  bool changed_ = false;
};

}  // namespace

std::vector<std::uint8_t> zero_bits(const Kernel& kernel) { return Analysis(kernel).run(); }

}  // namespace mt
