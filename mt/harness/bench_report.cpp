#include "mt/harness/bench_report.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include <nlohmann/json.hpp>

#include "mt/harness/table.h"

namespace mt {
namespace {

using Json = nlohmann::ordered_json;

std::string now() {
  const std::time_t t = std::time(nullptr);
  std::tm local = {};
  localtime_r(&t, &local);
  char text[40];
  std::strftime(text, sizeof text, "%FT%T%z", &local);
  return text;
}

Json context_of(const DeviceInfo& device) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  double load[3] = {};
  const int loads = getloadavg(load, 3);
  Json c;
  c["date"] = now();
  c["host_name"] = host;
  c["executable"] = "tile";
  c["num_cpus"] = std::thread::hardware_concurrency();
  c["load_avg"] = std::vector<double>(load, load + std::max(loads, 0));
  c["library_build_type"] =
#ifdef NDEBUG
      "release";
#else
      "debug";
#endif
  c["device"] = device.backend;
  c["device_name"] = device.name;
  for (const auto& [key, value] : device.details)
    if (key != "cache") c["device_" + key] = value;  // a folder of this machine says nothing of the figures
  return c;
}

Json entry_of(const BenchResult& r) {
  Json j;
  j["name"] = bench_name(r);
  j["run_name"] = bench_name(r);
  j["run_type"] = "iteration";
  j["repetitions"] = 1;
  j["repetition_index"] = 0;
  j["threads"] = 1;
  if (!r.error.empty()) {
    j["error_occurred"] = true;
    j["error_message"] = r.error;
  }
  j["iterations"] = r.iterations;
  j["real_time"] = 1e9 * r.time.median;
  j["cpu_time"] = 1e9 * r.cpu_seconds;
  j["time_unit"] = "ns";
  j["kernel"] = r.kernel;
  j["dtype"] = r.dtype;
  j["verified"] = r.verified;
  j["compared"] = r.compared;
  j["compile_ms"] = r.compile_ms;
  if (!r.chosen.empty()) j["chosen"] = r.chosen;
  if (!r.tuned.empty()) j["tuned"] = r.tuned;
  if (!r.error.empty()) return j;
  j["samples"] = r.time.count;
  j["spread"] = r.time.spread();
  j["best_time"] = 1e9 * r.time.least;
  j["bytes_read"] = r.work.read;
  j["bytes_written"] = r.work.written;
  j["flops"] = r.work.flops;
  j["bytes_per_second"] = r.bytes_per_second();
  j["flops_per_second"] = r.flops_per_second();
  if (!r.swept.empty()) j["swept"] = r.swept;
  if (r.times_first > 0) j["times_first"] = r.times_first;
  if (!r.cliff.empty()) j["cliff"] = r.cliff;
  j["rotated"] = r.copies;
  j["cached"] = r.cached;
  for (const PeerResult& p : r.peers) {
    Json one{{"name", p.name}};
    if (!p.error.empty()) one["error"] = p.error;
    if (p.time.count > 0) {
      one["real_time"] = 1e9 * p.time.median;
      one["spread"] = p.time.spread();
      one["samples"] = p.time.count;
      one["times_ours"] = p.time.median / r.time.median;
    }
    j["peers"].push_back(std::move(one));
  }
  if (!r.has_roof) return j;
  j["roof_bytes_per_second"] = r.roof_bytes_per_second();
  j["roof_flops_per_second"] = r.ceiling.flops;
  j["roof_fraction"] = r.roof_fraction();
  j["roof_bound"] = r.roof.memory_bound() ? "memory" : "compute";
  j["copy_bytes_per_second"] = r.ceiling.copy;
  j["read_bytes_per_second"] = r.ceiling.read;
  j["write_bytes_per_second"] = r.ceiling.write;
  if (r.ceiling.launch > 0) j["launch_ns"] = 1e9 * r.ceiling.launch;
  return j;
}

std::string rate_text(double per_second) {
  if (per_second <= 0) return "-";
  if (per_second >= 100e9) return fmt::format("{:.0f}", per_second / 1e9);
  return fmt::format("{:.{}f}", per_second / 1e9, per_second >= 10e9 ? 1 : 2);
}

}  // namespace

std::string bench_name(const BenchResult& r) {
  return r.problem.empty() ? r.kernel + "/" + r.dtype : r.kernel + "/" + r.dtype + "/" + r.problem;
}

std::string bench_json(const std::vector<BenchResult>& results, const DeviceInfo& device) {
  Json j;
  j["context"] = context_of(device);
  j["benchmarks"] = Json::array();
  for (const BenchResult& r : results) j["benchmarks"].push_back(entry_of(r));
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string bench_heading(std::size_t width) {
  return fmt::format("{:<{}} {:>9} {:>8} {:>8} {:>7} {:>7} {:>11}\n", "kernel/dtype/problem", width, "time", "GB/s",
                     "GFLOP/s", "% roof", "spread", "compile ms");
}

std::string bench_line(const BenchResult& r, std::size_t width, bool colour) {
  const auto painted = [&](const char* code, const std::string& s) {
    return colour ? fmt::format("\033[{}m{}\033[0m", code, s) : s;
  };
  if (!r.error.empty()) return fmt::format("{} {}\n     {}\n", painted("31", "FAIL"), bench_name(r), r.error);
  const double share = 100 * r.roof_fraction();
  const std::string percent = !r.has_roof ? fmt::format("{:>7}", "-")
                                          : painted(share >= 75   ? "32"
                                                    : share >= 40 ? "33"
                                                                  : "31",
                                                    fmt::format("{:>6.1f}%", share));
  std::string time = time_text(r.time.median);
  if (time.find("µ") != std::string::npos) time.insert(0, time.size() < 10 ? 10 - time.size() : 0, ' ');
  std::string line = fmt::format(
      "{:<{}} {:>9} {:>8} {:>8} {} {:>6.1f}% {:>11.1f}{}{}\n", bench_name(r), width, time,
      rate_text(r.bytes_per_second()), rate_text(r.flops_per_second()), percent, 100 * r.time.spread(), r.compile_ms,
      r.has_roof && !r.roof.memory_bound() ? "  compute-bound" : "", r.cached ? "  in cache" : "");
  if (!r.tuned.empty()) line += fmt::format("     as tile tune chose: {}\n", overrides_text(r.tuned));
  for (const PeerResult& p : r.peers)
    line += !p.error.empty() || p.time.count == 0
                ? fmt::format("     {}: {}\n", p.name, p.error)
                : fmt::format("     {}: {}, {:.2f} times as long\n", p.name, time_text(p.time.median),
                              p.time.median / r.time.median);
  return line;
}

std::string bench_totals(const std::vector<BenchResult>& results, double seconds) {
  std::int64_t verified = 0, failed = 0, compared = 0;
  std::vector<Ceiling> ceilings;
  for (const BenchResult& r : results) {
    (r.error.empty() ? verified : failed) += 1;
    compared += r.compared;
    if (r.has_roof) ceilings.push_back(r.ceiling);
  }
  std::string text = fmt::format("{} benchmarks verified, {} failed; {} elements compared; {}\n", verified, failed,
                                 grouped(compared), time_text(seconds));
  if (!ceilings.empty()) {
    const Ceiling c = median_of(ceilings);
    text += fmt::format("ceilings measured in between: copy {} GB/s, read {} GB/s, write {} GB/s, {} GFLOP/s f32{}\n",
                        rate_text(c.copy), rate_text(c.read), rate_text(c.write), rate_text(c.flops),
                        c.launch > 0 ? ", an empty launch " + time_text(c.launch) : "");
  }
  return text;
}

}  // namespace mt
