// The one function of the plugin that holds LLVM, seen from both sides.
#pragma once
#include <cstddef>

extern "C" {
/// Compiles LLVM IR text to a relocatable object for this machine. Returns 0 and memory for `free` in *object, or
/// non-zero and a sentence for `free` in *error. Safe from several threads.
using MtLlvmCompile = int (*)(const char* text, std::size_t length, char** object, std::size_t* object_bytes,
                              char** error);
}
inline constexpr const char* kMtLlvmCompile = "mt_llvm_compile";
