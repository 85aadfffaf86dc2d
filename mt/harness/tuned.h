// Choices of tunables that `tile tune` made, kept on disk: one file a device, kernel, problem and code of the kernel.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "mt/dsl/kernel.h"

namespace mt {

/// What a choice was made for.
struct TunedKey {
  std::string backend, device;  // as DeviceInfo says
  std::string kernel;           // with its dtype
  std::string problem;          // sizes and real parameters
  std::string code;             // of the kernel as planned, see planned_code()
  /// Name of its file, without the extension.
  std::string hash() const;
  auto operator<=>(const TunedKey&) const = default;
};

struct TunedChoice {
  TunedKey key;
  Overrides chosen;
  double planned_seconds = 0, tuned_seconds = 0;  // of one call, when it was made
  std::string date;
  std::string file;  // that it was read from
};

/// Sizes and real parameters of a problem, as keys of choices have them.
std::string problem_key(const Problem& problem);

/// A hash of the traced stages with their geometry, as the plan chooses (or with `overrides`): another body, another
/// plan or other facts give another one. Threads and threadgroup memory are held against `limits` where they are given.
/// Throws Error for what breaks the contract.
std::string planned_code(const KernelEntry& entry, const Problem& problem, TargetTraits traits,
                         const Overrides& overrides = {}, const Limits* limits = nullptr);

/// The choices of some folders. May be shared between threads.
class TunedStore {
 public:
  /// A choice in an earlier folder hides one in a later. Files that can't be used become notes.
  explicit TunedStore(const std::vector<std::string>& folders);
  /// Where users' choices are kept, beside what backends compiled.
  static std::string user_folder();

  const std::vector<TunedChoice>& all() const { return choices_; }
  /// The choice for a problem, nothing where none was made for exactly this kernel, problem and device.
  std::optional<TunedChoice> find(const Backend& backend, const DeviceInfo& device, const KernelEntry& entry,
                                  const Problem& problem) const;
  /// Notes that a choice could not be used after all.
  void refuse(const TunedChoice& choice, const std::string& why) const;
  /// Sentences about files and choices that were passed by, each once.
  std::vector<std::string> notes() const;

  /// Writes a choice into a folder, whole or not at all; the file. Throws Error.
  static std::string store(const std::string& folder, const TunedChoice& choice);
  /// Removes the choice of that key; whether there was one. Throws Error.
  static bool forget(const std::string& folder, const TunedKey& key);

 private:
  void note(const std::string& sentence) const;
  std::vector<TunedChoice> choices_;
  std::multimap<std::string, std::size_t> by_kernel_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> notes_;
};

/// Whether the choice is the one that a kernel of this program would be run with: it has that kernel, and its code is
/// what it was tuned for.
bool is_current(const TunedChoice& choice);

/// `threads=64, width=8`.
std::string overrides_text(const Overrides& overrides);

}  // namespace mt
