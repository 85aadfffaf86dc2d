// tile inspect.
#include "mt/harness/inspect.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/verb.h"
#include "mt/harness/manifest.h"
#include "mt/harness/names.h"
#include "mt/harness/test_run.h"

namespace mt {
namespace {

class Inspect : public Verb {
 public:
  Inspect()
      : Verb("inspect", "show what the compiler does with one kernel: text, IR, passes, counts",
             "  tile inspect mt_softmax --target msl --dtype bf16\n  tile inspect mt_rms_norm --ir --size n=1000\n"
             "  tile inspect mt_rms_norm --pass all\n  tile inspect mt_sort --target cuda --stats\n") {}
  void declare(CLI::App& app) override {
    app.add_option("KERNEL", kernel_, "its name")->required();
    app.add_option("--target", target_, "metal (or msl), cuda, cpu; the default device's where absent");
    app.add_option("--dtype", dtype_, "its first one where absent");
    app.add_flag("--ir", ir_, "the IR after all passes");
    app.add_option("--pass", pass_, "the IR after this pass (`trace`: before the first), or `all` that change it");
    app.add_flag("--stats", stats_,
                 "counts of instructions by pass, times, memory; registers where a compiler is here");
    problem_.declare(app);
  }
  int run() override {
    const KernelEntry& entry = find();
    const Backend& target = target_.empty() ? default_target() : backend_named(target_);
    if (!pass_.empty() && pass_ != "all") {
      const auto names = pass_names();
      if (std::find(names.begin(), names.end(), pass_) == names.end())
        throw UsageError(fmt::format("no pass '{}'; use all, {}", pass_, listed(names, "or")));
    }
    const Problem problem = overlaid(default_problem(*entry.make()), problem_.problem({&entry}));
    const auto stages = inspect_kernel(entry, target, problem, problem_.overrides({&entry}));
    if (!pass_.empty()) fmt::print("{}", ir_text(stages, pass_));
    if (ir_) fmt::print("{}", ir_text(stages, ""));
    if (stats_) fmt::print("{}", stats_text(stages, target));
    if (pass_.empty() && !ir_ && !stats_) fmt::print("{}", artefact_of(stages, target).text);
    return kGood;
  }

 private:
  const KernelEntry& find() const {
    const auto type = dtype_.empty() ? std::nullopt : std::optional(dtype_named(dtype_));
    const auto found = select_kernels(kernels(), kernel_, type);
    // A whole name wins over the names that hold it.
    std::vector<std::string> names;
    for (const KernelEntry* e : found) {
      if (e->name == kernel_) return *e;
      if (names.empty() || names.back() != e->name) names.push_back(e->name);
    }
    if (names.size() > 1) {
      const std::vector<std::string> near = nearest(kernel_, names, 5);
      throw UsageError(fmt::format("'{}' matches {} kernels; name one, for instance {}", kernel_, names.size(),
                                   listed(near.empty() ? std::vector<std::string>{names[0], names[1]} : near, "or")));
    }
    return *found.front();
  }
  static const Backend& default_target() {
    const auto devices = usable_devices();
    return *(devices.empty() ? backends().front() : find_backend(devices.front()));
  }

  std::string kernel_, target_, dtype_, pass_;
  ProblemOptions problem_;
  bool ir_ = false, stats_ = false;
};

Inspect inspect;

}  // namespace
}  // namespace mt
