#include "backends/interp/code.h"
#include "mt/ir/edit.h"

namespace mt::interp {

std::vector<bool> index_arithmetic(const Kernel& k) {
  std::vector<bool> found(k.values.size(), false), seen(k.values.size(), false);
  std::vector<std::vector<ValueId>> stored(k.values.size());  // values that are set, by variable
  std::vector<ValueId> todo;
  walk(k, RegionId::Root, [&](InstId i) {
    const Inst& inst = k.at(i);
    if (inst.op == Op::Set) stored[index_of(inst.in[0])].push_back(inst.in[1]);
    if (inst.memory != MemoryId::None) todo.push_back(inst.in[0]);
    if (inst.from != MemoryId::None) todo.push_back(inst.in[1]);
  });
  const auto take = [&](const std::vector<ValueId>& list, std::size_t from, std::size_t to) {
    todo.insert(todo.end(), list.begin() + static_cast<std::ptrdiff_t>(from),
                list.begin() + static_cast<std::ptrdiff_t>(to));
  };
  while (!todo.empty()) {
    const ValueId v = todo.back();
    todo.pop_back();
    if (seen[index_of(v)] || k.type(v).lanes != 1 || !is_int(k.type(v).dtype)) continue;
    seen[index_of(v)] = true;
    const auto position = static_cast<std::size_t>(k.at(v).position);
    bool carries = true;
    if (const Inst* def = k.def(v)) {
      const auto yield = [&](std::size_t region, std::size_t at) {
        todo.push_back(k.at(def->regions[region]).yields[at]);
      };
      switch (def->op) {
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
          take(def->in, 0, 2);
          break;
        case Op::Shl:
        case Op::Cast:
        case Op::Get:
          take(def->in, 0, 1);
          carries = is_int(k.type(def->in[0]).dtype);
          break;
        case Op::Var:
          take(def->in, 0, 1);
          take(stored[index_of(v)], 0, stored[index_of(v)].size());
          break;
        case Op::Select:
          take(def->in, 1, 3);
          break;
        case Op::If:
          for (std::size_t r = 0; r < def->regions.size(); ++r) yield(r, position);
          break;
        case Op::For:
          todo.push_back(k.at(def->regions[0]).args[position + 1]);
          break;
        case Op::While:
          yield(0, position + 1);
          break;
        default:
          carries = false;
      }
    } else {
      const RegionId r = k.at(v).region;
      const Inst& owner = k.at(k.at(r).owner);
      if (owner.op == Op::TileMap) {
        carries = is_int(k.type(v).dtype);  // a row or a column
      } else if (owner.op == Op::For) {
        todo.push_back(owner.in[position == 0 ? 0 : position + 2]);
        if (position > 0) todo.push_back(k.at(r).yields[position - 1]);
      } else if (r == owner.regions[0]) {
        todo.push_back(owner.in[position]);
        todo.push_back(k.at(owner.regions[1]).yields[position]);
      } else {
        todo.push_back(k.at(owner.regions[0]).yields[position + 1]);
      }
    }
    found[index_of(v)] = carries;
  }
  return found;
}

}  // namespace mt::interp
