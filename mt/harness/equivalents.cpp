#include "mt/harness/equivalents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mt/harness/file.h"
#include "mt/harness/names.h"

namespace mt {
namespace {

constexpr std::string_view kMark = "// Equivalent if ";

std::string trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t"), last = s.find_last_not_of(" \t");
  return first == std::string_view::npos ? "" : std::string(s.substr(first, last - first + 1));
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(at, from), text.size());
    parts.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

/// The last line of the statement that begins at `first` (counted from 0), or of its head where it opens a block.
std::size_t end_of_statement(const std::vector<std::string>& lines, std::size_t first) {
  for (std::size_t i = first; i < lines.size(); ++i) {
    const std::string code = trimmed(lines[i].substr(0, lines[i].find(" //")));
    if (!code.empty() && std::strchr(";{}", code.back())) return i;
  }
  return lines.size() - 1;
}

/// As the sources are named from their root; a compiler cache may have named them from the build's folder.
std::string from_root(const std::string& file) {
  if (const auto at = file.rfind("kernels/"); at != std::string::npos) return file.substr(at);
  std::size_t up = 0;
  while (file.compare(up, 3, "../") == 0) up += 3;
  return file.substr(up);
}

}  // namespace

std::vector<DeclaredEquivalent> declared_equivalents(const std::string& file, std::string_view text) {
  const std::vector<std::string> lines = split(text, '\n');
  std::vector<DeclaredEquivalent> all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t mark = lines[i].find(kMark);
    if (mark == std::string::npos) continue;
    const auto fail = [&](const std::string& what) { throw Error(fmt::format("{}:{}: {}", file, i + 1, what)); };
    const std::string said = lines[i].substr(mark + kMark.size());
    const std::size_t colon = said.find(": ");
    if (colon == std::string::npos) fail("write `// Equivalent if FAULT: reason`");
    std::size_t first = i, last = i;
    const std::string faults = said.substr(0, colon);
    const std::size_t place = faults.find(" in ");
    const bool elsewhere = place != std::string::npos && faults.find('.', place) != std::string::npos;
    if (!elsewhere && trimmed(lines[i].substr(0, mark)).empty()) {
      do ++first;
      while (first < lines.size() && trimmed(lines[first]).substr(0, 2) == "//");
      if (first == lines.size()) fail("nothing stands below this declaration; put it above the line it is about");
      last = end_of_statement(lines, first);
    }
    for (const std::string& part : split(faults, ',')) {
      const std::string whole = trimmed(part);
      const std::size_t in = whole.find(" in ");
      const std::string name = whole.substr(0, in);
      const std::size_t of = name.find(" of ");
      DeclaredEquivalent e{.file = file,
                           .line = static_cast<int>(i + 1),
                           .first = static_cast<int>(first + 1),
                           .last = static_cast<int>(last + 1),
                           .fault = name.substr(0, of),
                           .op = of == std::string::npos ? "" : name.substr(of + 4),
                           .in = elsewhere && in != std::string::npos ? whole.substr(in + 4) : "",
                           .kernel = elsewhere || in == std::string::npos ? "" : whole.substr(in + 4),
                           .reason = trimmed(said.substr(colon + 2))};
      if (!find_fault(e.fault)) fail(fmt::format("there is no fault '{}'; `tile mutate --faults` lists them", e.fault));
      if (!e.op.empty() && !op_from(e.op)) fail(fmt::format("there is no op '{}'", e.op));
      all.push_back(std::move(e));
    }
  }
  return all;
}

std::vector<DeclaredEquivalent>& Equivalents::of_file(const std::string& file) {
  const auto it = files_.find(file);
  if (it != files_.end()) return it->second;
  const std::string path = file.starts_with("/") ? file : root_ + "/" + file;
  return files_[file] = declared_equivalents(file, read_file(path));
}

void Equivalents::look_at(const Mutant& m) {
  for (const Loc& loc : {m.loc, m.kernel->loc})
    if (loc.known()) of_file(from_root(loc.file));
}

const DeclaredEquivalent* Equivalents::find(const Mutant& m) {
  look_at(m);
  const auto about = [&](const DeclaredEquivalent& e) {
    return e.fault == m.fault->name && (e.op.empty() || e.op == info(m.op).name) && matches(e.kernel, m.kernel->name);
  };
  const auto first = [](std::vector<DeclaredEquivalent>& list, auto&& is) -> DeclaredEquivalent* {
    const auto it = std::find_if(list.begin(), list.end(), is);
    return it == list.end() ? nullptr : &*it;
  };
  DeclaredEquivalent* found = nullptr;
  if (m.loc.known())
    found = first(of_file(from_root(m.loc.file)), [&](const DeclaredEquivalent& e) {
      return e.in.empty() && m.loc.line >= e.first && m.loc.line <= e.last && about(e);
    });
  if (!found && m.kernel->loc.known()) {
    const std::string place = to_string(m.loc), file = place.substr(0, place.find(':'));
    found = first(of_file(from_root(m.kernel->loc.file)),
                  [&](const DeclaredEquivalent& e) { return e.in == file && !e.in.empty() && about(e); });
  }
  if (found) found->used = true;
  return found;
}

std::vector<std::string> Equivalents::stale() const {
  std::vector<std::string> all;
  for (const auto& [file, list] : files_)
    for (const DeclaredEquivalent& e : list)
      if (!e.used)
        all.push_back(fmt::format("{}:{}: no mutant survives {}{}{} here; take the declaration out", file, e.line,
                                  e.fault, e.op.empty() ? "" : " of ", e.op));
  return all;
}

}  // namespace mt
