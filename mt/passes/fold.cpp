#include "mt/passes/fold.h"

#include <algorithm>

#include "mt/passes/rewrite.h"

namespace mt {
namespace {

bool is_half(DType t) { return t == DType::F16 || t == DType::BF16; }

/// Whether every value of `from` is a value of `to`.
bool is_exact(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::Bool) return true;
  if (to == DType::Bool) return false;
  if (is_float(from)) return to == DType::F32;
  const int bits = bits_of(from) - (is_signed(from) ? 1 : 0);
  if (is_float(to)) return bits <= (to == DType::F32 ? 24 : to == DType::F16 ? 11 : 8);
  if (is_signed(from) && is_unsigned(to)) return false;
  return bits <= bits_of(to) - (is_signed(to) ? 1 : 0);
}

/// Whether a cast through `middle` may be left out.
bool skips(DType from, DType middle, DType to) {
  // Not every target converts between a half and anything but f32 in one step.
  const bool direct = from == to || from == DType::F32 || to == DType::F32 || !(is_half(from) || is_half(to));
  if (!direct) return false;
  // A float becomes an integer by saturation, an integer by wrapping.
  if (is_int(from) && is_float(middle) && is_int(to) && !is_exact(from, to)) return false;
  if (is_exact(from, middle)) return true;
  return is_int(from) && is_int(middle) && is_int(to) && bits_of(middle) >= bits_of(to);
}

class Fold : public Rewriter {
 public:
  explicit Fold(Kernel& k) : Rewriter(k), uses_(count_uses(k)) {}

 private:
  bool visit(InstId id) override {
    switch (k_.at(id).op) {
      case Op::If:
        return if_(id);
      case Op::For:
        return for_(id);
      case Op::While:
        return while_(id);
      case Op::SimdId:
        if (k_.simds() == 1) make_constant(id, 0);
        return true;
      case Op::ThreadId:
        if (k_.simds() > 1) return true;
        k_.at(id).op = Op::LaneId;
        changed_ = true;
        return true;
      default:
        break;
    }
    if (info(k_.at(id).op).effect != Effect::Pure || k_.at(id).in.empty()) return true;
    return evaluated(id) || !simplified(id);
  }

  void replace_results(InstId id, const std::vector<ValueId>& by, std::size_t from = 0) {
    const std::vector<ValueId> out = k_.at(id).out;
    for (std::size_t n = 0; n < out.size(); ++n) replace(out[n], by[from + n]);
  }

  bool if_(InstId id) {
    const auto condition = constant(k_.at(id).in[0]);
    if (!condition) return true;
    const RegionId taken = k_.at(id).regions[*condition ? 0 : 1];
    inline_region(taken);
    replace_results(id, std::vector<ValueId>(k_.at(taken).yields));
    return false;
  }

  bool for_(InstId id) {
    const std::vector<ValueId> in = k_.at(id).in;
    const RegionId body = k_.at(id).regions[0];
    const auto begin = constant(in[0]), end = constant(in[1]), step = constant(in[2]);
    const DType t = k_.type(in[0]).dtype;
    if (begin && end && !*evaluate(Op::Lt, t, *begin, *end)) {
      replace_results(id, in, 3);
      return false;
    }
    if (begin && end && step) {
      // Where begin + step wraps, it is below end, too.
      const std::uint64_t second = *evaluate(Op::Add, t, *begin, *step);
      if (!*evaluate(Op::Lt, t, second, *end)) {
        const std::vector<ValueId> args = k_.at(body).args;
        replace(args[0], in[0]);
        for (std::size_t n = 1; n < args.size(); ++n) replace(args[n], in[n + 2]);
        inline_region(body);
        replace_results(id, std::vector<ValueId>(k_.at(body).yields));
        return false;
      }
    }
    // Carried values that never change.
    for (std::size_t n = 0; n < k_.at(id).out.size(); ++n) {
      const ValueId arg = k_.at(body).args[n + 1], next = resolve(k_.at(body).yields[n]), out = k_.at(id).out[n];
      if (next != arg && next != in[n + 3]) continue;
      if (is_used(arg)) replace(arg, in[n + 3]);
      if (is_used(out)) replace(out, in[n + 3]);
    }
    return true;
  }

  bool while_(InstId id) {
    const RegionId test = k_.at(id).regions[0];
    const auto condition = constant(resolve(k_.at(test).yields[0]));
    if (!condition || *condition) return true;
    const std::vector<ValueId> in = k_.at(id).in, args = k_.at(test).args;
    for (std::size_t n = 0; n < args.size(); ++n) replace(args[n], in[n]);
    inline_region(test);
    replace_results(id, std::vector<ValueId>(k_.at(test).yields), 1);
    return false;
  }

