// Names as people type them: patterns, and what they may have meant.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mt {

/// Whether `name` matches `filter`: a glob over the whole name where the filter holds one of *?[, else a substring.
/// An empty filter matches everything.
bool matches(std::string_view filter, std::string_view name);

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to `count` of `names` that are most like `typed`, best first; those that share nothing with it are left out.
std::vector<std::string> nearest(std::string_view typed, const std::vector<std::string>& names, std::size_t count = 3);

/// `a, b and c`.
std::string listed(const std::vector<std::string>& names, std::string_view conjunction = "and");

}  // namespace mt
