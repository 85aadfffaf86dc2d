// Every precondition that a kernel states is broken once: whoever adds one to a kernel finds it tested here, or this
// test red because no single change of a size or of a tunable breaks it.
#include <set>

#include "tests/contracts/testing.h"

namespace mt {
namespace {

/// The preconditions that the kernel's own cases are held against.
std::set<std::string> stated(const KernelEntry& entry, TargetTraits traits) {
  const auto kernel = entry.make();
  const Noted noted(Noted::Preconditions);
  for (const Problem& p : kernel->tests()) kernel->plan(p, traits);
  return noted.all();
}

constexpr std::int64_t kValues[] = {0,  1,   2,   3,   5,   7,   9,    13,   24,    40,      48,      63,        72,
                                    99, 100, 513, 544, 600, 777, 4097, 5000, 70000, 1 << 20, 1 << 24, 4294900000};

/// Problems that differ from a sound one in one size.
Problems neighbours(const Problem& p) {
  Problems all;
  for (const auto& [name, value] : p.sizes()) {
    for (const std::int64_t v : kValues) all.push_back(p.with(name, v));
    for (const std::int64_t v : {value - 1, value + 1, 2 * value, 2 * value + 1}) all.push_back(p.with(name, v));
  }
  return all;
}

/// Tunables set to each of their choices, one at a time and, unless `single`, two at a time.
std::vector<Overrides> choices(const Signature& signature, bool single) {
  std::vector<Overrides> all, ones;
  for (const TunableDecl& t : signature.tunables)
    for (const int value : t.choices.empty() ? std::vector<int>{1, 2, 3, 7, 100, 5000, 65536} : t.choices)
      ones.push_back({{t.name, value}});
  all = ones;
  for (std::size_t i = 0; i < ones.size() && !single; ++i)
    for (std::size_t j = i + 1; j < ones.size(); ++j)
      if (ones[i].begin()->first != ones[j].begin()->first) {
        all.push_back(ones[i]);
        all.back().insert(*ones[j].begin());
      }
  return all;
}

class Broken {
 public:
  Broken(const KernelEntry& entry, const std::set<std::string>& wanted) : entry_(entry), left_(wanted) {}
  void note(const std::string& said, const Problem& problem, const Overrides& overrides = {}) {
    std::vector<std::string> values{"problem " + problem.text()};
    for (const auto& [name, value] : overrides) values.push_back(name + "=" + std::to_string(value));
    for (auto it = left_.begin(); it != left_.end();) {
      if (said.find(*it) == std::string::npos) {
        ++it;
        continue;
      }
      expect_refusal(said, entry_, {*it});
      expect_refusal(said, entry_, values);
      it = left_.erase(it);
    }
  }
  /// Whether a refusal is about one that was not broken yet.
  bool wants(const Error& e) const { return left_.count(e.what()) > 0; }
  const std::set<std::string>& left() const { return left_; }

 private:
  const KernelEntry& entry_;
  std::set<std::string> left_;
};

TEST(Contracts, EveryPreconditionOfEveryKernelIsRefusedOnceBroken) {
  std::size_t kernels_seen = 0, conditions = 0;
  for (const KernelEntry* entry : registry(true))
    for (const TargetTraits traits : {TargetTraits{.gpu = true}, TargetTraits{.gpu = false}}) {
      const std::set<std::string> wanted = stated(*entry, traits);
      ++kernels_seen;
      conditions += wanted.size();
      Bench bench(traits);
      Broken broken(*entry, wanted);
      const auto kernel = entry->make();
      for (const Problem& p : kernel->tests()) {
        if (broken.left().empty()) break;
        for (const Problem& q : neighbours(p)) {
          try {
            kernel->plan(q, traits);
          } catch (const Error& e) {
            if (broken.wants(e)) broken.note(bench.refusal(*entry, q), q);
          }
        }
        for (const Overrides& o : choices(kernel->signature(), broken.left().empty())) {
          try {
            kernel->plan(p, traits, o);
          } catch (const Error& e) {
            if (broken.wants(e)) broken.note(bench.refusal(*entry, p, o), p, o);
          }
        }
      }
      for (const std::string& never : broken.left())
        ADD_FAILURE() << entry->id() << (traits.gpu ? " on a GPU" : " on a CPU") << ": nothing breaks '" << never
                      << "'";
      EXPECT_EQ(bench.launches, 0);
    }
  EXPECT_EQ(kernels_seen, 2 * registry(true).size());
  EXPECT_GT(conditions, 200u);
}

TEST(Contracts, APreconditionThatNothingBreaksIsNoticed) {
  const Noted outer(Noted::Preconditions);
  {
    const Noted inner(Noted::Preconditions);
    require(true, "seen inside");
    EXPECT_THROW(require(false, "broken inside"), Error);
    EXPECT_EQ(inner.all(), (std::set<std::string>{"broken inside", "seen inside"}));
  }
  require(true, "seen outside");
  EXPECT_EQ(outer.all(), std::set<std::string>{"seen outside"});
}

TEST(Contracts, EverySizeMustBeThereAndFitItsType) {
  std::size_t sizes = 0;
  Bench bench;
  for (const KernelEntry* entry : registry(true)) {
    const auto kernel = entry->make();
    const Problem p = sound(*kernel);
    EXPECT_EQ(bench.refusal(*entry, p), "") << entry->id();
    for (const auto& [name, value] : p.sizes()) {
      ++sizes;
      expect_refusal(bench.refusal(*entry, p.with(name, -3)), *entry, {name, "-3", "must not be negative"});
      const int scalar = kernel->signature().scalar(name);
      const bool wide =
          scalar >= 0 && kernel->signature().scalars[static_cast<std::size_t>(scalar)].dtype == DType::U64;
      if (!wide)
        expect_refusal(bench.refusal(*entry, p.with(name, std::int64_t{1} << 33)), *entry, {name, "8589934592"});
    }
    for (const TensorParam& t : kernel->signature().tensors)
      for (const Dim& d : t.shape) {
        if (d.symbol.empty()) continue;
        Problem without;
        for (const auto& [name, value] : p.sizes())
          if (name != d.symbol) without = without.with(name, value);
        expect_refusal(bench.refusal(*entry, without), *entry, {"no size " + d.symbol});
      }
    expect_refusal(bench.refusal(*entry, p.with("no_such_size", 4)), *entry, {"no size 'no_such_size'"});
    expect_refusal(bench.refusal(*entry, p.with_real("no_such_real", 4)), *entry, {"no real parameter 'no_such_real'"});
    expect_refusal(bench.refusal(*entry, p, {{"no_such_tunable", 4}}), *entry, {"no tunable 'no_such_tunable'"});
    for (const TunableDecl& t : kernel->signature().tunables)
      expect_refusal(bench.refusal(*entry, p, {{t.name, -7}}), *entry, {t.name, "-7"});
  }
  EXPECT_EQ(bench.launches, 0);
  EXPECT_GT(sizes, registry(true).size());
}

}  // namespace
}  // namespace mt
