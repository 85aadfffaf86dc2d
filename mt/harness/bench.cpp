#include "mt/harness/bench.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>

#include "mt/base/hash.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/memory.h"
#include "mt/harness/peer_trials.h"
#include "mt/harness/result.h"
#include "mt/harness/rotation.h"
#include "mt/harness/verified.h"

namespace mt {
namespace {

std::uint64_t hash_of(const std::vector<HostTensor>& tensors) {
  std::uint64_t h = 0;
  for (const HostTensor& t : tensors) h = hash64({reinterpret_cast<const char*>(t.data.data()), t.bytes()}, h);
  return h;
}

double cpu_seconds() {
  timespec t = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

constexpr double kWarm = 0.05;  // seconds

/// One problem of a kernel: verified, then ready for samples. What is found stands in a result, which outlives it.
class Trial {
 public:
  /// Throws Error where the problem is not verified.
  Trial(BenchResult& result, Runner& runner, const KernelEntry& entry, const Problem& problem,
        const BenchOptions& options)
      : r_(result),
        call_(runner.prepare(entry, problem, options.overrides)),
        stop_(options.stop),
        exact_(!call_.has_atomics()) {
    Device& device = runner.device();
    r_.compile_ms = call_.compile_ms();
    r_.chosen = options.overrides;
    r_.tuned = call_.tuned();
    if (call_.empty()) throw Error(contextual(entry.id(), problem, "no output has elements; nothing can be measured"));
    r_.work = call_.instance().work(problem);
    for (const TensorSlot& s : call_.tensors()) r_.tensor_bytes += s.bytes;
    check_memory(call_.tensors());
    inputs_ = make_inputs(call_.tensors(), problem);

    sets_.emplace_back(device, call_);
    sets_[0].run(inputs_);
    expected_ = call_.instance().oracle(Inputs(inputs_, problem, call_.signature()));
    right_ = verify(sets_[0]);
    r_.on_matrix_unit = call_.has_matrix_products();
    check_interrupt();

    const std::size_t cache = cache_bytes(device);
    r_.copies = sets_for(r_.tensor_bytes, options.rotation_bytes ? options.rotation_bytes : 3 * cache, options.memory,
                         options.most_copies);
    r_.cached = r_.copies * r_.tensor_bytes < cache;
    peers_.emplace(options.peer, entry, call_, inputs_, expected_, r_.copies);
    if (exact_) expected_.clear();
    for (std::size_t i = 1; i < r_.copies; ++i) {
      sets_.emplace_back(device, call_);
      sets_.back().reset(inputs_);
    }
    std::vector<const BoundCall*> bound;
    for (const TensorSet& set : sets_) bound.push_back(&set.bound());
    calls_.emplace(device, bound, kWarm);
  }

  bool enough() const { return stop_.enough(samples_, spent_); }
  /// Takes one; its seconds. `after_others`: other work has run since the last one.
  double sample(bool after_others) {
    if (after_others) calls_->touch();  // not counted
    const double cpu_before = cpu_seconds();
    const double seconds = calls_->run();
    cpu_ += cpu_seconds() - cpu_before;
    samples_.push_back(seconds / static_cast<double>(calls_->batch()));
    spent_ += seconds;
    return seconds;
  }
  void sample_peers() { peers_->sample(); }

  /// What the samples say, and whether what they left is what was verified; a call that changes its inputs is run once
  /// more from the start. Throws Error.
  void finish(const std::vector<Ceiling>& ceilings) {
    peers_->finish(r_.peers);
    r_.time = summarise(samples_);
    r_.iterations = static_cast<std::int64_t>(samples_.size() * calls_->batch());
    r_.cpu_seconds = cpu_ / static_cast<double>(r_.iterations);
    if (!ceilings.empty()) {
      r_.has_roof = true;
      r_.ceiling = median_of(ceilings);
      if (r_.on_matrix_unit && r_.ceiling.matrix_flops > 0) r_.ceiling.flops = r_.ceiling.matrix_flops;
      r_.roof = roof_of(r_.work.read, r_.work.written, r_.work.flops, r_.ceiling);
    }
    const std::vector<TensorSlot>& slots = call_.tensors();
    const bool in_place = std::any_of(slots.begin(), slots.end(), [](const TensorSlot& s) {
      return s.param->access == Access::InOut && !s.param->temporary;
    });
    for (TensorSet& set : sets_) {
      if (in_place) set.run(inputs_);
      if (!exact_)
        verify(set);
      else if (hash_of(set.outputs()) != right_)
        throw Error("the outputs after timing differ from those that were verified");
    }
    r_.verified = true;
  }

 private:
  /// A hash of the outputs. Throws Error where they are wrong.
  std::uint64_t verify(const TensorSet& set) {
    std::string wrong = set.damage(inputs_);
    const std::vector<HostTensor> outputs = set.outputs();
    const Verification v = verify_outputs(outputs, expected_);
    r_.compared = v.compared;
    add_sentence(wrong, v.error);
    if (wrong.empty() && v.compared == 0) wrong = "nothing was compared";
    if (!wrong.empty()) throw Error(wrong);
    return hash_of(outputs);
  }

  BenchResult& r_;
  const Call call_;
  StoppingCriterion stop_;
  bool exact_;  // calls give the same bits each time
  std::map<std::string, HostTensor> inputs_;
  std::vector<TensorSet> sets_;
  ExpectedOutputs expected_;
  std::uint64_t right_ = 0;
  std::optional<PeerTrials> peers_;
  std::optional<Sampler> calls_;
  std::vector<double> samples_;
  double spent_ = 0, cpu_ = 0;
};

}  // namespace

std::vector<BenchResult> run_in_turns(Runner& runner, const std::vector<BenchProblem>& problems,
                                      const BenchOptions& options, CeilingSource* ceiling) {
  if (problems.size() > 1 && options.peer) MT_ICE("a peer stands beside one problem at a time");
  std::vector<BenchResult> results;
  for (const auto& [entry, problem] : problems) {
    results.push_back(result_of<BenchResult>(*entry, problem));
    results.back().device = runner.device().info().backend;
  }
  std::vector<std::unique_ptr<Trial>> trials(problems.size());
  /// What fails leaves the turns.
  const auto in_trial = [&](std::size_t i, auto&& f) {
    note_failure(results[i], [&] { f(i); });
    if (!results[i].error.empty()) trials[i] = nullptr;
  };
  const auto in_each = [&](auto&& f) {
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (trials[i]) in_trial(i, f);
  };
  for (std::size_t i = 0; i < trials.size(); ++i)
    in_trial(i, [&](std::size_t) {
      trials[i] = std::make_unique<Trial>(results[i], runner, *problems[i].first, problems[i].second, options);
    });

  std::vector<Ceiling> ceilings;
  double since = 1e9;
  while (std::any_of(trials.begin(), trials.end(), [](const auto& t) { return t && !t->enough(); })) {
    check_interrupt();
    const bool others = (ceiling || options.peer) && since >= options.ceiling_every;
    if (others) {
      if (ceiling) ceilings.push_back(ceiling->sample());
      in_each([&](std::size_t i) { trials[i]->sample_peers(); });
      since = 0;
    }
    in_each([&](std::size_t i) { since += trials[i]->sample(others || trials.size() > 1); });
  }
  if (ceiling) ceilings.push_back(ceiling->sample());
  in_each([&](std::size_t i) { trials[i]->finish(ceilings); });
  return results;
}

BenchResult run_bench(Runner& runner, const KernelEntry& entry, const Problem& problem, const BenchOptions& options,
                      CeilingSource* ceiling) {
  return run_in_turns(runner, {{&entry, problem}}, options, ceiling).front();
}

}  // namespace mt
