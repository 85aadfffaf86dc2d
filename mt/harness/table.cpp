#include "mt/harness/table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace mt {
namespace {

/// Characters on the screen: UTF-8 continuation bytes take none.
std::size_t width_of(const std::string& s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

bool is_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) != 0 && !(term && std::strcmp(term, "dumb") == 0);
}
bool colour_wanted(int fd) {
  const char* no = std::getenv("NO_COLOR");
  return is_terminal(fd) && !(no && *no);
}
std::string painted(const std::string& text, const char* code, bool colour) {
  return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& c : columns_) widths.push_back(width_of(c.first));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string out;
  const auto line = [&](auto cell) {
    std::string l;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& s = cell(i);
      const std::string pad(widths[i] - width_of(s), ' ');
      l += (i ? "  " : "") + (columns_[i].second == Align::Right ? pad + s : s + pad);
    }
    out += l.substr(0, l.find_last_not_of(' ') + 1) + "\n";
  };
  line([&](std::size_t i) -> const std::string& { return columns_[i].first; });
  for (const auto& row : rows_) line([&](std::size_t i) -> const std::string& { return row[i]; });
  return out;
}

std::string Table::markdown() const {
  std::string out = "|", rule = "|";
  for (const auto& [name, align] : columns_) {
    out += " " + name + " |";
    rule += align == Align::Right ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  for (const auto& row : rows_) {
    out += "|";
    for (const std::string& cell : row) out += " " + cell + " |";
    out += "\n";
  }
  return out;
}

std::string grouped(std::int64_t n) {
  std::string s = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(s.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3)
    s.insert(static_cast<std::size_t>(at), ",");
  return s;
}

std::string time_text(double seconds) {
  const double magnitude = std::max(seconds, 1e-12);
  const auto [scale, unit] = magnitude < 1e-6   ? std::pair(1e9, "ns")
                             : magnitude < 1e-3 ? std::pair(1e6, "µs")
                             : magnitude < 1    ? std::pair(1e3, "ms")
                                                : std::pair(1.0, "s");
  const double v = seconds * scale;
  return fmt::format("{:.{}f} {}", v, v < 10 ? 2 : v < 100 ? 1 : 0, unit);
}

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int u = 0;
  for (; bytes >= 1024 && u < 4; ++u) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes,
                     bytes < 10 && u > 0 && bytes != static_cast<double>(static_cast<int>(bytes)) ? 1 : 0, units[u]);
}

Progress::Progress() : on_(is_terminal(STDERR_FILENO)) {}
Progress::~Progress() { clear(); }
void Progress::show(const std::string& line) {
  if (!on_) return;
  winsize size = {};
  const std::size_t columns =
      ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : std::size_t{80};
  std::fprintf(stderr, "\r\033[K%s", line.substr(0, columns - 1).c_str());
  std::fflush(stderr);
  shown_ = true;
}
void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace mt
