// tile build.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/verb.h"
#include "mt/harness/file.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/manifest.h"
#include "mt/harness/names.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

class Build : public Verb {
 public:
  Build()
      : Verb("build", "write the text of kernels for targets, and a manifest with their contracts",
             "  tile build --target msl cuda --out kernels\n  tile build 'mt_*norm' --target cuda --out norms "
             "--check\n  tile build mt_softmax --size n=32000 --target msl --out long_rows\n") {}
  void declare(CLI::App& app) override {
    kernel_.declare(app);
    problem_.declare(app);
    app.add_option("--target", targets_, "metal (or msl), cuda, cpu; several may be given")->required();
    app.add_option("--out", out_, "the folder; made where it is missing")->required()->type_name("DIR");
    app.add_flag("--check", check_, "also compile the texts where their compiler is here");
  }
  int run() override {
    if (out_.empty()) throw UsageError("--out: name a folder");
    const auto entries = kernel_.select();
    const Problem changes = problem_.problem(entries);
    const Overrides overrides = problem_.overrides(entries);
    std::vector<const Backend*> targets;
    for (const std::string& t : targets_) {
      const Backend& b = backend_named(t);
      if (std::find(targets.begin(), targets.end(), &b) == targets.end()) targets.push_back(&b);
    }
    std::vector<BuiltVariant> built;
    std::vector<std::string> failures;
    {
      Progress progress;
      for (const KernelEntry* e : entries)
        for (const Backend* t : targets) {
          check_interrupt();
          progress.show(fmt::format("{} for {}", e->id(), t->name()));
          try {
            for (BuiltVariant& v : build_kernel(*e, *t, changes, overrides)) {
              if (check_) check_variant(v);
              built.push_back(std::move(v));
            }
          } catch (const Error& error) {
            failures.push_back(fmt::format("for {}: {}", t->name(), error.what()));
          }
        }
    }
    for (const std::string& f : failures) fmt::print(stderr, "tile: {}\n", f);
    if (!failures.empty())
      throw Error(fmt::format("{} of {} kernels failed; nothing was written", failures.size(),
                              entries.size() * targets.size()));
    FileSet files(out_);
    for (const BuiltVariant& v : built) {
      check_interrupt();
      files.add(v.file, v.artefact.text);
    }
    files.add("manifest.json", manifest_json(built, MT_VERSION));
    files.commit();
    fmt::print("{} texts for {} ({} kernels with their dtypes) and a manifest in {}\n", built.size(), listed(targets_),
               entries.size(), out_);
    if (check_)
      fmt::print("{} texts compiled{}\n", checked_,
                 checked_ == built.size() ? "" : ", the others have no compiler here");
    return kGood;
  }

 private:
  void check_variant(const BuiltVariant& v) {
    const auto verdict = v.target->check_artefact(v.artefact);
    if (verdict && !verdict->empty()) throw Error(fmt::format("{}: {}", v.file, *verdict));
    if (verdict) ++checked_;
  }

  KernelOptions kernel_;
  ProblemOptions problem_;
  std::vector<std::string> targets_;
  std::string out_;
  bool check_ = false;
  std::size_t checked_ = 0;
};

Build build;

}  // namespace
}  // namespace mt
