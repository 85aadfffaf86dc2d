#include "mt/harness/guarded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mt/oracle/fill.h"
#include "mt/oracle/values.h"

namespace mt {
namespace {

// 0xFFA5 is a NaN of every float type: as two 16-bit numbers and as the upper half of a 32-bit one.
constexpr unsigned char kPoison[2] = {0xA5, 0xFF};
constexpr unsigned char kIntPoison = 0xA5;

constexpr std::size_t kChunk = std::size_t{1} << 20;  // what is moved at a time

unsigned char guard_at(std::size_t i) { return static_cast<unsigned char>(0x5A ^ (i * 37)); }

void fill_poison(DType dtype, std::byte* at, std::size_t bytes) {
  if (!is_float(dtype)) {
    std::memset(at, kIntPoison, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; i += 2) std::memcpy(at + i, kPoison, 2);
}

}  // namespace

void poison(HostTensor& tensor) { fill_poison(tensor.dtype, tensor.data.data(), tensor.data.size()); }

GuardedTensor::GuardedTensor(Device& device, const TensorSlot& slot)
    : slot_(slot), buffer_(device.allocate(slot.bytes + 2 * kGuardBytes)) {}

void GuardedTensor::draw_guards() {
  std::vector<unsigned char> guard(kGuardBytes);
  for (std::size_t i = 0; i < kGuardBytes; ++i) guard[i] = guard_at(i);
  buffer_->write(guard.data(), kGuardBytes);
  buffer_->write(guard.data(), kGuardBytes, kGuardBytes + slot_.bytes);
}

void GuardedTensor::write(const HostTensor& from) {
  if (slot_.bytes > 0) buffer_->write(from.data.data(), slot_.bytes, kGuardBytes);
  draw_guards();
}

void GuardedTensor::poison() {
  std::vector<std::byte> pattern(std::min(kChunk, slot_.bytes));
  fill_poison(slot_.param->dtype, pattern.data(), pattern.size());
  for (std::size_t at = 0; at < slot_.bytes; at += kChunk)
    buffer_->write(pattern.data(), std::min(kChunk, slot_.bytes - at), kGuardBytes + at);
  draw_guards();
}

bool GuardedTensor::holds(const HostTensor& expected) const {
  std::vector<std::byte> chunk(std::min(kChunk, slot_.bytes));
  for (std::size_t at = 0; at < slot_.bytes; at += kChunk) {
    const std::size_t bytes = std::min(kChunk, slot_.bytes - at);
    buffer_->read(chunk.data(), bytes, kGuardBytes + at);
    if (std::memcmp(chunk.data(), expected.data.data() + at, bytes) != 0) return false;
  }
  return true;
}

HostTensor GuardedTensor::read() const {
  HostTensor t(slot_.param->name, slot_.param->dtype, slot_.shape);
  if (slot_.bytes > 0) buffer_->read(t.data.data(), slot_.bytes, kGuardBytes);
  return t;
}

std::string GuardedTensor::broken_guard() const {
  std::vector<unsigned char> guard(kGuardBytes);
  for (const bool after : {false, true}) {
    buffer_->read(guard.data(), kGuardBytes, after ? kGuardBytes + slot_.bytes : 0);
    for (std::size_t k = 0; k < kGuardBytes; ++k) {
      const std::size_t i = after ? k : kGuardBytes - 1 - k;  // from the tensor outwards
      if (guard[i] == guard_at(i)) continue;
      return after ? fmt::format("{}: written past its end (byte {} after it)", slot_.param->name, i + 1)
                   : fmt::format("{}: written before its start (byte {} ahead of it)", slot_.param->name,
                                 kGuardBytes - i);
    }
  }
  return "";
}

bool is_poison(const HostTensor& tensor, std::int64_t i) {
  std::byte pattern[8];
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  if (is_float(tensor.dtype))
    fill_poison(tensor.dtype, pattern, size);
  else
    std::memset(pattern, kIntPoison, size);
  return std::memcmp(pattern, tensor.data.data() + static_cast<std::size_t>(i) * size, size) == 0;
}

std::map<std::string, HostTensor> make_inputs(const std::vector<TensorSlot>& slots, const Problem& problem) {
  std::map<std::string, HostTensor> inputs;
  for (const TensorSlot& s : slots) {
    const TensorParam& p = *s.param;
    if (p.access == Access::Out || p.temporary) continue;
    HostTensor t(p.name, p.dtype, s.shape);
    const std::int64_t below = p.fill.below.empty() ? 0 : problem[p.fill.below];
    if (t.count() > 0) oracle::fill(t, p.fill, problem.seed(), below, problem.edges() && p.fill.edges);
    if (is_float(p.dtype) && p.fill.edges) oracle::lay_values(t, problem.values());
    inputs.emplace(p.name, std::move(t));
  }
  for (const Problem::Element& e : problem.elements()) {
    const auto it = inputs.find(e.tensor);
    if (it == inputs.end()) throw Error(fmt::format("the case sets an element of '{}', which is no input", e.tensor));
    const std::int64_t count = it->second.count(), at = e.at < 0 ? e.at + count : e.at;
    if (at < 0 || at >= count)
      throw Error(fmt::format("the case sets {}[{}], but it has {} elements", e.tensor, e.at, count));
    it->second.set(at, e.value);
  }
  return inputs;
}

}  // namespace mt
