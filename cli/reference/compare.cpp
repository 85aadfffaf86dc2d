#include "cli/reference/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mt/harness/result.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/test_run.h"
#include "mt/harness/verified.h"

namespace mt::reference {
namespace {

constexpr double kMostBytes = 4 << 20;  // of a problem that is run: a GPU's threads are emulated one by one

ExpectedOutputs widened(ExpectedOutputs expected, const Allowance& a, DType storage) {
  // Bits of the significand: 24 of f32, 11 of f16, 8 of bf16.
  const double coarser = storage == DType::F16 ? std::ldexp(1.0, 13) : storage == DType::BF16 ? std::ldexp(1.0, 16) : 1;
  const double by = a.storage_arithmetic ? coarser : 1;
  // What an f16 value below the smallest loses on the way.
  const double underflow = a.storage_arithmetic && storage == DType::F16 ? std::ldexp(1.0, -24) : 0;
  for (auto& [name, e] : expected)
    for (std::size_t i = 0; i < e.bound.size(); ++i) {
      if (e.bound[i] > 0) e.bound[i] = e.bound[i] * by + underflow;
      if (a.more && std::isfinite(e.value[i])) e.bound[i] += a.more(e.value[i]);
    }
  return expected;
}

Judgement judged(const std::vector<HostTensor>& outputs, const ExpectedOutputs& expected, std::int64_t* compared) {
  Judgement j;
  j.ran = true;
  const Verification v = verify_outputs(outputs, expected);
  j.error = v.worst.worst_error;
  j.ratio = v.worst.max_error;
  j.wrong = v.error;
  if (compared) *compared = v.compared;
  if (v.compared == 0 && j.wrong.empty()) j.wrong = "nothing was compared";
  return j;
}

/// Values, not bits: either zero is as good, and one NaN as another.
void set_difference(Comparison& c, const std::vector<HostTensor>& ours, const std::vector<HostTensor>& theirs) {
  for (std::size_t t = 0; t < ours.size(); ++t)
    for (std::int64_t i = 0; i < ours[t].count(); ++i) {
      const double a = ours[t].at(i), b = theirs[t].at(i);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      ++c.different;
      const double off = std::fabs(a - b);
      c.difference = std::max(c.difference, std::isfinite(off) ? off : std::numeric_limits<double>::infinity());
    }
}

std::vector<HostTensor> outputs_of(const Call& call, const std::map<std::string, HostTensor>& tensors) {
  std::vector<HostTensor> all;
  for (const TensorSlot& s : call.tensors())
    if (s.param->access != Access::In && !s.param->temporary) all.push_back(tensors.at(s.param->name));
  return all;
}

}  // namespace

std::string Comparison::verdict() const {
  if (!missing.empty()) return "not in this MLX";
  if (!ours.ran) return theirs.ran ? "ours did not run" : "neither ran";
  if (!theirs.ran) return "MLX's did not run";
  if (ours.right() && theirs.right()) return "agree";
  if (ours.right()) return "MLX is wrong";
  return theirs.right() ? "ours is wrong" : "both are wrong";
}

std::vector<ReferenceCase> reference_cases(const KernelEntry& entry, const ReferenceOptions& options) {
  const Family* family = family_of_kernel(entry.name);
  if (!family) return {};
  const auto instance = entry.make();
  std::vector<ReferenceCase> all;
  std::map<std::string, std::vector<std::size_t>> by_kernel;  // of MLX: indices in `all`
  std::set<std::string> seen;
  for (const Problem& p : instance->tests() + family->more) {
    const Problem problem = overlaid(p, options.changes);
    if ((problem.edges() || problem.values() != Values::Declared) && !family->edges) continue;
    if (!seen.insert(problem.text()).second) continue;
    const Work work = instance->work(problem);
    if (options.cases > 0 && work.read + work.written > kMostBytes) continue;
    ReferenceCase one{&entry, problem, family->counterparts(entry, problem)};
    if (one.counterparts.empty()) continue;
    for (const Counterpart& c : one.counterparts) by_kernel[c.name].push_back(all.size());
    all.push_back(std::move(one));
  }
  if (options.cases == 0) return all;
  // For each of MLX's kernels a few problems from all over its list.
  std::map<std::size_t, std::set<std::string>> wanted;
  for (const auto& [name, places] : by_kernel) {
    const std::size_t n = std::min(places.size(), static_cast<std::size_t>(options.cases));
    for (std::size_t k = 0; k < n; ++k)
      wanted[places[n == 1 ? places.size() / 2 : k * (places.size() - 1) / (n - 1)]].insert(name);
  }
  std::vector<ReferenceCase> some;
  for (const auto& [place, names] : wanted) {
    ReferenceCase one = std::move(all[place]);
    std::erase_if(one.counterparts, [&](const Counterpart& c) { return !names.contains(c.name); });
    some.push_back(std::move(one));
  }
  return some;
}

std::map<std::string, HostTensor> with_room(std::map<std::string, HostTensor> inputs, const Call& call,
                                            const Counterpart& c) {
  std::map<std::string, HostTensor> all = std::move(inputs);
  const auto add = [&](HostTensor t) {
    poison(t);
    all[t.name] = std::move(t);
  };
  for (const TensorSlot& s : call.tensors())
    if (s.param->access != Access::In && !s.param->temporary && !all.contains(s.param->name))
      add(HostTensor(s.param->name, s.param->dtype, s.shape));
  for (const HostTensor& t : c.scratch) add(t);
  if (c.prepare) c.prepare(all);
  return all;
}

double run_counterpart(const TextRunner& text, const MlxTree& tree, const Counterpart& c,
                       std::map<std::string, HostTensor>& tensors, double* compile_ms) {
  double seconds = 0;
  for (const Launch& l : c.launches) {
    TextOptions options;
    options.include_dirs = {tree.root()};
    options.kernels = {l.host_name};
    TextLaunch launch;
    launch.kernel = l.host_name;
    launch.grid = l.grid;
    launch.threads = l.threads;
    std::vector<Bytes> constants;
    constants.reserve(l.buffers.size());
    for (const Bound& b : l.buffers) {
      if (b.tensor.empty()) {
        constants.push_back(b.bytes);
        launch.buffers.push_back({b.index, constants.back().data(), constants.back().size(), std::nullopt});
      } else {
        HostTensor& t = tensors.at(b.tensor);
        // Codes are words to us and bytes to some of MLX's kernels.
        const bool codes = is_int(t.dtype);
        launch.buffers.push_back(
            {b.index, t.data.data(), t.data.size(), codes ? std::nullopt : std::optional(t.dtype)});
      }
    }
    for (const auto& constant : l.constants)
      if (tree.has_constant(l, constant.first)) launch.constants.push_back(constant);
    const TextRun run = text.run(MlxTree::text(l), "mlx_" + l.host_name + ".metal", options, launch);
    seconds += run.seconds;
    if (compile_ms) *compile_ms += run.compile_ms;
  }
  return seconds;
}

std::vector<Comparison> compare(Runner& runner, const TextRunner& text, const std::string& text_device,
                                const MlxTree& tree, const ReferenceCase& one, const Overrides& overrides) {
  const KernelEntry& entry = *one.entry;
  auto base = result_of<Comparison>(entry, one.problem);
  base.device = runner.device().info().backend;
  base.mlx_device = text_device;
  std::vector<Comparison> all;
  for (const Counterpart& c : one.counterparts) {
    Comparison r = base;
    r.mlx = c.name;
    r.allowance = c.allowance.why;
    r.differs = c.differs;
    for (const Launch& l : c.launches)
      if (r.missing.empty()) r.missing = tree.lacks(l);
    all.push_back(std::move(r));
  }
  if (std::all_of(all.begin(), all.end(), [](const Comparison& r) { return !r.missing.empty(); })) return all;

  // Ours, once.
  std::optional<Call> call;
  std::map<std::string, HostTensor> inputs;
  ExpectedOutputs expected;
  std::vector<HostTensor> ours;
  Judgement our_judgement;
  std::int64_t compared = 0;
  const auto noted = [](Judgement& j, const auto& f) {
    try {
      f();
    } catch (const Error& e) {
      add_sentence(j.wrong, e.what());
    } catch (const std::bad_alloc&) {
      add_sentence(j.wrong, "not enough memory for this problem");
    }
  };
  noted(our_judgement, [&] {
    call.emplace(runner.prepare(entry, one.problem, overrides));
    inputs = make_inputs(call->tensors(), one.problem);
    expected = call->instance().oracle(Inputs(inputs, one.problem, call->signature()));
    TensorSet set(runner.device(), *call);
    set.run(inputs);
    ours = set.outputs();
    our_judgement = judged(ours, expected, &compared);
    add_sentence(our_judgement.wrong, set.damage(inputs));
  });
  for (std::size_t n = 0; n < all.size(); ++n) {
    Comparison& r = all[n];
    const Counterpart& c = one.counterparts[n];
    if (!r.missing.empty()) continue;
    r.ours = our_judgement;
    if (!call || expected.empty()) continue;
    const auto exact = [](const auto& e) {
      return std::all_of(e.second.bound.begin(), e.second.bound.end(), [](double b) { return b == 0; });
    };
    if (!c.allowance.more && std::all_of(expected.begin(), expected.end(), exact)) r.allowance.clear();
    const Stopwatch watch;
    noted(r.theirs, [&] {
      std::map<std::string, HostTensor> tensors = with_room(inputs, *call, c);
      run_counterpart(text, tree, c, tensors, &r.compile_ms);
      const std::vector<HostTensor> theirs = outputs_of(*call, tensors);
      r.theirs = judged(theirs, c.oracle ? c.oracle(tensors) : widened(expected, c.allowance, entry.dtype), nullptr);
      for (const auto& [name, t] : inputs)
        if (tensors.at(name).data != t.data) add_sentence(r.theirs.wrong, fmt::format("input {} was changed", name));
      r.compared = compared;
      if (ours.size() == theirs.size() && c.differs.empty()) set_difference(r, ours, theirs);
    });
    r.seconds = watch.seconds();
  }
  return all;
}

}  // namespace mt::reference
