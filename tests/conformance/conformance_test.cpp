// Every op and dtype on every target against the reference in double: interp, cpu, and the text for Metal and CUDA as
// the host runs it.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "backends/backend.h"
#include "mt/ir/op_kernels.h"
#include "tests/conformance/reference.h"
#include "tests/conformance/values.h"
#include "tests/emulation/host_text.h"

namespace mt {
namespace {

using Bytes = std::vector<std::byte>;

Bytes packed(DType t, const std::vector<std::uint64_t>& bits) {
  const auto size = static_cast<std::size_t>(size_of(t));
  Bytes all(bits.size() * size);
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(all.data() + i * size, &bits[i], size);
  return all;
}

/// The operands of a case and room for its results.
struct Data {
  explicit Data(const OpCase& c) : Data(c, values_of(c)) {}
  Data(const OpCase& c, std::vector<std::vector<std::uint64_t>> operands) : values(std::move(operands)) {
    n = values[0].size();
    for (std::size_t k = 0; k < values.size(); ++k) {
      memories.push_back(packed(c.operand(static_cast<int>(k)), values[k]));
      n = std::min(n, values[k].size());
    }
    memories.emplace_back(n * static_cast<std::size_t>(size_of(c.result())), std::byte{0xa5});
  }
  static std::vector<std::vector<std::uint64_t>> values_of(const OpCase& c) {
    std::vector<std::vector<std::uint64_t>> all;
    for (int k = 0; k < c.operands(); ++k) all.push_back(operand_values(c.operand(k), k, c.operands()));
    return all;
  }
  Groups groups(const OpCase& c) const {
    return {static_cast<std::int64_t>(n + static_cast<std::size_t>(64 * c.lanes) - 1) / (64 * c.lanes), 1, 1};
  }
  std::vector<std::vector<std::uint64_t>> values;
  std::vector<Bytes> memories;
  std::size_t n = 0;
};

class Conformance {
 public:
  explicit Conformance(std::string target) : target_(std::move(target)) {}
  ~Conformance() {
    for (const auto& [name, ulps] : worst_) std::printf("%-8s %-10s %6.2f ulp\n", target_.c_str(), name.c_str(), ulps);
  }
  Conformance(const Conformance&) = delete;
  Conformance& operator=(const Conformance&) = delete;

  void judge_all(const OpCase& c, const Data& d) {
    const auto size = static_cast<std::size_t>(size_of(c.result()));
    int wrong = 0;
    for (std::size_t i = 0; i < d.n; ++i) {
      Operands in{};
      for (std::size_t k = 0; k < d.values.size(); ++k) in[k] = d.values[k][i];
      std::uint64_t got = 0;
      std::memcpy(&got, d.memories.back().data() + i * size, size);
      const Wanted w = wanted(c.op, c.on, c.result(), in);
      const bool flushed = c.op == Op::FastExp2 && w.real && w.value < 0x1p-126 && got == 0;
      const Judgement j = flushed ? Judgement{true, 0} : judge(w, c.result(), got, info(c.op).ulp);
      if (c.on == DType::F32 && info(c.op).ulp > 0) {
        double& worst = worst_[std::string(info(c.op).name)];
        worst = std::max(worst, j.ulps);
      }
      if (j.good || ++wrong > 3) continue;
      ADD_FAILURE() << target_ << " "
                    << fmt::format(
                           "{} of {:#x} {:#x} {:#x}: {:#x}, not {}", c.name(), in[0], in[1], in[2], got,
                           w.real ? fmt::format("{:.9g}: {:.2f} ulp", w.value, j.ulps) : fmt::format("{:#x}", w.bits));
    }
    EXPECT_EQ(wrong, 0) << c.name();
    compared_ += d.n;
  }
  std::size_t compared() const { return compared_; }

