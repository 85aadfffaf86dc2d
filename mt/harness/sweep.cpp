#include "mt/harness/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "mt/harness/contract.h"
#include "mt/harness/names.h"
#include "mt/harness/select.h"
#include "mt/harness/table.h"
#include "mt/harness/test_run.h"

namespace mt {
namespace {

constexpr double kUnexplained = 1.1;
constexpr std::size_t kTime = 9, kSpread = 5, kRate = 12, kRatio = 8;  // columns of a kernel
constexpr std::size_t kWidth = kTime + 1 + kSpread + kRate + kRatio;

/// How often the work of `from` is in that of `to`, by what grows most: operations or bytes.
double growth_of_work(const BenchResult& from, const BenchResult& to) {
  const auto ratio = [](double a, double b) { return a > 0 ? b / a : b > 0 ? 1e300 : 1; };
  return std::max(ratio(from.work.flops, to.work.flops),
                  ratio(from.work.read + from.work.written, to.work.read + to.work.written));
}
double tolerance(const BenchResult& a, const BenchResult& b) {
  return kUnexplained + a.time.spread() + b.time.spread();
}
bool timed(const BenchResult& r) { return r.error.empty() && r.time.median > 0; }

/// Why `here` is a cliff; empty where it is none. Null: there is no such neighbour.
std::string cliff(const BenchResult* before, const BenchResult& here, const BenchResult* after, const std::string& size,
                  std::int64_t value_before, std::int64_t value_after) {
  if (before) {
    const double work = std::max(1., growth_of_work(*before, here)), time = here.time.median / before->time.median;
    if (time > work * tolerance(*before, here))
      return fmt::format("{} is {:.2f} times as long as {} {} ({}), with {:.2f} times the work",
                         time_text(here.time.median), time, size, value_before, time_text(before->time.median), work);
  }
  if (after && growth_of_work(*after, here) <= 1 && here.time.median > after->time.median * tolerance(here, *after))
    return fmt::format("{} is longer than {} {} takes ({}), which is no less work", time_text(here.time.median), size,
                       value_after, time_text(after->time.median));
  return "";
}

std::string rate_text(const BenchResult& r) {
  const bool arithmetic = r.has_roof ? !r.roof.memory_bound() : r.work.read + r.work.written <= 0;
  const double rate = (arithmetic ? r.flops_per_second() : r.bytes_per_second()) / 1e9;
  if (rate <= 0) return "-";
  return fmt::format("{:.{}f} {}", rate, rate < 10 ? 2 : rate < 100 ? 1 : 0, arithmetic ? "GF/s" : "GB/s");
}

/// Padded on the left by what the text takes on a screen.
std::string right(const std::string& text, std::size_t width) {
  const auto shown = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  return std::string(width > shown ? width - shown : 0, ' ') + text;
}
std::size_t value_width(const Sweep& s) { return std::max(s.size.size(), std::to_string(s.values.back()).size()); }

}  // namespace

Sweep sweep_of(std::string_view text) {
  const auto wrong = [&](const std::string& what) { return UsageError(fmt::format("--sweep {}: {}", text, what)); };
  const auto at = text.find('=');
  if (at == std::string_view::npos || at == 0) throw wrong("write a size and its values, name=1,2,4");
  Sweep s{std::string(text.substr(0, at)), {}};
  for (std::string_view rest = text.substr(at + 1);;) {
    const std::string_view one = rest.substr(0, rest.find(','));
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), value);
    if (error != std::errc{} || end != one.data() + one.size())
      throw wrong(fmt::format("'{}' is no whole number", one));
    if (value < 0) throw wrong(fmt::format("{} must not be negative", s.size));
    s.values.push_back(value);
    if (one.size() == rest.size()) break;
    rest.remove_prefix(one.size() + 1);
  }
  std::sort(s.values.begin(), s.values.end());
  const auto same = std::adjacent_find(s.values.begin(), s.values.end());
  if (same != s.values.end()) throw wrong(fmt::format("{} stands there twice", *same));
  if (s.values.size() < 2) throw wrong("one value is no sweep; give two or more, or use --size");
  return s;
}

