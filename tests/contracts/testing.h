// Walks the registry with a device that runs nothing, and asks for what must be refused.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mt/harness/fake_backend.h"
#include "mt/harness/runner.h"

namespace mt {

/// A device that notes launches, with traits and limits to choose.
class Bench {
 public:
  explicit Bench(TargetTraits traits = {}, Limits limits = {}, int program_threads = 1024)
      : backend_(
            traits, [this](const Arguments&, const Groups&) { ++launches; }, limits, program_threads),
        device_(backend_.open().take()),
        runner_(backend_, *device_) {}
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Call prepare(const KernelEntry& entry, const Problem& problem, const Overrides& overrides = {}) {
    return runner_.prepare(entry, problem, overrides);
  }
  /// The sentence of the refusal; empty where the problem is taken.
  std::string refusal(const KernelEntry& entry, const Problem& problem, const Overrides& overrides = {}) {
    try {
      prepare(entry, problem, overrides);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  FakeDevice& device() { return static_cast<FakeDevice&>(*device_); }
  int launches = 0;

 private:
  class Backend final : public FakeBackend {
   public:
    Backend(TargetTraits traits, FakeDevice::Body body, Limits limits, int program_threads)
        : FakeBackend(std::move(body), limits, program_threads), traits_(traits) {}
    TargetTraits traits() const override { return traits_; }

   private:
    TargetTraits traits_;
  };
  Backend backend_;
  std::unique_ptr<Device> device_;
  Runner runner_;
};

/// A problem of the kernel's own tests that launches something, of moderate size.
inline Problem sound(const KernelInstance& kernel) {
  std::optional<Problem> best;
  for (const Problem& p : kernel.tests()) {
    std::int64_t elements = 0, written = 0;
    bool whole = true;  // no tensor is empty
    for (const TensorSlot& s : tensor_slots(kernel.signature(), p)) {
      if (s.param->temporary) continue;
      elements += s.count;
      whole = whole && s.count > 0;
      if (s.param->access != Access::In) written += s.count;
    }
    if (!whole || elements > 100000) continue;
    best = p;
    if (written > 64) break;
  }
  if (!best) throw Error("no test of moderate size");
  return *best;
}

/// The entries of the registry, one dtype of each name where `names` is true.
inline std::vector<const KernelEntry*> registry(bool names) {
  std::vector<const KernelEntry*> all;
  for (const KernelEntry& e : kernels())
    if (!names || all.empty() || all.back()->name != e.name) all.push_back(&e);
  return all;
}

/// The refusal names the kernel and holds all of `parts`.
inline void expect_refusal(const std::string& said, const KernelEntry& entry, const std::vector<std::string>& parts) {
  EXPECT_EQ(said.rfind("[" + entry.id() + "] ", 0), 0u) << entry.id() << ": '" << said << "'";
  for (const std::string& part : parts)
    EXPECT_NE(said.find(part), std::string::npos) << entry.id() << ": '" << said << "' lacks '" << part << "'";
}

}  // namespace mt
