#include "mt/passes/simplify.h"

#include "mt/passes/algebra.h"
#include "mt/passes/cse.h"
#include "mt/passes/dce.h"
#include "mt/passes/fold.h"

namespace mt {

bool simplify(Kernel& k, const PipelineOptions& options) {
  // Each round needs what the one before found; real kernels are done after two or three.
  constexpr int kRounds = 8;
  bool changed = false;
  for (int round = 0; round < kRounds; ++round) {
    const bool folded = fold(k, options), rewritten = algebra(k, options);
    const bool merged = cse(k, options), cleaned = dce(k, options);
    if (!(folded || rewritten || merged || cleaned)) break;
    changed = true;
  }
  return changed;
}

}  // namespace mt
