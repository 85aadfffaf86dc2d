// Metal's errors in words.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mt::metal {

/// What a command buffer says of a launch that failed.
struct CommandFailure {
  std::int64_t code = 0;          // of MTLCommandBufferErrorDomain
  std::string domain, message;    // as the system gives them
  std::string encoder;            // state of the encoder: "faulted", "affected", ...; empty: not known
  std::vector<std::string> logs;  // of shader validation, with the place in the text
};

/// One sentence: what it was, what it mostly means, and the system's own words.
std::string failure_text(const CommandFailure& failure);

/// The compiler's message with the lines that say nothing taken out; `line` of the text is named as `file:line`.
std::string compiler_text(const std::string& message, const std::string& file);

}  // namespace mt::metal
