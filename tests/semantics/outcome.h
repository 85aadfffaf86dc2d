// What a kernel leaves behind on a backend, and how two such outcomes differ.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "mt/base/host_tensor.h"

namespace mt {

struct Outcome {
  std::string error;
  std::vector<HostTensor> outputs;
};

/// Arguments that follow from the seed, for a kernel whose device memories have fixed sizes: floats with infinities,
/// NaNs and subnormals among them, integers with the ends of their type among them. Scalars: a multiple of what the
/// scalar is known to be a multiple of, below 24, and for signed ones sometimes below zero.
struct RandomArguments {
  RandomArguments(const Kernel& kernel, std::uint64_t seed);
  std::vector<HostTensor> tensors;  // device memories in order
  std::vector<std::uint64_t> scalars;
  Groups groups = {1, 1, 1};  // as many as the first written memory has 8 elements a thread for
};

/// One launch. An Error of the device is an outcome too.
Outcome run_on(Device& device, const Kernel& kernel, const RandomArguments& arguments);

/// Where the outcomes differ; NaNs are all alike. Empty where they don't. Two errors are alike, whatever they
/// say.
std::string difference(const Outcome& a, const Outcome& b);

}  // namespace mt
