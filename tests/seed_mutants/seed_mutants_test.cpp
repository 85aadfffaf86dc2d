// Eighty-five wrong kernels, by name: the harness refuses each, on the cases that every kernel is tested with.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mt/harness/derived.h"
#include "mt/harness/verified.h"
#include "tests/seed_mutants/wrong_kernels.h"

namespace mt {
namespace {

std::vector<WrongKernel> corpus() {
  std::vector<WrongKernel> all;
  for (const auto& family : {wrong_attention(), wrong_quantised(), wrong_rows(), wrong_maps(), wrong_reductions()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

const KernelEntry* entry_of(const std::string& name) {
  const KernelEntry* found = nullptr;
  for (const KernelEntry& e : kernels())
    if (e.name == name && (!found || e.dtype == DType::F32)) found = &e;
  return found;
}

struct Verdict {
  int cases = 0;
  std::string refusal;  // of the first case that is refused
};

/// Holds what the model leaves in memory against the kernel's oracle, case by case.
Verdict judge(const WrongKernel& wrong) {
  Verdict v;
  const KernelEntry* entry = entry_of(wrong.kernel);
  if (!entry) return {0, "no such kernel"};
  const auto instance = entry->make();
  for (const Problem& p : instance->tests() + derived_cases(*instance, {})) {
    const std::vector<TensorSlot> slots = tensor_slots(instance->signature(), p);
    Outputs outputs;
    std::int64_t elements = 0;
    for (const TensorSlot& s : slots)
      if (s.param->access != Access::In && !s.param->temporary) {
        outputs.emplace(s.param->name, HostTensor(s.param->name, s.param->dtype, s.shape));
        elements += s.count;
      }
    if (elements == 0) continue;
    const auto inputs = make_inputs(slots, p);
    const Inputs in(inputs, p, instance->signature());
    wrong.model(in, outputs);
    std::vector<HostTensor> left;
    for (auto& [name, t] : outputs) left.push_back(std::move(t));
    ++v.cases;
    const std::string error = verify_outputs(left, instance->oracle(in)).error;
    if (!error.empty() && v.refusal.empty()) v.refusal = p.text() + ": " + error;
  }
  return v;
}

TEST(SeedMutants, EachOfEightyFiveIsRefused) {
  int refused = 0, mutants = 0;
  std::vector<std::string> names;
  for (const WrongKernel& w : corpus()) {
    if (w.fault.empty()) continue;
    ++mutants;
    names.push_back(w.kernel + ": " + w.fault);
    const Verdict v = judge(w);
    EXPECT_GT(v.cases, 0) << names.back();
    EXPECT_NE(v.refusal, "") << names.back() << " is taken for right";
    refused += !v.refusal.empty();
  }
  EXPECT_EQ(mutants, 85);
  EXPECT_EQ(refused, 85);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << "a name stands twice";
}

TEST(SeedMutants, ModelsWithoutAFaultAreAccepted) {
  int controls = 0;
  for (const WrongKernel& w : corpus()) {
    if (!w.fault.empty()) continue;
    ++controls;
    const Verdict v = judge(w);
    EXPECT_GT(v.cases, 0) << w.kernel;
    EXPECT_EQ(v.refusal, "") << w.kernel;
  }
  EXPECT_GE(controls, 20);
}

}  // namespace
}  // namespace mt
