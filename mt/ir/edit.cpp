#include "mt/ir/edit.h"

#include <fmt/format.h>
#include <algorithm>

#include "mt/base/error.h"

namespace mt {

bool Kernel::visible(ValueId v, RegionId r) const {
  const RegionId made = home(v);
  for (; r != RegionId::None; r = parent(r))
    if (r == made) return true;
  return false;
}

ValueId add_value(Kernel& k, Type type) {
  k.values.push_back({.type = type});
  return static_cast<ValueId>(k.values.size() - 1);
}

RegionId add_region(Kernel& k, InstId owner) {
  k.regions.push_back({.owner = owner});
  const auto r = static_cast<RegionId>(k.regions.size() - 1);
  if (owner != InstId::None) k.at(owner).regions.push_back(r);
  return r;
}

ValueId add_arg(Kernel& k, RegionId r, Type type) {
  const ValueId v = add_value(k, type);
  k.at(v).region = r;
  k.at(v).position = static_cast<std::int32_t>(k.at(r).args.size());
  k.at(r).args.push_back(v);
  return v;
}

InstId add_inst(Kernel& k, Inst inst, const std::vector<Type>& results) {
  const auto id = static_cast<InstId>(k.insts.size());
  inst.out.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueId v = add_value(k, results[i]);
    k.at(v).def = id;
    k.at(v).position = static_cast<std::int32_t>(i);
    inst.out.push_back(v);
  }
  for (const RegionId r : inst.regions) k.at(r).owner = id;
  k.insts.push_back(std::move(inst));
  return id;
}

void append(Kernel& k, RegionId r, InstId i) {
  k.at(i).home = r;
  k.at(r).insts.push_back(i);
}
void insert(Kernel& k, RegionId r, std::size_t at, InstId i) {
  k.at(i).home = r;
  auto& list = k.at(r).insts;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), i);
}

InstId Builder::add(Inst inst, const std::vector<Type>& results) {
  const OpInfo& row = info(inst.op);
  if (!inst.loc.known()) inst.loc = loc;
  const auto fail = [&](const std::string& what) {
    throw Error(fmt::format("{}: [{}] {}", to_string(inst.loc), kernel.name, what));
  };
  if (row.arity >= 0 && static_cast<int>(inst.in.size()) != row.arity)
    fail(fmt::format("{} takes {} operands, not {}", row.name, row.arity, inst.in.size()));
  for (const ValueId v : inst.in)
    if (!kernel.visible(v, region)) {
      const Inst* def = kernel.def(v);
      fail(fmt::format("a value made{} has left its if_/for_ block; keep it in a Var declared outside",
                       def ? " at " + to_string(def->loc) : ""));
    }
  if (!inst.in.empty()) {
    const Type first = kernel.type(inst.in[0]);
    if (!admits(row.on, first.dtype)) fail(fmt::format("{} does not take {}", row.name, to_string(first)));
    if (row.type == TypeRule::Same || row.type == TypeRule::Pred) {
      const Type want = row.type == TypeRule::Same ? first : first.with(DType::Bool);
      if (results.size() != 1 || results[0] != want)
        fail(fmt::format("the result of {} must be {}", row.name, to_string(want)));
      const bool same_operands = inst.op != Op::Var && row.effect != Effect::Converges;
      for (const ValueId v : inst.in)
        if (same_operands && kernel.type(v) != first)
          fail(fmt::format("{} takes operands of one type, not {} and {}", row.name, to_string(first),
                           to_string(kernel.type(v))));
    }
  }
  if (row.type == TypeRule::Void && !results.empty()) fail(fmt::format("{} has no result", row.name));
  const InstId id = add_inst(kernel, std::move(inst), results);
  if (at_end)
    append(kernel, region, id);
  else
    insert(kernel, region, position++, id);
  return id;
}

ValueId Builder::value(Inst inst, Type type) { return kernel.at(add(std::move(inst), {type})).out[0]; }
ValueId Builder::constant(Type type, std::uint64_t bits) { return value({.op = Op::Const, .bits = bits}, type); }
ValueId Builder::constant_int(DType dtype, std::int64_t v) {
  return constant({dtype}, bits_of(dtype, static_cast<double>(v)));
}
ValueId Builder::constant_f32(float v) { return constant({DType::F32}, bits_of(DType::F32, static_cast<double>(v))); }
ValueId Builder::unary(Op op, ValueId a) {
  const Type t = kernel.type(a);
  return value({.op = op, .in = {a}}, info(op).type == TypeRule::Pred ? t.with(DType::Bool) : t);
}
ValueId Builder::binary(Op op, ValueId a, ValueId b) {
  const Type t = kernel.type(a);
  return value({.op = op, .in = {a, b}}, info(op).type == TypeRule::Pred ? t.with(DType::Bool) : t);
}
ValueId Builder::fma(ValueId a, ValueId b, ValueId c) {
  return value({.op = Op::Fma, .in = {a, b, c}}, kernel.type(a));
}
ValueId Builder::select(ValueId condition, ValueId a, ValueId b) {
  return value({.op = Op::Select, .in = {condition, a, b}}, kernel.type(a));
}
ValueId Builder::cast(ValueId v, DType dtype) {
  const Type t = kernel.type(v);
  return t.dtype == dtype ? v : value({.op = Op::Cast, .in = {v}}, t.with(dtype));
}
ValueId Builder::bitcast(ValueId v, DType dtype) {
  return value({.op = Op::Bitcast, .in = {v}}, kernel.type(v).with(dtype));
}
ValueId Builder::splat(ValueId v, int lanes) {
  return lanes == 1 ? v : value({.op = Op::Splat, .in = {v}}, {kernel.type(v).dtype, static_cast<std::uint8_t>(lanes)});
}
ValueId Builder::extract(ValueId v, int lane) {
  return value({.op = Op::Extract, .index = lane, .in = {v}}, kernel.type(v).scalar());
}
ValueId Builder::load(MemoryId m, ValueId index, int lanes) {
  return value({.op = Op::Load, .memory = m, .in = {index}}, {kernel.at(m).dtype, static_cast<std::uint8_t>(lanes)});
}
void Builder::store(MemoryId m, ValueId index, ValueId v) { add({.op = Op::Store, .memory = m, .in = {index, v}}, {}); }

