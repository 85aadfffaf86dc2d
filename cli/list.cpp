// tile list.
#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/verb.h"
#include "mt/dsl/reports.h"
#include "mt/harness/catalogue.h"

namespace mt {
namespace {

class List : public Verb {
 public:
  List()
      : Verb("list", "show kernels with dtypes, parameters and counts of cases; --json has scalars and tunables too",
             "  tile list\n  tile list 'mt_*norm'\n  tile list sdpa --json\n  tile list softmax --cases\n  tile list "
             "--markdown > "
             "docs/kernels.md\n") {}
  void declare(CLI::App& app) override {
    kernel_.declare(app);
    auto* json = app.add_flag("--json", json_, "an array of objects");
    auto* markdown = app.add_flag("--markdown", markdown_, "the page docs/kernels.md")->excludes(json);
    app.add_flag("--cases", cases_, "a line for each test case: kernel, problem, and the field reports it stands for")
        ->excludes(json)
        ->excludes(markdown);
  }
  int run() override {
    if (cases_) return list_cases();
    const auto all = catalogue(kernel_.select());
    fmt::print("{}", json_ ? catalogue_json(all) : markdown_ ? catalogue_markdown(all) : catalogue_text(all));
    return kGood;
  }

 private:
  int list_cases() const {
    std::map<std::string, std::string> reports;  // by the case they led to
    for (const ReportedCase& c : reported_cases()) reports[c.kernel + " " + c.problem.text()] += " " + c.report;
    std::set<std::string> shown;  // cases are the same in every dtype
    for (const KernelEntry* e : kernel_.select())
      for (const Problem& p : e->make()->tests())
        if (const std::string line = e->name + " " + p.text(); shown.insert(line).second)
          fmt::print("{}{}\n", line, reports[line]);
    return kGood;
  }

  KernelOptions kernel_;
  bool json_ = false, markdown_ = false, cases_ = false;
};

List list;

}  // namespace
}  // namespace mt
