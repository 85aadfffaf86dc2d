#include "mt/harness/rotation.h"

#include <algorithm>
#include <cmath>

#include "mt/harness/stopwatch.h"

namespace mt {
namespace {

constexpr double kLeastSample = 200e-6;  // a shorter call is timed several at a time
constexpr double kLeastRecorded = 20, kLeastRecordedSample = 1e-3;
constexpr std::size_t kMostRecorded = 4096;

}  // namespace

std::size_t sets_for(std::size_t bytes, std::size_t wanted, std::size_t memory, std::size_t most) {
  if (bytes == 0 || bytes >= wanted) return 1;
  return std::max<std::size_t>(1, std::min({(wanted + bytes - 1) / bytes, memory / bytes, most}));
}

double Rotation::run(std::size_t count) {
  const Stopwatch watch;
  enqueue(count);
  device_.wait();
  return watch.seconds();
}

std::unique_ptr<Recording> Rotation::record(std::size_t& count) {
  const std::size_t sets = calls_.size();
  auto made = device_.record([&] { enqueue(sets); });
  if (!made) return nullptr;
  count = sets;
  made->run();
  const double one = made->run() / static_cast<double>(count);
  const double wanted = std::max(kLeastRecorded, kLeastRecordedSample / std::max(one, 1e-9));
  const auto rounds = static_cast<std::size_t>(std::ceil(wanted / static_cast<double>(count)));
  if (rounds <= 1) return made;
  count *= std::min(rounds, std::max<std::size_t>(1, kMostRecorded / count));
  return device_.record([&] { enqueue(count); });
}

void Rotation::enqueue(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    calls_[next_]->run();
    next_ = next_ + 1 == calls_.size() ? 0 : next_ + 1;
  }
}

Sampler::Sampler(Device& device, const std::vector<const BoundCall*>& calls, double warm_seconds)
    : calls_(device, calls) {
  // Every set once, so that all pages are there; then until the clock has had time to rise.
  calls_.run(calls.size());
  const Stopwatch warming;
  double one = calls_.run(1);
  for (int i = 0; i < 1000 && warming.seconds() < 0.4 * warm_seconds; ++i) one = std::min(one, calls_.run(1));
  batch_ = static_cast<std::size_t>(std::clamp(std::ceil(kLeastSample / std::max(one, 1e-9)), 1.0, 4096.0));
  recorded_ = calls_.record(batch_);
  if (recorded_)
    for (const Stopwatch more; more.seconds() < warm_seconds;) recorded_->run();
}

}  // namespace mt
