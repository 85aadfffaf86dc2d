// Running kernel text that this library did not write: what a backend that can compile text offers to tools.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mt/base/dtype.h"
#include "mt/base/error.h"

namespace mt {

struct TextOptions {
  int language = 310;                     // 310: Metal 3.1, 320: 3.2, 400: 4.0
  std::vector<std::string> include_dirs;  // for #include
  std::vector<std::string> defines;       // NAME or NAME=VALUE
  std::vector<std::string> kernels;       // that are wanted; empty: all
};

/// A parameter of a kernel that a launch provides.
struct TextParameter {
  enum class Kind : std::uint8_t { Buffer, Threadgroup } kind = Kind::Buffer;
  int index = 0;
  std::string name, type;  // as written
  std::size_t element_bytes = 0;
  std::optional<DType> dtype;  // of the element or of its components, where it is a number
  bool read_only = false;
  bool single = false;    // a reference: exactly one element
  bool optional = false;  // a function constant decides whether it exists
};
struct TextKernel {
  std::string name;
  std::vector<TextParameter> parameters;
  int max_threads = 0;  // that it claims; 0: it claims none
  int line = 0;
};
struct TextConstant {
  int index = 0;
  std::string name, type;
  std::optional<DType> dtype;
  std::size_t bytes = 0;
};
struct TextContents {
  std::vector<TextKernel> kernels;
  std::vector<TextConstant> constants;
  std::string warnings;  // sentences, one a line
};

struct TextBuffer {
  int index = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::optional<DType> dtype;  // refused where the kernel takes another; none or u8: whatever the kernel takes
};
struct TextLaunch {
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1};     // threads of the whole launch
  std::array<std::uint32_t, 3> threads{1, 1, 1};  // of a threadgroup; those at the edge of the grid are smaller
  std::vector<TextBuffer> buffers;
  std::vector<std::pair<int, std::size_t>> threadgroup;  // index and bytes
  std::vector<std::pair<int, std::vector<std::byte>>> constants;
  bool check = false;          // every access is checked
  std::int64_t schedule = 0;   // 0 forward, 1 reverse, 2 and more: random with that seed
  double budget_seconds = 20;  // processor time that one threadgroup may take
};
/// `seconds`: of the launch alone, by the device's own clock where it has one.
struct TextRun {
  TextKernel kernel;
  double compile_ms = 0, seconds = 0;
  std::uint64_t threads = 0, barriers = 0, simd_operations = 0, accesses = 0;
  std::string warnings;
};

class TextRunner {
 public:
  virtual ~TextRunner() = default;
  /// Type-checks without running anything; sizes and dtypes of parameters may be left open. Throws Error with the
  /// compiler's sentences, `file:line: ...`, one a line.
  virtual TextContents contents(std::string_view text, const std::string& filename,
                                const TextOptions& options) const = 0;
  /// Compiles and runs one kernel. Throws Error for what does not compile, a kernel or constant that is not there, a
  /// buffer that is missing or holds another dtype, and for what the kernel does wrong.
  virtual TextRun run(std::string_view text, const std::string& filename, const TextOptions& options,
                      const TextLaunch& launch) const = 0;
  /// Whether the host's cores stand in for a GPU, so that times say nothing about one.
  virtual bool emulates() const { return false; }
  /// Why text can't be compiled here; empty where it can.
  virtual std::string unavailable() const = 0;
};

}  // namespace mt
