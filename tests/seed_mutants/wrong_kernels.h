// Wrong kernels that a bench with constant inputs, loose tolerances or partial comparisons takes for right, as models
// on the host: what each would leave in memory, in double precision, rounded once at the store.
//
// Each family is one function with a switch for every fault. Without a fault it is right; the test insists on that too,
// so that a model is refused for its fault and nothing else. Matrix products and 4-bit floats have no kernel here;
// their faults stand among those of the quantised products.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mt/dsl/kernel.h"

namespace mt {

/// Output tensors by name, zero-filled and of the right shape.
using Outputs = std::map<std::string, HostTensor>;
using Model = std::function<void(const Inputs&, Outputs&)>;

struct WrongKernel {
  std::string kernel;  // registered name, in f32
  std::string fault;   // empty: none, a control
  Model model;
};

std::vector<WrongKernel> wrong_attention();
std::vector<WrongKernel> wrong_quantised();
std::vector<WrongKernel> wrong_rows();
std::vector<WrongKernel> wrong_maps();
std::vector<WrongKernel> wrong_reductions();

}  // namespace mt
