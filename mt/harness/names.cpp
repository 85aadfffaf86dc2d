#include "mt/harness/names.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

namespace mt {

bool matches(std::string_view filter, std::string_view name) {
  if (filter.find_first_of("*?[") == std::string_view::npos) return name.find(filter) != std::string_view::npos;
  return fnmatch(std::string(filter).c_str(), std::string(name).c_str(), 0) == 0;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::vector<std::string> nearest(std::string_view typed, const std::vector<std::string>& names, std::size_t count) {
  const auto bare = [](std::string_view s) { return s.substr(s.find('_') == s.npos ? 0 : s.find('_') + 1); };
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    // Names are mostly a prefix and what matters: rms_norm or ffai_rms_norm for mt_rms_norm is near.
    std::size_t distance = std::min(
        {edit_distance(typed, name), edit_distance(typed, bare(name)) + 1, edit_distance(bare(typed), bare(name)) + 1});
    if (!typed.empty() && name.find(typed) != std::string::npos) distance = std::min<std::size_t>(distance, 1);
    if (distance < std::max(typed.size(), name.size()) * 2 / 3) ranked.emplace_back(distance, name);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<std::string> best;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) best.push_back(ranked[i].second);
  return best;
}

std::string listed(const std::vector<std::string>& names, std::string_view conjunction) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " " + std::string(conjunction) + " " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace mt
