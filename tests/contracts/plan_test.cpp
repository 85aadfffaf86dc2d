// A plan follows from its problem and target alone, whatever the same instance planned before.
#include <fmt/format.h>

#include "tests/contracts/testing.h"

namespace mt {
namespace {

/// Tunables and launches of a plan, or why there is none.
std::string plan_text(KernelInstance& kernel, const Problem& p, TargetTraits traits) {
  std::string text;
  try {
    for (const StagePlan& s : kernel.plan(p, traits))
      text += fmt::format("{} {} x {} x {} of {}; ", s.name, s.launch.groups.x, s.launch.groups.y, s.launch.groups.z,
                          s.launch.threads);
  } catch (const Error& e) {
    return e.what();
  }
  for (const TunableDecl& t : kernel.signature().tunables) text += fmt::format("{} = {} ", t.name, t.value);
  return text;
}

TEST(Contracts, APlanForgetsWhatWasPlannedBefore) {
  std::size_t compared = 0;
  for (const KernelEntry* entry : registry(true))
    for (const TargetTraits traits : {TargetTraits{.gpu = true, .threadgroup_kib = 227}, TargetTraits{.gpu = true},
                                      TargetTraits{.gpu = false, .threadgroup_kib = 1024}}) {
      const auto used = entry->make();
      for (const Problem& p : used->tests()) {
        EXPECT_EQ(plan_text(*used, p, traits), plan_text(*entry->make(), p, traits)) << entry->id() << " " << p.text();
        ++compared;
      }
    }
  EXPECT_GT(compared, 1000u);
}

}  // namespace
}  // namespace mt
