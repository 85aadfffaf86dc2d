#include "mt/dsl/reports.h"

#include <iterator>

namespace mt {
namespace {
std::vector<ReportedCase>& table() {
  static std::vector<ReportedCase> all;
  return all;
}
}  // namespace

const std::vector<ReportedCase>& reported_cases() { return table(); }

bool report(std::vector<ReportedCase> cases) {
  table().insert(table().end(), std::make_move_iterator(cases.begin()), std::make_move_iterator(cases.end()));
  return true;
}

Problems reported_problems(std::string_view kernel) {
  Problems all;
  for (const ReportedCase& c : table())
    if (c.kernel == kernel) all.push_back(c.problem);
  return all;
}

}  // namespace mt
