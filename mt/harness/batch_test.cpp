#include "mt/harness/batch.h"

#include <gtest/gtest.h>

#include "mt/dsl/dsl.h"
#include "mt/harness/fake_backend.h"
#include "mt/harness/test_case.h"

namespace mt {
namespace {

/// Row sums plus a weight that all rows share, under a bound that hides small errors.
struct Sums {
  In<f32> x{"x", {"rows", "n"}}, w{"w", {"n"}};
  Out<f32> out{"out", {"rows"}};
  Launch launch(const Problem& p) const { return {.groups = {p["rows"]}, .threads = 32}; }
  void body() const { out.store(group_id(), x.row(group_id()).load(0) + w.load(0)); }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t r = 0; r < in.size("rows"); ++r) {
      e.value.push_back(in["w"].at(0));
      for (std::int64_t i = 0; i < in.size("n"); ++i) e.value.back() += in["x"].at(r * in.size("n") + i);
      e.bound.push_back(1);
    }
    return {{"out", e}};
  }
  Problems tests() const { return {{{"rows", 4}, {"n", 5}}}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
  std::vector<std::string> batch() const { return {"rows"}; }
};
struct Undeclared : Sums {
  void batch() const {}  // hides the promise
};

template <class K>
KernelEntry entry_of(const std::string& name) {
  return {name, DType::F32, {}, [name] { return std::make_unique<detail::Erased<K>>(name, detail::AsDeclared{}); }};
}

/// Adds `leak` times the first element of the batch to every row.
FakeDevice::Body sums(float leak) {
  return [leak](const Arguments& args, const Groups& groups) {
    const auto *x = fake_data<const float>(args.buffers[0]), *w = fake_data<const float>(args.buffers[1]);
    const std::size_t rows = static_cast<std::size_t>(groups[0]), n = args.buffers[0].bytes / 4 / rows;
    for (std::size_t r = 0; r < rows; ++r) {
      float sum = w[0] + leak * x[0];
      for (std::size_t i = 0; i < n; ++i) sum += x[r * n + i];
      fake_data<float>(args.buffers[2])[r] = sum;
    }
  };
}

template <class K>
CaseResult run(float leak, std::int64_t rows, bool alone = true) {
  const FakeBackend backend(sums(leak));
  const auto device = backend.open().take();
  Runner runner(backend, *device);
  return run_case(runner, entry_of<K>("sums"), {{"rows", rows}, {"n", 5}}, {.alone = alone});
}

TEST(Batch, AResultThatDependsOnBatchMatesIsCaughtInsideItsBound) {
  EXPECT_TRUE(run<Sums>(0, 4).passed) << run<Sums>(0, 4).error;
  const CaseResult leaks = run<Sums>(0.01f, 4);
  EXPECT_FALSE(leaks.passed);
  EXPECT_NE(leaks.error.find("out: element 0 of item 2 of rows is"), std::string::npos) << leaks.error;
  EXPECT_NE(leaks.error.find("in the batch but"), std::string::npos) << leaks.error;
  EXPECT_TRUE(run<Sums>(0.01f, 4, false).passed) << "nobody asked";
  EXPECT_TRUE(run<Sums>(0.01f, 1).passed) << "an item without mates";
  EXPECT_TRUE(run<Undeclared>(0.01f, 4).passed) << "no promise";
}

/// Copies rows that are promised to be independent; the device under test is another one.
struct Inner {
  In<f32> x{"x", {"batch", "rows", "n"}}, w{"w", {"shared"}};
  Out<f32> out{"out", {"batch", "rows", "n"}};
  Launch launch(const Problem& p) const { return {.groups = {p["batch"]}, .threads = 32}; }
  void body() const { out.at(group_id(), 0).store(0, x.at(group_id(), 0).load(0) + w.load(0)); }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t i = 0; i < in["x"].count(); ++i) {
      e.value.push_back(in["x"].at(i));
      e.bound.push_back(10);
    }
    return {{"out", e}};
  }
  Problems tests() const { return {}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
  std::vector<std::vector<std::string>> independent() const { return {{"rows", "shared"}}; }
};

TEST(Batch, IndependentSizesAreCutAlongTheirAxisAndTheLastItemIsTried) {
  const auto kernel = entry_of<Inner>("inner").make();
  const Problem p{{"batch", 2}, {"rows", 3}, {"shared", 3}, {"n", 2}};
  const std::vector<Batch> all = promises_of(*kernel, p);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].only_last);
  EXPECT_EQ(all[0].alone.text(), "batch:2/n:2/rows:1/shared:1");
  HostTensor x("x", DType::F32, {2, 3, 2}), w("w", DType::F32, {3});
  for (std::int64_t i = 0; i < 12; ++i) x.set(i, static_cast<double>(i));
  w.set(2, 7);
  const HostTensor last = item_of(x, *kernel->signature().tensor("x"), all[0], 2);
  EXPECT_EQ(last.shape, (std::vector<std::int64_t>{2, 1, 2}));
  const double expected[] = {4, 5, 10, 11};
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(last.at(i), expected[i]);
  EXPECT_EQ(item_of(w, *kernel->signature().tensor("w"), all[0], 2).at(0), 7);
  // What all items share has one.
  const std::vector<Batch> shared = promises_of(*kernel, p.with("shared", 1));
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].sizes, std::vector<std::string>{"rows"});
  EXPECT_FALSE(is_split(*kernel->signature().tensor("w"), shared[0]));
  EXPECT_TRUE(promises_of(*kernel, p.with("rows", 1)).empty());

  for (const float leak : {0.f, 1.f}) {
    const FakeBackend backend([leak](const Arguments& args, const Groups&) {
      const auto* from = fake_data<const float>(args.buffers[0]);
      auto* to = fake_data<float>(args.buffers[2]);
      for (std::size_t i = 0; i < args.buffers[0].bytes / 4; ++i) to[i] = from[i] + leak * from[0];
    });
    const auto device = backend.open().take();
    Runner runner(backend, *device);
    const CaseResult r = run_case(runner, entry_of<Inner>("inner"), p, {.alone = true});
    EXPECT_EQ(r.passed, leak == 0) << r.error;
    EXPECT_EQ(r.error.find("of item 2 of rows is") != std::string::npos, leak != 0) << r.error;
  }
}

TEST(Batch, ItemsAreTheLeadingParts) {
  const auto kernel = entry_of<Sums>("sums").make();
  const auto batch = batch_of(*kernel, {{"rows", 3}, {"n", 2}});
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->items, 3);
  EXPECT_EQ(batch->alone.text(), "n:2/rows:1");
  HostTensor x("x", DType::F32, {3, 2}), w("w", DType::F32, {2});
  for (std::int64_t i = 0; i < 6; ++i) x.set(i, static_cast<double>(i));
  const HostTensor second = item_of(x, *kernel->signature().tensor("x"), *batch, 1);
  EXPECT_EQ(second.count(), 2);
  EXPECT_EQ(second.at(0), 2);
  EXPECT_EQ(second.at(1), 3);
  EXPECT_EQ(item_of(w, *kernel->signature().tensor("w"), *batch, 1).count(), 2);
  EXPECT_FALSE(batch_of(*kernel, {{"rows", 1}, {"n", 2}}));
  EXPECT_FALSE(batch_of(*entry_of<Undeclared>("u").make(), {{"rows", 3}, {"n", 2}}));
}

}  // namespace
}  // namespace mt
