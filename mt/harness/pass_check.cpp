#include "mt/harness/pass_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "mt/base/hash.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/jobs.h"
#include "mt/harness/memory.h"
#include "mt/harness/result.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/test_run.h"
#include "mt/harness/verified.h"
#include "mt/ir/text.h"

namespace mt {
namespace {

/// Elements of a case's tensors up to which a larger case stands better for its kernel than a smaller one.
constexpr std::int64_t kUsefulElements = 1 << 15;

/// Targets that plan and optimise alike.
struct Group {
  const Backend* first;
  std::string names;
};

std::vector<Group> target_groups() {
  std::vector<Group> groups;
  for (const Backend* b : backends()) {
    const auto alike = [&](const Group& g) {
      return g.first->pipeline() == b->pipeline() && g.first->traits() == b->traits();
    };
    if (const auto it = std::find_if(groups.begin(), groups.end(), alike); it != groups.end())
      it->names += fmt::format(", {}", b->name());
    else
      groups.push_back({b, std::string(b->name())});
  }
  return groups;
}

bool reorders(const std::string& pass) {
  return std::any_of(pipeline().begin(), pipeline().end(), [&](const Pass& p) { return p.name == pass && p.reorders; });
}

std::string changed_element(const std::vector<HostTensor>& before, const std::vector<HostTensor>& after) {
  for (std::size_t t = 0; t < before.size(); ++t)
    if (const auto i = different_element(before[t], after[t], true))  // folding may choose another NaN than the device
      return fmt::format("{}: element {} was {} before the pass and is {} after it", before[t].name, *i,
                         before[t].at(*i), after[t].at(*i));
  return "";
}

struct Execution {
  std::vector<HostTensor> outputs;
  std::string error;
};

Execution execute(const Call& call, const std::map<std::string, HostTensor>& inputs, Device& device) {
  try {
    TensorSet set(device, call);
    set.run(inputs);
    return {set.outputs(), set.damage(inputs)};
  } catch (const Error& e) {
    return {{}, e.what()};
  }
}

void check(const KernelEntry& entry, const Problem& problem, const Overrides& overrides, const Backend& target,
           const std::vector<InspectedStage>& stages, OpenDevice& reference, PassCheckResult& r) {
  Device& device = *reference.device;
  device.set_option("threadgroup_kib", target.traits().threadgroup_kib);
  const Call planned = Runner(target, device).prepare(entry, problem, overrides);
  if (planned.empty()) return;
  check_memory(planned.tensors());
  const std::map<std::string, HostTensor> inputs = make_inputs(planned.tensors(), problem);
  const ExpectedOutputs expected = planned.instance().oracle(Inputs(inputs, problem, planned.signature()));
  std::vector<HostTensor> before;
  for (std::size_t s = 0; s < stages.front().steps.size(); ++s) {
    std::vector<Kernel> kernels;
    bool changed = s == 0;
    for (const InspectedStage& stage : stages) {
      kernels.push_back(stage.steps[s].kernel);
      changed = changed || stage.steps[s].changed;
    }
    if (!changed) continue;
    r.pass = stages.front().steps[s].pass;
    for (std::size_t n = 0; s > 0 && n < stages.size() && r.error.empty(); ++n)
      r.error = lost_store(stages[n].steps[s - 1].kernel, stages[n].steps[s].kernel);
    if (!r.error.empty()) return;
    ++r.executed;
    Execution now = execute(planned.with_kernels(kernels), inputs, device);
    r.error = now.error;
    if (r.error.empty() && s > 0 && !reorders(r.pass)) r.error = changed_element(before, now.outputs);
    if (r.error.empty()) {
      const Verification v = verify_outputs(now.outputs, expected);
      r.compared += v.compared;
      r.error = v.error;
    }
    if (!r.error.empty()) return;
    before = std::move(now.outputs);
  }
  if (r.compared == 0) r.error = "nothing was compared";
}

std::int64_t elements(const KernelInstance& instance, const Problem& problem) {
  std::int64_t sum = 0;
  for (const TensorSlot& s : tensor_slots(instance.signature(), problem)) sum += s.count;
  return sum;
}

struct Chosen {
  Problem problem;
  std::vector<InspectedStage> stages;
  std::int64_t elements = 0;
};

/// A small case says little, and a large one takes long: the largest up to kUsefulElements, else the smallest.
bool better(std::int64_t a, std::int64_t b) {
  const bool small_a = a <= kUsefulElements, small_b = b <= kUsefulElements;
  return small_a != small_b ? small_a : small_a ? a > b : a < b;
}

/// Cases of one entry on one group of targets.
class EntryCheck {
 public:
  EntryCheck(const KernelEntry& entry, const PassCheckOptions& options, const Group& group, OpenDevice& reference)
      : entry_(entry), options_(options), group_(group), reference_(reference) {}

