// What clang says, as sentences about the Metal text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mt::metal_host {

struct Diagnostics {
  std::vector<std::string> errors, warnings;  // file:line: error: ...
};

/// `said` is clang's standard error without carets. What is said of a header below `shim` is moved to the line of the
/// Metal text that led there; spellings of the lowered text become Metal's.
Diagnostics read_diagnostics(std::string_view said, const std::string& shim);

}  // namespace mt::metal_host
