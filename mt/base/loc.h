// A place in a kernel's C++ source.
#pragma once
#include <cstring>
#include <source_location>
#include <string>

namespace mt {

struct Loc {
  const char* file = "";  // lives as long as the program: a literal or an interned string
  int line = 0;

  constexpr Loc() = default;
  constexpr Loc(const char* f, int l) : file(f), line(l) {}
  constexpr Loc(const std::source_location& s) : file(s.file_name()), line(static_cast<int>(s.line())) {}
  bool known() const { return line > 0; }
};

/// `file.cpp:12`, without folders; empty where the place is unknown.
inline std::string to_string(const Loc& loc) {
  if (!loc.known()) return "";
  const char* slash = std::strrchr(loc.file, '/');
  return std::string(slash ? slash + 1 : loc.file) + ":" + std::to_string(loc.line);
}

}  // namespace mt
