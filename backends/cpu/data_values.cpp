#include "backends/cpu/data_values.h"

#include "mt/ir/edit.h"

namespace mt::cpu {
namespace {

/// Ops whose result is index arithmetic where their operands are.
bool calculates(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Shl:
    case Op::Shr:
    case Op::Div:
    case Op::Rem:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Cast:
    case Op::Bitcast:
    case Op::Select:
      return true;
    default:
      return false;
  }
}

struct Walk {
  const Kernel& k;
  std::vector<bool> data;
  bool changed = true;

  bool is(ValueId v) const { return data[index_of(v)]; }
  void mark(ValueId v, bool when = true) {
    if (!when || is(v)) return;
    data[index_of(v)] = changed = true;
  }

  void visit(const Inst& i) {
    if (i.op == Op::If) {
      mark(i.in[0]);
      for (const RegionId r : i.regions)
        for (std::size_t n = 0; n < i.out.size(); ++n) mark(k.at(r).yields[n], is(i.out[n]));
    } else if (i.op == Op::For) {
      const Region& body = k.at(i.regions[0]);
      for (std::size_t n = 0; n < 3; ++n) mark(i.in[n]);
      for (std::size_t n = 0; n < i.out.size(); ++n) {
        const bool on = is(body.args[n + 1]) || is(i.out[n]);
        mark(i.in[n + 3], on);
        mark(body.yields[n], on);
      }
    } else if (i.op == Op::While) {
      const Region &test = k.at(i.regions[0]), &body = k.at(i.regions[1]);
      mark(test.yields[0]);
      for (std::size_t n = 0; n < i.in.size(); ++n) {
        mark(i.in[n], is(test.args[n]));
        mark(body.yields[n], is(test.args[n]));
      }
      for (std::size_t n = 0; n < i.out.size(); ++n) mark(test.yields[n + 1], is(body.args[n]) || is(i.out[n]));
    } else {
      const bool passes = calculates(i.op) && is_index(k.type(i.out[0])) && !is(i.out[0]);
      const std::size_t places = i.memory == MemoryId::None ? 0 : i.op == Op::CopyAsync ? 2 : 1;
      for (std::size_t n = places; n < i.in.size(); ++n) mark(i.in[n], !passes || !is_index(k.type(i.in[n])));
    }
  }
};

}  // namespace

bool is_index(Type t) { return t.lanes == 1 && is_int(t.dtype) && size_of(t.dtype) >= 4; }

std::vector<bool> data_values(const Kernel& k) {
  Walk w{k, std::vector<bool>(k.values.size(), false)};
  while (w.changed) {
    w.changed = false;
    walk(k, RegionId::Root, [&](InstId i) { w.visit(k.at(i)); });
  }
  return std::move(w.data);
}

}  // namespace mt::cpu
