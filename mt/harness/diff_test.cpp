#include "mt/harness/diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mt/base/error.h"

namespace mt {
namespace {

std::string document(double time, double spread, double roof, bool verified = true) {
  return fmt::format(
      R"({{"context":{{}},"benchmarks":[{{"name":"k/f32/n:1","real_time":{},"time_unit":"us","spread":{},)"
      R"("verified":{}{}}}]}})",
      time, spread, verified, roof > 0 ? fmt::format(R"(,"roof_fraction":{})", roof) : "");
}

Verdict verdict(const std::string& a, const std::string& b) { return compare_benchmarks(a, b, 0.03).at(0).verdict; }

TEST(Diff, ChangesWithinTheSpreadAreNoNews) {
  EXPECT_EQ(verdict(document(100, 0, 0), document(102, 0, 0)), Verdict::Same);
  EXPECT_EQ(verdict(document(100, 0, 0), document(110, 0, 0)), Verdict::Slower);
  EXPECT_EQ(verdict(document(100, 0, 0), document(90, 0, 0)), Verdict::Faster);
  EXPECT_EQ(verdict(document(100, 0.1, 0), document(110, 0.1, 0)), Verdict::Same);
}

TEST(Diff, ASlowerMachineIsNoSlowerKernel) {
  EXPECT_EQ(verdict(document(100, 0, 0.8), document(150, 0, 0.8)), Verdict::Same);
  EXPECT_EQ(verdict(document(100, 0, 0.8), document(100, 0, 0.6)), Verdict::Slower);
}

TEST(Diff, FailuresAndMissingOnesAreRegressions) {
  const std::string good = document(100, 0, 0), empty = R"({"benchmarks":[]})";
  EXPECT_EQ(verdict(good, document(100, 0, 0, false)), Verdict::Broken);
  EXPECT_EQ(verdict(good, empty), Verdict::Removed);
  EXPECT_EQ(verdict(empty, good), Verdict::Added);
  EXPECT_EQ(regressions(compare_benchmarks(good, empty, 0.03)), 1u);
  EXPECT_EQ(regressions(compare_benchmarks(empty, good, 0.03)), 0u);
}

TEST(Diff, OtherDocumentsAreRefused) {
  EXPECT_THROW(compare_benchmarks("no json", document(1, 0, 0), 0), Error);
  EXPECT_THROW(compare_benchmarks("{}", document(1, 0, 0), 0), Error);
  EXPECT_THROW(compare_benchmarks(R"({"benchmarks":[{"name":3}]})", document(1, 0, 0), 0), Error);
}

}  // namespace
}  // namespace mt
