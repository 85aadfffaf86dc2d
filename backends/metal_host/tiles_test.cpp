// Tiles as Metal text, compiled and run here, against the interpreter. Sums are exact in any order.
#include <gtest/gtest.h>

#include "backends/backend.h"
#include "mt/base/host_tensor.h"
#include "mt/ir/text.h"
#include "mt/ir/tile_chain.h"

namespace mt::metal_host {
namespace {

std::vector<HostTensor> tensors_of(const TileChain& c) {
  const Kernel k = tile_chain(c);
  const std::vector<int> counts = tile_chain_counts(c);
  std::vector<HostTensor> list;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    list.emplace_back(k.memories[n].name, k.memories[n].dtype, std::vector<std::int64_t>{counts[n]});
    for (int i = 0; i < counts[n]; ++i) list.back().set(i, ((i * 7 + i / 5 * 3 + static_cast<int>(n)) % 9 - 4) * 0.25);
  }
  return list;
}

/// The tensors after one launch on the device, by its own pipeline.
std::vector<HostTensor> run(const Backend& backend, const TileChain& c) {
  Kernel k = tile_chain(c);
  optimise(k, backend.pipeline());
  const std::unique_ptr<Device> device = backend.open().take();
  const auto program = device->compile(k);
  std::vector<HostTensor> tensors = tensors_of(c);
  std::vector<std::unique_ptr<Buffer>> buffers;
  Arguments arguments{.buffers = {}, .scalars = tile_chain_scalars(c)};
  for (const HostTensor& t : tensors) {
    buffers.push_back(device->allocate(t.bytes()));
    buffers.back()->write(t.data.data(), t.bytes());
    arguments.buffers.push_back({buffers.back().get(), 0, t.bytes()});
  }
  device->launch(*program, arguments, {1, 1, 1});
  device->wait();
  for (std::size_t i = 0; i < tensors.size(); ++i) buffers[i]->read(tensors[i].data.data(), tensors[i].bytes());
  return tensors;
}

void expect_same(const TileChain& c) {
  SCOPED_TRACE(c.name());
  const Backend& host = *find_backend("metal-host");
  if (const std::string why = host.unavailable(); !why.empty()) GTEST_SKIP() << why;
  const auto expected = run(*find_backend("interp"), c), found = run(host, c);
  for (std::size_t n = 0; n < expected.size(); ++n)
    for (std::int64_t i = 0; i < expected[n].count(); ++i)
      ASSERT_EQ(found[n].at(i), expected[n].at(i)) << expected[n].name << "[" << i << "]";
}

TEST(MetalTiles, GiveWhatTheInterpreterGives) {
  for (const DType t : {DType::F32, DType::F16, DType::BF16})
    for (const bool shared : {false, true})
      expect_same({.t = t,
                   .cols = 48,
                   .lhs_t = shared,
                   .rhs_t = t == DType::F16,
                   .shared = shared,
                   .known = t == DType::F32,
                   .n = 48,
                   .copy = 16 / size_of(t)});
}

TEST(MetalTiles, RaggedEdges) {
  expect_same({.m = 13, .n = 11, .k = 21, .pad = 3});
  expect_same({.t = DType::F32, .shared = true, .m = 9, .n = 16, .k = 19, .pad = 1, .copy = 4});
}

TEST(MetalTiles, TheTextUsesSimdgroupMatrices) {
  Kernel k = tile_chain({.known = true});
  optimise(k, find_backend("metal")->pipeline());
  const std::string text = find_backend("metal")->artefact(k)->text;
  for (const char* part : {"simdgroup_matrix<bfloat, 8, 8> left, right;",
                           "simdgroup_multiply_accumulate(sum, left, right, sum);", "mt::mma("})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
}  // namespace mt::metal_host
