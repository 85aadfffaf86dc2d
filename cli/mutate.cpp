// tile mutate: do the tests notice wrong kernels?
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "cli/verb.h"
#include "mt/harness/equivalents.h"
#include "mt/harness/file.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/mutation_report.h"
#include "mt/harness/names.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

class Mutate : public Verb {
 public:
  Mutate()
      : Verb("mutate", "plant faults in kernels and see whether their tests notice",
             "  tile mutate\n  tile mutate mt_softmax -v\n  tile mutate --sample 5 --seed 7\n"
             "  tile mutate sdpa --fault drop_barrier --json mutants.jsonl\n  tile mutate --faults\n") {}
  void declare(CLI::App& app) override {
    kernel_.declare(app);
    app.add_flag("--all-dtypes", all_dtypes_, "every dtype; else f32, or a kernel's first one");
    app.add_option("--fault", faults_, "plant this kind of fault only")->type_name("NAME ...");
    app.add_flag("--faults", list_, "list the kinds of faults and end");
    app.add_option("--sample", options_.sample, "mutants of each kernel, chosen by --seed")->check(positive());
    app.add_option("--seed", options_.seed, "of the sample");
    app.add_option("--jobs", options_.jobs, "mutants at a time; the number of cores where absent")->check(positive());
    app.add_option("--json", json_, "also one JSON object a mutant to this file (- is the standard output)")
        ->type_name("FILE");
    app.add_option("--summary", summary_, "also counts by fault and by kernel as JSON to this file")->type_name("FILE");
    app.add_option("--markdown", markdown_, "also the page docs/mutation.md to this file")->type_name("FILE");
    app.add_option("--source", source_, "the folder that holds kernels/, for declared equivalents; . where absent")
        ->type_name("DIR");
    app.add_flag("-v,--verbose", verbose_, "every mutant, not only those that survive");
  }

  int run() override {
    if (list_) return list();
    for (const std::string& f : faults_) options_.faults.push_back(&fault_named(f));
    if (options_.jobs == 0) options_.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    options_.open = [] { return open_device("interp"); };
    const std::vector<const KernelEntry*> entries = selected();
    std::FILE* to = json_ == "-" ? stderr : stdout;
    const bool colour = colour_wanted(fileno(to));
    Equivalents equivalents(source_);
    MutationTotals totals;
    totals.pairs = static_cast<std::int64_t>(entries.size());
    const Stopwatch watch;
    std::vector<Mutant> mutants;
    {
      Progress progress;
      mutants = mt::mutate(entries, options_, {[&](const Mutant& m, std::size_t done, std::size_t all) {
                             progress.show(fmt::format("{}/{}  {}", done + 1, all, m.id()));
                           }});
    }
    for (Mutant& m : mutants) {
      equivalents.look_at(m);
      if (m.fate == Fate::Survived)
        if (const DeclaredEquivalent* e = equivalents.find(m)) {
          m.fate = Fate::Equivalent;
          m.by = e->reason;
        }
      totals.count(m);
      if (verbose_ || m.fate == Fate::Survived) fmt::print(to, "{}", mutant_text(m, colour));
    }
    if (everything(entries)) totals.stale = equivalents.stale();
    totals.seconds = watch.seconds();
    write(mutants, totals);
    fmt::print(to, "{}", mutation_totals_text(totals, colour));
    return totals.exit_code();
  }

 private:
  static int list() {
    Table table({{"fault", Table::Align::Left}, {"what it is", Table::Align::Left}});
    for (const Fault& f : faults()) table.add({std::string(f.name), std::string(f.what)});
    fmt::print("{}", table.text());
    return kGood;
  }
  static const Fault& fault_named(const std::string& wanted) {
    if (const Fault* f = find_fault(wanted)) return *f;
    std::vector<std::string> names;
    for (const Fault& f : faults()) names.emplace_back(f.name);
    throw UsageError(fmt::format("there is no fault '{}'; like it are {}", wanted, listed(nearest(wanted, names))));
  }
  std::vector<const KernelEntry*> selected() const {
    std::vector<const KernelEntry*> all = kernel_.select();
    if (all_dtypes_ || !kernel_.dtype.empty()) return all;
    std::map<std::string, const KernelEntry*> one;
    for (const KernelEntry* e : all)
      if (const auto it = one.find(e->name); it == one.end() || e->dtype == DType::F32) one[e->name] = e;
    std::vector<const KernelEntry*> first;
    for (const auto& [id, e] : one) first.push_back(e);
    return first;
  }
  /// Whether every mutant of the library is run, so that an unused declaration is a stale one.
  bool everything(const std::vector<const KernelEntry*>& entries) const {
    std::set<std::string> names, all;
    for (const KernelEntry* e : entries) names.insert(e->name);
    for (const KernelEntry& e : kernels()) all.insert(e.name);
    return names == all && faults_.empty() && options_.sample == 0 && kernel_.dtype.empty();
  }
  void write(const std::vector<Mutant>& mutants, const MutationTotals& totals) const {
    if (!json_.empty()) {
      std::string lines;
      for (const Mutant& m : mutants) lines += mutant_json(m) + "\n";
      write_file(json_, lines);
    }
    if (!summary_.empty()) write_file(summary_, mutation_summary_json(mutants, totals));
    if (!markdown_.empty()) write_file(markdown_, mutation_markdown(mutants, totals));
  }

  KernelOptions kernel_;
  MutateOptions options_{.jobs = 0};
  std::vector<std::string> faults_;
  std::string json_, summary_, markdown_, source_ = ".";
  bool all_dtypes_ = false, list_ = false, verbose_ = false;
};

Mutate mutate_verb;

}  // namespace
}  // namespace mt
