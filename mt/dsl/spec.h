// What a kernel struct must have, and its registration.
//
//   template <Storage T> struct RmsNorm {
//     In<T> x{"x", {"rows", "n"}};  …            parameters, in binding order
//     void plan(const Problem&, TargetTraits)     optional: chooses tunables and counts from the problem
//     Launch launch(const Problem&) const         preconditions (require) and geometry
//     void body() const                           the device code
//     ExpectedOutputs oracle(const Inputs&) const what is right, in double precision
//     Problems tests() const; Problems benches() const; Work work(const Problem&) const;
//     std::vector<std::string> batch() const      optional: sizes that count independent items
//     std::vector<std::vector<std::string>> independent() const   optional: more of them, along any axis
//   };
//   const bool registered = kernel<RmsNorm>("mt_rms_norm", dtypes<f32, f16, bf16>{});
//
// A kernel of several launches has `Stages<RmsNorm> stages() const` in place of launch and body.
#pragma once
#include <concepts>
#include <utility>

#include "mt/dsl/kernel.h"
#include "mt/dsl/reports.h"

namespace mt {

template <class K>
struct Stage {
  std::string name;
  Launch (K::*launch)(const Problem&) const;
  void (K::*body)() const;
};
template <class K>
using Stages = std::vector<Stage<K>>;

template <class K>
concept HasStages = requires(const K k) {
  { k.stages() } -> std::same_as<Stages<K>>;
};
template <class K>
concept HasBody = requires(const K k) {
  { k.body() } -> std::same_as<void>;
};
template <class K>
concept HasLaunch = requires(const K k, const Problem p) {
  { k.launch(p) } -> std::same_as<Launch>;
};
template <class K>
concept HasOracle = requires(const K k, const Inputs& in) {
  { k.oracle(in) } -> std::same_as<ExpectedOutputs>;
};
template <class K>
concept HasTests = requires(const K k) {
  { k.tests() } -> std::same_as<Problems>;
};
template <class K>
concept HasBenches = requires(const K k) {
  { k.benches() } -> std::same_as<Problems>;
};
template <class K>
concept HasWork = requires(const K k, const Problem p) {
  { k.work(p) } -> std::same_as<Work>;
};
template <class K>
concept HasBatch = requires(const K k) {
  { k.batch() } -> std::same_as<std::vector<std::string>>;
};
template <class K>
concept HasIndependent = requires(const K k) {
  { k.independent() } -> std::same_as<std::vector<std::vector<std::string>>>;
};
template <class K>
concept HasPlan = requires(K k, const Problem p, TargetTraits t) {
  k.plan(p, t);
};

namespace detail {

void check_launch(const Launch& launch);

/// KernelInstance over a kernel struct.
template <class K>
class Erased final : public KernelInstance {
  static_assert(HasStages<K> || HasBody<K>, "a kernel needs `void body() const`, or `Stages<K> stages() const`");
  static_assert(HasStages<K> || HasLaunch<K>,
                "a kernel needs `Launch launch(const Problem&) const`: its contract and geometry");
  static_assert(HasOracle<K>,
                "a kernel needs `ExpectedOutputs oracle(const Inputs&) const`: what is right, in double precision");
  static_assert(HasTests<K>,
                "a kernel needs `Problems tests() const`: the problems on which it is compared with its oracle");
  static_assert(HasBenches<K>, "a kernel needs `Problems benches() const`: the problems on which it is measured");
  static_assert(HasWork<K>, "a kernel needs `Work work(const Problem&) const`: the bytes and operations of a problem");

 public:
  template <class Configure>
  Erased(std::string name, const Configure& configure) : name_(std::move(name)) {
    const DeclareScope scope(signature_);
    kernel_ = std::make_unique<K>();
    configure(*kernel_);
    for (const TunableDecl& t : signature_.tunables) declared_.push_back(t.value);
  }

  /// Begins from the declared tunables: what an earlier problem chose is gone.
  std::vector<StagePlan> plan(const Problem& problem, TargetTraits traits, const Overrides& overrides) override {
    problem_ = problem;
    traits_ = traits;
    for (std::size_t i = 0; i < declared_.size(); ++i) {
      TunableDecl& t = signature_.tunables[i];
      t.overridden = false;
      t.value = declared_[i];
      for (const Overrides& chosen : {problem.tunables(), overrides})
        if (const auto it = chosen.find(t.name); it != chosen.end()) {
          t.overridden = true;
          t.value = it->second;
        }
    }
    if constexpr (HasPlan<K>) {
      const Noted reads(Noted::Reads);
      kernel_->plan(problem, traits);
      chosen_by_ = reads.all();
    }
    plans_.clear();
    if constexpr (HasStages<K>) {
      for (const Stage<K>& s : kernel_->stages()) plans_.push_back({s.name, (kernel_.get()->*s.launch)(problem)});
    } else {
      plans_.push_back({"", kernel_->launch(problem)});
    }
    for (const StagePlan& p : plans_) check_launch(p.launch);
    return plans_;
  }

  Kernel trace(std::size_t stage) override {
    MT_ASSERT(stage < plans_.size(), "trace before plan");
    const std::string name = plans_[stage].name.empty() ? name_ : name_ + "_" + plans_[stage].name;
    Trace scope(signature_, problem_, name, plans_[stage].launch.threads, traits_);
    if constexpr (HasStages<K>)
      (kernel_.get()->*kernel_->stages()[stage].body)();
    else
      kernel_->body();
    return scope.finish();
  }

  ExpectedOutputs oracle(const Inputs& inputs) const override { return kernel_->oracle(inputs); }
  /// The kernel's own and those of users' reports.
  Problems tests() const override { return kernel_->tests() + reported_problems(name_); }
  Problems benches() const override { return kernel_->benches(); }
  Work work(const Problem& problem) const override { return kernel_->work(problem); }
  std::vector<std::string> batch() const override {
    if constexpr (HasBatch<K>) return kernel_->batch();
    return {};
  }
  std::vector<std::vector<std::string>> independent() const override {
    if constexpr (HasIndependent<K>) return kernel_->independent();
    return {};
  }

 private:
  std::string name_;
  std::unique_ptr<K> kernel_;
  std::vector<int> declared_;  // values of the tunables
  Problem problem_;
  TargetTraits traits_;
  std::vector<StagePlan> plans_;
};

struct AsDeclared {
  template <class K>
  void operator()(K&) const {}
};

}  // namespace detail

template <class... T>
struct dtypes {};
using Floats = dtypes<f32, f16, bf16>;

/// Registers a kernel struct that is no template, under the dtype that its name should show.
template <class K, class Configure = detail::AsDeclared>
bool kernel(const std::string& name, DType dtype, Configure configure = {}, Here here = Here::current()) {
  add_kernel({name, dtype, here, [name, configure] { return std::make_unique<detail::Erased<K>>(name, configure); }});
  return true;
}

/// Registers a template for each dtype. `configure` receives each new instance (`auto& k`) and sets plain members:
/// that is how one template serves several registered names.
template <template <class> class K, class... T, class Configure = detail::AsDeclared>
bool kernel(const std::string& name, dtypes<T...>, Configure configure = {}, Here here = Here::current()) {
  (kernel<K<T>>(name, dtype_of<T>, configure, here), ...);
  return true;
}

}  // namespace mt
