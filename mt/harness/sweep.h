// Kernels side by side over the values of one size: how times grow, and where one grows by more than its work.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mt/harness/bench.h"

namespace mt {

struct Sweep {
  std::string size;
  std::vector<std::int64_t> values;  // at least two, ascending
};
/// Of text `m=1,2,8`, in any order. UsageError for anything else.
Sweep sweep_of(std::string_view text);

/// What the kernels are measured on, in their order, for one value of a sweep: the first bench problem of each, with
/// those of `changes` that it has. UsageError for a kernel without the swept size, and where a size that two kernels
/// have differs, unless both do the same number of operations.
std::vector<BenchProblem> sweep_problems(const std::vector<const KernelEntry*>& entries, const Problem& changes,
                                         const Sweep& sweep, std::int64_t value);

/// The results of a sweep: a row for each value so far, in each the results of the kernels in their order.
using SweepRows = std::vector<std::vector<BenchResult>>;

/// Fills in `swept`, `times_first` and `cliff`. A time is a cliff where, over that of the value before, it grows by
/// more than the kernel's operations, bytes and 10 % explain; or where the next value, with no less to do, takes less
/// than that. The spread of both times comes on top.
void mark_sweep(SweepRows& rows, const Sweep& sweep);

/// The table: headings, a line for a row, and what is to be said of all: failures and cliffs.
std::string sweep_heading(const std::vector<BenchProblem>& kernels, const Sweep& sweep);
std::string sweep_line(const std::vector<BenchResult>& row, const Sweep& sweep, std::int64_t value, bool colour);
std::string sweep_notes(const SweepRows& rows, const Sweep& sweep);

}  // namespace mt
