// clang 19 as a program.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mt::metal_host {

struct ClangRun {
  int status = 0;      // exit code; 128 + signal where one ended it
  std::string output;  // standard output
  std::string errors;  // standard error
};

/// Path of clang 19: $MT_CLANG, else clang-19 on $PATH or where LLVM's packages put it; empty where there is none.
const std::string& clang_path();
/// What tells one clang from another: path, size and time of the file.
const std::string& clang_identity();
/// Runs it with `arguments`, `input` on its standard input. Throws Error where it cannot be started.
ClangRun run_clang(const std::vector<std::string>& arguments, std::string_view input);
/// The plugin with further checks: $MT_MSL_CHECK, else libmt_msl_check.so beside this program; empty where it is not
/// there.
const std::string& check_plugin();
/// What follows "-cc1" for every compilation: target, language, warnings.
std::vector<std::string> language_arguments(int language, int optimise, bool check, bool steps);

}  // namespace mt::metal_host
