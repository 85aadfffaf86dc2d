#include "mt/harness/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "mt/base/error.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

struct Entry {
  double time = 0, spread = 0, roof_fraction = 0;
  bool failed = false;
};

std::map<std::string, Entry> read_entries(const std::string& text, const char* which) {
  std::map<std::string, Entry> all;
  try {
    const auto document = nlohmann::json::parse(text);
    for (const auto& b : document.at("benchmarks")) {
      Entry e;
      e.failed = b.value("error_occurred", false) || !b.value("verified", true);
      e.time = b.at("real_time").get<double>();
      const std::string unit = b.value("time_unit", "ns");
      e.time *= unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 1;
      e.spread = b.value("spread", 0.0);
      e.roof_fraction = b.value("cached", false) ? 0 : b.value("roof_fraction", 0.0);
      all[b.at("name").get<std::string>()] = e;
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(fmt::format("the {} document is no output of `tile bench --json`: {}", which, e.what()));
  }
  return all;
}

Difference compare(const std::string& name, const Entry& a, const Entry& b, double threshold) {
  Difference d{name, Verdict::Same, a.time, b.time, 1, 0, false};
  if (b.failed) {
    d.verdict = Verdict::Broken;
    return d;
  }
  if (a.failed) {
    d.verdict = Verdict::Added;
    return d;
  }
  d.by_roof = a.roof_fraction > 0 && b.roof_fraction > 0;
  d.speedup = d.by_roof ? b.roof_fraction / a.roof_fraction : b.time > 0 ? a.time / b.time : 1;
  d.noise = std::max(threshold, std::hypot(a.spread, b.spread));
  if (d.speedup > 1 + d.noise) d.verdict = Verdict::Faster;
  if (d.speedup < 1 / (1 + d.noise)) d.verdict = Verdict::Slower;
  return d;
}

constexpr const char* kNames[] = {"same", "faster", "SLOWER", "new", "GONE", "BROKEN"};
constexpr const char* kColours[] = {"0", "32", "31", "0", "31", "31"};

}  // namespace

std::vector<Difference> compare_benchmarks(const std::string& before, const std::string& after, double threshold) {
  const auto a = read_entries(before, "first"), b = read_entries(after, "second");
  std::vector<Difference> all;
  for (const auto& [name, entry] : a) {
    const auto it = b.find(name);
    if (it == b.end())
      all.push_back({name, Verdict::Removed, entry.time, 0, 1, 0, false});
    else
      all.push_back(compare(name, entry, it->second, threshold));
  }
  for (const auto& [name, entry] : b)
    if (a.find(name) == a.end())
      all.push_back({name, entry.failed ? Verdict::Broken : Verdict::Added, 0, entry.time, 1, 0, false});
  return all;
}

std::string difference_text(const std::vector<Difference>& all, bool colour) {
  Table table({{"benchmark", Table::Align::Left},
               {"before", Table::Align::Right},
               {"after", Table::Align::Right},
               {"speed", Table::Align::Right},
               {"noise", Table::Align::Right},
               {"verdict", Table::Align::Left}});
  int counts[6] = {};
  for (const Difference& d : all) {
    const auto v = static_cast<std::size_t>(d.verdict);
    ++counts[v];
    const std::string verdict = std::string(kNames[v]) + (d.by_roof ? " (by share of roof)" : "");
    table.add({d.name, d.before > 0 ? time_text(1e-9 * d.before) : "-", d.after > 0 ? time_text(1e-9 * d.after) : "-",
               fmt::format("{:+.1f}%", 100 * (d.speedup - 1)), fmt::format("{:.1f}%", 100 * d.noise),
               colour ? fmt::format("\033[{}m{}\033[0m", kColours[v], verdict) : verdict});
  }
  std::string text = all.empty() ? "" : table.text();
  for (std::size_t v = 0; v < 6; ++v) text += fmt::format("{}{} {}", v ? ", " : "", counts[v], kNames[v]);
  return text + "\n";
}

std::size_t regressions(const std::vector<Difference>& all) {
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Difference& d) {
    return d.verdict == Verdict::Slower || d.verdict == Verdict::Removed || d.verdict == Verdict::Broken;
  }));
}

}  // namespace mt
