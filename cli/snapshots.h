// Where baselines lie.
#pragma once
#include <string>

namespace mt {

/// A plain word is a file of the folder .tile-snapshots; whatever holds a slash or a dot is a path.
inline std::string snapshot_path(const std::string& name) {
  return name.find_first_of("/.") == std::string::npos ? ".tile-snapshots/" + name + ".json" : name;
}

}  // namespace mt
