#include "tests/semantics/differential.h"

#include <fmt/format.h>

#include <map>

#include "mt/ir/edit.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "tests/emulation/host_text.h"

namespace mt {
namespace {

struct Kind {
  const char* name;
  PipelineOptions options;
};
const Kind kKinds[] = {{"gpu", {}},
                       {"contiguous simds", {.lower_group_reduce = false, .contiguous_simds = true}},
                       {"8-byte vectors", {.lower_group_reduce = false, .max_vector_bytes = 8}}};

/// Steps of a threadgroup: what a pass made endless ends soon.
constexpr std::int64_t kSteps = std::int64_t{1} << 26;

Mismatch mismatch(std::string where, std::string what, const Outcome& now) {
  return {std::move(where), std::move(what), now.error.empty() ? Mismatch::Kind::Values : Mismatch::Kind::Error};
}

Outcome run_text(const emulation::HostText& text, const Kernel& kernel, const RandomArguments& arguments) {
  std::vector<HostTensor> tensors = arguments.tensors;
  std::vector<void*> memories;
  for (HostTensor& t : tensors) memories.push_back(t.data.data());
  try {
    text.run(kernel, memories, arguments.scalars, arguments.groups);
  } catch (const Error& e) {
    return {e.what(), {}};
  }
  Outcome outcome;
  std::size_t n = 0;
  for (const Memory& m : kernel.memories) {
    if (m.space != Space::Device) continue;
    if (m.access != Access::In) outcome.outputs.push_back(std::move(tensors[n]));
    ++n;
  }
  return outcome;
}

}  // namespace

Differential::Differential(Options options) : options_(std::move(options)) {
  interp_ = find_backend("interp")->open().take();
  interp_->set_option("max_steps", kSteps);
  if (options_.cpu) {
    cpu_ = find_backend("cpu")->open().take();
    cpu_->set_option("threads", 1);
  }
}

Differential::Result Differential::reference(const Kernel& kernel, std::uint64_t seed) {
  const RandomArguments arguments(kernel, seed);
  const Outcome want = run_on(*interp_, kernel, arguments);
  if (!want.error.empty()) return {Verdict::Refused, mismatch("interp", want.error, want), 1};
  Result result;
  if (options_.passes) result = passes(kernel, arguments, want);
  ++result.executed;
  if (result.verdict != Verdict::Same || !options_.cpu) return result;
  Kernel k = kernel;
  try {
    optimise(k, find_backend("cpu")->pipeline());
  } catch (const Error& e) {
    return {Verdict::Refused, {"pipeline", e.what(), Mismatch::Kind::Error}, result.executed};
  }
  ++result.executed;
  const Outcome now = run_on(*cpu_, k, arguments);
  const std::string differs = difference(want, now);
  if (!differs.empty()) return {Verdict::Differs, mismatch("cpu", differs, now), result.executed};
  return result;
}

Differential::Result Differential::run(const Kernel& kernel, std::uint64_t seed) {
  return run(std::vector{kernel}, {seed}, [](std::size_t) {}).front();
}

std::vector<Differential::Result> Differential::run(const std::vector<Kernel>& kernels,
                                                    const std::vector<std::uint64_t>& seeds,
                                                    const std::function<void(std::size_t)>& begins) {
  std::vector<Result> results;
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    begins(n);
    results.push_back(reference(kernels[n], seeds[n]));
  }
  for (const std::string& target : options_.texts) texts(target, kernels, seeds, begins, results);
  return results;
}

void Differential::texts(const std::string& target, const std::vector<Kernel>& kernels,
                         const std::vector<std::uint64_t>& seeds, const std::function<void(std::size_t)>& begins,
                         std::vector<Result>& results) {
  const Backend& backend = *find_backend(target);
  std::vector<Kernel> optimised, sound;
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    optimised.push_back(kernels[n]);
    optimised.back().name += std::to_string(n);
    try {
      optimise(optimised.back(), backend.pipeline());
      sound.push_back(optimised.back());
    } catch (const Error& e) {
      if (results[n].verdict == Verdict::Same) results[n].verdict = Verdict::Refused;
    }
  }
  std::unique_ptr<emulation::HostText> text;
  try {
    text = std::make_unique<emulation::HostText>(backend, sound);
  } catch (const Error& e) {
    results.front() = {Verdict::Differs, {target + " text", e.what(), Mismatch::Kind::Rules}, results.front().executed};
    return;
  }
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    if (results[n].verdict != Verdict::Same) continue;
    begins(n);
    const RandomArguments arguments(kernels[n], seeds[n]);
    const Outcome want = run_on(*interp_, kernels[n], arguments);
    const Outcome now = run_text(*text, optimised[n], arguments);
    results[n].executed += 2;
    const std::string differs = difference(want, now);
    if (differs.empty()) continue;
    results[n].verdict = Verdict::Differs;
    results[n].mismatch = mismatch(target + " text", differs, now);
  }
}

Differential::Result Differential::passes(const Kernel& kernel, const RandomArguments& arguments, const Outcome& want) {
  Result result;
  std::vector<Pass> list = pipeline();
  if (options_.planted) list.insert(list.begin() + 1, *options_.planted);
  std::map<std::string, bool> seen;  // kernels that were run
  for (const Kind& kind : kKinds) {
    Kernel k = kernel;
    const auto fail = [&](const Pass& pass, const std::string& what, Mismatch::Kind how) {
      result.verdict = Verdict::Differs;
      result.mismatch = {fmt::format("pass {} ({})", pass.name, kind.name), what, how};
    };
    for (const Pass& pass : list) {
      if (!pass.run(k, kind.options)) continue;
      if (const std::string violations = verify(k); !violations.empty()) {
        fail(pass, violations, Mismatch::Kind::Rules);
        return result;
      }
      compact(k);
      if (!seen.emplace(print(k), true).second) continue;
      ++result.executed;
      const Outcome now = run_on(*interp_, k, arguments);
      const std::string differs = difference(want, now);
      if (!differs.empty()) {
        fail(pass, differs, mismatch("", "", now).kind);
        return result;
      }
    }
    if (options_.planted) continue;
    // A second run may use what the last passes left; a third finds nothing.
    try {
      optimise(k, kind.options);
    } catch (const Error& e) {
      return {Verdict::Refused, {"pipeline", e.what(), Mismatch::Kind::Error}, result.executed};
    }
    const std::string before = print(k);
    const Outcome now = run_on(*interp_, k, arguments);
    const std::string differs = difference(want, now);
    if (!differs.empty()) {
      fail({"pipeline", "", nullptr}, differs, mismatch("", "", now).kind);
      return result;
    }
    optimise(k, kind.options);
    if (print(k) == before) continue;
    fail({"pipeline", "", nullptr}, "a third run changed the kernel", Mismatch::Kind::Rules);
    return result;
  }
  return result;
}

}  // namespace mt
