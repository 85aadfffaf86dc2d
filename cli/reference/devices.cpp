#include "cli/reference/devices.h"

#include <cstdlib>

namespace mt::reference {

std::string folder_given(const std::string& option) {
  if (!option.empty()) return option;
  const char* set = std::getenv("MT_MLX");
  if (set && *set) return set;
  throw UsageError(
      "--reference mlx needs --mlx DIR, or MT_MLX: MLX's source tree, or the include folder of the PyPI package "
      "mlx-metal, whose macOS wheel can be unpacked anywhere");
}

OpenDevice open_beside_text(const std::string& name) {
  if (!name.empty()) return open_device(name);
  std::string why;
  for (const std::string& usable : usable_devices())
    if (backend_named(usable).text_runner()) return open_device(usable);
  // None: the sentence of one that could.
  for (const Backend* b : backends())
    if (const TextRunner* r = b->text_runner(); r && !r->unavailable().empty()) why = r->unavailable();
  throw UsageError(why.empty() ? "this build can't run Metal text; it has no metal-host backend" : why);
}

std::pair<const TextRunner*, std::string> text_runner_for(const Backend& backend) {
  const TextRunner* own = backend.text_runner();
  if (own && own->unavailable().empty()) return {own, std::string(backend.name())};
  std::string why;
  for (const Backend* b : backends()) {
    const TextRunner* r = b->text_runner();
    if (!r) continue;
    why = r->unavailable();
    if (why.empty()) return {r, std::string(b->name())};
  }
  throw UsageError(why.empty() ? "this build can't run Metal text; it has no metal-host backend" : why);
}

}  // namespace mt::reference
