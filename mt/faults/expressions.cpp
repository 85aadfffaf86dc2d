#include "mt/faults/expressions.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "mt/base/hash.h"
#include "mt/ir/edit.h"

namespace mt {
namespace {

/// A name without its number: arrays and parameters that the source makes in a loop.
std::string_view stem(std::string_view name) {
  while (!name.empty() && (name.back() == '.' || (name.back() >= '0' && name.back() <= '9'))) name.remove_suffix(1);
  return name;
}

class Describer {
 public:
  explicit Describer(const Kernel& k) : k_(k), user_(k.values.size(), InstId::None) {
    walk(k, RegionId::Root, [&](InstId i) {
      for (const ValueId v : k.at(i).in)
        if (user_[index_of(v)] == InstId::None) user_[index_of(v)] = i;
    });
  }

  std::uint64_t key(InstId id) const {
    const Inst& i = k_.at(id);
    std::string s = k_.name + "|" + itself(id);
    for (const ValueId v : i.in) s += "|" + source(v);
    s += "|by " + user(i);
    for (RegionId r = i.home; k_.at(r).owner != InstId::None; r = k_.at(k_.at(r).owner).home) {
      const InstId owner = k_.at(r).owner;
      s += fmt::format("|in {}.{}", brief(owner), k_.at(owner).regions.back() == r);
    }
    return hash64(s);
  }

 private:
  std::string brief(InstId id) const {
    const Inst& i = k_.at(id);
    std::string s = fmt::format("{} {}", info(i.op).name, to_string(i.loc));
    if (i.memory != MemoryId::None) s += fmt::format(" {}", stem(k_.at(i.memory).name));
    if (i.op == Op::Param) s += fmt::format(" {}", stem(k_.scalars[static_cast<std::size_t>(i.index)].name));
    if (i.op == Op::GroupId) s += fmt::format(" {}", i.index);
    return s;
  }
  std::string itself(InstId id) const {
    const Inst& i = k_.at(id);
    std::string s = fmt::format("{} {} {}", brief(id), name_of(i.combine), i.exclusive);
    if (!i.out.empty()) {
      const Type t = k_.type(i.out[0]);
      s += fmt::format(" {} {}", name_of(t.dtype), t.lanes > 1);
    }
    return s;
  }
  std::string source(ValueId v) const {
    const ValueInfo& info = k_.at(v);
    if (info.def != InstId::None) return brief(info.def);
    return fmt::format("argument {} of {}", info.position, brief(k_.at(info.region).owner));
  }
  /// The op that first uses a result, and through a splat the one behind it.
  std::string user(const Inst& i) const {
    if (i.out.empty()) return "";
    const InstId u = user_[index_of(i.out[0])];
    if (u == InstId::None) return "yield";
    const std::string one = brief(u);
    return k_.at(u).op == Op::Splat ? one + " " + user(k_.at(u)) : one;
  }

  const Kernel& k_;
  std::vector<InstId> user_;  // first user of each value
};

}  // namespace

std::vector<Expression> expressions(const Kernel& kernel) {
  const Describer describer(kernel);
  std::vector<Expression> all;
  std::unordered_map<std::uint64_t, std::size_t> at;
  walk(kernel, RegionId::Root, [&](InstId id) {
    const std::uint64_t key = describer.key(id);
    const auto [it, fresh] = at.emplace(key, all.size());
    const Inst& i = kernel.at(id);
    if (fresh) all.push_back({key, i.op, i.loc, {}});
    all[it->second].insts.push_back(id);
  });
  return all;
}

}  // namespace mt
