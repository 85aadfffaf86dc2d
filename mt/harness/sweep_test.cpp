#include "mt/harness/sweep.h"

#include <gtest/gtest.h>

#include "mt/dsl/dsl.h"
#include "mt/harness/bench_report.h"
#include "mt/harness/fake_backend.h"
#include "mt/harness/select.h"

namespace mt {
namespace {

std::string refusal(const std::string& text) {
  try {
    sweep_of(text);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Sweep, ItsTextNamesASizeAndItsValues) {
  const Sweep s = sweep_of("m=8,1,2");
  EXPECT_EQ(s.size, "m");
  EXPECT_EQ(s.values, (std::vector<std::int64_t>{1, 2, 8}));
  for (const auto& [text, sentence] :
       std::vector<std::pair<std::string, std::string>>{{"m", "write a size and its values"},
                                                        {"=1,2", "write a size and its values"},
                                                        {"m=", "'' is no whole number"},
                                                        {"m=1,,2", "'' is no whole number"},
                                                        {"m=1,2,", "'' is no whole number"},
                                                        {"m=1,two", "'two' is no whole number"},
                                                        {"m=1,2.5", "'2.5' is no whole number"},
                                                        {"m=1,99999999999999999999", "is no whole number"},
                                                        {"m=-1,2", "m must not be negative"},
                                                        {"m=4", "one value is no sweep"},
                                                        {"m=4,2,4", "4 stands there twice"}}) {
    EXPECT_NE(refusal(text).find(sentence), std::string::npos) << text << ": " << refusal(text);
    EXPECT_NE(refusal(text).find("--sweep " + text), std::string::npos) << refusal(text);
  }
}

/// y = 2 x in rows of n; the other kernel calls the number of rows by another name.
template <bool kTall>
struct Rows {
  In<f32> x{"x", {kTall ? "height" : "rows", "n"}};
  Out<f32> y{"y", {kTall ? "height" : "rows", "n"}};
  Size n{"n"};
  Launch launch(const Problem& p) const { return {.groups = {p[kTall ? "height" : "rows"]}, .threads = 32}; }
  void body() const { y.row(group_id()).store(0, x.row(group_id()).load(0) * 2.f); }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t i = 0; i < in["x"].count(); ++i) e.value.push_back(2 * in["x"].at(i));
    e.bound.resize(e.value.size());
    return {{"y", e}};
  }
  Problems tests() const { return benches(); }
  Problems benches() const { return {{{kTall ? "height" : "rows", 4}, {"n", kTall ? 16 : 8}}}; }
  Work work(const Problem& p) const {
    const auto all = static_cast<double>(p[kTall ? "height" : "rows"] * p["n"]);
    return {.read = 4 * all, .written = 4 * all, .flops = all};
  }
};
template <bool kTall>
KernelEntry entry(const char* name) {
  return {name, DType::F32, {}, [name] {
            return std::make_unique<detail::Erased<Rows<kTall>>>(name, detail::AsDeclared{});
          }};
}
const KernelEntry kFirst = entry<false>("first"), kSecond = entry<false>("second"), kTall = entry<true>("tall");

std::string refusal(const std::vector<const KernelEntry*>& entries, const Problem& changes, const Sweep& sweep) {
  try {
    sweep_problems(entries, changes, sweep, sweep.values[0]);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Sweep, KernelsStandOnTheSameProblem) {
  const auto all = sweep_problems({&kFirst, &kSecond}, {{"n", 5}}, sweep_of("rows=3,7"), 7);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].first, &kFirst);
  EXPECT_EQ(all[1].first, &kSecond);
  for (const auto& [e, p] : all) EXPECT_EQ(p.text(), "n:5/rows:7") << e->name;
  const auto one = sweep_problems({&kTall, &kFirst}, {{"height", 2}, {"rows", 3}}, sweep_of("n=3,7"), 3);
  EXPECT_EQ(one[0].second.text(), "height:2/n:3") << "a size of another kernel is left out";
  EXPECT_EQ(one[1].second.text(), "n:3/rows:3");
}