void walk(const Kernel& k, RegionId r, const std::function<void(InstId)>& f) {
  const std::vector<InstId> list = k.at(r).insts;
  for (const InstId i : list) {
    f(i);
    const std::vector<RegionId> inner = k.at(i).regions;
    for (const RegionId s : inner) walk(k, s, f);
  }
}

void replace_all(Kernel& k, ValueId from, ValueId to) { replace_all(k, {{from, to}}); }

void replace_all(Kernel& k, const std::unordered_map<ValueId, ValueId>& map) {
  if (map.empty()) return;
  const auto swap = [&](std::vector<ValueId>& list) {
    for (ValueId& v : list)
      for (auto it = map.find(v); it != map.end(); it = map.find(v)) v = it->second;
  };
  for (Inst& i : k.insts) swap(i.in);
  for (Region& r : k.regions) swap(r.yields);
}

std::vector<int> count_uses(const Kernel& k) {
  std::vector<int> uses(k.values.size(), 0);
  const auto count = [&](const std::vector<ValueId>& list) {
    for (const ValueId v : list) ++uses[index_of(v)];
  };
  walk(k, RegionId::Root, [&](InstId i) {
    count(k.at(i).in);
    for (const RegionId r : k.at(i).regions) count(k.at(r).yields);
  });
  return uses;
}

void compact(Kernel& k) {
  Kernel out = k;
  out.insts.clear();
  out.values.clear();
  out.regions.clear();
  std::unordered_map<ValueId, ValueId> values;
  const auto take_value = [&](ValueId v) {
    out.values.push_back(k.at(v));
    return values[v] = static_cast<ValueId>(out.values.size() - 1);
  };
  const std::function<RegionId(RegionId, InstId)> take_region = [&](RegionId r, InstId owner) {
    const auto id = static_cast<RegionId>(out.regions.size());
    out.regions.push_back({.owner = owner});
    for (const ValueId a : k.at(r).args) {
      const ValueId v = take_value(a);
      out.at(v).region = id;
      out.at(id).args.push_back(v);
    }
    for (const InstId old : k.at(r).insts) {
      const auto made = static_cast<InstId>(out.insts.size());
      Inst inst = k.at(old);
      inst.home = id;
      for (ValueId& v : inst.in) v = values.at(v);
      inst.out.clear();
      inst.regions.clear();
      out.insts.push_back(inst);
      out.at(id).insts.push_back(made);
      for (const RegionId inner : k.at(old).regions) {
        const RegionId copy = take_region(inner, made);
        out.at(made).regions.push_back(copy);
      }
      for (const ValueId v : k.at(old).out) {
        const ValueId copy = take_value(v);
        out.at(copy).def = made;
        out.at(made).out.push_back(copy);
      }
    }
    for (const ValueId y : k.at(r).yields) out.at(id).yields.push_back(values.at(y));
    return id;
  };
  take_region(RegionId::Root, InstId::None);
  k = std::move(out);
}

InstId clone(Kernel& k, InstId i, std::unordered_map<ValueId, ValueId>& map) {
  const auto mapped = [&](ValueId v) {
    const auto it = map.find(v);
    return it == map.end() ? v : it->second;
  };
  Inst copy = k.at(i);
  const std::vector<RegionId> regions = copy.regions;
  const std::vector<ValueId> out = copy.out;
  std::vector<Type> types;
  for (const ValueId v : out) types.push_back(k.type(v));
  for (ValueId& v : copy.in) v = mapped(v);
  copy.regions.clear();
  const InstId id = add_inst(k, std::move(copy), types);
  for (std::size_t n = 0; n < out.size(); ++n) {
    k.at(k.at(id).out[n]).name = k.at(out[n]).name;
    map[out[n]] = k.at(id).out[n];
  }
  for (const RegionId r : regions) {
    const RegionId to = add_region(k, id);
    const std::vector<ValueId> args = k.at(r).args, yields = k.at(r).yields;
    const std::vector<InstId> insts = k.at(r).insts;
    for (const ValueId a : args) {
      const ValueId v = add_arg(k, to, k.type(a));
      k.at(v).name = k.at(a).name;
      map[a] = v;
    }
    for (const InstId inner : insts) append(k, to, clone(k, inner, map));
    std::vector<ValueId> mapped_yields;
    for (const ValueId y : yields) mapped_yields.push_back(mapped(y));
    k.at(to).yields = std::move(mapped_yields);
  }
  return id;
}

}  // namespace mt
