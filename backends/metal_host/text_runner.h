// Running Metal text from anywhere.
#pragma once
#include "backends/text_runner.h"

namespace mt::metal_host {

const TextRunner& text_runner();

}  // namespace mt::metal_host
