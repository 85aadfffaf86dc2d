// Finds the tunables with which a kernel is fastest on one problem.
//
// Candidates come from the choices that tunables declare. Those that break the contract or a limit of the device, and
// those that give the same code as others, are put aside before anything is compiled; the others are timed briefly,
// what is far behind is dropped at once, and the best few are verified in full and measured beside the plan's own
// choice.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "mt/harness/runner.h"
#include "mt/harness/statistics.h"

namespace mt {

struct TuneOptions {
  Overrides fixed;            // tunables that have this value in every candidate but the plan's own
  std::size_t most = 200;     // candidates that are timed
  std::size_t finalists = 3;  // of them measured with care
  double drop = 1.5;          // a candidate that takes so much longer than the best is dropped
  std::size_t brief = 5;      // samples of a candidate
  StoppingCriterion stop{.least = 15, .most = 400, .seconds = 1, .uncertainty = 0.003};  // for each finalist
  std::function<void(const std::string&)> progress;
};

enum class CandidateFate { Refused, Alike, Broken, Slow, Timed, Wrong, Finalist };
std::string_view name_of(CandidateFate fate);

struct Candidate {
  Overrides chosen;  // empty: as the plan chooses
  CandidateFate fate = CandidateFate::Timed;
  std::string why;   // it is refused, broken or wrong
  double brief = 0;  // seconds of one call, median of the first samples
  Summary time;      // of finalists
};

struct TuneResult {
  std::string kernel, dtype, problem, device;
  std::string error;                  // why there is no result
  std::vector<Candidate> candidates;  // the plan's own first
  std::size_t left_out = 0;           // combinations beyond TuneOptions::most
  Candidate planned, best;            // as measured side by side
  bool improved = false;              // beyond what the samples scatter
  std::size_t count(CandidateFate fate) const;
};

/// Combinations of the declared choices with `fixed` laid over them: all of them, or, where they are more than `most`,
/// those that differ from `planned` in one tunable, then in two, then others evenly. A tunable without choices takes
/// its planned value, its double, half and so on. The first has no choices: the plan's own.
std::vector<Overrides> tuning_space(const Signature& planned, const Overrides& fixed, std::size_t most,
                                    std::size_t* left_out = nullptr);

/// Compiles every `parts`-th candidate from the `part`-th on, so that the device's cache on disk has them; what does
/// not compile is passed by. For processes that share the work.
void compile_candidates(Runner& runner, const KernelEntry& entry, const Problem& problem, const TuneOptions& options,
                        std::size_t part, std::size_t parts);

/// Never throws Error: what goes wrong is in `error`. Throws Interrupted after Ctrl-C.
TuneResult tune(Runner& runner, const KernelEntry& entry, const Problem& problem, const TuneOptions& options);

}  // namespace mt