TEST(Sweep, WhatCannotStandSideBySideIsRefused) {
  EXPECT_NE(refusal({&kFirst}, {{"n", 5}}, sweep_of("n=3,7")).find("n has a value by --size"), std::string::npos);
  const std::string none = refusal({&kFirst, &kTall}, {}, sweep_of("rows=3,7"));
  EXPECT_NE(none.find("tall/f32 has no such size; it has height and n"), std::string::npos) << none;
  const std::string apart = refusal({&kFirst, &kTall}, {}, Sweep{"n", {1, 2}});
  EXPECT_EQ(apart, "") << "the swept size is one for all";
  EXPECT_EQ(refusal({&kFirst, &kSecond}, {}, sweep_of("rows=3,7")), "");
}

TEST(Sweep, SizesThatDifferAreRefused) {
  const KernelEntry wide{"wide", DType::F32, {}, [] {
                           struct Wide : Rows<false> {
                             Problems benches() const { return {{{"rows", 4}, {"n", 64}}}; }
                           };
                           return std::make_unique<detail::Erased<Wide>>("wide", detail::AsDeclared{});
                         }};
  const std::string sentence = refusal({&kFirst, &wide}, {}, sweep_of("rows=3,7"));
  EXPECT_NE(sentence.find("wide/f32 has n 64 where first/f32 has 8; give both one by --size n="), std::string::npos)
      << sentence;
  EXPECT_EQ(refusal({&kFirst, &wide}, {{"n", 8}}, sweep_of("rows=3,7")), "");
  const KernelEntry stored{"stored", DType::F32, {}, [] {
                             struct Stored : Rows<false> {
                               Problems benches() const { return {{{"rows", 4}, {"n", 64}}}; }
                               Work work(const Problem& p) const {
                                 return {.flops = static_cast<double>(p["rows"] * 8)};
                               }
                             };
                             return std::make_unique<detail::Erased<Stored>>("stored", detail::AsDeclared{});
                           }};
  EXPECT_EQ(refusal({&kFirst, &stored}, {}, sweep_of("rows=3,7")), "") << "the same is computed";
}

/// One kernel's results over values: seconds, work that grows with them or stays.
SweepRows rows_of(const std::vector<double>& seconds, const std::vector<double>& work, double spread = 0) {
  SweepRows rows;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    BenchResult r;
    r.kernel = "k";
    r.dtype = "f32";
    r.verified = true;
    r.work = {.read = 1000, .written = 0, .flops = work[i]};
    r.time = {.median = seconds[i],
              .p25 = seconds[i] * (1 - spread / 2),
              .p75 = seconds[i] * (1 + spread / 2),
              .least = seconds[i],
              .count = 10};
    rows.push_back({r});
  }
  return rows;
}
std::vector<std::int64_t> cliffs(SweepRows rows, const Sweep& sweep) {
  mark_sweep(rows, sweep);
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!rows[i][0].cliff.empty()) found.push_back(sweep.values[i]);
  return found;
}

TEST(Sweep, ACliffIsATimeThatWorkDoesNotExplain) {
  const Sweep s = sweep_of("m=1,2,4,8");
  using Found = std::vector<std::int64_t>;
  EXPECT_EQ(cliffs(rows_of({1, 1, 1, 1}, {1, 2, 4, 8}), s), Found{});
  EXPECT_EQ(cliffs(rows_of({1, 2, 4, 8}, {1, 2, 4, 8}), s), Found{}) << "twice the work may take twice the time";
  EXPECT_EQ(cliffs(rows_of({1, 2.1, 4.3, 9}, {1, 2, 4, 8}), s), Found{}) << "a tenth more is none";
  EXPECT_EQ(cliffs(rows_of({1, 1, 3, 3}, {1, 2, 4, 8}), s), Found{4});
  EXPECT_EQ(cliffs(rows_of({1, 1, 1.3, 1.3}, {1, 1, 1, 1}), s), Found{4}) << "no more work, more time";
  EXPECT_EQ(cliffs(rows_of({1, 2, 1.2, 2}, {1, 2, 4, 8}), s), Found{2}) << "longer than more work takes";
  EXPECT_EQ(cliffs(rows_of({2, 1, 1, 1}, {4, 3, 2, 1}), s), Found{}) << "less work may take less time";
  EXPECT_EQ(cliffs(rows_of({1, 1, 1.3, 1.3}, {1, 1, 1, 1}, 0.15), s), Found{}) << "samples lie as far apart";
  SweepRows failed = rows_of({1, 1, 9, 9}, {1, 1, 1, 1});
  failed[1][0].error = "wrong";
  EXPECT_EQ(cliffs(failed, s), Found{}) << "no neighbour to compare with";
}

