#include "mt/harness/compile_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "mt/harness/statistics.h"

namespace mt {

std::string compile_times_text(const std::vector<CompileTime>& times, double limit_ms, std::size_t shown) {
  std::vector<double> all;
  std::map<std::string, double> longest;
  double sum = 0;
  std::size_t above = 0, cached = 0;
  for (const CompileTime& t : times) {
    if (t.from_cache) {
      ++cached;
      continue;
    }
    all.push_back(t.ms);
    sum += t.ms;
    above += t.ms > limit_ms ? 1 : 0;
    double& l = longest[t.what];
    l = std::max(l, t.ms);
  }
  std::string text;
  if (!all.empty()) {
    text = fmt::format("{} compiled: median {:.0f} ms, longest {:.0f} ms, {} above {:.0f} ms; {:.1f} s in all\n",
                       all.size(), summarise(all).median, *std::max_element(all.begin(), all.end()), above, limit_ms,
                       sum / 1e3);
    std::vector<std::pair<std::string, double>> order(longest.begin(), longest.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    order.resize(std::min(order.size(), shown));
    for (const auto& [what, ms] : order) text += fmt::format("  {:6.0f} ms  {}\n", ms, what);
  }
  if (cached > 0 || all.empty())
    text +=
        fmt::format("{} from the cache on disk, whose times say nothing; an empty MT_CACHE_DIR compiles all\n", cached);
  return text;
}

}  // namespace mt
