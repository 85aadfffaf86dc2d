// From Metal Shading Language to a relocatable object of this machine, through clang 19.
//
// The text is preprocessed, lowered to C++ for OpenCL (lower/) and compiled with the headers in shim/. Every kernel
// gets a function `msl_entry_<name>`; what it calls is declared in abi.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mt/base/error.h"

namespace mt::metal_host {

struct MslOptions {
  int language = 310;                     // __METAL_VERSION__: 310, 320 or 400
  bool check = false;                     // loads and stores call __tsan_read4(address) and its kin
  bool steps = false;                     // every branch target calls __sanitizer_cov_trace_pc()
  bool syntax_only = false;               // the object stays empty
  int optimise = 1;                       // -O0 to -O3
  bool inline_functions = true;           // the text's own; those of the language always are
  std::vector<std::string> kernels;       // host names to make entries for; empty: all
  std::vector<std::string> include_dirs;  // for #include
  std::vector<std::string> defines;       // NAME or NAME=VALUE
  bool use_cache = true;
};

enum class MslKind { Buffer, Threadgroup, Builtin };
enum class MslSpace { None, Device, Constant, Threadgroup };
enum class MslScalar { Other, Bool, Signed, Unsigned, Float, BFloat };

struct MslParameter {
  MslKind kind = MslKind::Buffer;
  int index = 0;          // of the buffer or of the threadgroup memory
  std::string attribute;  // of a builtin: thread_position_in_grid, ...
  MslSpace space = MslSpace::None;
  bool read_only = false;  // constant, or a pointer to const
  bool pointer = false;    // else a reference: exactly one element
  std::size_t element_bytes = 0, element_align = 1;
  MslScalar scalar = MslScalar::Other;  // of the element, or of its components; Other: a struct
  int components = 1;                   // of a vector element
  std::string name, type;               // as written
  int function_constant = -1;           // the parameter exists only where this boolean constant is true
  int line = 0;
};

struct MslKernel {
  std::string name;   // host name: what a pipeline is made from
  std::string entry;  // symbol of the object
  std::vector<MslParameter> parameters;
  int max_threads = 0;  // max_total_threads_per_threadgroup; 0: not said
  int line = 0;
};

struct MslConstant {
  int index = 0;
  std::string name, type;  // as written
  MslScalar scalar = MslScalar::Other;
  int components = 1;
  std::size_t bytes = 0;
  // Undefined symbols of the object that read it: the value, and a bool that says whether it was given.
  std::string symbol, defined_symbol;
};

struct MslObject {
  std::string object;  // ELF64, relocatable; load with backends/elf_loader.h
  std::vector<MslKernel> kernels;
  std::vector<MslConstant> constants;
  std::string warnings;  // file:line: sentences, one a line
  double compile_ms = 0;
  bool from_cache = false;
};

/// Compiles `text`; `filename` stands in messages and is where relative #includes start. Errors are sentences
/// `file.metal:line: ...`, one a line, of everything that was found.
Result<MslObject> compile_msl(std::string_view text, const std::string& filename, const MslOptions& options = {});

/// Why nothing can be compiled here, with what to install; empty where it can.
std::string msl_unavailable();
/// What is checked less strictly than it could be (the check plugin was not built or is not found); empty: nothing.
std::string msl_less_strict();
/// Version line of the clang in use, for `tile device`.
std::string msl_compiler();

}  // namespace mt::metal_host
