#include "mt/harness/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "mt/harness/ceiling.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/memory.h"
#include "mt/harness/result.h"
#include "mt/harness/rotation.h"
#include "mt/harness/tuned.h"
#include "mt/harness/verified.h"

namespace mt {
namespace {

constexpr double kBriefWarm = 0.004, kWarm = 0.05;  // seconds
constexpr double kLeastGain = 0.01;                 // below it a choice is not worth keeping
constexpr std::size_t kMostSets = 256, kMemory = std::size_t{4} << 30;

/// Candidates that would run, by code; the plan's own first. Throws Error where the plan itself fails.
std::vector<Candidate> candidates_of(Runner& runner, const KernelEntry& entry, const Problem& problem,
                                     const TuneOptions& options, std::size_t* left_out = nullptr) {
  const std::unique_ptr<KernelInstance> instance = entry.make();
  const TargetTraits traits = runner.backend().traits();
  check_problem(*instance, problem, options.fixed);
  instance->plan(problem, traits, options.fixed);
  const Limits& limits = runner.device().info().limits;
  std::vector<Candidate> all;
  std::set<std::string> seen;
  for (const Overrides& chosen : tuning_space(instance->signature(), options.fixed, options.most, left_out)) {
    check_interrupt();
    Candidate c{chosen, CandidateFate::Timed, "", 0, {}};
    const bool planned = all.empty();
    try {
      const std::string code = planned_code(entry, problem, traits, chosen, &limits);
      if (!seen.insert(code).second) c.fate = CandidateFate::Alike;
    } catch (const Error& e) {
      if (planned) throw;
      c.fate = CandidateFate::Refused;
      c.why = e.what();
    }
    all.push_back(std::move(c));
  }
  return all;
}

/// What all candidates of a problem share: inputs, what is right, and sets of tensors on the device.
class Bench {
 public:
  Bench(Runner& runner, const KernelEntry& entry, const Problem& problem)
      : runner_(runner), entry_(entry), problem_(problem), planned_(prepare({})) {
    if (planned_.empty()) throw Error("no output has elements; nothing can be measured");
    check_memory(planned_.tensors());
    inputs_ = make_inputs(planned_.tensors(), problem);
    std::size_t bytes = 0;
    for (const TensorSlot& s : planned_.tensors()) bytes += s.bytes;
    const std::size_t sets = sets_for(bytes, 3 * cache_bytes(runner.device()), kMemory, kMostSets);
    for (std::size_t i = 0; i < sets; ++i) {
      sets_.emplace_back();
      for (const TensorSlot& s : planned_.tensors())
        if (!s.param->temporary) sets_.back().emplace_back(runner.device(), s);
    }
    write();
  }

  /// A candidate compiled and bound to the shared sets.
  struct Ready {
    Call call;
    std::vector<BoundCall> bound;
    std::unique_ptr<Sampler> sampler;
  };
  /// Throws Error.
  std::unique_ptr<Ready> ready(const Overrides& chosen, double warm) {
    auto made = std::make_unique<Ready>(Ready{prepare(chosen), {}, nullptr});
    made->bound.reserve(sets_.size());
    std::vector<const BoundCall*> calls;
    for (auto& set : sets_) {
      std::map<std::string, BufferView> views;
      for (const GuardedTensor& t : set) views[t.slot().param->name] = t.view();
      made->bound.push_back(made->call.bind(std::move(views)));
      calls.push_back(&made->bound.back());
    }
    if (changes_inputs()) write();
    made->sampler = std::make_unique<Sampler>(runner_.device(), calls, warm);
    return made;
  }
  /// Sentences about what it computes; empty where it is right. Throws Error.
  std::string wrong(const Call& call) {
    TensorSet set(runner_.device(), call);
    set.run(inputs_);
    std::string all = set.damage(inputs_);
    const Verification v = verify_outputs(set.outputs(), expected());
    add_sentence(all, v.error);
    if (all.empty() && v.compared == 0) all = "nothing was compared";
    return all;
  }

