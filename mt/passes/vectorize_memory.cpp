#include "mt/passes/vectorize_memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "mt/ir/edit.h"
#include "mt/passes/divisibility.h"
#include "mt/passes/memory_effects.h"

namespace mt {
namespace {

/// Accesses of one memory whose indices differ by constants from one value (None: they are constants).
struct Key {
  MemoryId memory;
  ValueId base;
  DType index;
  bool operator<(const Key& o) const { return std::tie(memory, base, index) < std::tie(o.memory, o.base, o.index); }
};
struct Part {
  InstId inst;
  std::size_t at;  // in the region
  std::int64_t offset;
  int lanes;
};
struct Merge {
  Key key;
  std::vector<Part> parts;  // by offset
  int lanes;
};

class Vectorize {
 public:
  Vectorize(Kernel& k, int max_bytes) : k_(k), max_bytes_(max_bytes), zeros_(zero_bits(k)), effects_(k) {}

  bool run() {
    region(RegionId::Root);
    replace_all(k_, instead_);
    return changed_;
  }

 private:
  using Groups = std::map<Key, std::vector<Part>>;

  void region(RegionId r) {
    const std::vector<InstId> list = k_.at(r).insts;
    Groups loads, stores;
    std::map<std::size_t, std::vector<Merge>> planned;  // by place
    const auto flush = [&](Groups& groups, const auto& which) {
      for (auto it = groups.begin(); it != groups.end();) {
        if (which(it->first)) {
          plan(it->first, it->second, &groups == &stores, planned);
          it = groups.erase(it);
        } else {
          ++it;
        }
      }
    };
    const auto everything = [](const Key&) { return true; };
    for (std::size_t at = 0; at < list.size(); ++at) {
      const InstId id = list[at];
      const Inst& i = k_.at(id);
      const auto of_memory = [&](const Key& key) { return key.memory == i.memory; };
      if (i.op == Op::Load) {
        flush(stores, of_memory);
        loads[key_of(i)].push_back(part_of(i, id, at));
      } else if (i.op == Op::Store) {
        flush(loads, of_memory);
        const Key key = key_of(i);
        const Part part = part_of(i, id, at);
        const bool again = overlaps(stores[key], part);
        flush(stores,
              [&](const Key& other) { return other.memory == i.memory && (again || other < key || key < other); });
        stores[key].push_back(part);
      } else if (i.op == Op::Atomic || info(i.op).effect == Effect::Writes || info(i.op).effect == Effect::Reads ||
                 info(i.op).effect == Effect::Syncs || info(i.op).effect == Effect::Control) {
        flush(stores, everything);
        flush(loads, [&](const Key& key) { return effects_.changes(id, key.memory); });
      }
    }
    flush(loads, everything);
    flush(stores, everything);
    if (!planned.empty()) rebuild(r, list, planned);
    for (const InstId id : list) {
      const std::vector<RegionId> inner = k_.at(id).regions;
      for (const RegionId s : inner) region(s);
    }
  }

