#include "mt/harness/verified.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mt/harness/result.h"

namespace mt {
namespace {

/// First element where NaN or anything is right but poison still stands: such an element would compare equal unwritten.
std::int64_t unwritten(const HostTensor& actual, const Expected& expected) {
  if (!is_float(actual.dtype) || expected.code_bits != 0) return -1;
  for (std::size_t i = 0; i < expected.value.size(); ++i)
    if ((std::isnan(expected.value[i]) || (!expected.unspecified.empty() && expected.unspecified[i])) &&
        is_poison(actual, static_cast<std::int64_t>(i)))
      return static_cast<std::int64_t>(i);
  return -1;
}

}  // namespace

TensorSet::TensorSet(Device& device, const Call& call) : device_(device) {
  tensors_.reserve(call.tensors().size());
  std::map<std::string, BufferView> views;
  for (const TensorSlot& s : call.tensors()) {
    tensors_.emplace_back(device, s);
    views[s.param->name] = tensors_.back().view();
  }
  bound_ = call.bind(std::move(views));
}

void TensorSet::reset(const std::map<std::string, HostTensor>& inputs) {
  for (GuardedTensor& t : tensors_) {
    const auto it = inputs.find(t.slot().param->name);
    if (it == inputs.end())
      t.poison();
    else
      t.write(it->second);
  }
}

void TensorSet::run(const std::map<std::string, HostTensor>& inputs) {
  reset(inputs);
  bound_.run();
  device_.wait();
}

std::string TensorSet::damage(const std::map<std::string, HostTensor>& inputs) const {
  std::string all;
  for (const GuardedTensor& t : tensors_) {
    add_sentence(all, t.broken_guard());
    if (t.slot().param->access != Access::In) continue;
    const std::string& name = t.slot().param->name;
    if (!t.holds(inputs.at(name))) add_sentence(all, fmt::format("{}: the kernel changed this input", name));
  }
  return all;
}

std::vector<HostTensor> TensorSet::outputs() const {
  std::vector<HostTensor> all;
  for (const GuardedTensor& t : tensors_)
    if (t.slot().param->access != Access::In && !t.slot().param->temporary) all.push_back(t.read());
  return all;
}

std::optional<std::int64_t> different_element(const HostTensor& a, const HostTensor& b, bool nans_alike) {
  if (a.bytes() != b.bytes() || a.dtype != b.dtype) return 0;
  const auto size = static_cast<std::size_t>(size_of(a.dtype));
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    if (std::memcmp(a.data.data() + at, b.data.data() + at, size) == 0) continue;
    if (nans_alike && is_float(a.dtype) && std::isnan(a.at(i)) && std::isnan(b.at(i))) continue;
    return i;
  }
  return std::nullopt;
}

Verification verify_outputs(const std::vector<HostTensor>& outputs, const ExpectedOutputs& expected) {
  Verification v;
  for (const auto& [name, e] : expected) {
    const auto is = [&, n = name](const HostTensor& t) { return t.name == n; };
    if (std::none_of(outputs.begin(), outputs.end(), is))
      add_sentence(v.error, fmt::format("the oracle expects '{}', which is no output of the kernel", name));
  }
  for (const HostTensor& t : outputs) {
    const auto it = expected.find(t.name);
    if (it == expected.end()) {
      add_sentence(v.error, fmt::format("output {} is not mentioned by the oracle; give its expected values", t.name));
      continue;
    }
    if (t.count() == 0 && it->second.value.empty()) continue;
    try {
      const oracle::CompareResult r = oracle::compare(it->second, t);
      v.compared += r.compared;
      v.unspecified += r.unspecified;
      if (!r.passed()) add_sentence(v.error, r.sentence);
      if (r.max_error >= v.worst.max_error) v.worst = r;
      const std::int64_t hole = unwritten(t, it->second);
      if (hole >= 0) add_sentence(v.error, fmt::format("{}: element {} was never written", t.name, hole));
    } catch (const Error& e) {
      add_sentence(v.error, e.what());
    }
  }
  return v;
}

}  // namespace mt
