#include "mt/passes/mem2reg.h"

#include <algorithm>

#include "mt/ir/edit.h"

namespace mt {
namespace {

class Mem2Reg {
 public:
  explicit Mem2Reg(Kernel& k)
      : k_(k), current_(k.values.size(), ValueId::None), instead_(current_), sets_(k.regions.size()) {}

  bool run() {
    collect(RegionId::Root);
    if (!found_) return false;
    region(RegionId::Root);
    return true;
  }

 private:
  using Variables = std::vector<ValueId>;

  /// Which variables a region sets that were declared outside it, in order of id.
  const Variables& collect(RegionId r) {
    Variables set, own;
    for (const InstId id : k_.at(r).insts) {
      const Inst& i = k_.at(id);
      if (i.op == Op::Var) {
        found_ = true;
        own.push_back(i.out[0]);
      } else if (i.op == Op::Set) {
        set.push_back(i.in[0]);
      }
      for (const RegionId inner : i.regions) {
        const Variables& more = collect(inner);
        set.insert(set.end(), more.begin(), more.end());
      }
    }
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    std::sort(own.begin(), own.end());
    Variables& outer = sets_[index_of(r)];
    std::set_difference(set.begin(), set.end(), own.begin(), own.end(), std::back_inserter(outer));
    return outer;
  }

  Variables sets_of(const Inst& i) const {
    Variables all;
    for (const RegionId r : i.regions) {
      Variables merged;
      const Variables& more = sets_[index_of(r)];
      std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(merged));
      all = std::move(merged);
    }
    return all;
  }

  ValueId mapped(ValueId v) const {
    const std::size_t n = index_of(v);
    return n < instead_.size() && instead_[n] != ValueId::None ? instead_[n] : v;
  }
  ValueId& current(ValueId variable) { return current_[index_of(variable)]; }
  Variables values_of(const Variables& variables) {
    Variables list;
    for (const ValueId v : variables) list.push_back(current(v));
    return list;
  }
  void restore(const Variables& variables, const Variables& values) {
    for (std::size_t n = 0; n < variables.size(); ++n) current(variables[n]) = values[n];
  }
  void append_to(std::vector<ValueId>& list, const Variables& more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  /// New arguments of `r` that hold the variables from there on.
  void add_args(RegionId r, const Variables& variables) {
    for (const ValueId v : variables) {
      const ValueId arg = add_arg(k_, r, k_.type(v));
      k_.at(arg).name = k_.at(v).name;
      current(v) = arg;
    }
  }
  void add_results(InstId id, const Variables& variables) {
    for (const ValueId v : variables) {
      const ValueId out = add_value(k_, k_.type(v));
      k_.at(out).def = id;
      k_.at(out).position = static_cast<std::int32_t>(k_.at(id).out.size());
      k_.at(out).name = k_.at(v).name;
      k_.at(id).out.push_back(out);
      current(v) = out;
    }
  }

  void region(RegionId r) {
    std::vector<InstId> kept;
    const std::vector<InstId> list = k_.at(r).insts;
    for (const InstId id : list) {
      Inst& i = k_.at(id);
      switch (i.op) {
        case Op::Var:
          current(i.out[0]) = mapped(i.in[0]);
          continue;
        case Op::Get:
          instead_[index_of(i.out[0])] = current(i.in[0]);
          continue;
        case Op::Set:
          current(i.in[0]) = mapped(i.in[1]);
          continue;
        default:
          break;
      }
      for (ValueId& v : i.in) v = mapped(v);
      kept.push_back(id);
      if (i.op == Op::If) if_(id);
      if (i.op == Op::For) for_(id);
      if (i.op == Op::While) while_(id);
      if (i.op == Op::TileMap) region(k_.at(id).regions[0]);
    }
    k_.at(r).insts = std::move(kept);
    for (ValueId& v : k_.at(r).yields) v = mapped(v);
  }

  void if_(InstId id) {
    const Variables variables = sets_of(k_.at(id)), before = values_of(variables);
    const std::vector<RegionId> regions = k_.at(id).regions;
    for (const RegionId r : regions) {
      restore(variables, before);
      region(r);
      append_to(k_.at(r).yields, values_of(variables));
    }
    add_results(id, variables);
  }

  void for_(InstId id) {
    const Variables variables = sets_of(k_.at(id));
    append_to(k_.at(id).in, values_of(variables));
    const RegionId body = k_.at(id).regions[0];
    add_args(body, variables);
    region(body);
    append_to(k_.at(body).yields, values_of(variables));
    add_results(id, variables);
  }

  void while_(InstId id) {
    const Variables variables = sets_of(k_.at(id));
    append_to(k_.at(id).in, values_of(variables));
    const RegionId test = k_.at(id).regions[0], body = k_.at(id).regions[1];
    add_args(test, variables);
    region(test);
    append_to(k_.at(test).yields, values_of(variables));
    add_args(body, variables);
    region(body);
    append_to(k_.at(body).yields, values_of(variables));
    add_results(id, variables);
  }

  Kernel& k_;
  std::vector<ValueId> current_;  // by variable: its value here
  std::vector<ValueId> instead_;  // by result of a get: the value it read
  std::vector<Variables> sets_;   // by region
  bool found_ = false;
};

}  // namespace

bool mem2reg(Kernel& kernel, const PipelineOptions&) { return Mem2Reg(kernel).run(); }

}  // namespace mt
