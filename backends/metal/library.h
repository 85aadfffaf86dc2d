// One metallib of many texts, through the compiler of Xcode.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mt::metal {

/// Compiles each text (by its file's name) as Metal 3.1 without fast maths and links all of them; the bytes of the
/// library. `progress` hears the name of each text before it is compiled, and may throw to end the work. Throws Error
/// where `xcrun` or its compiler is missing, and with the compiler's words for a text that it refuses.
std::string metal_library(const std::vector<std::pair<std::string, std::string>>& texts,
                          const std::function<void(const std::string&)>& progress = nullptr);

}  // namespace mt::metal
