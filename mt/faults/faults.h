// Faults that authors of kernels make, planted in a kernel one at a time.
#pragma once
#include <string_view>
#include <vector>

#include "mt/faults/place.h"

namespace mt {

struct Fault {
  std::string_view name;
  std::string_view what;                         // one line
  bool (*fits)(const Kernel& k, const Inst& i);  // whether the instruction can have it
  void (*plant)(const Place& place);
};

/// All kinds of faults, grouped by what they hit.
const std::vector<Fault>& faults();
const Fault* find_fault(std::string_view name);

/// Plants the fault in those of `insts` that it fits and drops what that leaves unreachable; the number of places.
int plant(Kernel& kernel, const std::vector<InstId>& insts, const Fault& fault);

}  // namespace mt
