// The headers in shim/, which are part of the program, as files that clang can read, precompiled for each setting.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mt::metal_host {

struct ShimFile {
  const char* name;
  std::string_view bytes;
};
extern const ShimFile kShimFiles[];
extern const std::size_t kShimFileCount;

/// Hash of all headers.
const std::string& shim_hash();
/// Folder with the headers. Made once, whole or not at all; processes that make it at the same time do not
/// disturb each other. Throws Error where it cannot be written.
const std::string& shim_folder();
/// The headers precompiled with `arguments` of clang -cc1. Throws Error.
std::string precompiled_shim(const std::vector<std::string>& arguments);

}  // namespace mt::metal_host
