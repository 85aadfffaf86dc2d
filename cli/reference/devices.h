// Where MLX's text can be run.
#pragma once
#include <string>
#include <utility>

#include "backends/backend.h"
#include "backends/text_runner.h"
#include "mt/harness/select.h"

namespace mt::reference {

/// The folder of --mlx, or of $MT_MLX. UsageError where there is neither.
std::string folder_given(const std::string& option);

/// The device of that name; where it is empty, the best one here whose backend runs Metal text too. UsageError.
OpenDevice open_beside_text(const std::string& name);

/// What runs Metal text, and its name: the device's own backend where it can, else the first that can. UsageError where
/// none can.
std::pair<const TextRunner*, std::string> text_runner_for(const Backend& backend);

}  // namespace mt::reference
