#include "backends/cuda/compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "mt/base/hash.h"

namespace mt::cuda {
namespace {

const char* const kOptions[] = {"-fmad=false", "-std=c++17"};

std::string cuda_home() {
  const char* home = std::getenv("CUDA_HOME");
  return home && *home ? home : "/usr/local/cuda";
}

/// The few entry points of NVRTC that a compilation takes.
struct Nvrtc {
  using Program = void*;
  int (*version)(int*, int*) = nullptr;
  int (*arch_count)(int*) = nullptr;
  int (*archs)(int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  const char* (*error_string)(int) = nullptr;
  std::string name;      // "NVRTC 13.0"
  std::string identity;  // what tells this build of it from others
  bool keeps_cache = false;

  bool load() {
    void* library = nullptr;
    if (const char* own = std::getenv("MT_NVRTC"); own && *own) {
      library = dlopen(own, RTLD_NOW | RTLD_LOCAL);
    } else {
      for (const std::string& folder : {cuda_home() + "/lib64/", std::string("/usr/local/cuda/lib64/"), std::string()})
        for (const char* file : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
          if (!library) library = dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) return false;
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
      return function != nullptr;
    };
    if (!find(version, "nvrtcVersion") || !find(create, "nvrtcCreateProgram") ||
        !find(compile, "nvrtcCompileProgram") || !find(log_size, "nvrtcGetProgramLogSize") ||
        !find(log, "nvrtcGetProgramLog") || !find(cubin_size, "nvrtcGetCUBINSize") || !find(cubin, "nvrtcGetCUBIN") ||
        !find(arch_count, "nvrtcGetNumSupportedArchs") || !find(archs, "nvrtcGetSupportedArchs") ||
        !find(destroy, "nvrtcDestroyProgram") || !find(error_string, "nvrtcGetErrorString"))
      return false;
    int major = 0, minor = 0;
    version(&major, &minor);
    name = fmt::format("NVRTC {}.{}", major, minor);
    keeps_cache = major * 100 + minor >= 1209;
    identity = name;
    Dl_info where{};
    std::error_code none;
    if (dladdr(reinterpret_cast<void*>(version), &where) && where.dli_fname)
      identity += fmt::format(" {}", std::filesystem::file_size(where.dli_fname, none));
    return true;
  }
  bool knows(int capability) const {
    int count = 0;
    if (arch_count(&count) != 0 || count < 1) return true;
    std::vector<int> all(static_cast<std::size_t>(count));
    return archs(all.data()) != 0 || std::find(all.begin(), all.end(), capability) != all.end();
  }
};

const Nvrtc* nvrtc() {
  static Nvrtc library;
  static const bool loaded = library.load();
  return loaded ? &library : nullptr;
}

Compiled compile_nvrtc(const Nvrtc& rtc, const std::string& text, const std::string& arch) {
  Compiled result{rtc.name, "", "", {}};
  if (!rtc.knows(std::atoi(arch.c_str() + 3))) {
    result.error = fmt::format("it makes no code for {}; install a newer toolkit", arch);
    return result;
  }
  Nvrtc::Program program = nullptr;
  if (const int rc = rtc.create(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr)) {
    result.error = rtc.error_string(rc);
    return result;
  }
  const std::string target = "-arch=" + arch;
  std::vector<const char*> options = {target.c_str(), kOptions[0], kOptions[1], "--ptxas-options=-v"};
  // What comes out of the compiler's own cache comes without the log that says registers and spills.
  if (rtc.keeps_cache) options.push_back("--no-cache");
  const int rc = rtc.compile(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  rtc.log_size(program, &size);
  std::string log(size, '\0');
  rtc.log(program, log.data());
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  if (!rc && rtc.cubin_size(program, &size) == 0 && size > 0) {
    result.cubin.resize(size);
    rtc.cubin(program, result.cubin.data());
  }
  rtc.destroy(&program);
  if (rc) result.error = log.empty() ? rtc.error_string(rc) : log;
  result.kernels = parse_ptxas(log);
  return result;
}

std::string find_nvcc() {
  std::vector<std::string> folders = {cuda_home() + "/bin"};
  std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.push_back(folder);
  for (const std::string& folder : folders)
    if (access((folder + "/nvcc").c_str(), X_OK) == 0) return folder + "/nvcc";
  return "";
}

Compiled compile_nvcc(const std::string& nvcc, const std::string& text, const std::string& arch) {
  Compiled result{"nvcc", "", "", {}};
  std::string folder = (std::filesystem::temp_directory_path() / "mt-nvcc-XXXXXX").string();
  if (!mkdtemp(folder.data())) {
    result.error = "no temporary folder for nvcc under " + std::filesystem::temp_directory_path().string();
    return result;
  }
  std::ofstream(folder + "/kernel.cu") << text;
  const std::string command =
      fmt::format("'{0}' -arch={1} {3} {4} -Xptxas -v -cubin -o '{2}/kernel.cubin' '{2}/kernel.cu' 2>&1", nvcc, arch,
                  folder, kOptions[0], kOptions[1]);
  std::string log;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    char block[4096];
    for (std::size_t n = 0; (n = fread(block, 1, sizeof block, pipe)) > 0;) log.append(block, n);
    if (pclose(pipe) != 0) result.error = log.empty() ? "nvcc failed" : log;
  } else {
    result.error = "nvcc could not be started";
  }
  std::stringstream cubin;
  cubin << std::ifstream(folder + "/kernel.cubin", std::ios::binary).rdbuf();
  result.cubin = cubin.str();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  result.kernels = parse_ptxas(log);
  return result;
}

/// The number right before `what` in `line`, or 0.
int number_before(const std::string& line, const std::string& what) {
  const auto at = line.find(" " + what);
  if (at == std::string::npos) return 0;
  auto first = at;
  while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
  return first == at ? 0 : std::stoi(line.substr(first, at - first));
}

}  // namespace

std::map<std::string, KernelFacts> parse_ptxas(const std::string& log) {
  std::map<std::string, KernelFacts> kernels;
  KernelFacts* now = nullptr;
  std::stringstream lines(log);
  std::string remark;  // may stand before the kernel is named
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(C75") != std::string::npos && line.find("wgmma") != std::string::npos) {
      remark = line.substr(line.find("(C75"));
      for (auto& [name, facts] : kernels)
        if (line.find("'" + name + "'") != std::string::npos) facts.remark = remark;
      continue;
    }
    if (const auto at = line.find("Compiling entry function '"); at != std::string::npos) {
      const auto first = line.find('\'', at) + 1;
      const std::string name = line.substr(first, line.find('\'', first) - first);
      now = &kernels[name];
      if (remark.find("'" + name + "'") != std::string::npos) now->remark = remark;
    }
    if (!now) continue;
    if (line.find("bytes spill") != std::string::npos) {
      now->stack_bytes = number_before(line, "bytes stack frame");
      now->spill_bytes = number_before(line, "bytes spill stores") + number_before(line, "bytes spill loads");
    }
    if (line.find("registers") != std::string::npos) {
      now->registers = number_before(line, "registers");
      now->shared_bytes = number_before(line, "bytes smem");
    }
  }
  return kernels;
}

std::optional<Compiled> compile(const std::string& text, const std::string& arch) {
  if (const Nvrtc* rtc = nvrtc()) return compile_nvrtc(*rtc, text, arch);
  if (const std::string nvcc = find_nvcc(); !nvcc.empty()) return compile_nvcc(nvcc, text, arch);
  return std::nullopt;
}

std::string compiler_identity() {
  if (const Nvrtc* rtc = nvrtc()) return rtc->identity;
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) return "";
  std::error_code none;
  return fmt::format("{} {}", nvcc, std::filesystem::file_size(nvcc, none));
}

std::string cubin_key(const std::string& text, const std::string& arch, const std::string& compiler) {
  return hash_hex(fmt::format("{}\n{} {} {} {}", text, arch, kOptions[0], kOptions[1], compiler));
}

}  // namespace mt::cuda