  void leave(InstId id) override {
    if (k_.at(id).op != Op::If) return;
    const std::vector<ValueId> out = k_.at(id).out;
    const std::vector<ValueId> a = k_.at(k_.at(id).regions[0]).yields, b = k_.at(k_.at(id).regions[1]).yields;
    for (std::size_t n = 0; n < out.size(); ++n)
      if (a[n] == b[n] && is_used(out[n])) replace(out[n], a[n]);
  }

  /// Turns the instruction into the value of its constant operands.
  bool evaluated(InstId id) {
    const Inst& i = k_.at(id);
    std::uint64_t bits[3] = {};
    const bool all = std::all_of(i.in.begin(), i.in.end(), [&](ValueId v) { return constant(v).has_value(); });
    if (!all) return false;
    for (std::size_t n = 0; n < std::min<std::size_t>(3, i.in.size()); ++n) bits[n] = *constant(i.in[n]);
    const DType in = k_.type(i.in[0]).dtype, out = k_.type(i.out[0]).dtype;
    std::optional<std::uint64_t> result;
    switch (i.op) {
      case Op::Select:
        result = bits[0] ? bits[1] : bits[2];
        break;
      case Op::Cast:
        result = convert(in, out, bits[0]);
        break;
      case Op::Bitcast:
      case Op::Splat:
      case Op::Extract:
        result = bits[0];
        break;
      case Op::Pack:
        if (std::all_of(i.in.begin(), i.in.end(), [&](ValueId v) { return constant(v) == bits[0]; })) result = bits[0];
        break;
      default:
        result = evaluate(i.op, in, bits[0], bits[1], bits[2]);
    }
    if (result) make_constant(id, *result);
    return result.has_value();
  }

  /// Replaces by an operand or a simpler instruction; true where the instruction is to be dropped.
  bool simplified(InstId id) {
    Inst& i = k_.at(id);
    const ValueId out = i.out[0];
    const Inst* def = k_.def(i.in[0]);
    const auto be = [&](ValueId v) {
      replace(out, v);
      return true;
    };
    const auto through = [&] {  // the same op on the operand's operand
      i.in[0] = def->in[0];
      changed_ = true;
      return false;
    };
    const auto same_type = [&](ValueId v) { return k_.type(v) == k_.type(out); };
    switch (i.op) {
      case Op::Select:
        if (const auto c = constant(i.in[0])) return be(i.in[*c ? 1 : 2]);
        return i.in[1] == i.in[2] ? be(i.in[1]) : false;
      case Op::Cast:
        if (same_type(i.in[0])) return be(i.in[0]);
        if (!def || def->op != Op::Cast) return false;
        if (!skips(k_.type(def->in[0]).dtype, k_.type(i.in[0]).dtype, k_.type(out).dtype)) return false;
        return same_type(def->in[0]) ? be(def->in[0]) : through();
      case Op::Bitcast:
        if (same_type(i.in[0])) return be(i.in[0]);
        if (!def || def->op != Op::Bitcast) return false;
        return same_type(def->in[0]) ? be(def->in[0]) : through();
      case Op::Not:
      case Op::Neg:
        return def && def->op == i.op ? be(def->in[0]) : false;
      case Op::Extract:
        if (k_.type(i.in[0]).lanes == 1) return be(i.in[0]);
        if (constant(i.in[0])) return false;
        if (def && def->op == Op::Splat) return be(def->in[0]);
        if (def && def->op == Op::Pack) return be(def->in[static_cast<std::size_t>(i.index)]);
        return false;
      case Op::VectorReduce:
        return k_.type(i.in[0]).lanes == 1 && be(i.in[0]);
      case Op::Pack:
        return packed(id);
      default:
        return false;
    }
  }

  bool packed(InstId id) {
    Inst& i = k_.at(id);
    const ValueId out = i.out[0];
    if (i.in.size() == 1) {
      replace(out, i.in[0]);
      return true;
    }
    if (std::all_of(i.in.begin(), i.in.end(), [&](ValueId v) { return v == i.in[0]; })) {
      i.op = Op::Splat;
      i.in.resize(1);
      changed_ = true;
      return false;
    }
    const Inst* first = k_.def(i.in[0]);
    if (!first || first->op != Op::Extract) return false;
    const ValueId vector = first->in[0];
    if (k_.type(vector) != k_.type(out)) return false;
    for (std::size_t n = 0; n < i.in.size(); ++n) {
      const Inst* lane = k_.def(i.in[n]);
      if (!lane || lane->op != Op::Extract || lane->in[0] != vector || lane->index != static_cast<int>(n)) return false;
    }
    replace(out, vector);
    return true;
  }

  bool is_used(ValueId v) const { return uses_[index_of(v)] > 0; }

  const std::vector<int> uses_;  // before the pass
};

}  // namespace

bool fold(Kernel& kernel, const PipelineOptions&) { return Fold(kernel).run(); }

}  // namespace mt
