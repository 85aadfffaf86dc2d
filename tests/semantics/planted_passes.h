// Passes with the mistakes that compilers make, to test that they are found.
#pragma once
#include <vector>

#include "mt/passes/pipeline.h"

namespace mt {

/// All are named planted and say what they do, after a word and a colon. They run once variables are gone.
std::vector<Pass> planted_passes();

}  // namespace mt
