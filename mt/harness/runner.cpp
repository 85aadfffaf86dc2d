#include "mt/harness/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "mt/harness/stopwatch.h"

namespace mt {
namespace {

bool launches_nothing(const Groups& groups) { return groups[0] == 0 || groups[1] == 0 || groups[2] == 0; }

bool no_output(const std::vector<TensorSlot>& slots) {
  return std::none_of(slots.begin(), slots.end(), [](const TensorSlot& s) {
    return !s.param->temporary && s.param->access != Access::In && s.count > 0;
  });
}

/// `; with threads=64`; empty where nothing was chosen.
std::string chosen_text(const Overrides& overrides) {
  return overrides.empty() ? "" : "; with " + overrides_text(overrides);
}

}  // namespace

void BoundCall::run() const {
  for (const Step& s : steps_) device_->launch(*s.program, s.arguments, s.groups);
}

bool Call::has_atomics() const {
  for (const PreparedStage& s : stages_)
    for (const Inst& inst : s.compiled.kernel.insts)
      if (inst.op == Op::Atomic) return true;
  return false;
}

bool Call::has_matrix_products() const {
  for (const PreparedStage& s : stages_)
    for (const Inst& inst : s.compiled.kernel.insts)
      if ((inst.op == Op::TileMma || inst.op == Op::MmaBlock) && size_of(s.compiled.kernel.type(inst.in[1]).dtype) == 2)
        return true;
  return false;
}

bool Call::uses(const std::string& tensor) const {
  return std::any_of(stages_.begin(), stages_.end(), [&](const PreparedStage& s) {
    const std::vector<Memory>& all = s.compiled.kernel.memories;
    return std::any_of(all.begin(), all.end(), [&](const Memory& m) { return m.name == tensor; });
  });
}

Call Call::with_kernels(const std::vector<Kernel>& stages) const {
  Call call = *this;
  for (PreparedStage& stage : call.stages_) {
    stage.compiled = {.kernel = stages.at(stage.index), .program = nullptr};
    stage.compiled.program = device_->compile(stage.compiled.kernel);
  }
  return call;
}

BoundCall Call::bind(std::map<std::string, BufferView> views) const {
  return in_context(id_, problem_, [&] {
    BoundCall bound;
    bound.device_ = device_;
    std::vector<TensorSlot> needed;
    for (const TensorSlot& s : slots_) {
      const auto given = views.find(s.param->name);
      const bool absent = given == views.end() || (!given->second.buffer && given->second.bytes == 0);
      // Temporaries belong to the call, where a stage uses them; a tensor without elements needs an address all the
      // same.
      if (absent && s.param->temporary && !uses(s.param->name)) continue;
      needed.push_back(s);
      if (!absent || !(s.param->temporary || s.bytes == 0)) continue;
      bound.owned_.push_back(device_->allocate(std::max<std::size_t>(s.bytes, 256)));
      views[s.param->name] = {bound.owned_.back().get(), 0, s.bytes};
    }
    check_bindings(needed, views);
    for (const PreparedStage& stage : stages_) {
      BoundCall::Step step{stage.compiled.program, {{}, stage.scalars}, stage.groups};
      for (const Memory& m : stage.compiled.kernel.memories) {
        if (m.space != Space::Device) continue;
        check_alignment(m.name, views.at(m.name), step.program->start_alignment(step.arguments.buffers.size()));
        step.arguments.buffers.push_back(views.at(m.name));
      }
      bound.steps_.push_back(std::move(step));
    }
    return bound;
  });
}

Call Runner::prepare(const KernelEntry& entry, const Problem& problem, const Overrides& overrides) {
  if (std::optional<Call> call = tuned(entry, problem, overrides)) return std::move(*call);
  try {
    return checked(entry, problem, overrides);
  } catch (const Error& e) {
    throw Error(contextual(entry.id(), problem, e.what()) + chosen_text(overrides));
  }
}

std::optional<Call> Runner::tuned(const KernelEntry& entry, const Problem& problem, const Overrides& overrides) {
  if (!tuned_ || tuned_->all().empty() || !overrides.empty() || !problem.tunables().empty()) return std::nullopt;
  std::optional<TunedChoice> choice;
  try {
    choice = tuned_->find(*backend_, device_->info(), entry, problem);
  } catch (const Error&) {  // of the problem, which is told where it is planned
  }
  if (!choice) return std::nullopt;
  try {
    Call call = checked(entry, problem, choice->chosen);
    call.tuned_ = choice->chosen;
    return call;
  } catch (const Error& e) {
    tuned_->refuse(*choice, e.what());
    return std::nullopt;
  }
}

Call Runner::checked(const KernelEntry& entry, const Problem& problem, const Overrides& overrides) {
  Call call;
  call.id_ = entry.id();
  call.problem_ = problem;
  call.device_ = device_;
  call.instance_ = entry.make();
  KernelInstance& instance = *call.instance_;
  check_problem(instance, problem, overrides);
  const std::vector<StagePlan> plans = instance.plan(problem, backend_->traits(), overrides);
  call.slots_ = tensor_slots(instance.signature(), problem);
  call.empty_ = no_output(call.slots_);
  const Limits& limits = device_->info().limits;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Launch& launch = plans[i].launch;
    const Groups groups{launch.groups[0], launch.groups[1], launch.groups[2]};
    if (call.empty_ || launches_nothing(groups)) continue;
    const Stopwatch tracing;
    Kernel traced = instance.trace(i);
    call.compile_ms_ += tracing.milliseconds();
    check_geometry(traced, groups, limits, limits.max_threads);
    PreparedStage stage{plans[i].name, i, groups, programs_.get(*backend_, *device_, std::move(traced)), {}};
    if (!stage.compiled.reused) call.compile_ms_ += stage.compiled.optimise_ms + stage.compiled.compile_ms;
    check_geometry(stage.compiled.kernel, groups, limits, stage.compiled.program->max_threads());
    for (const ScalarParam& s : stage.compiled.kernel.scalars)
      stage.scalars.push_back(scalar_bits(s, instance.signature(), problem));
    call.stages_.push_back(std::move(stage));
  }
  return call;
}

}  // namespace mt
