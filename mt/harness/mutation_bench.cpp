#include "mt/harness/mutation_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "mt/harness/derived.h"
#include "mt/harness/memory.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/verified.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"

namespace mt {
namespace {

constexpr std::int64_t kUnlimited = std::int64_t{1} << 40;
constexpr std::int64_t kLeastBudget = std::int64_t{1} << 16;
constexpr int kPatience = 8;  // times the steps that the right kernel needs

/// The text without names of values, which say nothing about what a kernel does.
std::string nameless(Kernel k) {
  for (ValueInfo& v : k.values) v.name.clear();
  return print(k);
}

/// The first line of `now` that differs from `was`, with those that the fault put before it.
std::pair<std::string, std::string> difference(const Kernel& was, const Kernel& now) {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at), from = text.find_first_not_of(' ', at);
      if (from < end) all.push_back(text.substr(from, end - from));
      at = end + 1;
    }
    return all;
  };
  const std::vector<std::string> a = lines(print(was)), b = lines(print(now));
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  if (at == a.size() || at == b.size()) return {};
  const std::size_t more = b.size() > a.size() ? b.size() - a.size() : 0;
  std::string after = b.size() < a.size() ? "" : b[at];
  for (std::size_t i = 1; i <= more && at + i < b.size(); ++i) after += "; " + b[at + i];
  return {a[at], after};
}

}  // namespace

MutationBench::MutationBench(const KernelEntry& entry, OpenDevice& opened)
    : entry_(entry), opened_(opened), runner_(*opened.backend, *opened.device) {
  const auto instance = entry.make();
  std::set<std::string> seen;
  for (const Problem& p : instance->tests() + derived_cases(*instance, opened.backend->traits()))
    if (seen.insert(p.text()).second) add_case(p);
}

void MutationBench::add_case(const Problem& problem) {
  auto c = std::make_unique<Case>();
  c->text = problem.text();
  c->call = runner_.prepare(entry_, problem);
  if (c->call.empty()) return;
  check_memory(c->call.tensors());
  c->inputs = make_inputs(c->call.tensors(), problem);
  c->expected = c->call.instance().oracle(Inputs(c->inputs, problem, c->call.signature()));
  for (const PreparedStage& stage : c->call.stages())
    c->variants.push_back(variant_of(c->call.instance().trace(stage.index), stage.compiled.kernel));
  if (!opened_.device->set_option("max_steps", kUnlimited))
    throw Error(fmt::format("device {} does not count steps, so a fault could run for ever; use interp",
                            opened_.device->info().backend));
  const Stopwatch watch;
  if (const std::string why = failure(*c, c->call); !why.empty())
    throw Error(fmt::format("[{}] case {} fails without any fault: {}", entry_.id(), c->text, why));
  c->seconds = watch.seconds();
  c->max_steps = step_budget(*c);
  cases_.push_back(std::move(c));
}

std::size_t MutationBench::variant_of(Kernel traced, const Kernel& optimised) {
  const auto [it, fresh] = variant_by_text_.emplace(print(traced, {.locations = true}), variants_.size());
  if (fresh) {
    Variant v{std::move(traced), nameless(optimised), {}};
    for (Expression& e : expressions(v.traced)) v.places.emplace(e.key, std::move(e.insts));
    variants_.push_back(std::move(v));
  }
  return it->second;
}

/// Steps that a threadgroup of the right kernel needs, times some patience.
std::int64_t MutationBench::step_budget(const Case& c) {
  std::int64_t steps = kLeastBudget / kPatience;
  for (;; steps *= 4) {
    opened_.device->set_option("max_steps", steps);
    if (failure(c, c.call).empty()) return steps * kPatience;
    if (steps > kUnlimited / 4) return kUnlimited;
  }
}

/// What is wrong with the outputs of `call`; empty where nothing is.
std::string MutationBench::failure(const Case& c, const Call& call) {
  try {
    TensorSet set(*opened_.device, call);
    set.run(c.inputs);
    if (std::string damage = set.damage(c.inputs); !damage.empty()) return damage;
    return verify_outputs(set.outputs(), c.expected).error;
  } catch (const Error& e) {
    return e.what();
  }
}

