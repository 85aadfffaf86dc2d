#include "tests/emulation/host_text.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/emulation/fibers.h"

namespace mt::emulation {
namespace {

/// The argument that a parameter of the printed kernel takes; `slot` counts buffers and scalars.
std::string argument(const std::string& parameter, int& slot) {
  const auto has = [&](const char* s) { return parameter.find(s) != std::string::npos; };
  if (has("threadgroup_position_in_grid")) return "mt_group()";
  if (has("thread_index_in_threadgroup")) return "mt_host_ids()->index";
  if (has("simdgroup_index_in_threadgroup")) return "mt_host_ids()->index / 32";
  if (has("thread_index_in_simdgroup")) return "mt_host_ids()->index % 32";
  return fmt::format("{}{{b[{}]}}", has("*") ? "mt_pointer" : "mt_scalar", slot++);
}

/// `extern "C" void thread_<name>(void** b)` for every kernel of the text.
std::string entries(const std::string& text, const std::regex& head) {
  std::string all;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), head); it != std::sregex_iterator(); ++it) {
    const std::string name = (*it)[1];
    std::stringstream rest(text.substr(static_cast<std::size_t>(it->position() + it->length())));
    std::string arguments, line;
    int slot = 0;
    for (bool last = false; !last && std::getline(rest, line);) {
      line = line.substr(0, line.find("//"));
      if (line.find_first_not_of(" ") == std::string::npos) continue;
      last = line.find(") {") != std::string::npos;
      if (line.find_first_not_of(" )") == line.find('{')) break;
      arguments += (arguments.empty() ? "" : ", ") + argument(line, slot);
    }
    all += fmt::format("extern \"C\" void thread_{0}(void** b) {{ {0}({1}); }}\n", name, arguments);
  }
  return all;
}

}  // namespace

std::string host_source(const std::string& target, const std::string& text) {
  if (target == "metal") {
    // Arrays of a threadgroup: threads are fibers of one host thread.
    static const std::regex shared("\n  threadgroup (alignas\\(16\\) )?(\\w+) (\\w+)\\[");
    static const std::regex head("\nvoid (\\w+)\\(");
    const std::string body = std::regex_replace(text, shared, "\n  $1static $2 $3[");
    return body + entries(text, head);
  }
  static const std::regex asm1("asm\\(\"([\\w.]+) %0, %1;\" : \"=\\w\"\\(([\\w.]+)\\) : \"\\w\"\\((\\w+)\\)\\);");
  static const std::regex asm2(
      "asm\\(\"(\\w+)[\\w.]* %0, %1, %2;\" : \"=\\w\"\\(([\\w.]+)\\) : \"\\w\"\\((\\w+)\\), \"\\w\"\\((\\w+)\\)\\);");
  static const std::regex aligned("__shared__ alignas\\(16\\) ");
  static const std::regex dynamic("extern __shared__ __align__\\(16\\) unsigned char mt_shared\\[\\];");
  static const std::regex head("__launch_bounds__\\(\\d+\\) (\\w+)\\(");
  std::string body = std::regex_replace(text, asm1, "mt_ptx(\"$1\", $2, $3);");
  body = std::regex_replace(body, asm2, "$2 = mt_ptx_$1($3, $4);");
  body = std::regex_replace(body, aligned, "alignas(16) __shared__ ");
  body = std::regex_replace(body, dynamic, "alignas(16) static unsigned char mt_shared[1 << 18];");
  return "#include \"tests/emulation/cuda_host.h\"\n" + body + entries(text, head);
}

HostText::HostText(const Backend& target, const std::vector<Kernel>& kernels, const std::string& more) {
  folder_ = (std::filesystem::temp_directory_path() / "mt-text-XXXXXX").string();
  if (!mkdtemp(folder_.data())) throw Error("no temporary folder");
  std::ofstream(folder_ + "/kernel.cpp") << host_source(std::string(target.name()), target.program(kernels)->text);
  // What C leaves undefined ends the process by a trap.
  const std::string command = fmt::format(
      "{0} -std=c++20 -O0 -fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,float-cast-overflow "
      "-fsanitize-undefined-trap-on-error -ffp-contract=off -fno-strict-aliasing -fPIC -shared -w {3} "
      "-I {1}/backends/metal/testing -I {1} -o {2}/kernel.so {2}/kernel.cpp 2> {2}/log",
      MT_CXX, MT_SOURCE_DIR, folder_, more);
  std::string failed;
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(folder_ + "/log");
    std::stringstream what;
    what << log.rdbuf();
    failed = what.str().substr(0, 4000);
  } else {
    library_ = dlopen((folder_ + "/kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) failed = dlerror();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  if (!failed.empty()) throw Error(failed);
}

HostText::~HostText() {
  if (library_) dlclose(library_);
}

void HostText::run(const Kernel& kernel, std::vector<void*> memories, std::vector<std::uint64_t> scalars,
                   const Groups& groups) const {
  auto* entry = reinterpret_cast<void (*)(void**)>(dlsym(library_, ("thread_" + kernel.name).c_str()));
  if (!entry) throw Error(fmt::format("[{}] has no entry in the printed text", kernel.name));
  for (std::uint64_t& s : scalars) memories.push_back(&s);
  run_threads(entry, memories.data(), kernel.threads, {groups[0], groups[1], groups[2]});
}

}  // namespace mt::emulation
