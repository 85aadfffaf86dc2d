// What passes make of a kernel computes the same, bit for bit, on the reference executor.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "backends/backend.h"
#include "mt/base/host_tensor.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "mt/passes/pipeline.h"
#include "tests/semantics/random_kernel.h"

namespace mt {
namespace {

struct Outcome {
  std::string error;
  std::vector<HostTensor> outputs;
};

Outcome run(const Kernel& kernel, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<HostTensor> tensors = {
      {"x", DType::F32, {256}}, {"i", DType::U32, {256}}, {"y", DType::F32, {512}}, {"o", DType::U32, {512}}};
  for (const std::size_t t : {0u, 2u})
    for (std::int64_t n = 0; n < tensors[t].count(); ++n)
      tensors[t].set(n, static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000) / 64);
  for (std::int64_t n = 0; n < 256; ++n)
    tensors[1].set_int(n, static_cast<std::int64_t>(random() % 3 == 0 ? random() & 0xffffffffu : random() % 40));
  try {
    const std::unique_ptr<Device> device = find_backend("interp")->open().take();
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
std::string difference(const Outcome& a, const Outcome& b) {
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

constexpr std::uint64_t kSeeds = 20;  // kernels of one test

class PassSemantics : public testing::TestWithParam<int> {};

TEST_P(PassSemantics, EveryPassKeepsTheResults) {
  const PipelineOptions all[] = {{}, {.contiguous_simds = true}, {.lower_group_reduce = false, .max_vector_bytes = 8}};
  int ran = 0;
  for (std::uint64_t n = 0; n < kSeeds; ++n) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * kSeeds + n;
    const std::string text = random_kernel(seed);
    const Result<Kernel> parsed = parse(text);
    ASSERT_TRUE(parsed) << parsed.error().what() << "\n" << text;
    const Outcome want = run(*parsed, seed);
    if (!want.error.empty()) continue;
    ++ran;
    for (const PipelineOptions& options : all) {
      Kernel k = *parsed;
      std::string before = print(k), broken;
      optimise(k, options, [&](const Pass& pass, bool, double, const Kernel& now) {
        if (!broken.empty()) return;
        const std::string text_now = print(now);
        if (text_now == before) return;
        const std::string differs = difference(want, run(now, seed));
        if (!differs.empty())
          broken = std::string(pass.name) + ": " + differs + "\nbefore\n" + before + "after\n" + text_now;
        before = text_now;
      });
      ASSERT_EQ(broken, "") << "seed " << seed;
      optimise(k, options);
      EXPECT_TRUE(print(k) == before) << "a second run changed it, seed " << seed;
    }
  }
  EXPECT_GT(ran, 10) << "random kernels are refused by the reference executor";
}

INSTANTIATE_TEST_SUITE_P(Seeds, PassSemantics, testing::Range(0, 10));

}  // namespace
}  // namespace mt