  std::optional<std::int64_t> constant(ValueId v) const {
    const Inst* def = k_.def(v);
    if (!def || def->op != Op::Const) return std::nullopt;
    const int shift = 64 - bits_of(k_.type(v).dtype);  // unsigned too: x + (2^32 - 1) stands left of x
    return static_cast<std::int64_t>(def->bits << shift) >> shift;
  }
  /// The constant at the end of an index, and what is left without it.
  std::pair<ValueId, std::int64_t> split(ValueId index) const {
    if (const auto c = constant(index)) return {ValueId::None, *c};
    const Inst* def = k_.def(index);
    if (!def || def->op != Op::Add) return {index, 0};
    const auto c = constant(def->in[1]);
    return c ? std::pair{def->in[0], *c} : std::pair{index, std::int64_t{0}};
  }
  Key key_of(const Inst& i) const { return {i.memory, split(i.in[0]).first, k_.type(i.in[0]).dtype}; }
  Part part_of(const Inst& i, InstId id, std::size_t at) const {
    return {id, at, split(i.in[0]).second, k_.type(i.op == Op::Load ? i.out[0] : i.in[1]).lanes};
  }
  static bool overlaps(const std::vector<Part>& parts, const Part& p) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Part& q) { return p.offset < q.offset + q.lanes && q.offset < p.offset + p.lanes; });
  }

  void plan(const Key& key, std::vector<Part>& parts, bool store, std::map<std::size_t, std::vector<Merge>>& planned) {
    const DType t = k_.at(key.memory).dtype;
    if (t == DType::Bool) return;
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.offset < b.offset; });
    for (std::size_t first = 0; first < parts.size();) {
      std::size_t taken = 0;
      int lanes = std::min(8, max_bytes_ / size_of(t));
      for (; lanes > parts[first].lanes && taken == 0; lanes /= 2) taken = cover(key, parts, first, lanes);
      if (taken == 0) {
        ++first;
        continue;
      }
      Merge merge{key,
                  {parts.begin() + static_cast<std::ptrdiff_t>(first),
                   parts.begin() + static_cast<std::ptrdiff_t>(first + taken)},
                  lanes * 2};
      const auto earlier = [](const Part& a, const Part& b) { return a.at < b.at; };
      const auto [low, high] = std::minmax_element(merge.parts.begin(), merge.parts.end(), earlier);
      planned[store ? high->at : low->at].push_back(std::move(merge));
      first += taken;
    }
  }
  /// How many parts from `first` on fill exactly an aligned access of that width; 0 where they don't.
  std::size_t cover(const Key& key, const std::vector<Part>& parts, std::size_t first, int lanes) const {
    if (!std::has_single_bit(static_cast<unsigned>(lanes))) return 0;
    const std::int64_t begin = parts[first].offset;
    const int base = key.base == ValueId::None ? 64 : zeros_[index_of(key.base)];
    const int zeros = begin == 0 ? base : std::min(base, std::countr_zero(static_cast<std::uint64_t>(begin)));
    if (zeros < std::countr_zero(static_cast<unsigned>(lanes))) return 0;
    std::int64_t end = begin;
    for (std::size_t n = first; n < parts.size() && parts[n].offset == end; ++n) {
      end += parts[n].lanes;
      if (end - begin == lanes) return n - first + 1;
      if (end - begin > lanes) return 0;
    }
    return 0;
  }

  void rebuild(RegionId r, const std::vector<InstId>& list, const std::map<std::size_t, std::vector<Merge>>& planned) {
    changed_ = true;
    std::vector<bool> gone(list.size());
    for (const auto& [at, merges] : planned)
      for (const Merge& m : merges)
        for (const Part& p : m.parts) gone[p.at] = true;
    k_.at(r).insts.clear();
    for (std::size_t at = 0; at < list.size(); ++at) {
      if (const auto it = planned.find(at); it != planned.end())
        for (const Merge& m : it->second) emit(r, m);
      if (!gone[at]) k_.at(r).insts.push_back(list[at]);
    }
  }

  void emit(RegionId r, const Merge& m) {
    Builder b(k_, r);
    b.loc = k_.at(m.parts[0].inst).loc;
    const Type type{k_.at(m.key.memory).dtype, static_cast<std::uint8_t>(m.lanes)};
    const bool store = k_.at(m.parts[0].inst).op == Op::Store;
    const std::int64_t offset = m.parts[0].offset;
    ValueId index = m.key.base;
    if (offset != 0 || index == ValueId::None) {
      const int width = bits_of(m.key.index);
      const ValueId c = b.constant({m.key.index}, static_cast<std::uint64_t>(offset) << (64 - width) >> (64 - width));
      index = index == ValueId::None ? c : b.binary(Op::Add, index, c);
    }
    if (store) {
      std::vector<ValueId> lanes;
      for (const Part& p : m.parts) {
        const ValueId v = k_.at(p.inst).in[1];
        for (int n = 0; n < p.lanes; ++n) lanes.push_back(p.lanes == 1 ? v : b.extract(v, n));
      }
      const ValueId all = b.value({.op = Op::Pack, .in = lanes}, type);
      b.add({.op = Op::Store, .align = m.lanes, .memory = m.key.memory, .in = {index, all}}, {});
      return;
    }
    const ValueId all = b.value({.op = Op::Load, .align = m.lanes, .memory = m.key.memory, .in = {index}}, type);
    for (const Part& p : m.parts) {
      const int from = static_cast<int>(p.offset - offset);
      std::vector<ValueId> lanes;
      for (int n = 0; n < p.lanes; ++n) lanes.push_back(b.extract(all, from + n));
      const ValueId out = k_.at(p.inst).out[0];
      instead_[out] = p.lanes == 1 ? lanes[0] : b.value({.op = Op::Pack, .in = lanes}, k_.type(out));
    }
  }

  Kernel& k_;
  const int max_bytes_;
  const std::vector<std::uint8_t> zeros_;
  const MemoryEffects effects_;
  std::unordered_map<ValueId, ValueId> instead_;
  bool changed_ = false;
};

}  // namespace

bool vectorize_memory(Kernel& kernel, const PipelineOptions& options) {
  return Vectorize(kernel, options.max_vector_bytes).run();
}

}  // namespace mt
