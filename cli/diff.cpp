// tile diff.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/snapshots.h"
#include "cli/verb.h"
#include "mt/harness/diff.h"
#include "mt/harness/file.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

class Diff : public Verb {
 public:
  Diff()
      : Verb("diff", "compare two bench results, with verdicts that respect their spread",
             "  tile diff before after\n  tile diff baselines/epyc.json today.json --threshold 0.05\n") {}
  void declare(CLI::App& app) override {
    app.add_option("BEFORE", before_, "a name given to `tile snap`, or a file of `tile bench --json`")->required();
    app.add_option("AFTER", after_, "the same")->required();
    app.add_option("--threshold", threshold_, "relative changes up to this are no news")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
  }
  int run() override {
    const auto all =
        compare_benchmarks(read_file(snapshot_path(before_)), read_file(snapshot_path(after_)), threshold_);
    fmt::print("{}", difference_text(all, colour_wanted(STDOUT_FILENO)));
    if (all.empty()) return kNothingRun;
    return regressions(all) > 0 ? kFailed : kGood;
  }

 private:
  std::string before_, after_;
  double threshold_ = 0.03;
};

Diff diff;

}  // namespace
}  // namespace mt
