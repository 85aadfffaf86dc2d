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
             "--check\n  tile build --target metallib --out kernels\n  tile build mt_softmax --size n=32000 --target "
             "msl --out long_rows\n") {}
  void declare(CLI::App& app) override {
    kernel_.declare(app);
    problem_.declare(app);
    app.add_option("--target", targets_,
                   "metal (or msl), metallib (the texts, and all of them as one library, through Xcode's xcrun), cuda, "
                   "cpu; several may be given")
        ->required();
    app.add_option("--out", out_, "the folder; made where it is missing")->required()->type_name("DIR");
    app.add_flag("--check", check_, "also compile the texts where their compiler is here");
  }
  int run() override {
    if (out_.empty()) throw UsageError("--out: name a folder");
    const auto entries = kernel_.select();
    const Problem changes = problem_.problem(entries);
    const Overrides overrides = problem_.overrides(entries);
    std::vector<const Backend*> targets, libraries;
    const auto add = [](std::vector<const Backend*>& to, const Backend* b) {
      if (std::find(to.begin(), to.end(), b) == to.end()) to.push_back(b);
    };
    for (const std::string& t : targets_) {
      const Backend* linked = linked_as(t);
      add(targets, linked ? linked : &backend_named(t));
      if (linked) add(libraries, linked);
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
    const Files made = link_libraries(libraries, built);
    FileSet files(out_);
    for (const auto& [file, bytes] : made) files.add(file, bytes);
    for (const BuiltVariant& v : built) {
      check_interrupt();
      files.add(v.file, v.artefact.text);
    }
    files.add("manifest.json", manifest_json(built, MT_VERSION));
    files.commit();
    fmt::print("{} texts for {} ({} kernels with their dtypes) and a manifest in {}\n", built.size(), listed(targets_),
               entries.size(), out_);
    for (const auto& [file, bytes] : made) fmt::print("{}/{}: {} bytes\n", out_, file, bytes.size());
    if (check_)
      fmt::print("{} texts compiled{}\n", checked_,
                 checked_ == built.size() ? "" : ", the others have no compiler here");
    return kGood;
  }

 private:
  using Files = std::vector<std::pair<std::string, std::string>>;  // names and contents

  /// The target whose library has that name, or null.
  static const Backend* linked_as(const std::string& name) {
    for (const Backend* b : backends())
      if (!name.empty() && b->library_name() == name) return b;
    return nullptr;
  }

  static Files link_libraries(const std::vector<const Backend*>& targets, std::vector<BuiltVariant>& built) {
    Files made;
    Progress progress;
    for (const Backend* t : targets) {
      Files texts;
      const std::string file = fmt::format("{}/kernels.{}", t->name(), t->library_name());
      for (BuiltVariant& v : built) {
        if (v.target != t) continue;
        texts.emplace_back(v.file, v.artefact.text);
        v.library = file;
      }
      made.emplace_back(file, t->library(texts, [&](const std::string& what) {
        check_interrupt();
        progress.show(fmt::format("{} into {}", what, file));
      }));
    }
    return made;
  }

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
