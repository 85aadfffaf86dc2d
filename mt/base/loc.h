// A place in a kernel's C++ source.
#pragma once
#include <cstring>
#include <string>

namespace mt {

/// The place of a call: a default argument `Here here = Here::current()` is evaluated where the caller stands. In place
/// of std::source_location, which Clang has only from version 16 on.
class Here {
 public:
  static constexpr Here current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return Here(file, line);
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr Here(const char* file, int line) : file_(file), line_(line) {}
  const char* file_;
  int line_;
};

struct Loc {
  const char* file = "";  // lives as long as the program: a literal or an interned string
  int line = 0;

  constexpr Loc() = default;
  constexpr Loc(const char* f, int l) : file(f), line(l) {}
  constexpr Loc(const Here& here) : file(here.file_name()), line(here.line()) {}
  bool known() const { return line > 0; }
};

/// `file.cpp:12`, without folders; empty where the place is unknown.
inline std::string to_string(const Loc& loc) {
  if (!loc.known()) return "";
  const char* slash = std::strrchr(loc.file, '/');
  return std::string(slash ? slash + 1 : loc.file) + ":" + std::to_string(loc.line);
}

}  // namespace mt
