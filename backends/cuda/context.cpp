#include "backends/cuda/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace mt::cuda {
namespace {

constexpr std::size_t kMostSuspects = 4;
constexpr std::size_t kMostPooled = std::size_t{8} << 30;
constexpr std::size_t kLarge = std::size_t{1} << 21;

/// Errors after which the driver takes no more work in the context.
bool ends_context(Status s) {
  constexpr Status kEnding[] = {4, 201, 214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999};
  return std::find(std::begin(kEnding), std::end(kEnding), s) != std::end(kEnding);
}

/// Sizes are rounded, so that the pool fits the next kernel's tensors too.
std::size_t rounded(std::size_t bytes) {
  return bytes <= kLarge ? std::bit_ceil(std::max<std::size_t>(bytes, 512)) : (bytes + kLarge - 1) / kLarge * kLarge;
}

}  // namespace

Context::Context(const Driver& driver, int ordinal) : driver_(driver) {
  int device = 0;
  check(driver.device_get(&device, ordinal), "opening the device");
  check(driver.context_create(&context_, 0, device), "making a context");
  check(driver.stream_create(&stream_, kNonBlockingStream), "making a stream");
}

Context::~Context() {
  // All memory, modules and the stream go with it.
  if (context_) driver_.context_destroy(context_);
}

const Driver& Context::use() const {
  if (ended()) throw Error("cuda: " + ended_);
  driver_.context_use(context_);
  return driver_;
}

void Context::check(Status status, const std::string& what) {
  if (status == 0) return;
  const std::string sentence = fmt::format("{}: {}{}", what, driver_.text(status), suspects());
  if (!ends_context(status)) throw Error("cuda: " + sentence);
  if (!ended()) {
    ended_ = "the device lost its context with all buffers in it; " + sentence;
    pending_.clear();
    if (context_) driver_.context_destroy(context_);
    context_ = nullptr;
  }
  throw Error("cuda: " + sentence);
}

std::string Context::suspects() const {
  if (pending_.empty()) return "";
  if (pending_.size() == 1) return "; launched was " + pending_.front();
  return fmt::format("; launched were, the last of them: {}", fmt::join(pending_, ", "));
}

Address Context::allocate(std::size_t bytes) {
  const Driver& d = use();
  const std::size_t size = rounded(bytes);
  if (auto& free = pool_[size]; !free.empty()) {
    const Address a = free.back();
    free.pop_back();
    pooled_ -= size;
    return a;
  }
  Address a = 0;
  Status s = d.memory_allocate(&a, size);
  if (s == kOutOfMemory) {
    wait();
    trim();
    s = d.memory_allocate(&a, size);
  }
  if (s == kOutOfMemory) {
    std::size_t left = 0, all = 0;
    d.memory_info(&left, &all);
    throw Error(fmt::format("cuda: no memory for a buffer of {} bytes; {} of {} bytes are free", bytes, left, all));
  }
  check(s, fmt::format("allocating {} bytes", bytes));
  return a;
}

void Context::free(Address address, std::size_t bytes) noexcept {
  if (ended()) return;
  const std::size_t size = rounded(bytes);
  if (pooled_ + size > kMostPooled) trim();
  pool_[size].push_back(address);
  pooled_ += size;
}

void Context::trim() noexcept {
  driver_.context_use(context_);
  for (auto& [size, all] : pool_)
    for (const Address a : all) driver_.memory_free(a);
  pool_.clear();
  pooled_ = 0;
}

void Context::launched(std::string what) {
  if (!pending_.empty() && pending_.back() == what) return;
  if (pending_.size() == kMostSuspects) pending_.pop_front();
  pending_.push_back(std::move(what));
}

void Context::wait(const std::string& what) {
  check(use().stream_wait(stream_), what);
  pending_.clear();
}

}  // namespace mt::cuda
