#include "mt/harness/pass_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "mt/harness/names.h"
#include "mt/harness/table.h"

namespace mt {

std::string pass_check_json(const PassCheckResult& r) {
  nlohmann::ordered_json j;
  j["kernel"] = r.kernel;
  j["dtype"] = r.dtype;
  j["case"] = r.problem;
  j["targets"] = r.targets;
  j["passed"] = r.passed();
  j["executed"] = r.executed;
  j["compared"] = r.compared;
  if (!r.pass.empty()) j["pass"] = r.pass;
  if (!r.error.empty()) j["error"] = r.error;
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string failure_text(const PassCheckResult& r, bool colour) {
  return fmt::format("{} {}/{}/{} for {}, after {}\n     {}\n", painted("FAIL", "31", colour), r.kernel, r.dtype,
                     r.problem, r.targets, r.pass, r.error);
}

std::string totals_text(const PassCheckTotals& t, bool colour) {
  std::string text = fmt::format(
      "{} kernels, {} with their dtypes, {} cases through the passes of every target: {}, {}; {} executions, {} "
      "elements compared in {}\n",
      grouped(t.kernels), grouped(t.pairs), grouped(t.cases),
      painted(grouped(t.cases - t.failed) + " passed", "32", colour),
      t.failed ? painted(grouped(t.failed) + " failed", "31", colour) : "0 failed", grouped(t.executed),
      grouped(t.compared), time_text(t.seconds));
  if (!t.unchecked.empty())
    text += fmt::format("{}: nothing was compared for {}\n", painted("UNCHECKED", "31", colour), listed(t.unchecked));
  return text;
}

}  // namespace mt
