// Test cases that come from users' reports about kernels of this kind anywhere: they join the kernel's own cases.
// docs/field-reports.md lists the reports.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mt/dsl/problem.h"

namespace mt {

struct ReportedCase {
  std::string report;  // its id in docs/field-reports.md
  std::string kernel;  // a registered name; all its dtypes take the case
  Problem problem;
};

/// All of them, in the order of registration.
const std::vector<ReportedCase>& reported_cases();
/// Adds cases, from a static object.
bool report(std::vector<ReportedCase> cases);
/// Those of one kernel.
Problems reported_problems(std::string_view kernel);

}  // namespace mt
