// What `tile mutate` prints and writes.
#pragma once
#include <string>
#include <vector>

#include "mt/harness/equivalents.h"
#include "mt/harness/mutate.h"

namespace mt {

struct MutationTotals {
  std::int64_t pairs = 0;    // kernel x dtype
  std::int64_t planted = 0;  // killed + survived + equivalent: what the rate is of
  std::int64_t killed = 0, survived = 0, equivalent = 0, unchanged = 0, refused = 0;
  std::vector<std::string> stale;  // declarations that nothing used
  double seconds = 0;
  void count(const Mutant& m);
  /// 0: all mutants that are not equivalent were killed; 1: one survived or a declaration is stale; 3: none was killed.
  int exit_code() const;
};

/// One JSON object, without the newline.
std::string mutant_json(const Mutant& m);
/// A few lines about one mutant.
std::string mutant_text(const Mutant& m, bool colour);
std::string mutation_totals_text(const MutationTotals& totals, bool colour);
/// Counts over all, by fault and by kernel, and the mutants that survived, as one JSON object.
std::string mutation_summary_json(const std::vector<Mutant>& mutants, const MutationTotals& totals);
/// The page docs/mutation.md.
std::string mutation_markdown(const std::vector<Mutant>& mutants, const MutationTotals& totals);

}  // namespace mt