std::vector<BenchProblem> sweep_problems(const std::vector<const KernelEntry*>& entries, const Problem& changes,
                                         const Sweep& sweep, std::int64_t value) {
  if (changes.has(sweep.size))
    throw UsageError(fmt::format("{} has a value by --size and others by --sweep; give it one way", sweep.size));
  std::vector<BenchProblem> all;
  for (const KernelEntry* entry : entries) {
    const auto kernel = entry->make();
    const std::vector<std::string> sizes = size_names(*kernel), reals = real_names(*kernel);
    const auto has = [](const auto& names, const std::string& n) {
      return std::find(names.begin(), names.end(), n) != names.end();
    };
    if (!has(sizes, sweep.size))
      throw UsageError(fmt::format("--sweep {}: {} has no such size; {}", sweep.size, entry->id(),
                                   sizes.empty() ? "it has none" : "it has " + listed(sizes)));
    const Problems benches = kernel->benches();
    if (benches.empty()) throw UsageError(fmt::format("{} has no bench problem to vary", entry->id()));
    Problem own;
    for (const auto& [name, n] : changes.sizes())
      if (has(sizes, name)) own = own.with(name, n);
    for (const auto& [name, n] : changes.reals())
      if (has(reals, name)) own = own.with_real(name, n);
    all.emplace_back(entry, overlaid(benches.front(), own).with(sweep.size, value));
    // Sizes of how weights are stored may differ: what is computed is the same.
    const auto& [first, p] = all.front();
    const double flops = kernel->work(all.back().second).flops;
    if (flops > 0 && flops == first->make()->work(p).flops) continue;
    for (const auto& [name, n] : all.back().second.sizes())
      if (p.has(name) && p[name] != n)
        throw UsageError(fmt::format("{} has {} {} where {} has {}; give both one by --size {}=", entry->id(), name, n,
                                     first->id(), p[name], name));
  }
  return all;
}

void mark_sweep(SweepRows& rows, const Sweep& sweep) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < rows[i].size(); ++k) {
      BenchResult& r = rows[i][k];
      const BenchResult& first = rows[i].front();
      r.swept = sweep.size;
      r.times_first = timed(r) && timed(first) ? r.time.median / first.time.median : 0;
      r.cliff.clear();
      if (!timed(r)) continue;
      const BenchResult* before = i > 0 && timed(rows[i - 1][k]) ? &rows[i - 1][k] : nullptr;
      const BenchResult* after = i + 1 < rows.size() && timed(rows[i + 1][k]) ? &rows[i + 1][k] : nullptr;
      r.cliff = cliff(before, r, after, sweep.size, before ? sweep.values[i - 1] : 0, after ? sweep.values[i + 1] : 0);
    }
}

std::string sweep_heading(const std::vector<BenchProblem>& kernels, const Sweep& sweep) {
  std::string names(value_width(sweep), ' '), columns = right(sweep.size, value_width(sweep));
  for (const auto& [entry, p] : kernels) {
    names += "  " + right(entry->id(), kWidth);
    columns +=
        "  " + right("time", kTime) + " " + right("+-", kSpread) + right("rate", kRate) + right("x first", kRatio);
  }
  return names + "\n" + columns + "\n";
}

std::string sweep_line(const std::vector<BenchResult>& row, const Sweep& sweep, std::int64_t value, bool colour) {
  std::string line = right(std::to_string(value), value_width(sweep));
  for (const BenchResult& r : row) {
    if (!timed(r)) {
      line += "  " + std::string(kWidth - 4, ' ') + painted("FAIL", "31", colour);
      continue;
    }
    const std::string time = right(time_text(r.time.median), kTime) + (r.cliff.empty() ? " " : "!");
    line += "  " + (r.cliff.empty() ? time : painted(time, "33", colour));
    line += right(fmt::format("{:.0f}%", 100 * r.time.spread()), kSpread) + right(rate_text(r), kRate);
    line += right(r.times_first > 0 ? fmt::format("{:.2f}", r.times_first) : "-", kRatio);
  }
  return line + "\n";
}

std::string sweep_notes(const SweepRows& rows, const Sweep& sweep) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const BenchResult& r : rows[i]) {
      if (!r.error.empty())
        text += fmt::format("FAIL {}/{} {} {}: {}\n", r.kernel, r.dtype, sweep.size, sweep.values[i], r.error);
      if (!r.cliff.empty())
        text += fmt::format("! cliff of {}/{} at {} {}: {}\n", r.kernel, r.dtype, sweep.size, sweep.values[i], r.cliff);
    }
  return text;
}

}  // namespace mt
