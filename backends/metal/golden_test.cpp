#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "backends/backend.h"
#include "backends/clike/golden_kernels.h"
#include "backends/clike/testing.h"
#include "backends/metal/text.h"
#include "mt/ir/text.h"
#include "mt/ir/tile_chain.h"

namespace mt {
namespace {

using namespace clike::testing;

std::string text_of_kernel(const std::string& ir) { return find_backend("metal")->artefact(parse(ir).take())->text; }

TEST(MetalGolden, KernelsKeepTheirText) {
  for (const TextKernel& k : kGoldenKernels)
    EXPECT_EQ(golden(fmt::format("{}.metal", k.name), text_of_kernel(k.body)), "");
}

TEST(MetalGolden, ControlFlowKeepsItsText) {
  std::vector<Kernel> kernels;
  for (const TextKernel& k : kControlKernels) kernels.push_back(parse(text_of(k)).take());
  EXPECT_EQ(golden("control_flow.metal", find_backend("metal")->program(kernels)->text), "");
}

TEST(MetalGolden, EveryLineKnowsItsPlace) {
  for (const TextKernel& k : kControlKernels) {
    Kernel kernel = parse(text_of(k)).take();
    int line = 100;
    for (Inst& i : kernel.insts) i.loc = Loc("kernel.h", line++);
    std::vector<Loc> places;
    const std::string text = metal::metal_text({kernel}, &places);
    EXPECT_EQ(text, metal::metal_text({kernel}));
    ASSERT_EQ(places.size(), static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    std::istringstream lines(text);
    bool body = false;
    int written = 0;
    std::size_t n = 0;
    for (std::string l; std::getline(lines, l); ++n) {
      // Where the text itself names a place at the end of a line, the map says the same.
      if (const auto at = l.find("  // kernel.h:"); at != std::string::npos) {
        EXPECT_EQ(to_string(places[n]), l.substr(at + 5)) << l;
        ++written;
      }
      EXPECT_EQ(places[n].known(), body) << l;
      body = body || l.ends_with(") {");
    }
    EXPECT_GT(written, 0) << text;
  }
}

TEST(MetalGolden, TilesKeepTheirText) {
  const Backend& target = *find_backend("metal");
  std::vector<Kernel> kernels;
  for (const DType t : {DType::BF16, DType::F32}) {
    kernels.push_back(tile_chain({.t = t, .shared = true, .known = true, .copy = 16 / size_of(t)}));
    kernels.back().name += fmt::format("_{}", name_of(t));
    optimise(kernels.back(), target.pipeline());
  }
  EXPECT_EQ(golden("tiles.metal", target.program(kernels)->text), "");
}

TEST(MetalGolden, TextIsTheSameEveryTime) {
  for (const TextKernel& k : kGoldenKernels) EXPECT_EQ(text_of_kernel(k.body), text_of_kernel(k.body));
}

}  // namespace
}  // namespace mt
