#include "backends/metal_host/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "backends/metal_host/compile/clang.h"
#include "backends/metal_host/compile/diagnostics.h"
#include "backends/metal_host/compile/object_info.h"
#include "backends/metal_host/compile/shim_store.h"
#include "backends/metal_host/lower/lower.h"
#include "backends/object_cache.h"
#include "mt/base/hash.h"

namespace mt::metal_host {
namespace {

constexpr std::size_t kMaxText = 64u << 20;
// Part of every key: raised when what is kept of an object changes.
constexpr int kVersion = 2;

ObjectCache& cache() {
  static ObjectCache objects(ObjectCache::standard_folder("metal-host"));
  return objects;
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string all;
  for (const std::string& s : sentences) all += (all.empty() ? "" : "\n") + s;
  return all;
}

/// A name that a line marker can hold.
std::string quotable(const std::string& filename) {
  std::string name;
  for (const char c : filename) name += c == '"' || c == '\\' || c == '\n' ? '_' : c;
  return name.empty() ? "text.metal" : name;
}

class Compilation {
 public:
  Compilation(std::string_view text, const std::string& filename, const MslOptions& options)
      : text_(text), filename_(quotable(filename)), options_(options) {}

  Result<MslObject> run() {
    const auto start = std::chrono::steady_clock::now();
    if (const std::string why = msl_unavailable(); !why.empty()) return Error(why);
    if (options_.language != 310 && options_.language != 320 && options_.language != 400)
      return Error(fmt::format("metal-host: Metal {}.{} is not known; there are 3.1, 3.2 and 4.0",
                               options_.language / 100, options_.language / 10 % 10));
    if (text_.size() > kMaxText) return Error(fmt::format("{}: the text has more than {} bytes", filename_, kMaxText));
    if (text_.find('\0') != std::string_view::npos)
      return Error(fmt::format("{}: the text holds a zero byte", filename_));
    Tokens tokens = lex(text_, filename_);
    std::string source(text_);
    if (!options_.defines.empty() || !needs_no_preprocessor(tokens)) {
      auto preprocessed = preprocess();
      if (!preprocessed) return preprocessed.error();
      source = preprocessed.take();
      tokens = lex(source, filename_);
    }
    Lowered low = lower(std::move(tokens), options_.kernels, options_.language);
    check_wanted(low);
    if (!low.errors.empty()) return Error(joined(low.errors));
    // The lowered text is part of the key, so that an object never outlives what made it.
    const std::string key = key_of(source, low.text);
    if (options_.use_cache) {
      if (const auto found = cache().find(key)) {
        if (auto object = unpack(*found)) {
          object->from_cache = true;
          object->compile_ms = since(start);
          return std::move(*object);
        }
      }
    }
    auto object = compile(std::move(low));
    if (!object) return object;
    MslObject result = object.take();
    if (options_.use_cache) cache().store(key, pack(result));
    result.compile_ms = since(start);
    return result;
  }

 private:
  static double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  std::vector<std::string> arguments() const {
    auto all =
        language_arguments(options_.language, std::clamp(options_.optimise, 0, 3), options_.check, options_.steps);
    if (!options_.inline_functions) all.push_back("-fno-inline-functions");
    return all;
  }

  std::string key_of(const std::string& source, const std::string& lowered) const {
    std::string all = fmt::format("{}\n{}\n{}\n{}", kVersion, shim_hash(), clang_identity(), filename_);
    for (const std::string& a : arguments()) all += "\n" + a;
    for (const std::string& k : options_.kernels) all += "\nkernel " + k;
    all += fmt::format("\n{}\n", options_.syntax_only);
    return hash_hex(all + source + "\n" + lowered);
  }

