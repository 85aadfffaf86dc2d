#include "mt/harness/inspect.h"

#include <fmt/format.h>

#include <algorithm>

#include "mt/harness/contract.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/table.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "mt/passes/lower_tiles.h"

namespace mt {
namespace {

struct Counts {
  int all = 0, loads = 0, stores = 0, control = 0, exchange = 0;
};

/// Instructions that regions name; table entries that nothing names don't count.
Counts count(const Kernel& k) {
  Counts c;
  for (const Region& region : k.regions)
    for (const InstId id : region.insts) {
      const Inst& inst = k.at(id);
      ++c.all;
      c.loads += inst.op == Op::Load;
      c.stores += inst.op == Op::Store || inst.op == Op::Atomic;
      c.control += !inst.regions.empty();
      const std::string_view name = info(inst.op).name;
      c.exchange += name.find("barrier") != std::string_view::npos || name.starts_with("simd_") ||
                    name.starts_with("group_reduce");
    }
  return c;
}

std::string title(const InspectedStage& s, const Kernel& k) {
  return s.name.empty() ? k.name : k.name + " (stage " + s.name + ")";
}

/// What becomes of tiles on the target, a line each with how often; empty where the kernel has none.
std::string tiles_text(const InspectedStage& s, const Backend& target) {
  std::vector<std::string> notes = target.tile_notes(s.final());
  for (std::size_t i = 1; i < s.steps.size(); ++i) {
    if (s.steps[i].pass != "lower_tiles") continue;
    for (std::string& note : tile_notes(s.steps[i - 1].kernel, target.pipeline())) notes.push_back(std::move(note));
  }
  std::vector<std::pair<std::string, int>> lines;
  for (const std::string& note : notes) {
    const auto known = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.first == note; });
    if (known == lines.end())
      lines.emplace_back(note, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [note, times] : lines)
    text += fmt::format("  {}{}\n", note, times == 1 ? "" : fmt::format(" ({} times)", times));
  return text.empty() ? "" : "tiles\n" + text + "\n";
}

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names{"trace"};
  for (const Pass& p : pipeline())
    if (std::find(names.begin(), names.end(), p.name) == names.end()) names.emplace_back(p.name);
  return names;
}

std::vector<InspectedStage> inspect_kernel(const KernelEntry& entry, const Backend& target, const Problem& problem,
                                           const Overrides& overrides) {
  return in_context(entry.id(), problem, [&] {
    const auto instance = entry.make();
    check_problem(*instance, problem, overrides);
    const std::vector<StagePlan> plans = instance->plan(problem, target.traits(), overrides);
    std::vector<InspectedStage> stages;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      InspectedStage stage{plans[i].name, {}};
      const Stopwatch watch;
      Kernel kernel = instance->trace(i);
      stage.steps.push_back({"trace", true, watch.seconds(), kernel});
      if (const std::string violations = verify(kernel); !violations.empty()) throw Error(violations);
      optimise(kernel, target.pipeline(), [&](const Pass& pass, bool changed, double seconds, const Kernel& k) {
        stage.steps.push_back({std::string(pass.name), changed, seconds, k});
      });
      stages.push_back(std::move(stage));
    }
    return stages;
  });
}

Artefact artefact_of(const std::vector<InspectedStage>& stages, const Backend& target) {
  std::vector<Kernel> kernels;
  for (const InspectedStage& s : stages) kernels.push_back(s.final());
  if (auto artefact = target.program(kernels)) return std::move(*artefact);
  throw Error(fmt::format("target {} has no text form; use --ir", target.name()));
}

std::string ir_text(const std::vector<InspectedStage>& stages, const std::string& pass) {
  std::string text;
  for (const InspectedStage& s : stages) {
    if (pass.empty()) {
      text += print(s.final());
      continue;
    }
    for (std::size_t i = 0; i < s.steps.size(); ++i) {
      const Step& step = s.steps[i];
      if (pass == "all" ? !step.changed : pass != step.pass) continue;
      text += fmt::format("; {} after {}{}\n{}\n", title(s, step.kernel), step.pass,
                          step.changed ? "" : ", which changed nothing", print(step.kernel));
    }
  }
  return text;
}

std::string stats_text(const std::vector<InspectedStage>& stages, const Backend& target) {
  std::string text;
  for (const InspectedStage& s : stages) {
    using enum Table::Align;
    Table table({{"pass", Left},
                 {"instructions", Right},
                 {"loads", Right},
                 {"stores", Right},
                 {"blocks", Right},
                 {"exchanges", Right},
                 {"time", Right}});
    double total = 0;
    for (const Step& step : s.steps) {
      total += step.seconds;
      const Counts c = count(step.kernel);
      const auto number = [&](int n) { return step.changed ? std::to_string(n) : std::string("="); };
      table.add({step.pass, number(c.all), number(c.loads), number(c.stores), number(c.control), number(c.exchange),
                 time_text(step.seconds)});
    }
    text += fmt::format("{}: {} threads, {} of threadgroup memory, {} for {} steps\n{}\n", title(s, s.final()),
                        s.final().threads, bytes_text(static_cast<double>(threadgroup_bytes(s.final()))),
                        time_text(total), s.steps.size(), table.text());
    text += tiles_text(s, target);
  }
  std::vector<Kernel> kernels;
  for (const InspectedStage& s : stages) kernels.push_back(s.final());
  if (const auto artefact = target.program(kernels)) {
    text += fmt::format("{} text: {} lines\n", target.name(),
                        std::count(artefact->text.begin(), artefact->text.end(), '\n'));
    std::map<std::string, std::string> facts;
    if (const auto verdict = target.check_artefact(*artefact, &facts)) {
      text += verdict->empty() ? "compiles\n" : *verdict + "\n";
      for (const auto& [key, value] : facts) text += fmt::format("  {}: {}\n", key, value);
    }
  }
  return text;
}

}  // namespace mt
