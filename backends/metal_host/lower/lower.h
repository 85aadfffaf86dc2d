// From Metal Shading Language to C++ for OpenCL, token by token: what clang's OpenCL mode spells otherwise or refuses.
// Line ends stay where they are, so that what clang reports has the line of the Metal text.
#pragma once
#include <string>
#include <vector>

#include "backends/metal_host/compiler.h"
#include "backends/metal_host/lower/lexer.h"

namespace mt::metal_host {

struct Lowered {
  std::string text;
  std::vector<MslKernel> kernels;  // sizes and scalars of parameters are filled in from the object
  std::vector<MslConstant> constants;
  std::vector<std::string> errors;  // file:line: ...
  std::vector<std::string> warnings;
  std::vector<std::string> known;  // host names of all kernels, also of those that were not asked for
};

/// `kernels`: host names of the kernels to make entries for; empty: all.
Lowered lower(Tokens tokens, const std::vector<std::string>& kernels, int language);

}  // namespace mt::metal_host
