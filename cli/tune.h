// The choices of `tile tune` that other verbs run with.
#pragma once
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "mt/harness/tuned.h"

namespace mt {

/// The choices that are shipped with this program: $MT_TUNED, or the folder of this source tree.
std::string shipped_choices();

/// `--as-planned`, and the store that is used without it.
class TunedOption {
 public:
  void declare(CLI::App& app);
  /// The user's choices before those that are shipped; null where none shall be used.
  std::unique_ptr<TunedStore> open() const;
  /// Prints what was passed by to standard error.
  static void report(const TunedStore* store);

 private:
  bool planned_ = false;
};

}  // namespace mt