  Result<std::string> preprocess() const {
    std::vector<std::string> all = {"-E",
                                    "-x",
                                    "c++",
                                    "-std=c++17",
                                    "-nostdinc",
                                    "-undef",
                                    "-fno-caret-diagnostics",
                                    "-ferror-limit=20",
                                    "-D__METAL__=1",
                                    "-D__METAL_MACOS__=1",
                                    "-D__HAVE_BFLOAT__=1",
                                    "-D__cpp_variable_templates=201304L",
                                    "-D__cpp_if_constexpr=201606L",
                                    fmt::format("-D__METAL_VERSION__={}", options_.language)};
    for (const std::string& d : options_.defines) all.push_back("-D" + d);
    const std::string folder = std::filesystem::path(filename_).parent_path().string();
    all.insert(all.end(), {"-iquote", folder.empty() ? "." : folder});
    for (const std::string& d : options_.include_dirs) all.insert(all.end(), {"-I", d});
    all.insert(all.end(), {"-I", shim_folder(), "-"});
    const ClangRun run = run_clang(all, fmt::format("# 1 \"{}\"\n{}", filename_, text_));
    if (run.status == 0) return run.output;
    const Diagnostics said = read_diagnostics(run.errors, shim_folder());
    if (!said.errors.empty()) return Error(joined(said.errors));
    return Error(
        fmt::format("{}: the preprocessor ended with status {}: {}", filename_, run.status, run.errors.substr(0, 500)));
  }

  void check_wanted(Lowered& low) const {
    for (const std::string& wanted : options_.kernels) {
      if (std::find(low.known.begin(), low.known.end(), wanted) != low.known.end()) continue;
      std::string names;
      for (const std::string& n : low.known) names += (names.empty() ? "" : ", ") + n;
      if (names.size() > 2000) names = names.substr(0, 2000) + "...";
      low.errors.push_back(fmt::format("{}: there is no kernel '{}'; {}", filename_, wanted,
                                       names.empty() ? "the text has none" : "its kernels are " + names));
    }
  }

  Result<MslObject> compile(Lowered low) const {
    std::vector<std::string> all = arguments();
    const std::string precompiled = precompiled_shim(all);
    if (!check_plugin().empty()) all.insert(all.end(), {"-load", check_plugin()});
    all.insert(all.end(), {"-include-pch", precompiled, "-debug-info-kind=line-tables-only", "-dwarf-version=5"});
    if (options_.syntax_only)
      all.push_back("-fsyntax-only");
    else
      all.insert(all.end(), {"-emit-obj", "-o", "-"});
    all.push_back("-");
    ClangRun run = run_clang(all, low.text);
    Diagnostics said = read_diagnostics(run.errors, shim_folder());
    if (run.status != 0 || !said.errors.empty()) {
      if (!said.errors.empty()) return Error(joined(said.errors));
      return Error(
          fmt::format("{}: clang ended with status {}: {}", filename_, run.status, run.errors.substr(0, 1000)));
    }
    MslObject object;
    object.object = std::move(run.output);
    object.kernels = std::move(low.kernels);
    object.constants = std::move(low.constants);
    low.warnings.insert(low.warnings.end(), said.warnings.begin(), said.warnings.end());
    object.warnings = joined(low.warnings);
    read_parameter_info(object);
    return object;
  }

  std::string_view text_;
  std::string filename_;
  const MslOptions& options_;
};

}  // namespace

Result<MslObject> compile_msl(std::string_view text, const std::string& filename, const MslOptions& options) {
  try {
    return Compilation(text, filename, options).run();
  } catch (const Error& e) {
    return e;
  }
}

std::string msl_unavailable() {
  if (!clang_path().empty()) return "";
  return "metal-host: clang 19 is not here; install it (Debian and Ubuntu: apt-get install clang-19) or set MT_CLANG "
         "to "
         "its path";
}

std::string msl_less_strict() {
  if (!check_plugin().empty()) return "";
  return "Metal text is checked less strictly than it could be: the check plugin was not built (apt-get install "
         "libclang-19-dev libclang-cpp19-dev and build again)";
}

std::string msl_compiler() {
  static const std::string version = [] {
    if (clang_path().empty()) return std::string();
    const std::string all = run_clang({"--version"}, "").output;
    return all.substr(0, all.find('\n'));
  }();
  return version;
}

}  // namespace mt::metal_host
