#include "backends/metal_host/compile/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace mt::metal_host {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string in_metal(std::string text) {
  replace_all(text, "const __constant ", "constant ");
  replace_all(text, "__constant", "constant");
  replace_all(text, "const __global", "const device");
  replace_all(text, "__global", "device");
  replace_all(text, "__local", "threadgroup");
  replace_all(text, "__private", "thread");
  replace_all(text, "__generic ", "");
  replace_all(text, "__bf16", "bfloat");
  replace_all(text, "OpenCL C++", "the Metal Shading Language");
  replace_all(text, "OpenCL", "the Metal Shading Language");
  return text;
}

struct Line {
  std::string file, line, level, message;
};

/// "file:12:3: error: message"; an empty level where the line is none.
Line parse(std::string_view text) {
  Line result;
  for (const std::string_view level : {": fatal error: ", ": error: ", ": warning: ", ": note: "}) {
    const std::size_t at = text.find(level);
    if (at == std::string_view::npos) continue;
    result.level = level == ": note: " ? "note" : level == ": warning: " ? "warning" : "error";
    result.message = text.substr(at + level.size());
    std::string_view place = text.substr(0, at);
    std::string numbers[2];
    int count = 0;
    while (count < 2) {
      const std::size_t colon = place.rfind(':');
      if (colon == std::string_view::npos) break;
      const std::string_view n = place.substr(colon + 1);
      if (n.empty() || !std::all_of(n.begin(), n.end(), [](unsigned char c) { return std::isdigit(c); })) break;
      numbers[count++] = n;
      place = place.substr(0, colon);
    }
    result.file = place;
    result.line = count == 2 ? numbers[1] : numbers[0];
    return result;
  }
  return result;
}

}  // namespace

Diagnostics read_diagnostics(std::string_view said, const std::string& shim) {
  Diagnostics all;
  std::vector<Line> lines;
  while (!said.empty()) {
    const std::size_t end = std::min(said.find('\n'), said.size());
    Line l = parse(said.substr(0, end));
    if (!l.level.empty()) lines.push_back(std::move(l));
    said.remove_prefix(std::min(end + 1, said.size()));
  }
  const auto ours = [&](const Line& l) { return l.file.starts_with(shim) || l.file.empty(); };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& l = lines[i];
    if (l.level == "note") continue;
    const Line* place = &l;
    for (std::size_t k = i + 1; ours(*place) && k < lines.size() && lines[k].level == "note"; ++k)
      if (!ours(lines[k])) place = &lines[k];
    std::string message = l.message;
    if (l.message.find("no matching") != std::string::npos) {
      // The candidate's objection says more than that there is none.
      for (std::size_t k = i + 1; k < lines.size() && lines[k].level == "note"; ++k) {
        const std::size_t colon = lines[k].message.find("candidate");
        if (colon == std::string::npos) continue;
        message += "; " + lines[k].message;
        break;
      }
    }
    if (ours(*place) && message.starts_with("too many errors")) continue;
    // What follows from a mistake that was said with its place has none of its own.
    if (ours(*place) && !all.errors.empty()) continue;
    const std::string where = ours(*place) ? std::string("the Metal library") : place->file + ":" + place->line;
    std::string sentence = fmt::format("{}: {}: {}", where, l.level, in_metal(message));
    std::vector<std::string>& into = l.level == "error" ? all.errors : all.warnings;
    if (std::find(into.begin(), into.end(), sentence) == into.end()) into.push_back(std::move(sentence));
  }
  return all;
}

}  // namespace mt::metal_host
