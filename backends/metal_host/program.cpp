#include "backends/metal_host/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "backends/metal_host/externals.h"

namespace mt::metal_host {
namespace {

/// The constants' memory, and where each of their symbols lies.
void* find_constant(const MslObject& object, const ConstantValues& values,
                    std::vector<std::unique_ptr<std::byte[]>>& memory, std::string_view name) {
  for (const MslConstant& c : object.constants) {
    if (name != c.symbol && name != c.defined_symbol) continue;
    const auto given = values.find(c.index);
    if (given != values.end() && given->second.size() != c.bytes)
      throw Error(fmt::format("function constant {} ({} {}) takes {} bytes, not {}", c.index, c.type, c.name, c.bytes,
                              given->second.size()));
    auto& room = memory.emplace_back(std::make_unique<std::byte[]>(std::max<std::size_t>(c.bytes, 16)));
    if (name == c.defined_symbol)
      room[0] = static_cast<std::byte>(given != values.end());
    else if (given != values.end())
      std::memcpy(room.get(), given->second.data(), c.bytes);
    return room.get();
  }
  return nullptr;
}

/// A file that goes when this does.
struct ScratchFile {
  std::string path;
  explicit ScratchFile(std::string_view bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "metaltile-XXXXXX").string();
    const int fd = mkstemp(name.data());
    if (fd < 0) return;
    path = name;
    close(fd);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~ScratchFile() {
    if (!path.empty()) std::remove(path.c_str());
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
};

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  std::FILE* pipe = popen(command.c_str(), "re");
  if (!pipe) return lines;
  char* line = nullptr;
  std::size_t room = 0;
  for (ssize_t n = 0; (n = getline(&line, &room, pipe)) > 0;)
    lines.emplace_back(line, static_cast<std::size_t>(n) - (line[n - 1] == '\n'));
  std::free(line);
  pclose(pipe);
  return lines;
}

bool own_header(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  return name.starts_with("msl_") || name.starts_with("metal_");
}

}  // namespace

MslProgram::MslProgram(MslObject object, const ConstantValues& constants) : object_(std::move(object)) {
  for (const auto& [index, value] : constants) {
    const int wanted = index;
    if (std::none_of(object_.constants.begin(), object_.constants.end(),
                     [&](const MslConstant& c) { return c.index == wanted; })) {
      std::string there;
      for (const MslConstant& c : object_.constants)
        there += fmt::format("{}{} ({} {})", there.empty() ? "" : ", ", c.index, c.type, c.name);
      throw Error(
          fmt::format("the text has no function constant {}; it has {}", index, there.empty() ? "none" : there));
    }
  }
  loaded_ = load_object(object_.object, [&](std::string_view name) -> void* {
              if (void* c = find_constant(object_, constants, constants_, name)) return c;
              return resolve_external(name);
            }).take();
}

MslProgram::~MslProgram() = default;

const MslKernel& MslProgram::kernel(std::string_view name) const {
  std::string there;
  for (const MslKernel& k : object_.kernels) {
    if (k.name == name) return k;
    there += (there.empty() ? "" : ", ") + k.name;
  }
  throw Error(fmt::format("no kernel '{}' in the text; {}", name, there.empty() ? "it has none" : "it has " + there));
}

void MslProgram::set_entry(const MslKernel& kernel, Launch& launch) const {
  void* entry = loaded_.find(kernel.entry);
  if (!entry) throw Error(fmt::format("the object of kernel '{}' has no entry {}", kernel.name, kernel.entry));
  launch.entry = reinterpret_cast<msl_entry>(entry);
  launch.code = static_cast<const std::byte*>(loaded_.code->begin());
  launch.code_bytes = loaded_.code->bytes();
}

Place MslProgram::place(const void* address) const {
  const auto* a = static_cast<const std::byte*>(address);
  for (const LoadedSection& s : loaded_.sections) {
    if (a <= s.begin || a > s.begin + s.bytes) continue;
    const ScratchFile object(object_.object);
    // A template's code has a section of its own, whose name may hold what a shell would read.
    if (object.path.empty() || s.name.find('\'') != std::string::npos) return {};
    // Innermost function first: those of the shim are what the text calls.
    for (const std::string& l : lines_of(
             fmt::format("addr2line -i -e '{}' -j '{}' 0x{:x} 2>/dev/null", object.path, s.name, a - s.begin - 1))) {
      const auto colon = l.rfind(':');
      if (colon == std::string::npos || own_header(l.substr(0, colon))) continue;
      const int line = std::atoi(l.c_str() + colon + 1);
      if (line > 0) return {l.substr(0, colon), line};
    }
    return {};
  }
  return {};
}

}  // namespace mt::metal_host
