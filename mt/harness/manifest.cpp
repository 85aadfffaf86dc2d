#include "mt/harness/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "mt/base/hash.h"
#include "mt/dsl/facts.h"
#include "mt/harness/contract.h"
#include "mt/harness/test_run.h"
#include "mt/ir/verify.h"

namespace mt {
namespace {

using Json = nlohmann::ordered_json;

const char* access_name(Access a) { return a == Access::In ? "in" : a == Access::Out ? "out" : "inout"; }

Kernel traced(KernelInstance& instance, std::size_t stage, bool generic) {
  if (!generic) return instance.trace(stage);
  const WithoutFacts scope;
  return instance.trace(stage);
}

BuiltVariant build_variant(const KernelEntry& entry, const Backend& target, const Problem& problem,
                           const Overrides& overrides, bool generic) {
  const auto instance = entry.make();
  BuiltVariant built{&entry, &target, generic ? "generic" : "aligned", problem, overrides, "", "", {}, {}};
  check_problem(*instance, problem, overrides);
  const std::vector<StagePlan> plans = instance->plan(problem, target.traits(), overrides);
  // One name a function and a file, so that all of them can be linked into one library.
  const auto name = [&](const std::string& stage) {
    return fmt::format("{}_{}{}{}{}", entry.name, name_of(entry.dtype), stage.empty() ? "" : "_", stage,
                       generic ? "" : "_aligned");
  };
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Kernel kernel = traced(*instance, i, generic);
    if (const std::string violations = verify(kernel); !violations.empty()) throw Error(violations);
    kernel.name = name(plans[i].name);
    optimise(kernel, target.pipeline());
    const auto& g = plans[i].launch.groups;
    built.stages.push_back({kernel.name, kernel, {g[0], g[1], g[2]}});
    kernels.push_back(std::move(kernel));
  }
  auto artefact = target.program(kernels);
  if (!artefact) throw Error(fmt::format("target {} has no text form; it can't be built for", target.name()));
  built.artefact = std::move(*artefact);
  built.file = fmt::format("{}/{}.{}", target.name(), name(""), built.artefact.extension);
  return built;
}

bool has_facts(const BuiltVariant& v) {
  for (const BuiltStage& s : v.stages)
    for (const ScalarParam& p : s.kernel.scalars)
      if (p.multiple_of != 1) return true;
  return false;
}

Json shape_json(const std::vector<Dim>& shape) {
  Json j = Json::array();
  for (const Dim& d : shape) {
    if (d.symbol.empty())
      j.push_back(d.extent);
    else
      j.push_back(d.symbol);
  }
  return j;
}

Json stage_json(const BuiltStage& s) {
  Json j;
  j["function"] = s.function;
  j["threads"] = s.kernel.threads;
  j["threadgroup_bytes"] = threadgroup_bytes(s.kernel);
  j["groups"] = s.groups;
  j["buffers"] = Json::array();
  for (const Memory& m : s.kernel.memories)
    if (m.space == Space::Device)
      j["buffers"].push_back({{"name", m.name},
                              {"dtype", name_of(m.dtype)},
                              {"access", access_name(m.access)},
                              {"shape", shape_json(m.shape)},
                              {"temporary", m.temporary}});
  j["scalars"] = Json::array();
  for (const ScalarParam& p : s.kernel.scalars)
    j["scalars"].push_back({{"name", p.name}, {"dtype", name_of(p.dtype)}, {"multiple_of", p.multiple_of}});
  return j;
}

Json kernel_json(const KernelEntry& entry, const BuiltVariant& any) {
  const auto instance = entry.make();
  instance->plan(any.problem, any.target->traits(), any.overrides);
  const Signature& s = instance->signature();
  Json j;
  j["name"] = entry.name;
  j["dtype"] = name_of(entry.dtype);
  j["problem"] = Json::object();
  for (const auto& [name, value] : any.problem.sizes()) j["problem"][name] = value;
  for (const auto& [name, value] : any.problem.reals()) j["problem"][name] = value;
  // A text is right for these values, and for any value of the other sizes that its contract allows.
  j["planned_for"] = Json::object();
  for (const std::string& name : instance->chosen_by()) j["planned_for"][name] = j["problem"].value(name, Json());
  j["parameters"] = Json::array();
  for (const TensorParam& t : s.tensors)
    j["parameters"].push_back({{"name", t.name},
                               {"access", access_name(t.access)},
                               {"dtype", name_of(t.dtype)},
                               {"shape", shape_json(t.shape)},
                               {"temporary", t.temporary}});
  j["scalars"] = Json::array();
  for (const ScalarDecl& d : s.scalars) {
    j["scalars"].push_back({{"name", d.name}, {"dtype", name_of(d.dtype)}});
    if (!is_int(d.dtype)) j["scalars"].back()["default"] = d.fallback;
  }
  j["tunables"] = Json::object();
  for (const TunableDecl& t : s.tunables) j["tunables"][t.name] = t.value;
  j["builds"] = Json::array();
  return j;
}

}  // namespace

Problem default_problem(const KernelInstance& instance) {
  for (const Problems& all : {instance.benches(), instance.tests()})
    if (!all.empty()) return all.front();
  throw Error("the kernel has neither a bench nor a test problem");
}

std::vector<BuiltVariant> build_kernel(const KernelEntry& entry, const Backend& target, const Problem& changes,
                                       const Overrides& overrides) {
  try {
    const Problem problem = overlaid(default_problem(*entry.make()), changes);
    std::vector<BuiltVariant> all;
    all.push_back(build_variant(entry, target, problem, overrides, true));
    BuiltVariant aligned = build_variant(entry, target, problem, overrides, false);
    if (has_facts(aligned)) all.push_back(std::move(aligned));
    return all;
  } catch (const Error& e) {
    throw Error(contextual(entry.id(), {}, e.what()));
  }
}

std::string manifest_json(const std::vector<BuiltVariant>& built, const std::string& version) {
  Json j;
  j["version"] = 1;
  j["metaltile"] = version;
  j["lanes"] = kLanes;
  j["kernels"] = Json::array();
  const KernelEntry* last = nullptr;
  for (const BuiltVariant& v : built) {
    if (v.entry != last) j["kernels"].push_back(kernel_json(*v.entry, v));
    last = v.entry;
    Json b{{"target", v.target->name()},
           {"variant", v.variant},
           {"file", v.file},
           {"hash", hash_hex(v.artefact.text)},
           {"stages", Json::array()}};
    if (!v.library.empty()) b["library"] = v.library;
    for (const BuiltStage& s : v.stages) b["stages"].push_back(stage_json(s));
    j["kernels"].back()["builds"].push_back(std::move(b));
  }
  return j.dump(2) + "\n";
}

}  // namespace mt
