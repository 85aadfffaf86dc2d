#include "mt/passes/split_offsets.h"

#include "mt/passes/divisibility.h"
#include "mt/passes/rewrite.h"

namespace mt {
namespace {

class Split : public Rewriter {
 public:
  explicit Split(Kernel& k) : Rewriter(k), zeros_(zero_bits(k)) {}

 private:
  bool visit(InstId id) override {
    const Inst& i = k_.at(id);
    if (i.op != Op::Cast) return true;
    const Type from = k_.type(i.in[0]), to = k_.type(i.out[0]);
    if (from.lanes != 1 || !is_int(from.dtype) || !is_int(to.dtype) || bits_of(from.dtype) >= bits_of(to.dtype))
      return true;
    if (is_signed(from.dtype) && is_unsigned(to.dtype)) return true;
    const Inst* sum = k_.def(i.in[0]);
    if (!sum || sum->op != Op::Add) return true;
    const auto c = constant(sum->in[1]);
    const ValueId x = sum->in[0];
    const int zeros = index_of(x) < zeros_.size() ? zeros_[index_of(x)] : 0;
    if (!c || zeros >= bits_of(from.dtype) - 1 || *c >> zeros != 0) return true;
    Builder b = here();
    const ValueId wide = b.cast(x, to.dtype);
    const ValueId offset = b.constant(to, *c);
    Inst& cast = k_.at(id);
    cast.op = Op::Add;
    cast.in = {wide, offset};
    changed_ = true;
    return true;
  }

  const std::vector<std::uint8_t> zeros_;
};

}  // namespace

bool split_offsets(Kernel& kernel, const PipelineOptions&) { return Split(kernel).run(); }

}  // namespace mt
