#include "mt/passes/lower_simd_ranges.h"

#include "mt/passes/rewrite.h"

namespace mt {
namespace {

class Lower : public Rewriter {
 public:
  Lower(Kernel& k, bool runs) : Rewriter(k), runs_(runs) {}

 private:
  bool visit(InstId id) override {
    if (!k_.at(id).contiguous) return true;
    k_.at(id).contiguous = false;
    changed_ = true;
    const std::vector<ValueId> in = k_.at(id).in;
    const DType t = k_.type(in[0]).dtype;
    const bool strided = constant(in[2]) == static_cast<std::uint64_t>(k_.simds());
    if (!runs_ || k_.simds() == 1 || !strided) return true;

    Builder b = here();
    const ValueId sg = b.cast(b.value({.op = Op::SimdId}, {DType::U32}), t);
    const ValueId low = low_of(b, in[0], sg);
    const ValueId zero = b.constant_int(t, 0), one = b.constant_int(t, 1), simds = b.constant_int(t, k_.simds());
    const ValueId any = b.binary(Op::Lt, low, in[1]);
    const ValueId count = b.select(any, b.binary(Op::Sub, in[1], low), zero);
    const ValueId share = b.binary(Op::Div, count, simds), more = b.binary(Op::Rem, count, simds);
    const ValueId skipped = b.binary(Op::Add, b.binary(Op::Mul, sg, share), b.binary(Op::Min, sg, more));
    const ValueId begin = b.binary(Op::Add, low, skipped);
    const ValueId mine = b.binary(Op::Add, share, b.select(b.binary(Op::Lt, sg, more), one, zero));
    const ValueId end = b.binary(Op::Add, begin, mine);
    Inst& i = k_.at(id);
    i.in[0] = begin;
    i.in[1] = end;
    i.in[2] = one;
    return true;
  }

  bool is_simd_id(ValueId v) const {
    const Inst* def = k_.def(v);
    if (def && def->op == Op::Cast) def = k_.def(def->in[0]);
    return def && def->op == Op::SimdId;
  }
  /// Where the range of all simdgroups starts.
  ValueId low_of(Builder& b, ValueId begin, ValueId sg) {
    if (is_simd_id(begin)) return b.constant_int(k_.type(begin).dtype, 0);
    if (const Inst* def = k_.def(begin); def && def->op == Op::Add) {
      if (is_simd_id(def->in[0])) return def->in[1];
      if (is_simd_id(def->in[1])) return def->in[0];
    }
    return b.binary(Op::Sub, begin, sg);
  }

  bool runs_;
};

}  // namespace

bool lower_simd_ranges(Kernel& kernel, const PipelineOptions& options) {
  return Lower(kernel, options.contiguous_simds).run();
}

}  // namespace mt
