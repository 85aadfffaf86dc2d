// Gives values names that are identifiers, unique in a kernel and no words of the target language.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace mt::clike {

class Namer {
 public:
  explicit Namer(const std::set<std::string, std::less<>>& reserved) : reserved_(reserved) {}
  /// `wish` where that is free, else with a number behind it.
  std::string unique(std::string_view wish);

 private:
  const std::set<std::string, std::less<>>& reserved_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, int, std::less<>> next_;
};

/// Whether `name` stands in `text` as a whole identifier.
bool mentions(std::string_view text, std::string_view name);

}  // namespace mt::clike
