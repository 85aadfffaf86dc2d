// One kernel with its test cases laid out for many mutants: inputs, expected outputs and traces are made once.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "mt/faults/expressions.h"
#include "mt/harness/mutate.h"
#include "mt/harness/runner.h"

namespace mt {

class MutationBench {
 public:
  /// Traces all cases and runs each as it is. Throws Error where one fails.
  MutationBench(const KernelEntry& entry, OpenDevice& opened);

  /// Every fault at every expression that it fits, in the order of the source's traces.
  std::size_t enumerate(const std::vector<const Fault*>& faults);
  /// Plants mutant `n` in the kernels of one case after another until one fails.
  Mutant run(std::size_t n);

 private:
  /// A kernel as it was traced, for all cases that trace the same.
  struct Variant {
    Kernel traced;
    std::string optimised;  // its text after the passes, without names
    std::unordered_map<std::uint64_t, std::vector<InstId>> places;
  };
  struct Case {
    std::string text;
    Call call;
    std::map<std::string, HostTensor> inputs;
    ExpectedOutputs expected;
    std::vector<std::size_t> variants;  // of the call's stages
    std::int64_t max_steps = 0;
    double seconds = 0;
    int tries = 0, kills = 0;
  };
  /// What a fault makes of a variant.
  struct Planted {
    bool refused = false, same = false;
    std::string error;  // of the passes: the compiler itself refuses it
    Kernel optimised;
  };
  struct Site {
    std::uint64_t expression;
    Op op;
    Loc loc;
    const Fault* fault;
    int number;
  };

  void add_case(const Problem& problem);
  std::size_t variant_of(Kernel traced, const Kernel& optimised);
  std::int64_t step_budget(const Case& c);
  std::string failure(const Case& c, const Call& call);
  const Planted* planted(const Site& site, std::size_t variant, std::unordered_map<std::size_t, Planted>& done) const;
  void describe(Mutant& m, const Site& site) const;
  std::vector<Case*> promising();

  const KernelEntry& entry_;
  OpenDevice& opened_;
  Runner runner_;
  std::vector<Variant> variants_;
  std::unordered_map<std::string, std::size_t> variant_by_text_;
  std::vector<std::unique_ptr<Case>> cases_;
  std::vector<Site> sites_;
};

}  // namespace mt
