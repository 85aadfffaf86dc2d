// Which stores a pass took out.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "mt/harness/pass_check.h"

namespace mt {
namespace {

/// A place in the source and what stands there.
using Place = std::tuple<std::string, int, Op>;
/// Control flow from the outermost in.
using Around = std::vector<Place>;

struct Stores {
  std::map<MemoryId, int> lanes;                                // elements a thread stores, by memory
  std::map<std::tuple<MemoryId, Place, Around>, int> by_place;  // likewise
  std::map<Place, int> control;
};

Place place_of(const Inst& i) { return {i.loc.file, i.loc.line, i.op}; }

void collect(const Kernel& k, RegionId r, Around& around, Stores& found) {
  for (const InstId id : k.at(r).insts) {
    const Inst& i = k.at(id);
    if ((i.op == Op::Store || i.op == Op::Atomic) && k.at(i.memory).space == Space::Device) {
      const int lanes = k.type(i.in[1]).lanes;
      found.lanes[i.memory] += lanes;
      found.by_place[{i.memory, place_of(i), around}] += lanes;
    }
    if (i.regions.empty()) continue;
    ++found.control[place_of(i)];
    around.push_back(place_of(i));
    for (const RegionId inner : i.regions) collect(k, inner, around, found);
    around.pop_back();
  }
}

Stores stores_of(const Kernel& k) {
  Stores found;
  Around around;
  collect(k, RegionId::Root, around, found);
  return found;
}

}  // namespace

std::string lost_store(const Kernel& before, const Kernel& after) {
  const Stores old = stores_of(before), now = stores_of(after);
  if (!old.lanes.empty() && now.lanes.empty()) return fmt::format("[{}] stores nothing any more", before.name);
  for (const auto& [key, lanes] : old.by_place) {
    const auto& [memory, place, around] = key;
    const auto same = now.by_place.find(key);
    if (same != now.by_place.end() && same->second >= lanes) continue;
    const auto all = now.lanes.find(memory);
    if (all != now.lanes.end() && all->second >= old.lanes.at(memory)) continue;  // a wider store has them
    bool control_went = false;
    for (const Place& c : around) {
      const auto still = now.control.find(c);
      control_went = control_went || still == now.control.end() || still->second < old.control.at(c);
    }
    if (control_went) continue;
    const Loc loc{std::get<0>(place).c_str(), std::get<1>(place)};
    return fmt::format("{}: [{}] the {} to {} went, while the control flow around it stays", to_string(loc),
                       before.name, info(std::get<2>(place)).name, before.at(memory).name);
  }
  return "";
}

}  // namespace mt
