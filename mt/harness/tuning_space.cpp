#include <algorithm>
#include <set>

#include "mt/harness/tune.h"

namespace mt {
namespace {

constexpr int kOctaves = 2;  // around the planned value of a tunable without choices

struct Axis {
  std::string name;
  int planned = 0;
  std::vector<int> values;
};

std::vector<Axis> axes_of(const Signature& signature, const Overrides& fixed) {
  std::vector<Axis> axes;
  for (const TunableDecl& t : signature.tunables) {
    if (fixed.count(t.name)) continue;
    Axis axis{t.name, t.value, t.choices};
    if (axis.values.empty()) {
      std::set<int> near;
      for (int octave = -kOctaves; octave <= kOctaves; ++octave)
        near.insert(octave < 0 ? std::max(1, t.value >> -octave) : t.value << octave);
      axis.values.assign(near.begin(), near.end());
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::size_t combinations(const std::vector<Axis>& axes, std::size_t most) {
  std::size_t all = 1;
  for (const Axis& a : axes) {
    all *= a.values.size();
    if (all > most * 1000000) break;  // far more than is ever counted out
  }
  return all;
}

}  // namespace

std::vector<Overrides> tuning_space(const Signature& planned, const Overrides& fixed, std::size_t most,
                                    std::size_t* left_out) {
  const std::vector<Axis> axes = axes_of(planned, fixed);
  std::vector<Overrides> all{{}};  // the plan's own
  if (left_out) *left_out = 0;
  if (axes.empty() && fixed.empty()) return all;
  Overrides base = fixed;
  for (const Axis& a : axes) base[a.name] = a.planned;
  std::set<Overrides> seen;
  if (fixed.empty()) seen.insert(base);
  const auto add = [&](const Overrides& chosen) {
    if (all.size() <= most && seen.insert(chosen).second) all.push_back(chosen);
  };
  const std::size_t total = combinations(axes, most);
  const auto numbered = [&](std::size_t number) {
    Overrides chosen = base;
    for (const Axis& a : axes) {
      chosen[a.name] = a.values[number % a.values.size()];
      number /= a.values.size();
    }
    return chosen;
  };
  if (total <= most) {
    for (std::size_t i = 0; i < total; ++i) add(numbered(i));
    return all;
  }
  const auto varied = [&](const Overrides& from, std::size_t first, auto&& each) {
    for (std::size_t i = first; i < axes.size(); ++i)
      for (const int value : axes[i].values) {
        Overrides chosen = from;
        chosen[axes[i].name] = value;
        each(chosen, i);
      }
  };
  varied(base, 0, [&](const Overrides& one, std::size_t) { add(one); });
  varied(base, 0, [&](const Overrides& one, std::size_t i) {
    varied(one, i + 1, [&](const Overrides& two, std::size_t) { add(two); });
  });
  // The others evenly over what is left: a stride that shares no factor with the total meets each number once.
  std::size_t stride = total / most * 2 + 1;
  const auto divides = [](std::size_t a, std::size_t b) {
    while (b != 0) std::swap(a %= b, b);
    return a;
  };
  while (divides(stride, total) != 1) ++stride;
  for (std::size_t i = 0; i < total && all.size() <= most; ++i) add(numbered(i * stride % total));
  if (left_out) *left_out = total - std::min(total, all.size());
  return all;
}

}  // namespace mt
