#include "backends/metal/binding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/metal/text.h"
#include "mt/ir/text.h"

namespace mt::metal {
namespace {

Kernel kernel_with(int tensors, int scalars) {
  std::string text = "kernel @k threads 32 {\n";
  for (int i = 0; i < tensors; ++i) text += fmt::format("  device {} %t{}: f16 [n]\n", i == 0 ? "out" : "in", i);
  for (int i = 0; i < scalars; ++i) text += fmt::format("  scalar %s{}: {}\n", i, i % 2 ? "u64" : "u32");
  text += "  threadgroup %room: f32 [64]\n\n  %t: u32 = thread_id\n  %x: f16 = load %t1[%t]\n  store %t0[%t], %x\n}\n";
  return parse(text).take();
}

TEST(MetalBinding, SlotsAreTheIndicesOfTheText) {
  const Kernel k = kernel_with(3, 4);
  const std::string text = metal_text({k});
  const std::vector<Slot> slots = slots_of(k);
  ASSERT_EQ(slots.size(), 7u);
  for (std::size_t n = 0; n < slots.size(); ++n) {
    const std::string wanted = fmt::format(" {} [[buffer({})]]", slots[n].name, n);
    EXPECT_NE(text.find((slots[n].scalar ? "&" : "*") + wanted), std::string::npos) << wanted << "\n" << text;
    EXPECT_EQ(slots[n].scalar, n >= 3);
    EXPECT_EQ(slots[n].position, n >= 3 ? n - 3 : n);
    EXPECT_EQ(slots[n].read_only, n > 0);
  }
  EXPECT_EQ(slots[1].dtype, DType::F16);
  EXPECT_EQ(slots[4].dtype, DType::U64);
}

TEST(MetalBinding, ThereAreNoMoreBuffersThanMetalHas) {
  EXPECT_EQ(slots_of(kernel_with(11, 20)).size(), 31u);
  EXPECT_THROW(slots_of(kernel_with(12, 20)), Error);
}

TEST(MetalBinding, PositionsInTheGridAreUints) {
  EXPECT_EQ(grid_of("d", "k", {3, 2, 1}, 32), (std::array<std::uint32_t, 3>{3, 2, 1}));
  EXPECT_EQ(grid_of("d", "k", {UINT32_MAX / 256, 1, UINT32_MAX}, 256)[2], UINT32_MAX);
  EXPECT_THROW(grid_of("d", "k", {UINT32_MAX / 256 + 1, 1, 1}, 256), Error);
  EXPECT_THROW(grid_of("d", "k", {1, 1ll << 32, 1}, 32), Error);
}

}  // namespace
}  // namespace mt::metal
