#include "mt/faults/rows.h"

namespace mt::detail {
namespace {

bool is_for(const Kernel&, const Inst& i) { return i.op == Op::For; }
/// Loops of larger steps often end the same one place earlier.
bool counts_by_one(const Kernel& k, const Inst& i) {
  const Inst* step = i.op == Op::For ? k.def(i.in[2]) : nullptr;
  return step && step->op == Op::Const && step->bits == 1;
}

/// The new end of a loop.
template <class F>
void end_loop(const Place& p, F&& end) {
  Builder b = p.before();
  p.set_operand(1, end(b, p.in(0), p.in(1), p.in(2)));
}
ValueId one_of(Builder& b, ValueId v) { return b.constant(b.kernel.type(v), 1); }
/// a - b, or 0 where that is below.
ValueId less(Builder& b, ValueId from, ValueId what) {
  return b.select(b.binary(Op::Gt, from, what), b.binary(Op::Sub, from, what), b.constant(b.kernel.type(from), 0));
}

bool is_order(const Kernel&, const Inst& i) { return is_one_of(i.op, {Op::Lt, Op::Le, Op::Gt, Op::Ge}); }
bool is_equality(const Kernel&, const Inst& i) { return i.op == Op::Eq || i.op == Op::Ne; }
/// The comparison that holds exactly where `op` does not, NaN apart.
Op opposite(Op op) {
  switch (op) {
    case Op::Lt:
      return Op::Ge;
    case Op::Le:
      return Op::Gt;
    case Op::Gt:
      return Op::Le;
    case Op::Ge:
      return Op::Lt;
    case Op::Eq:
      return Op::Ne;
    default:
      return Op::Eq;
  }
}
Op with_equal(Op op) {
  switch (op) {
    case Op::Lt:
      return Op::Le;
    case Op::Le:
      return Op::Lt;
    case Op::Gt:
      return Op::Ge;
    default:
      return Op::Gt;
  }
}

void fix_condition(const Place& p, std::uint64_t bits) {
  Builder b = p.before();
  p.set_operand(0, b.constant({DType::Bool}, bits));
}

}  // namespace

std::vector<Fault> control_faults() {
  const auto is_if = [](const Kernel&, const Inst& i) { return i.op == Op::If; };
  const auto is_select = [](const Kernel&, const Inst& i) { return i.op == Op::Select; };
  const auto is_bool_op = [](const Kernel& k, const Inst& i) {
    return is_one_of(i.op, {Op::And, Op::Or}) && type_of(k, i).dtype == DType::Bool;
  };
  return {
      {"always", "an if is taken always: its guard is missing", is_if, [](const Place& p) { fix_condition(p, 1); }},
      {"never", "an if is taken never", is_if, [](const Place& p) { fix_condition(p, 0); }},
      {"select_first", "a select gives its first value always", is_select, [](const Place& p) { p.forward(p.in(1)); }},
      {"select_second", "a select gives its second value always", is_select,
       [](const Place& p) { p.forward(p.in(2)); }},
      {"half_guard", "the second part of a condition is missing", is_bool_op,
       [](const Place& p) { p.forward(p.in(0)); }},
      {"other_half_guard", "the first part of a condition is missing", is_bool_op,
       [](const Place& p) { p.forward(p.in(1)); }},
      {"loop_from_second", "a loop leaves out its first trip", is_for,
       [](const Place& p) {
         Builder b = p.before();
         p.set_operand(0, b.binary(Op::Add, p.in(0), p.in(2)));
       }},
      {"loop_short_of_last", "a loop ends a step early", is_for,
       [](const Place& p) {
         end_loop(p, [](Builder& b, ValueId, ValueId end, ValueId step) { return less(b, end, step); });
       }},
      {"loop_end_below", "the end of a loop is one less", counts_by_one,
       [](const Place& p) {
         end_loop(p, [](Builder& b, ValueId, ValueId end, ValueId) { return less(b, end, one_of(b, end)); });
       }},
      {"loop_beyond_last", "a loop has a trip too many", is_for,
       [](const Place& p) {
         end_loop(p, [](Builder& b, ValueId, ValueId end, ValueId step) { return b.binary(Op::Add, end, step); });
       }},
      {"loop_half", "a loop runs to half of its end", is_for,
       [](const Place& p) {
         end_loop(p, [](Builder& b, ValueId, ValueId end, ValueId) { return b.binary(Op::Shr, end, one_of(b, end)); });
       }},
      {"loop_never", "a loop has no trips", is_for,
       [](const Place& p) { end_loop(p, [](Builder&, ValueId begin, ValueId, ValueId) { return begin; }); }},
      {"while_never", "a while ends at once", [](const Kernel&, const Inst& i) { return i.op == Op::While; },
       [](const Place& p) {
         const RegionId head = p.inst().regions[0];
         Builder b(p.kernel, head);
         b.loc = p.inst().loc;
         const ValueId no = b.constant({DType::Bool}, 0);
         p.kernel.at(head).yields[0] = no;
       }},
      {"or_equal", "< in place of <=, or the other way round", is_order,
       [](const Place& p) { p.inst().op = with_equal(p.op()); }},
      {"negated", "a comparison says the opposite",
       [](const Kernel& k, const Inst& i) { return is_order(k, i) || is_equality(k, i); },
       [](const Place& p) { p.inst().op = opposite(p.op()); }},
      {"nan_side", "a comparison with NaN answers the other way",
       [](const Kernel& k, const Inst& i) { return is_order(k, i) && is_float(operand_type(k, i).dtype); },
       [](const Place& p) {
         const ValueId other = p.before().binary(opposite(p.op()), p.in(0), p.in(1));
         p.become(of(Op::Not, {other}));
       }},
  };
}

}  // namespace mt::detail
