#include "mt/harness/peer_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mt/harness/verified.h"

namespace mt {
namespace {

constexpr std::size_t kLeastSamples = 7;

/// A library may round to the dtype between the operations that make up one kernel, and weigh values with factors so
/// rounded: three units of the dtype, of the element or of the tensor's typical one.
ExpectedOutputs with_rounding_between(ExpectedOutputs expected, const Call& call) {
  for (auto& [name, e] : expected)
    for (const TensorSlot& s : call.tensors()) {
      const DType t = s.param->dtype;
      if (s.param->name != name || !is_float(t) || e.code_bits != 0) continue;
      const double unit = t == DType::BF16 ? 0x1p-8 : t == DType::F16 ? 0x1p-11 : 0x1p-22;
      double squares = 0, finite = 0;
      for (const double v : e.value)
        if (std::isfinite(v)) {
          squares += v * v;
          finite += 1;
        }
      const double typical = finite > 0 ? std::sqrt(squares / finite) : 0;
      for (std::size_t i = 0; i < e.bound.size(); ++i)
        e.bound[i] += 3 * unit * std::max(std::isfinite(e.value[i]) ? std::abs(e.value[i]) : 0, typical);
    }
  return expected;
}

}  // namespace

template <class F>
void PeerTrials::guarded(Way& w, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    w.error = e.what();
    w.samples.clear();
  }
}

PeerTrials::PeerTrials(Peer* peer, const KernelEntry& entry, const Call& call,
                       const std::map<std::string, HostTensor>& inputs, const ExpectedOutputs& expected,
                       std::size_t copies)
    : peer_(peer) {
  if (!peer_) return;
  try {
    for (const std::string& way : peer_->prepare(entry, call, inputs, copies)) ways_.push_back({way, {}, ""});
  } catch (const Error& e) {
    error_ = e.what();
  }
  const ExpectedOutputs loosened = with_rounding_between(expected, call);
  for (Way& w : ways_)
    guarded(w, [&] {
      const Verification v = verify_outputs(peer_->outputs(w.name), loosened);
      if (!v.error.empty()) w.error = fmt::format("peer {} disagrees: {}", peer_->name(), v.error);
    });
}

void PeerTrials::sample() {
  for (Way& w : ways_)
    if (w.error.empty()) guarded(w, [&] { w.samples.push_back(peer_->sample(w.name)); });
}

void PeerTrials::finish(std::vector<PeerResult>& results) {
  for (std::size_t i = 0; i < kLeastSamples; ++i)
    if (std::any_of(ways_.begin(), ways_.end(), [](const Way& w) { return w.samples.size() < kLeastSamples; }))
      sample();
  if (!error_.empty()) results.push_back({peer_->name(), error_, {}});
  for (Way& w : ways_) results.push_back({peer_->name() + " " + w.name, w.error, summarise(w.samples)});
}

}  // namespace mt
