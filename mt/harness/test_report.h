// What `tile test` and `tile check` print.
#pragma once
#include <string>
#include <vector>

#include "mt/harness/test_run.h"

namespace mt {

/// One JSON object, without the newline: kernel, dtype, case, device, passed, compared, max_error, bound,
/// bound_used (max_error over bound); `empty` for a case without output elements and `error` for one that failed.
/// Numbers that are infinite become null.
std::string test_json(const CaseResult& result);

/// A block of lines for a case that failed.
std::string failure_text(const CaseResult& result, bool colour);

/// The closing lines: counts, and what is wrong with them.
std::string totals_text(const TestTotals& totals, const std::string& device, bool colour);

}  // namespace mt
