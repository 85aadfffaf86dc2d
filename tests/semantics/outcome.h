// What a random kernel leaves behind on a backend, and how two such outcomes differ.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
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

/// One threadgroup of a kernel made by random_kernel, over inputs and scalars that follow from the seed.
inline Outcome run_random(const Kernel& kernel, std::uint64_t seed, std::string_view backend) {
  std::mt19937_64 random(seed);
  std::vector<HostTensor> tensors = {
      {"x", DType::F32, {256}}, {"i", DType::U32, {256}}, {"y", DType::F32, {512}}, {"o", DType::U32, {512}}};
  for (const std::size_t t : {0u, 2u})
    for (std::int64_t n = 0; n < tensors[t].count(); ++n)
      tensors[t].set(n, static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000) / 64);
  for (std::int64_t n = 0; n < 256; ++n)
    tensors[1].set_int(n, static_cast<std::int64_t>(random() % 3 == 0 ? random() & 0xffffffffu : random() % 40));
  try {
    const std::unique_ptr<Device> device = find_backend(backend)->open().take();
    const auto program = device->compile(kernel);
    std::vector<std::unique_ptr<Buffer>> buffers;
    Arguments arguments{.buffers = {}, .scalars = {4 * (random() % 5), random() % 9}};
    for (const HostTensor& t : tensors) {
      buffers.push_back(device->allocate(t.bytes()));
      buffers.back()->write(t.data.data(), t.bytes());
      arguments.buffers.push_back({buffers.back().get(), 0, t.bytes()});
    }
    device->launch(*program, arguments, {1, 1, 1});
    device->wait();
    for (std::size_t t = 0; t < tensors.size(); ++t) buffers[t]->read(tensors[t].data.data(), tensors[t].bytes());
  } catch (const Error& e) {
    return {e.what(), {}};
  }
  return {"", {tensors[2], tensors[3]}};
}

/// Where the outcomes differ; NaNs are all alike.
inline std::string difference(const Outcome& a, const Outcome& b) {
  if (a.error != b.error) return "'" + a.error + "' and '" + b.error + "'";
  for (std::size_t t = 0; t < a.outputs.size(); ++t)
    for (std::int64_t n = 0; n < a.outputs[t].count(); ++n) {
      const double x = a.outputs[t].at(n), y = b.outputs[t].at(n);
      const bool same = std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
      if (!same)
        return a.outputs[t].name + "[" + std::to_string(n) + "]: " + std::to_string(x) + " and " + std::to_string(y);
    }
  return "";
}

}  // namespace mt
