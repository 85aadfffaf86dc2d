// What `tile check --passes` prints.
#pragma once
#include <string>

#include "mt/harness/pass_check.h"

namespace mt {

/// One JSON object, without the newline: kernel, dtype, case, targets, passed, executed, compared; `pass` and `error`
/// for one that failed.
std::string pass_check_json(const PassCheckResult& result);

/// A block of lines for a case that failed.
std::string failure_text(const PassCheckResult& result, bool colour);

/// The closing lines.
std::string totals_text(const PassCheckTotals& totals, bool colour);

}  // namespace mt
