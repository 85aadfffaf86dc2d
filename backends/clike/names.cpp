#include "backends/clike/names.h"

#include <cctype>

namespace mt::clike {
namespace {
bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
}  // namespace

std::string Namer::unique(std::string_view wish) {
  std::string base;
  for (const char c : wish) base += word(c) ? c : '_';
  // A leading underscore, or two in a row, belongs to the language.
  for (auto at = base.find("__"); at != std::string::npos; at = base.find("__")) base.erase(at, 1);
  while (!base.empty() && base.front() == '_') base.erase(0, 1);
  while (!base.empty() && base.back() == '_') base.pop_back();
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base.front()))) base = "v" + base;
  const auto free = [&](const std::string& s) { return !reserved_.contains(s) && !taken_.contains(s); };
  std::string name = base;
  for (int n = 1; !free(name); ++n) name = base + "_" + std::to_string(n);
  taken_.insert(name);
  if (!scopes_.empty()) scopes_.back().push_back(name);
  return name;
}

void Namer::close() {
  for (const std::string& name : scopes_.back()) taken_.erase(name);
  scopes_.pop_back();
}

bool mentions(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool left = at == 0 || (!word(text[at - 1]) && text[at - 1] != '.');
    const auto end = at + name.size();
    if (left && (end == text.size() || !word(text[end]))) return true;
  }
  return false;
}

}  // namespace mt::clike
