#include "mt/harness/ceiling.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <thread>

#include "mt/harness/ceiling_loops.h"
#include "mt/harness/statistics.h"
#include "mt/harness/stopwatch.h"

namespace mt {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;

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

/// Seconds until all cores have done work(core), from a common start.
double time_on_all_cores(const std::function<void(int)>& work) {
  const int cores = core_count();
  std::atomic<int> ready = 0;
  std::atomic<bool> go = false;
  std::vector<std::thread> others;
  for (int core = 1; core < cores; ++core)
    others.emplace_back([&, core] {
      ++ready;
      while (!go) std::this_thread::yield();
      work(core);
    });
  while (ready < cores - 1) std::this_thread::yield();
  const Stopwatch watch;
  go = true;
  work(0);
  for (std::thread& t : others) t.join();
  return watch.seconds();
}

std::atomic<std::uint64_t> sink = 0;  // results that must be computed

}  // namespace

struct HostCeiling::State {
  // Two blocks of twice the cache each, in whole huge pages a core.
  State()
      : part((2 * cache_bytes() / static_cast<std::size_t>(core_count()) / kHuge + 1) * kHuge),
        from(part * static_cast<std::size_t>(core_count())),
        to(from.bytes()) {}
  std::size_t part;
  Block from, to;

  /// Bytes per second of one way to copy.
  double copy(bool stream) {
    const double seconds = time_on_all_cores([&](int core) {
      const std::size_t at = part * static_cast<std::size_t>(core);
      if (stream)
        stream_copy(to.at(at), from.at(at), part);
      else
        std::memcpy(to.at(at), from.at(at), part);
    });
    return 2 * static_cast<double>(from.bytes()) / seconds;
  }
};

HostCeiling::HostCeiling() : state_(std::make_unique<State>()) {}
HostCeiling::~HostCeiling() = default;

Ceiling HostCeiling::sample() {
  State& s = *state_;
  const auto total = static_cast<double>(s.from.bytes());
  Ceiling c;
  // memcpy of the C library and stores past the cache take turns in being the faster one.
  c.copy = std::max(s.copy(true), s.copy(false));
  c.read = total / time_on_all_cores([&](int core) {
             sink += read_words(s.from.at(s.part * static_cast<std::size_t>(core)), s.part);
           });
  c.write = total /
            time_on_all_cores([&](int core) { stream_fill(s.to.at(s.part * static_cast<std::size_t>(core)), s.part); });
  std::vector<double> flops(static_cast<std::size_t>(core_count()));
  const double seconds = time_on_all_cores([&](int core) {
    float value = 0;
    flops[static_cast<std::size_t>(core)] = multiply_add(300'000, value);
    sink += static_cast<std::uint64_t>(value);
  });
  c.flops = std::accumulate(flops.begin(), flops.end(), 0.0) / seconds;
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
  return {median(&Ceiling::copy), median(&Ceiling::read), median(&Ceiling::write), median(&Ceiling::flops)};
}

std::size_t cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
#endif
  return std::size_t{32} << 20;
}

}  // namespace mt
