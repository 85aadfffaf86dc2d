// Runs a kernel of scalars one thread at a time, straight from its instructions: what printed text is compared with.
#pragma once
#include <map>
#include <vector>

#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::clike::testing {

/// `buffers` are u32 arrays by memory, `scalars` by parameter. Knows pure ops of the table, thread ids, loads, stores
/// and control flow.
class Walker {
 public:
  Walker(const Kernel& k, std::vector<std::vector<std::uint32_t>>& buffers, std::vector<std::uint64_t> scalars)
      : k_(k), buffers_(buffers), scalars_(std::move(scalars)) {}
  void run(std::uint32_t thread) {
    thread_ = thread;
    region(RegionId::Root);
  }

 private:
  using Bits = std::vector<std::uint64_t>;
  std::uint64_t get(ValueId v) const { return values_.at(v); }
  Bits get(const std::vector<ValueId>& list, std::size_t from = 0) const {
    Bits all;
    for (std::size_t i = from; i < list.size(); ++i) all.push_back(get(list[i]));
    return all;
  }
  void set(const std::vector<ValueId>& list, const Bits& bits, std::size_t from = 0) {
    for (std::size_t i = from; i < list.size(); ++i) values_[list[i]] = bits[i - from];
  }
  Bits region(RegionId r) {
    for (const InstId i : k_.at(r).insts) step(k_.at(i));
    return get(k_.at(r).yields);
  }
  void step(const Inst& inst) {
    switch (inst.op) {
      case Op::Const:
        return set(inst.out, {inst.bits});
      case Op::Param:
        return set(inst.out, {scalars_[static_cast<std::size_t>(inst.index)]});
      case Op::ThreadId:
        return set(inst.out, {thread_});
      case Op::Bitcast:
        return set(inst.out, get(inst.in));
      case Op::Select:
        return set(inst.out, {get(inst.in[get(inst.in[0]) ? 1 : 2])});
      case Op::Load:
        return set(inst.out, {buffers_[index_of(inst.memory)].at(get(inst.in[0]))});
      case Op::Store:
        buffers_[index_of(inst.memory)].at(get(inst.in[0])) = static_cast<std::uint32_t>(get(inst.in[1]));
        return;
      case Op::If:
        return set(inst.out, region(inst.regions[get(inst.in[0]) ? 0 : 1]));
      case Op::For:
        return loop(inst);
      case Op::While:
        return repeat(inst);
      default:
        break;
    }
    const Bits in = get(inst.in);
    const auto r =
        evaluate(inst.op, k_.type(inst.in[0]).dtype, in[0], in.size() > 1 ? in[1] : 0, in.size() > 2 ? in[2] : 0);
    MT_ASSERT(r.has_value(), "an op that the walker does not know");
    set(inst.out, {*r});
  }
  void loop(const Inst& inst) {
    const Region& body = k_.at(inst.regions[0]);
    const std::uint64_t end = get(inst.in[1]), step_by = get(inst.in[2]);
    Bits carried = get(inst.in, 3);
    for (std::uint64_t i = get(inst.in[0]); i < end; i += step_by) {
      values_[body.args[0]] = i;
      set(body.args, carried, 1);
      carried = region(inst.regions[0]);
    }
    set(inst.out, carried);
  }
  void repeat(const Inst& inst) {
    Bits carried = get(inst.in);
    for (;;) {
      set(k_.at(inst.regions[0]).args, carried);
      Bits passed = region(inst.regions[0]);
      const bool more = passed[0] != 0;
      passed.erase(passed.begin());
      if (!more) return set(inst.out, passed);
      set(k_.at(inst.regions[1]).args, passed);
      carried = region(inst.regions[1]);
    }
  }

  const Kernel& k_;
  std::vector<std::vector<std::uint32_t>>& buffers_;
  std::vector<std::uint64_t> scalars_;
  std::uint32_t thread_ = 0;
  std::map<ValueId, std::uint64_t> values_;
};

}  // namespace mt::clike::testing
