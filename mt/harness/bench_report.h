// What `tile bench` prints and writes.
#pragma once
#include <string>
#include <vector>

#include "mt/harness/bench.h"

namespace mt {

/// The results as a document in Google Benchmark's form (`context`, `benchmarks`), with our counters: verified,
/// compared, bytes_per_second, flops_per_second, roof_bytes_per_second, roof_flops_per_second, roof_fraction,
/// roof_bound, spread, compile_ms, rotated, cached, and the ceilings measured around each; of a sweep also swept,
/// times_first and cliff. Times are in nanoseconds.
std::string bench_json(const std::vector<BenchResult>& results, const DeviceInfo& device);

/// `kernel/dtype/key:value/...`.
std::string bench_name(const BenchResult& result);

/// The table's heading, with names of up to `width` characters.
std::string bench_heading(std::size_t width);
/// One line of the table, so that it can be printed as soon as it is known.
std::string bench_line(const BenchResult& result, std::size_t width, bool colour);
/// The closing lines.
std::string bench_totals(const std::vector<BenchResult>& results, double seconds);

}  // namespace mt