std::size_t MutationBench::enumerate(const std::vector<const Fault*>& faults) {
  sites_.clear();
  std::unordered_map<std::uint64_t, bool> seen;
  std::map<std::string, int> number;
  for (const Variant& v : variants_)
    for (const Expression& e : expressions(v.traced)) {
      if (!seen.emplace(e.key, true).second) continue;
      for (const Fault* f : faults)
        if (f->fits(v.traced, v.traced.at(e.insts.front()))) {
          const std::string name = fmt::format("{}:{} {} {}", e.loc.file, e.loc.line, info(e.op).name, f->name);
          sites_.push_back({e.key, e.op, e.loc, f, ++number[name]});
        }
    }
  return sites_.size();
}

/// The variant with the fault; null where it has no such place.
const MutationBench::Planted* MutationBench::planted(const Site& site, std::size_t variant,
                                                     std::unordered_map<std::size_t, Planted>& done) const {
  const Variant& v = variants_[variant];
  const auto places = v.places.find(site.expression);
  if (places == v.places.end()) return nullptr;
  const auto [it, fresh] = done.try_emplace(variant);
  Planted& p = it->second;
  if (!fresh) return &p;
  p.optimised = v.traced;
  p.refused = plant(p.optimised, places->second, *site.fault) == 0 || !verify(p.optimised).empty();
  if (p.refused) return &p;
  try {
    optimise(p.optimised, opened_.backend->pipeline());
    p.same = nameless(p.optimised) == v.optimised;
  } catch (const Error& e) {
    p.error = e.what();
  }
  return &p;
}

void MutationBench::describe(Mutant& m, const Site& site) const {
  for (const Variant& v : variants_) {
    const auto places = v.places.find(site.expression);
    if (places == v.places.end()) continue;
    Kernel wrong = v.traced, right = v.traced;
    compact(right);
    plant(wrong, {places->second.front()}, *site.fault);
    std::tie(m.before, m.after) = difference(right, wrong);
    return;
  }
}

/// Cases in the order in which they should be tried: quick ones and those that have killed before.
std::vector<MutationBench::Case*> MutationBench::promising() {
  std::vector<std::pair<double, Case*>> order;
  for (const auto& c : cases_) order.push_back({c->seconds * (c->tries + 2) / (c->kills + 1), c.get()});
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Case*> all;
  for (const auto& [cost, c] : order) all.push_back(c);
  return all;
}

Mutant MutationBench::run(std::size_t n) {
  const Site& site = sites_.at(n);
  Mutant m{.kernel = &entry_, .fault = site.fault, .op = site.op, .loc = site.loc, .number = site.number};
  describe(m, site);
  std::unordered_map<std::size_t, Planted> done;
  bool verified = false, changed = false;
  for (Case* c : promising()) {
    std::vector<Kernel> stages;
    bool differs = false;
    for (std::size_t s = 0; s < c->variants.size(); ++s) {
      const PreparedStage& stage = c->call.stages()[s];
      const Planted* p = planted(site, c->variants[s], done);
      const bool usable = p && !p->refused;
      if (usable && !p->error.empty()) {
        m.fate = Fate::Killed;
        m.by = c->text + ": " + p->error;
        return m;
      }
      verified |= usable;
      differs |= usable && !p->same;
      stages.resize(std::max(stages.size(), stage.index + 1));
      stages[stage.index] = usable ? p->optimised : stage.compiled.kernel;
    }
    if (!differs) continue;
    changed = true;
    opened_.device->set_option("max_steps", c->max_steps);
    ++c->tries;
    const std::string why = failure(*c, c->call.with_kernels(stages));
    if (why.empty()) continue;
    ++c->kills;
    m.fate = Fate::Killed;
    m.by = c->text + ": " + why;
    return m;
  }
  m.fate = !verified ? Fate::Refused : !changed ? Fate::Unchanged : Fate::Survived;
  return m;
}

}  // namespace mt
