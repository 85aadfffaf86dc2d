#include "backends/metal/device/queue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace mt::metal {
namespace {

constexpr std::size_t kMostSuspects = 4;
constexpr std::size_t kMostRunning = 8;  // command buffers

}  // namespace

std::string suspects(const std::vector<std::string>& launches) {
  std::vector<std::string> last;
  for (auto l = launches.rbegin(); l != launches.rend() && last.size() < kMostSuspects; ++l)
    if (std::find(last.begin(), last.end(), *l) == last.end()) last.insert(last.begin(), *l);
  if (last.empty()) return "";
  if (last.size() == 1) return "; launched was " + last.front();
  return fmt::format("; launched were, the last of them: {}", fmt::join(last, ", "));
}

Queue::~Queue() {
  try {
    wait();
  } catch (const Error&) {
    // Whoever wanted to know would have waited.
  }
}

void Queue::add(Dispatch dispatch) {
  if (recorded_) {
    recorded_->push_back(std::move(dispatch));
    return;
  }
  if (!open_.commands) open_.commands = gpu_->commands();
  open_.commands->encode(dispatch);
  open_.launches.push_back(std::move(dispatch.what));
  if (open_.launches.size() < kMostChained) return;
  commit();
  // Metal blocks where a queue has 64 command buffers under way.
  while (running_.size() > kMostRunning) retire();
}

void Queue::commit() {
  if (!open_.commands) return;
  open_.commands->commit();
  running_.push_back(std::move(open_));
  open_ = {};
}

void Queue::retire() {
  const Outcome outcome = running_.front().commands->wait();
  if (!outcome.error.empty() && failed_.empty()) failed_ = outcome.error + suspects(running_.front().launches);
  running_.pop_front();
}

void Queue::wait() {
  commit();
  while (!running_.empty()) retire();
  if (failed_.empty()) return;
  throw Error("metal: " + std::exchange(failed_, ""));
}

void Queue::begin_recording() {
  if (recorded_) throw Error("metal: launches are being recorded already; end that recording first");
  recorded_.emplace();
}

std::vector<Dispatch> Queue::take_recorded() {
  std::vector<Dispatch> all = recorded_ ? std::move(*recorded_) : std::vector<Dispatch>();
  recorded_.reset();
  return all;
}

}  // namespace mt::metal
