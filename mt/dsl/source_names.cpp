#include "mt/dsl/source_names.h"

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mt/ir/edit.h"

namespace mt {
namespace {

using Lines = std::map<int, const SourceName*>;  // by first line

std::map<std::string, Lines, std::less<>>& table() {
  static std::map<std::string, Lines, std::less<>> names;
  return names;
}

/// The lines of a file as the compiler calls it, which ends in the name from the root.
const Lines* lines_of(const char* file) {
  for (std::string_view path = file; !path.empty();) {
    if (const auto it = table().find(path); it != table().end()) return &it->second;
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return nullptr;
    path.remove_prefix(slash + 1);
  }
  return nullptr;
}

}  // namespace

bool register_source_names(std::span<const SourceName> names) {
  for (const SourceName& n : names)
    if (*n.file != '\0') table()[n.file][n.first] = &n;
  return true;
}

void name_values(Kernel& kernel) {
  if (table().empty()) return;
  std::map<const char*, const Lines*> files;
  const auto declaration = [&](const Loc& loc) -> const SourceName* {
    const auto [it, fresh] = files.try_emplace(loc.file, nullptr);
    if (fresh) it->second = lines_of(loc.file);
    if (!it->second) return nullptr;
    const auto next = it->second->upper_bound(loc.line);
    if (next == it->second->begin()) return nullptr;
    const SourceName* found = std::prev(next)->second;
    return loc.line <= found->last ? found : nullptr;
  };
  // The outermost operation of a declaration is the last that it emits. What a device function in another file emits in
  // between belongs to the declarations there.
  struct Open {
    const SourceName* declaration = nullptr;
    ValueId last = ValueId::None;
  };
  for (const Region& region : kernel.regions) {
    std::map<const char*, Open> open;
    const auto close = [&](Open& o) {
      if (o.declaration && o.last != ValueId::None) kernel.at(o.last).name = o.declaration->name;
      o = {};
    };
    for (const InstId i : region.insts) {
      const Inst& inst = kernel.at(i);
      const SourceName* here = declaration(inst.loc);
      Open& file = open[inst.loc.file];
      if (here != file.declaration) {
        close(file);
        file.declaration = here;
      }
      const bool nameless = inst.op == Op::Const || inst.op == Op::Param;
      if (here && inst.out.size() == 1 && !nameless) file.last = inst.out[0];
    }
    for (auto& [name, o] : open) close(o);
  }
}

}  // namespace mt
