// Tensors beyond 2^31 elements on the cpu device, which maps memory where it is touched: only the last item of a batch
// is written, computed and read, at its address.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "mt/dsl/dsl.h"
#include "tests/large/problems.h"
#include "tests/own_cache.h"

namespace mt {
namespace {

TEST(Large, TheLastItemOfABatchBeyond2To31ElementsIsRight) {
  Cpu cpu;
  for_each_large([&](const KernelEntry& entry, const Problem& problem) {
    std::int64_t most = 0;
    for (const TensorSlot& s : tensor_slots(entry.make()->signature(), problem)) most = std::max(most, s.count);
    EXPECT_GT(most, std::int64_t{1} << 31) << entry.id();
    const CaseResult r = run_last_item(cpu.runner, entry, problem);
    EXPECT_TRUE(r.passed) << entry.id() << " " << r.problem << ": " << r.error;
    EXPECT_GT(r.compared, 0) << entry.id();
  });
}

/// Doubles rows, with the row's offset in 32 bits where `narrow`.
struct Doubled {
  In<f16> x{"x", {"rows", "n"}};
  Out<f16> y{"y", {"rows", "n"}};
  Size n{"n"};
  bool narrow = false;
  Launch launch(const Problem& p) const { return {.groups = {p["rows"]}, .threads = 32}; }
  void body() const {
    const U32 at = thread_id();
    if_(at < n, [&] {
      const U64 whole = U64(group_id()) * U64(n) + U64(at);
      if (narrow)
        y.store(U64(cast<u32>(whole)), x.load(U64(cast<u32>(whole))) * 2.f);
      else
        y.row(group_id()).store(at, x.row(group_id()).load(at) * 2.f);
    });
  }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t i = 0; i < in["x"].count(); ++i) e.value.push_back(2 * in["x"].at(i));
    e.bound.resize(e.value.size());
    return {{"y", e}};
  }
  Problems tests() const { return {{{"rows", 3}, {"n", 32}}}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
  std::vector<std::string> batch() const { return {"rows"}; }
};

TEST(Large, AnOffsetIn32BitsIsCaught) {
  Cpu cpu;
  const auto run = [&](bool narrow, std::int64_t elements) {
    const auto make = [narrow] {
      return std::make_unique<detail::Erased<Doubled>>("doubled", [narrow](Doubled& k) { k.narrow = narrow; });
    };
    const KernelEntry entry{"doubled", DType::F16, {}, make};
    return run_last_item(cpu.runner, entry, *enlarged(*make(), make()->tests()[0], elements));
  };
  const std::int64_t beyond_32_bits = std::int64_t{1} << 32;
  EXPECT_TRUE(run(false, beyond_32_bits).passed) << run(false, beyond_32_bits).error;
  EXPECT_TRUE(run(true, 1 << 20).passed) << run(true, 1 << 20).error;
  const CaseResult wrapped = run(true, beyond_32_bits);
  EXPECT_FALSE(wrapped.passed);
  EXPECT_NE(wrapped.error.find("of the last of"), std::string::npos) << wrapped.error;
}

TEST(Large, AWholeTensorSumSeesTheEndOfMoreThan2To31Elements) {
  Cpu cpu;
  const std::int64_t n = kMany + 3;
  const Call call = cpu.runner.prepare(entry_named("mt_all_reduce", DType::F16), {{"n", n}});
  const auto x = cpu.device->allocate(static_cast<std::size_t>(n) * 2), out = cpu.device->allocate(2);
  const std::uint16_t ones[5] = {0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00};
  x->write(ones, sizeof ones, static_cast<std::size_t>(n) * 2 - sizeof ones);
  call.bind({{"x", {x.get(), 0, static_cast<std::size_t>(n) * 2}}, {"out", {out.get(), 0, 2}}}).run();
  std::uint16_t sum = 0;
  out->read(&sum, 2);
  EXPECT_EQ(sum, 0x4500) << "5 as an f16";
}

TEST(Large, ATableBeyond2To31ElementsIsReadAtItsEnd) {
  Cpu cpu;
  const std::int64_t vocab = 1 << 21, n = 1025;
  const Call call =
      cpu.runner.prepare(entry_named("ffai_gather", DType::F16), {{"rows", 2}, {"vocab", vocab}, {"n", n}});
  const auto row = static_cast<std::size_t>(n) * 2, bytes = static_cast<std::size_t>(vocab) * row;
  const auto table = cpu.device->allocate(bytes), indices = cpu.device->allocate(8),
             out = cpu.device->allocate(2 * row);
  const std::vector<std::uint16_t> sevens(static_cast<std::size_t>(n), 0x4700);
  table->write(sevens.data(), row, bytes - row);
  const std::uint32_t picked[2] = {0, static_cast<std::uint32_t>(vocab - 1)};
  indices->write(picked, sizeof picked);
  call.bind({{"table", {table.get(), 0, bytes}}, {"indices", {indices.get(), 0, 8}}, {"out", {out.get(), 0, 2 * row}}})
      .run();
  std::vector<std::uint16_t> result(2 * static_cast<std::size_t>(n));
  out->read(result.data(), 2 * row);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], i < sevens.size() ? 0 : 0x4700) << i;
}

TEST(Large, AGridBeyondWhatAnAxisTakesIsRefused) {
  Cpu cpu;
  const Problem most = along_other_axes().at("mt_qmv");
  try {
    cpu.runner.prepare(entry_named("mt_qmv", DType::F16), most.with("m", 65536));
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("65536 threadgroups along y, but the device allows 0 to 65535"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace mt
