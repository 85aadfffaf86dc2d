#include "mt/harness/test_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "mt/harness/names.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

std::string count_of(std::int64_t n, const char* thing) {
  return fmt::format("{} {}{}", grouped(n), thing, n == 1 ? "" : "s");
}

}  // namespace

std::string test_json(const CaseResult& r) {
  nlohmann::ordered_json j;
  j["kernel"] = r.kernel;
  j["dtype"] = r.dtype;
  j["case"] = r.problem;
  j["device"] = r.device;
  j["passed"] = r.passed;
  j["compared"] = r.compared;
  j["max_error"] = r.max_error;  // nlohmann prints null for what is not finite
  j["bound"] = r.bound;
  j["bound_used"] = r.ratio;
  if (r.empty) j["empty"] = true;
  if (!r.tuned.empty()) j["tuned"] = r.tuned;
  if (!r.error.empty()) j["error"] = r.error;
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string failure_text(const CaseResult& r, bool colour) {
  return fmt::format("{} {}/{}/{} on {}\n     {}\n", painted("FAIL", "31", colour), r.kernel, r.dtype, r.problem,
                     r.device, r.error);
}

std::string totals_text(const TestTotals& t, const std::string& device, bool colour) {
  std::string text = fmt::format("{}, {} with their dtypes, {} on {}: {}, {}{}; {} compared in {}\n",
                                 count_of(t.kernels, "kernel"), grouped(t.pairs), count_of(t.cases, "case"), device,
                                 painted(grouped(t.cases - t.failed) + " passed", "32", colour),
                                 t.failed ? painted(grouped(t.failed) + " failed", "31", colour) : "0 failed",
                                 t.empty ? fmt::format(" ({} of size zero: nothing launched)", grouped(t.empty)) : "",
                                 count_of(t.compared, "element"), time_text(t.seconds));
  if (t.tuned > 0) text += fmt::format("{} ran with what tile tune chose\n", count_of(t.tuned, "case"));
  if (!t.unchecked.empty())
    text += fmt::format("{}: nothing was compared for {}\n", painted("UNCHECKED", "31", colour), listed(t.unchecked));
  return text;
}

}  // namespace mt
