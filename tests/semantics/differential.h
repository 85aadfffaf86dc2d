// A kernel compared with what passes and backends make of it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mt/passes/pipeline.h"
#include "tests/semantics/outcome.h"

namespace mt {

/// What went wrong, and where.
struct Mismatch {
  enum class Kind { Values, Error, Rules };  // other results; an Error of one side; a kernel that does not verify
  std::string where;                         // "pass licm (contiguous simds)", "cpu"
  std::string what;
  Kind kind = Kind::Values;
  bool like(const Mismatch& o) const { return where == o.where && kind == o.kind; }
};

/// Compares the outcomes of one kernel, over arguments that follow from the seed. Not shared between threads.
class Differential {
 public:
  struct Options {
    bool passes = true;                   // after each pass, with the options of every kind of target, on interp
    bool cpu = false;                     // the cpu backend
    std::vector<std::string> texts = {};  // targets whose printed text runs on the host: metal, cuda
    std::optional<Pass> planted = {};     // one more pass, run first: what a wrong one does must be found
  };
  explicit Differential(Options options);

  enum class Verdict { Same, Refused, Differs };
  struct Result {
    Verdict verdict = Verdict::Same;
    Mismatch mismatch;  // of Differs
    int executed = 0;   // kernels run
  };
  /// Refused: the reference itself calls the kernel undefined.
  Result run(const Kernel& kernel, std::uint64_t seed);

  /// As run, for many kernels, whose texts are compiled together. `begins` is called before each is compared.
  std::vector<Result> run(const std::vector<Kernel>& kernels, const std::vector<std::uint64_t>& seeds,
                          const std::function<void(std::size_t)>& begins);

 private:
  void texts(const std::string& target, const std::vector<Kernel>& kernels, const std::vector<std::uint64_t>& seeds,
             const std::function<void(std::size_t)>& begins, std::vector<Result>& results);
  Result reference(const Kernel& kernel, std::uint64_t seed);
  Result passes(const Kernel& kernel, const RandomArguments& arguments, const Outcome& want);
  Options options_;
  std::unique_ptr<Device> interp_, cpu_;
};

}  // namespace mt
