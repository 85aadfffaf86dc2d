#include "backends/clike/places.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

namespace mt::clike {
namespace {

// Marks around a place; no text holds them.
constexpr char kPlace = '\x01', kPlaceEnd = '\x02';

}  // namespace

std::string mark_place(const Loc& loc) {
  return fmt::format("{}{} {}{}", kPlace, reinterpret_cast<std::uintptr_t>(loc.file), loc.line, kPlaceEnd);
}

std::string split_places(const std::string& marked, std::vector<Loc>& places) {
  std::string text;
  Loc place;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i] == kPlace) {
      char* rest = nullptr;
      const auto file = std::strtoull(marked.data() + i + 1, &rest, 10);
      place = Loc(reinterpret_cast<const char*>(file), static_cast<int>(std::strtol(rest, &rest, 10)));
      i = static_cast<std::size_t>(rest - marked.data());
      continue;
    }
    text += marked[i];
    if (marked[i] == '\n') places.push_back(place);
  }
  return text;
}

}  // namespace mt::clike
