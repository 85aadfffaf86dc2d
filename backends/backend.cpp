#include "backends/backend.h"

#include <algorithm>

namespace mt {
namespace {
std::vector<const Backend*>& table() {
  static std::vector<const Backend*> all;
  return all;
}
}  // namespace

std::string Backend::library(const std::vector<std::pair<std::string, std::string>>&,
                             const std::function<void(const std::string&)>&) const {
  throw Error("target " + std::string(name()) + " has no form that texts are linked into");
}

std::optional<Artefact> Backend::program(const std::vector<Kernel>& stages) const {
  std::optional<Artefact> all;
  for (const Kernel& k : stages) {
    const std::optional<Artefact> one = artefact(k);
    if (!one) return std::nullopt;
    if (all)
      all->text += "\n" + one->text;
    else
      all = one;
  }
  return all;
}

const std::vector<const Backend*>& backends() { return table(); }

const Backend* find_backend(std::string_view name) {
  const auto it = std::find_if(table().begin(), table().end(), [&](const Backend* b) { return b->name() == name; });
  return it == table().end() ? nullptr : *it;
}

bool register_backend(const Backend& backend) {
  auto& all = table();
  all.insert(std::upper_bound(all.begin(), all.end(), &backend, [](auto* a, auto* b) { return a->name() < b->name(); }),
             &backend);
  return true;
}

}  // namespace mt