 private:
  std::string target_;
  std::map<std::string, double> worst_;  // by op, on f32
  std::size_t compared_ = 0;
};

void run_on(Device& device, const OpCase& c, Data& d) {
  const auto program = device.compile(op_kernel(c));
  std::vector<std::unique_ptr<Buffer>> buffers;
  Arguments arguments{.buffers = {}, .scalars = {d.n}};
  for (const Bytes& b : d.memories) {
    buffers.push_back(device.allocate(b.size()));
    buffers.back()->write(b.data(), b.size());
    arguments.buffers.push_back({buffers.back().get(), 0, b.size()});
  }
  device.launch(*program, arguments, d.groups(c));
  device.wait();
  buffers.back()->read(d.memories.back().data(), d.memories.back().size());
}

void on_device(const std::string& backend, int lanes) {
  Conformance conformance(backend);
  const std::unique_ptr<Device> device = find_backend(backend)->open().take();
  for (const OpCase& c : op_cases(lanes)) {
    Data d(c);
    run_on(*device, c, d);
    conformance.judge_all(c, d);
  }
  EXPECT_GT(conformance.compared(), 2'000'000u);
}

void as_text(const std::string& target, int lanes) {
  Conformance conformance(target);
  const std::vector<OpCase> cases = op_cases(lanes);
  std::vector<Kernel> kernels;
  for (const OpCase& c : cases) kernels.push_back(op_kernel(c));
  const emulation::HostText text(*find_backend(target), kernels, "-O1");
  for (std::size_t n = 0; n < cases.size(); ++n) {
    Data d(cases[n]);
    std::vector<void*> memories;
    for (Bytes& b : d.memories) memories.push_back(b.data());
    text.run(kernels[n], memories, {d.n}, d.groups(cases[n]));
    conformance.judge_all(cases[n], d);
  }
  EXPECT_GT(conformance.compared(), 2'000'000u);
}

TEST(OpConformance, Interp) { on_device("interp", 1); }
TEST(OpConformance, InterpVectors) { on_device("interp", 8); }
TEST(OpConformance, MetalText) { as_text("metal", 1); }
TEST(OpConformance, MetalTextVectors) { as_text("metal", 4); }
TEST(OpConformance, CudaText) { as_text("cuda", 1); }
TEST(OpConformance, CudaTextVectors) { as_text("cuda", 4); }
#ifdef MT_HAS_LLVM
TEST(OpConformance, Cpu) { on_device("cpu", 1); }
/// Polynomials and their seams: all functions of f32 on far more numbers than the tables hold.
TEST(OpConformance, CpuSweep) {
  Conformance conformance("cpu");
  const std::unique_ptr<Device> device = find_backend("cpu")->open().take();
  for (const OpCase& c : op_cases(1)) {
    const bool whole = c.op == Op::Floor || c.op == Op::Ceil || c.op == Op::Round || c.op == Op::Trunc;
    if (c.on != DType::F32 || (info(c.op).ulp == 0 && !whole && c.op != Op::Sign)) continue;
    Data d(c, sweep(c.op));
    run_on(*device, c, d);
    conformance.judge_all(c, d);
  }
  EXPECT_GT(conformance.compared(), 8'000'000u);
}
#endif

/// The judge itself: what is just inside passes, what is just outside does not.
TEST(OpConformance, BoundsAreSharp) {
  const float x = 1.5f;
  const auto bits = [](float f) { return std::uint64_t{std::bit_cast<std::uint32_t>(f)}; };
  const Wanted w{.real = true, .value = 1.5};
  EXPECT_TRUE(judge(w, DType::F32, bits(x), 0).good);
  EXPECT_FALSE(judge(w, DType::F32, bits(std::nextafter(x, 2.0f)), 0).good);
  EXPECT_TRUE(judge(w, DType::F32, bits(x) + 3, 3).good);
  EXPECT_FALSE(judge(w, DType::F32, bits(x) + 4, 3).good);
  EXPECT_FALSE(judge(w, DType::F32, bits(NAN), 3).good);
  EXPECT_FALSE(judge({.real = true, .value = -0.0}, DType::F32, bits(0.0f), 3).good);
  EXPECT_TRUE(judge({.real = true, .value = NAN}, DType::F32, bits(NAN), 0).good);
  EXPECT_TRUE(judge({.real = true, .value = 1 + 0x1p-11 + 0x1p-20}, DType::F16, 0x3c01, 0).good) << "above a tie";
  EXPECT_FALSE(judge({.real = true, .value = 1 + 0x1p-11 + 0x1p-20}, DType::F16, 0x3c02, 4).good);
}

}  // namespace
}  // namespace mt
