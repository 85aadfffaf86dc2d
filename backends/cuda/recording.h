// Launches captured into a graph.
#pragma once
#include <functional>
#include <memory>

#include "backends/backend.h"
#include "backends/cuda/context.h"

namespace mt::cuda {

/// Captures what `enqueue` launches in the context's stream. Throws Error, also what `enqueue` throws.
std::unique_ptr<Recording> record(const std::shared_ptr<Context>& context, const std::function<void()>& enqueue);

}  // namespace mt::cuda
