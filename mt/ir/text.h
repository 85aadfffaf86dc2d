// The text form of a kernel: prints and parses back to the same kernel.
#pragma once
#include <string>
#include <string_view>

#include "mt/base/error.h"
#include "mt/ir/kernel.h"

namespace mt {

struct PrintOptions {
  bool locations = false;  // a trailing `; file.cpp:12`
};
std::string print(const Kernel& kernel, const PrintOptions& options = {});

/// The kernel that the text describes, verified; or an Error with the text's line.
Result<Kernel> parse(std::string_view text);

}  // namespace mt
