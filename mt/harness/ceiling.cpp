#include "mt/harness/ceiling.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <thread>

#include "mt/harness/ceiling_loops.h"
#include "mt/harness/statistics.h"
#include "mt/harness/stopwatch.h"

namespace mt {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;
constexpr std::size_t kPiece = kHuge;  // what a core takes at a time

/// Touched, huge pages where the system gives them.
class Block {
 public:
  explicit Block(std::size_t bytes) : data_(static_cast<std::byte*>(std::aligned_alloc(kHuge, bytes))), bytes_(bytes) {
    if (!data_) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    ::madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    std::memset(data_, 1, bytes);
  }
  ~Block() { std::free(data_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  std::byte* at(std::size_t offset) const { return data_ + offset; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

int core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// Seconds until all pieces are done: every core takes the next one when it is free, as threadgroups are dealt out, so
/// that a core that other work slows down holds up nobody.
double time_on_all_cores(std::size_t pieces, const std::function<void(std::size_t piece)>& work) {
  const int cores = core_count();
  std::atomic<int> ready = 0;
  std::atomic<bool> go = false;
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t piece; (piece = next++) < pieces;) work(piece);
  };
  std::vector<std::thread> others;
  for (int core = 1; core < cores; ++core)
    others.emplace_back([&] {
      ++ready;
      while (!go) std::this_thread::yield();
      take();
    });
  while (ready < cores - 1) std::this_thread::yield();
  const Stopwatch watch;
  go = true;
  take();
  for (std::thread& t : others) t.join();
  return watch.seconds();
}

std::atomic<std::uint64_t> sink = 0;  // results that must be computed

}  // namespace

struct HostCeiling::State {
  // Two blocks of twice the cache each.
  State() : pieces(2 * cache_bytes() / kPiece + 1), from(pieces * kPiece), to(from.bytes()) {}
  std::size_t pieces;
  Block from, to;

  /// Bytes per second of one loop over all pieces.
  double rate(const std::function<void(std::size_t offset)>& loop) const {
    const double seconds = time_on_all_cores(pieces, [&](std::size_t piece) { loop(piece * kPiece); });
    return static_cast<double>(from.bytes()) / seconds;
  }
};

HostCeiling::HostCeiling() : state_(std::make_unique<State>()) {}
HostCeiling::~HostCeiling() = default;

Ceiling HostCeiling::sample() {
  const State& s = *state_;
  Ceiling c;
  // memcpy of the C library and stores past the cache take turns in being the faster one.
  c.copy = 2 * std::max(s.rate([&](std::size_t at) { stream_copy(s.to.at(at), s.from.at(at), kPiece); }),
                        s.rate([&](std::size_t at) { std::memcpy(s.to.at(at), s.from.at(at), kPiece); }));
  c.read = s.rate([&](std::size_t at) { sink += read_words(s.from.at(at), kPiece); });
  c.write = s.rate([&](std::size_t at) { stream_fill(s.to.at(at), kPiece); });
  constexpr std::size_t kRuns = 64;
  std::atomic<double> flops = 0;
  const double seconds = time_on_all_cores(kRuns, [&](std::size_t) {
    float value = 0;
    flops.fetch_add(multiply_add(10'000, value));
    sink += static_cast<std::uint64_t>(value);
  });
  c.flops = flops / seconds;
  return c;
}

Roof roof_of(double read_bytes, double written_bytes, double flops, const Ceiling& c) {
  const double balanced = std::min(read_bytes, written_bytes);
  const auto time = [](double amount, double rate) { return amount > 0 && rate > 0 ? amount / rate : 0; };
  return {time(2 * balanced, c.copy) + time(read_bytes - balanced, c.read) + time(written_bytes - balanced, c.write),
          time(flops, c.flops)};
}

Ceiling median_of(const std::vector<Ceiling>& all) {
  const auto median = [&](double Ceiling::*rate) {
    std::vector<double> values;
    for (const Ceiling& c : all) values.push_back(c.*rate);
    return summarise(std::move(values)).median;
  };
  return {median(&Ceiling::copy),  median(&Ceiling::read),         median(&Ceiling::write),
          median(&Ceiling::flops), median(&Ceiling::matrix_flops), median(&Ceiling::launch)};
}

std::size_t cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
#endif
  return std::size_t{32} << 20;
}

std::size_t cache_bytes(const Device& device) {
  const std::size_t own = device.info().cache_bytes;
  return own > 0 ? own : cache_bytes();
}

namespace {

class DeviceCeiling final : public CeilingSource {
 public:
  explicit DeviceCeiling(Device& device) : device_(device) {}
  Ceiling sample() override { return device_.measure_ceiling().value_or(Ceiling{}); }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<CeilingSource> ceiling_of(Device& device) {
  if (device.measure_ceiling()) return std::make_unique<DeviceCeiling>(device);
  if (device.allocate(256)->host()) return std::make_unique<HostCeiling>();
  return nullptr;
}

}  // namespace mt