TEST(Sweep, NotesSayWhereAndWhy) {
  const Sweep s = sweep_of("m=16,17");
  SweepRows rows = rows_of({1e-3, 2e-3}, {16, 17});
  mark_sweep(rows, s);
  EXPECT_EQ(sweep_notes(rows, s),
            "! cliff of k/f32 at m 17: 2.00 ms is 2.00 times as long as m 16 (1.00 ms), with 1.06 times the work\n");
  EXPECT_NE(sweep_line(rows[1], s, 17, false).find("2.00 ms!"), std::string::npos);
  EXPECT_EQ(sweep_line(rows[0], s, 16, false).find("!"), std::string::npos);
  rows[0][0].error = "it is wrong";
  mark_sweep(rows, s);
  EXPECT_EQ(sweep_notes(rows, s), "FAIL k/f32 m 16: it is wrong\n");
  EXPECT_NE(sweep_line(rows[0], s, 16, false).find("FAIL"), std::string::npos);
  EXPECT_EQ(rows[1][0].times_first, 1);
}

TEST(Sweep, KernelsAreMeasuredInTurns) {
  std::vector<std::size_t> order;  // bytes of what ran
  bool wrong = false;
  const FakeBackend backend([&](const Arguments& args, const Groups&) {
    const auto* x = fake_data<const float>(args.buffers[0]);
    auto* y = fake_data<float>(args.buffers[1]);
    for (std::size_t i = 0; i < args.buffers[1].bytes / 4; ++i) y[i] = x[i] * 2;
    if (wrong && args.buffers[1].bytes == 12 * 4) y[0] += 1;
    order.push_back(args.buffers[1].bytes);
  });
  const auto device = backend.open().take();
  static_cast<FakeDevice&>(*device).records = true;  // a second a launch
  Runner runner(backend, *device);
  BenchOptions options;
  options.stop = {.least = 10, .most = 10, .seconds = 1e9, .uncertainty = 0};
  options.rotation_bytes = 1;
  const std::vector<BenchProblem> both{{&kFirst, {{"rows", 3}, {"n", 4}}}, {&kSecond, {{"rows", 5}, {"n", 4}}}};
  SweepRows rows{run_in_turns(runner, both, options, nullptr)};
  for (const BenchResult& r : rows[0]) {
    EXPECT_TRUE(r.verified) << r.error;
    EXPECT_EQ(r.time.count, 10u);
    EXPECT_DOUBLE_EQ(r.time.median, 1);
  }
  std::size_t changes = 0;
  for (std::size_t i = 1; i < order.size(); ++i) changes += order[i] != order[i - 1];
  EXPECT_GE(changes, 19u) << "ten samples of each, one after the other";
  mark_sweep(rows, sweep_of("rows=3,5"));
  const std::string json = bench_json(rows[0], device->info());
  EXPECT_NE(json.find("\"swept\": \"rows\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"times_first\": 1.0"), std::string::npos) << json;

  wrong = true;
  const auto failed = run_in_turns(runner, both, options, nullptr);
  EXPECT_FALSE(failed[0].verified);
  EXPECT_NE(failed[0].error.find("y: 1 of 12 are wrong"), std::string::npos) << failed[0].error;
  EXPECT_TRUE(failed[1].verified) << failed[1].error;
  EXPECT_EQ(failed[1].time.count, 10u);
}

}  // namespace
}  // namespace mt
