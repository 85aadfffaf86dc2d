// tile list.
#include <fmt/format.h>

#include "cli/verb.h"
#include "mt/harness/catalogue.h"

namespace mt {
namespace {

class List : public Verb {
 public:
  List()
      : Verb("list", "show kernels with dtypes, parameters and counts of cases; --json has scalars and tunables too",
             "  tile list\n  tile list 'mt_*norm'\n  tile list sdpa --json\n  tile list --markdown > "
             "docs/kernels.md\n") {}
  void declare(CLI::App& app) override {
    kernel_.declare(app);
    auto* json = app.add_flag("--json", json_, "an array of objects");
    app.add_flag("--markdown", markdown_, "the page docs/kernels.md")->excludes(json);
  }
  int run() override {
    const auto all = catalogue(kernel_.select());
    fmt::print("{}", json_ ? catalogue_json(all) : markdown_ ? catalogue_markdown(all) : catalogue_text(all));
    return kGood;
  }

 private:
  KernelOptions kernel_;
  bool json_ = false, markdown_ = false;
};

List list;

}  // namespace
}  // namespace mt
