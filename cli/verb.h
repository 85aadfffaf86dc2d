// A verb of the command line: one file, one static object.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "mt/base/dtype.h"
#include "mt/dsl/kernel.h"
#include "mt/harness/select.h"

namespace mt {

enum Exit { kGood = 0, kFailed = 1, kWrongUse = 2, kNothingRun = 3, kInterrupted = 130 };

class Verb {
 public:
  /// Registers itself. `examples` are lines of `tile …` for --help.
  Verb(std::string name, std::string what, std::string examples);
  virtual ~Verb() = default;
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;
  virtual void declare(CLI::App& app) = 0;
  /// Does the work; gives the exit code. UsageError ends with code 2, Error with 1.
  virtual int run() = 0;

  const std::string name, what, examples;
};
/// All verbs by name.
const std::vector<Verb*>& verbs();

/// Refuses an option that is no finite number above 0.
CLI::Validator positive();

/// Options that verbs share.
struct KernelOptions {
  std::vector<std::string> filters;
  std::string dtype;
  void declare(CLI::App& app);
  std::vector<const KernelEntry*> select() const;
};

/// `--size n=1024` and `--set threads=128`.
struct ProblemOptions {
  std::vector<std::string> sizes, tunables;
  void declare(CLI::App& app);
  /// Sizes and real parameters that were given. UsageError for one that no kernel of the selection has.
  Problem problem(const std::vector<const KernelEntry*>& entries) const;
  Overrides overrides(const std::vector<const KernelEntry*>& entries) const;
};

}  // namespace mt
