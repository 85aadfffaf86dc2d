// Gives values names that are identifiers, unique where they are visible and no words of the target language.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mt::clike {

class Namer {
 public:
  explicit Namer(const std::set<std::string, std::less<>>& reserved) : reserved_(reserved) {}
  /// `wish` where that is free, else with a number behind it.
  std::string unique(std::string_view wish);
  /// Names given between open and close may be given again afterwards.
  void open() { scopes_.emplace_back(); }
  void close();

 private:
  const std::set<std::string, std::less<>>& reserved_;
  std::set<std::string, std::less<>> taken_;
  std::vector<std::vector<std::string>> scopes_;
};

/// Whether `name` stands in `text` as a whole identifier.
bool mentions(std::string_view text, std::string_view name);

}  // namespace mt::clike