 private:
  Call prepare(const Overrides& chosen) { return runner_.prepare(entry_, problem_, chosen); }
  const ExpectedOutputs& expected() {
    if (expected_.empty()) expected_ = planned_.instance().oracle(Inputs(inputs_, problem_, planned_.signature()));
    return expected_;
  }
  bool changes_inputs() const {
    return std::any_of(planned_.tensors().begin(), planned_.tensors().end(),
                       [](const TensorSlot& s) { return s.param->access == Access::InOut && !s.param->temporary; });
  }
  void write() {
    for (auto& set : sets_)
      for (GuardedTensor& t : set) {
        const auto it = inputs_.find(t.slot().param->name);
        it == inputs_.end() ? t.poison() : t.write(it->second);
      }
  }
  Runner& runner_;
  const KernelEntry& entry_;
  const Problem& problem_;
  Call planned_;
  std::map<std::string, HostTensor> inputs_;
  ExpectedOutputs expected_;
  std::vector<std::vector<GuardedTensor>> sets_;
};

/// A few samples of every candidate; far behind the best, the rest of the samples is saved.
void time_briefly(Bench& bench, TuneResult& r, const TuneOptions& options) {
  double best = 0;
  std::size_t done = 0;
  for (Candidate& c : r.candidates) {
    check_interrupt();
    ++done;
    if (c.fate != CandidateFate::Timed) continue;
    if (options.progress)
      options.progress(fmt::format("{}/{}  {}", done, r.candidates.size(), overrides_text(c.chosen)));
    try {
      const auto ready = bench.ready(c.chosen, kBriefWarm);
      std::vector<double> samples;
      while (samples.size() < options.brief) {
        samples.push_back(ready->sampler->sample());
        const double least = *std::min_element(samples.begin(), samples.end());
        if (samples.size() == 2 && best > 0 && least > options.drop * best) break;
      }
      c.brief = summarise(samples).median;
      if (best == 0 || c.brief < best) best = c.brief;
    } catch (const Error& e) {
      if (c.chosen.empty()) throw;
      c.fate = CandidateFate::Broken;
      c.why = e.what();
    }
  }
  for (Candidate& c : r.candidates)
    if (c.fate == CandidateFate::Timed && !c.chosen.empty() && c.brief > options.drop * best)
      c.fate = CandidateFate::Slow;
}

/// The plan's own choice and the best few that are right, in turns. What was dropped comes back where it was dropped
/// beside one that is quick and wrong.
void measure_finalists(Bench& bench, TuneResult& r, const TuneOptions& options) {
  std::vector<Candidate*> order;
  for (Candidate& c : r.candidates)
    if (c.fate == CandidateFate::Timed || c.fate == CandidateFate::Slow) order.push_back(&c);
  std::stable_sort(order.begin() + 1, order.end(), [](auto* a, auto* b) { return a->brief < b->brief; });
  struct Entry {
    Candidate* candidate;
    std::unique_ptr<Bench::Ready> ready;
    std::vector<double> samples;
  };
  std::vector<Entry> entries;
  for (Candidate* c : order) {
    check_interrupt();
    if (entries.size() > options.finalists) break;
    const std::size_t best = entries.size() > 1 ? 1 : 0;
    if (!entries.empty() && c->brief > options.drop * entries[best].candidate->brief) break;
    if (options.progress) options.progress("verifying " + overrides_text(c->chosen));
    try {
      auto ready = bench.ready(c->chosen, kWarm);
      if (const std::string wrong = bench.wrong(ready->call); !wrong.empty()) {
        if (c->chosen.empty()) throw Error("as planned it is wrong: " + wrong);
        c->fate = CandidateFate::Wrong;
        c->why = wrong;
        continue;
      }
      c->fate = CandidateFate::Finalist;
      entries.push_back({c, std::move(ready), {}});
    } catch (const Error& e) {
      if (c->chosen.empty()) throw;
      c->fate = CandidateFate::Broken;
      c->why = e.what();
    }
  }
  double spent = 0;
  const auto enough = [&] {
    return std::all_of(entries.begin(), entries.end(),
                       [&](const Entry& e) { return options.stop.enough(e.samples, spent); });
  };
  while (!enough()) {
    check_interrupt();
    double longest = 0;
    for (Entry& e : entries) {
      e.samples.push_back(e.ready->sampler->sample());
      longest = std::max(longest, e.samples.back() * static_cast<double>(e.ready->sampler->batch()));
    }
    spent += longest;
  }
  const Candidate* best = nullptr;
  for (Entry& e : entries) {
    e.candidate->time = summarise(e.samples);
    if (!best || e.candidate->time.median < best->time.median) best = e.candidate;
  }
  r.planned = *entries.front().candidate;
  r.best = *best;
  const double noise = (r.planned.time.spread() + r.best.time.spread()) / 2;
  r.improved = best != entries.front().candidate &&
               r.best.time.median < r.planned.time.median * (1 - std::max(kLeastGain, noise));
}

}  // namespace

std::string_view name_of(CandidateFate fate) {
  switch (fate) {
    case CandidateFate::Refused:
      return "refused";
    case CandidateFate::Alike:
      return "alike";
    case CandidateFate::Broken:
      return "broken";
    case CandidateFate::Slow:
      return "slow";
    case CandidateFate::Timed:
      return "timed";
    case CandidateFate::Wrong:
      return "wrong";
    case CandidateFate::Finalist:
      return "finalist";
  }
  MT_ICE("a fate without a name");
}

std::size_t TuneResult::count(CandidateFate fate) const {
  return static_cast<std::size_t>(
      std::count_if(candidates.begin(), candidates.end(), [&](const Candidate& c) { return c.fate == fate; }));
}

void compile_candidates(Runner& runner, const KernelEntry& entry, const Problem& problem, const TuneOptions& options,
                        std::size_t part, std::size_t parts) {
  std::size_t number = 0;
  try {
    for (const Candidate& c : candidates_of(runner, entry, problem, options))
      if (c.fate == CandidateFate::Timed && number++ % parts == part) try {
          runner.prepare(entry, problem, c.chosen);
        } catch (const Error&) {  // found again, and told, by who times it
        }
  } catch (const Error&) {
  }
}

TuneResult tune(Runner& runner, const KernelEntry& entry, const Problem& problem, const TuneOptions& options) {
  auto r = result_of<TuneResult>(entry, problem);
  r.device = runner.device().info().backend;
  note_failure(r, [&] {
    r.candidates = candidates_of(runner, entry, problem, options, &r.left_out);
    Bench bench(runner, entry, problem);
    time_briefly(bench, r, options);
    measure_finalists(bench, r, options);
  });
  return r;
}

}  // namespace mt
