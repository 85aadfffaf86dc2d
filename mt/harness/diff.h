// Two bench documents side by side, with verdicts that respect how far samples lie apart.
#pragma once
#include <string>
#include <vector>

namespace mt {

enum class Verdict { Same, Faster, Slower, Added, Removed, Broken };

struct Difference {
  std::string name;
  Verdict verdict = Verdict::Same;
  double before = 0, after = 0;  // nanoseconds
  double speedup = 1;            // above 1: better now
  double noise = 0;              // relative changes up to this are no news
  bool by_roof = false;  // speedup compares shares of the roof, so that a slower hour of the machine cancels out
};

/// Compares the benchmarks of two documents in the form of `bench_json`. A change counts where it is larger than
/// `threshold` and than both spreads together. Throws Error where a document is not of that form.
std::vector<Difference> compare_benchmarks(const std::string& before, const std::string& after, double threshold);

std::string difference_text(const std::vector<Difference>& all, bool colour);
/// Slower, removed or broken ones.
std::size_t regressions(const std::vector<Difference>& all);

}  // namespace mt