  template <class F>
  void run(const F& report) {
    std::map<std::string, Chosen> chosen;  // by the text of what is traced
    std::set<std::string> seen;
    for (const Problem& p : entry_.make()->tests()) {
      check_interrupt();
      Chosen c{overlaid(p, options_.changes), {}, 0};
      if (!seen.insert(c.problem.text()).second) continue;
      try {
        c.stages = inspect_kernel(entry_, *group_.first, c.problem, options_.overrides);
        c.elements = elements(*entry_.make(), c.problem);
      } catch (const Error& e) {
        auto r = result_of<PassCheckResult>(entry_, c.problem);
        r.targets = group_.names;
        r.pass = "trace";
        r.error = e.what();
        report(r);
        continue;
      }
      if (options_.all_cases) {
        report(one(c));
        continue;
      }
      std::string key;
      for (const InspectedStage& s : c.stages) key += print(s.steps.front().kernel);
      key = hash_hex(key);
      const auto it = chosen.find(key);
      if (it == chosen.end())
        chosen.emplace(key, std::move(c));
      else if (better(c.elements, it->second.elements))
        it->second = std::move(c);
    }
    for (const auto& [key, c] : chosen) {
      check_interrupt();
      report(one(c));
    }
  }

 private:
  PassCheckResult one(const Chosen& c) {
    PassCheckResult r = check_steps(entry_, c.problem, options_.overrides, *group_.first, c.stages, reference_);
    r.targets = group_.names;
    return r;
  }

  const KernelEntry& entry_;
  const PassCheckOptions& options_;
  const Group& group_;
  OpenDevice& reference_;
};

}  // namespace

PassCheckResult check_steps(const KernelEntry& entry, const Problem& problem, const Overrides& overrides,
                            const Backend& target, const std::vector<InspectedStage>& stages, OpenDevice& reference) {
  auto r = result_of<PassCheckResult>(entry, problem);
  r.targets = std::string(target.name());
  r.pass = "trace";
  note_failure(r, [&] { check(entry, problem, overrides, target, stages, reference, r); });
  if (r.passed()) r.pass.clear();
  return r;
}

int PassCheckTotals::exit_code() const {
  if (failed > 0) return 1;
  return compared == 0 || !unchecked.empty() ? 3 : 0;
}

PassCheckTotals check_passes(const std::vector<const KernelEntry*>& entries, const PassCheckOptions& options,
                             const PassCheckObserver& observer) {
  const Stopwatch watch;
  const std::vector<Group> groups = target_groups();
  PassCheckTotals totals;
  std::set<std::string> names;
  std::vector<std::int64_t> compared(entries.size());
  std::mutex mutex;
  run_jobs(options.jobs, entries.size(), [&] {
    return [&, reference = std::make_shared<OpenDevice>(options.open())](std::size_t i) {
      {
        const std::lock_guard lock(mutex);
        if (observer.before) observer.before(*entries[i], i, entries.size());
      }
      for (const Group& group : groups)
        EntryCheck(*entries[i], options, group, *reference).run([&](const PassCheckResult& r) {
          const std::lock_guard lock(mutex);
          ++totals.cases;
          totals.failed += !r.passed();
          totals.executed += r.executed;
          compared[i] += r.compared;
          if (observer.after) observer.after(r);
        });
    };
  });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    names.insert(entries[i]->name);
    totals.compared += compared[i];
    if (compared[i] == 0) totals.unchecked.push_back(entries[i]->id());
  }
  totals.kernels = static_cast<std::int64_t>(names.size());
  totals.pairs = static_cast<std::int64_t>(entries.size());
  totals.seconds = watch.seconds();
  return totals;
}

}  // namespace mt
