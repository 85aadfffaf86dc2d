#include "mt/passes/cse.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "mt/passes/memory_effects.h"
#include "mt/passes/rewrite.h"

namespace mt {
namespace {

class Cse : public Rewriter {
 public:
  explicit Cse(Kernel& k) : Rewriter(k), effects_(k), version_(k.memories.size(), 0) {}

 private:
  bool visit(InstId id) override {
    const Inst& i = k_.at(id);
    const Effect effect = info(i.op).effect;
    // A loop's body sees what earlier trips wrote, an if's else-region what its then-region may have counted up.
    for (const MemoryId m : effects_.changes(id)) version_[index_of(m)] = ++versions_;
    if (i.op != Op::Load && effect != Effect::Pure && effect != Effect::Converges) return true;
    const std::string key = key_of(i);
    const auto [it, is_new] = known_.emplace(key, i.out[0]);
    if (is_new) {
      scopes_.back().push_back(key);
      return true;
    }
    replace(i.out[0], it->second);
    return false;
  }
  void leave(InstId id) override {
    for (const MemoryId m : effects_.changes(id)) version_[index_of(m)] = ++versions_;
  }
  void enter_region(RegionId) override { scopes_.emplace_back(); }
  void leave_region(RegionId) override {
    for (const std::string& key : scopes_.back()) known_.erase(key);
    scopes_.pop_back();
  }

  /// Everything that the value depends on, as bytes.
  std::string key_of(const Inst& i) const {
    std::string key;
    const auto add = [&](std::uint64_t v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); };
    const Type t = k_.type(i.out[0]);
    add(static_cast<std::uint64_t>(i.op) | static_cast<std::uint64_t>(i.combine) << 8 |
        static_cast<std::uint64_t>(i.exclusive) << 16 | static_cast<std::uint64_t>(t.dtype) << 24 |
        static_cast<std::uint64_t>(t.lanes) << 32 | static_cast<std::uint64_t>(t.role) << 40);
    add(t.rows | static_cast<std::uint64_t>(t.cols) << 16);
    add(static_cast<std::uint32_t>(i.index) | std::uint64_t{static_cast<std::uint32_t>(i.memory)} << 32);
    add(i.bits);
    if (i.memory != MemoryId::None) add(version_[index_of(i.memory)]);
    std::vector<ValueId> in = i.in;
    if (info(i.op).commutes) std::sort(in.begin(), in.end());
    for (const ValueId v : in) add(index_of(v));
    return key;
  }

  const MemoryEffects effects_;
  std::vector<std::uint64_t> version_;  // by memory: counts what may have changed it
  std::uint64_t versions_ = 0;
  std::unordered_map<std::string, ValueId> known_;
  std::vector<std::vector<std::string>> scopes_;  // keys made known in each open region
};

}  // namespace

bool cse(Kernel& kernel, const PipelineOptions&) { return Cse(kernel).run(); }

}  // namespace mt
