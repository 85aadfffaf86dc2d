#include "mt/harness/derived.h"

#include <algorithm>
#include <optional>
#include <set>

#include "mt/harness/contract.h"

namespace mt {
namespace {

constexpr std::int64_t kModerate = 300;  // elements of the largest tensor, at least, where a case has them
constexpr std::size_t kMostShapes = 60;
constexpr std::int64_t kMost = std::int64_t{1} << 16;  // elements of all tensors of a derived case

/// Elements of all tensors; nothing where the problem breaks the contract or has no output.
std::optional<std::int64_t> elements(KernelInstance& instance, const Problem& p, TargetTraits traits,
                                     const Overrides& overrides) {
  try {
    check_problem(instance, p, overrides);
    instance.plan(p, traits, overrides);
    std::int64_t all = 0, written = 0;
    for (const TensorSlot& s : tensor_slots(instance.signature(), p)) {
      if (s.param->temporary) continue;
      all += s.count;
      if (s.param->access != Access::In) written += s.count;
    }
    if (written == 0) return std::nullopt;
    return all;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The kernel's own case of moderate size: the smallest that is not very small.
std::optional<Problem> base_case(KernelInstance& instance, TargetTraits traits, const Overrides& overrides) {
  std::optional<Problem> best;
  std::int64_t size = 0;
  for (const Problem& p : instance.tests()) {
    if (!p.plain() || !p.tunables().empty()) continue;
    const auto n = elements(instance, p, traits, overrides);
    if (!n || *n > kMost) continue;
    if (!best || (size < kModerate ? *n > size : *n >= kModerate && *n < size)) {
      best = p;
      size = *n;
    }
  }
  return best;
}

/// Counts that the plan for `p` chose: threads, tunables, and threads times tunables.
std::set<std::int64_t> counts(KernelInstance& instance, const Problem& p, TargetTraits traits,
                              const Overrides& overrides) {
  std::set<std::int64_t> all{kLanes};
  for (const StagePlan& stage : instance.plan(p, traits, overrides)) {
    all.insert(stage.launch.threads);
    for (const TunableDecl& t : instance.signature().tunables)
      for (const std::int64_t n : {std::int64_t{t.value}, std::int64_t{t.value} * stage.launch.threads})
        if (n > 1 && n <= 4096) all.insert(n);
  }
  return all;
}

/// Whether patterns of values can be laid over an input.
bool takes_values(const Signature& signature) {
  return std::any_of(signature.tensors.begin(), signature.tensors.end(), [](const TensorParam& t) {
    return t.access != Access::Out && !t.temporary && is_float(t.dtype) && t.fill.edges;
  });
}

}  // namespace

Problems derived_cases(KernelInstance& instance, TargetTraits traits, const Overrides& overrides) {
  const std::optional<Problem> base = base_case(instance, traits, overrides);
  if (!base) return {};
  std::set<std::string> seen;
  for (const Problem& p : instance.tests()) seen.insert(p.text());
  Problems shapes;
  for (const std::int64_t t : counts(instance, *base, traits, overrides))
    for (const std::int64_t n : {t - 1, t, t + 1, 2 * t - 1, 2 * t + 1})
      for (const auto& [name, value] : base->sizes()) {
        const Problem p = base->with(name, n);
        if (!seen.insert(p.text()).second) continue;
        if (const auto size = elements(instance, p, traits, overrides); size && *size <= kMost) shapes.push_back(p);
      }
  // Kernels with many sizes would have hundreds.
  Problems all;
  const std::size_t step = (shapes.size() + kMostShapes - 1) / kMostShapes;
  for (std::size_t i = 0; i < shapes.size(); i += step) all.push_back(shapes[i]);
  if (!takes_values(instance.signature())) return all;
  for (const Values v : {Values::Zeros, Values::Equal, Values::Tiny, Values::Large, Values::Alternating, Values::Spike})
    if (const Problem p = base->with_values(v); seen.insert(p.text()).second) all.push_back(p);
  return all;
}

}  // namespace mt
