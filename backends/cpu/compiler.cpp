#include "backends/cpu/compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "backends/cpu/cpu_info.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/llvm/plugin.h"
#include "mt/base/hash.h"

namespace mt::cpu {
namespace {

struct Plugin {
  MtLlvmCompile compile = nullptr;
  std::string why;  // it is not there
};

Plugin open_plugin() {
  const char* set = std::getenv("MT_LLVM_PLUGIN");
  std::error_code e;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", e);
  const std::string path = set && *set ? set : (self.parent_path() / "libmt_llvm.so").string();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return {nullptr, dlerror()};
  void* f = dlsym(library, kMtLlvmCompile);
  if (!f) return {nullptr, path + " has no " + kMtLlvmCompile};
  return {reinterpret_cast<MtLlvmCompile>(f), ""};
}

/// Opened at most once: LLVM takes some 20 ms and 50 MB.
const Plugin& plugin() {
  static const Plugin p = open_plugin();
  return p;
}

struct Free {
  void operator()(char* p) const { std::free(p); }
};

std::string compile_object(const std::string& text, std::string_view what) {
  const Plugin& p = plugin();
  if (!p.compile)
    throw Error(
        fmt::format("cpu backend: kernel {} is not in the cache and LLVM 19 is not here ({}); install libllvm19 "
                    "(apt-get install llvm-19-dev) and rebuild, or use --device interp",
                    what, p.why));
  char *object = nullptr, *error = nullptr;
  std::size_t bytes = 0;
  const int failed = p.compile(text.data(), text.size(), &object, &bytes, &error);
  const std::unique_ptr<char, Free> own_object(object), own_error(error);
  if (failed) throw Error(fmt::format("cpu backend: kernel {}: {}", what, error ? error : "LLVM fails"));
  return {object, bytes};
}

}  // namespace

std::string why_unavailable() {
#ifndef __linux__
  return "cpu: native code is loaded as objects of Linux, so this device runs there only; use --device interp, or "
         "metal "
         "on a Mac";
#else
  const char* set = std::getenv("MT_LLVM_PLUGIN");
  if (std::string_view(MT_LLVM_VERSION) != "none" || (set && *set)) return "";
  return "cpu: this build was made without LLVM 19; install llvm-19-dev and build again";
#endif
}

ObjectCache& object_cache() {
  static ObjectCache cache(ObjectCache::standard_folder("cpu"));
  return cache;
}

std::string object_key(std::string_view text) {
  return hash_hex(fmt::format("{}\n{} {} {}", text, kEmitterVersion, MT_LLVM_VERSION, cpu_info().identity));
}

CompiledText compile_text(const std::string& text, std::string_view what, ObjectCache& cache) {
  const std::string key = object_key(text);
  if (const auto found = cache.find(key)) {
    // What does not load although its checksum is right was made by another program: it is made anew.
    if (auto code = load_object(*found, kEntry)) return {code.take(), true, found->size()};
  }
  const std::string object = compile_object(text, what);
  auto code = load_object(object, kEntry).take();
  cache.store(key, object);
  return {std::move(code), false, object.size()};
}

}  // namespace mt::cpu
