// Wrong kernels on purpose: every fault of mt/faults is planted in every expression of a kernel that it fits, and the
// kernel's test cases must notice.
//
// A mutant runs as the cases of `tile test` run, on the reference device: a wrong element, a written guard, an access
// outside its memory, a race, divergence, an uninitialised read and a loop that passes its budget of steps all count.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mt/dsl/kernel.h"
#include "mt/faults/faults.h"
#include "mt/harness/select.h"

namespace mt {

enum class Fate : std::uint8_t {
  Killed,      // some case failed
  Survived,    // all cases passed
  Equivalent,  // all cases passed, and the kernel's source says why that is right
  Unchanged,   // after the passes the kernel is what it was
  Refused,     // the verifier takes it in no case
};
std::string_view name_of(Fate fate);

struct Mutant {
  const KernelEntry* kernel = nullptr;
  const Fault* fault = nullptr;
  Op op = Op::Const;  // that the fault was planted in
  Loc loc;            // of the C++ line
  int number = 1;     // among the mutants of this line, op and fault
  Fate fate = Fate::Survived;
  std::string by;      // Killed: the case and its sentence. Equivalent: the reason
  std::string before;  // the line of IR
  std::string after;   // what stands in its place
  /// `mt_softmax/f32 softmax.cpp:52 exp other_op`.
  std::string id() const;
};

struct MutateOptions {
  std::vector<const Fault*> faults;  // empty: all
  std::int64_t sample = 0;           // mutants of each kernel and dtype, chosen by the seed; 0: all
  std::uint64_t seed = 1;
  int jobs = 1;
  std::function<OpenDevice()> open;  // a device with the switch max_steps, once a worker
};

struct MutateObserver {
  /// Called by one worker at a time.
  std::function<void(const Mutant&, std::size_t done, std::size_t entries)> after;
};

/// All mutants of the entries, in order. Throws Error where a case fails without any fault, Interrupted after Ctrl-C.
std::vector<Mutant> mutate(const std::vector<const KernelEntry*>& entries, const MutateOptions& options,
                           const MutateObserver& observer = {});

}  // namespace mt
