// Metal text from anywhere: compiled, bound and run as a user asks.
#include "backends/metal_host/text_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "backends/metal_host/fiber.h"
#include "backends/metal_host/guarded_memory.h"
#include "backends/metal_host/program.h"

namespace mt::metal_host {
namespace {

std::optional<DType> dtype_of(MslScalar scalar, std::size_t bytes) {
  switch (scalar) {
    case MslScalar::Bool:
      return DType::Bool;
    case MslScalar::BFloat:
      return DType::BF16;
    case MslScalar::Float:
      return bytes == 4 ? std::optional(DType::F32) : bytes == 2 ? std::optional(DType::F16) : std::nullopt;
    case MslScalar::Signed:
      return bytes == 1 ? DType::I8 : bytes == 2 ? DType::I16 : bytes == 4 ? DType::I32 : DType::I64;
    case MslScalar::Unsigned:
      return bytes == 1 ? DType::U8 : bytes == 2 ? DType::U16 : bytes == 4 ? DType::U32 : DType::U64;
    default:
      return std::nullopt;
  }
}

MslOptions msl_options(const TextOptions& o) {
  MslOptions m;
  m.language = o.language;
  m.include_dirs = o.include_dirs;
  m.defines = o.defines;
  m.kernels = o.kernels;
  return m;
}

TextKernel described(const MslKernel& k) {
  TextKernel t{k.name, {}, k.max_threads, k.line};
  for (const MslParameter& p : k.parameters) {
    if (p.kind == MslKind::Builtin) continue;
    TextParameter q;
    q.kind = p.kind == MslKind::Buffer ? TextParameter::Kind::Buffer : TextParameter::Kind::Threadgroup;
    q.index = p.index;
    q.name = p.name;
    q.type = p.type;
    q.element_bytes = p.element_bytes;
    // A vector of three takes the room of four, unless it is a packed one.
    const bool padded = p.components == 3 && p.element_bytes % 3 != 0;
    const auto parts = static_cast<std::size_t>(padded ? 4 : std::max(1, p.components));
    q.dtype = dtype_of(p.scalar, p.element_bytes / parts);
    q.read_only = p.read_only;
    q.single = !p.pointer;
    q.optional = p.function_constant >= 0;
    t.parameters.push_back(std::move(q));
  }
  return t;
}

class MslTextRunner final : public TextRunner {
 public:
  std::string unavailable() const override {
    return kHasFibers ? msl_unavailable() : "metal-host runs on x86-64 and AArch64 only";
  }
  bool emulates() const override { return true; }
  TextContents contents(std::string_view text, const std::string& filename, const TextOptions& options) const override {
    MslOptions m = msl_options(options);
    m.syntax_only = true;
    const MslObject object = compile_msl(text, filename, m).take();
    TextContents all{{}, {}, object.warnings};
    for (const MslKernel& k : object.kernels) all.kernels.push_back(described(k));
    for (const MslConstant& c : object.constants)
      all.constants.push_back({c.index, c.name, c.type,
                               dtype_of(c.scalar, c.bytes / static_cast<std::size_t>(std::max(1, c.components))),
                               c.bytes});
    return all;
  }
  TextRun run(std::string_view text, const std::string& filename, const TextOptions& options,
              const TextLaunch& wanted) const override;
};

/// `filename`: as the user wrote it, where the compiler knows the file by a longer path.
[[noreturn]] void fail(const MslProgram& program, const std::string& kernel, const std::string& filename,
                       const Fault& fault) {
  const auto text_of = [&](const Place& p) {
    return p.line > 0 ? fmt::format("{}:{}", p.file.ends_with("/" + filename) ? filename : p.file, p.line) : "";
  };
  std::string what = fault.what;
  if (const auto hole = what.find(" {other}"); hole != std::string::npos) {
    const std::string other = text_of(program.place(fault.other));
    what.replace(hole, 8, other.empty() ? "" : " at " + other);
  }
  const std::string at = text_of(program.place(fault.at));
  throw Error(fmt::format("{}{}[{}] {}", at, at.empty() ? "" : ": ", kernel, what));
}

/// Every parameter that must exist has its memory, of its own dtype: another is nearly always a slip.
void check_bindings(const TextKernel& k, const TextLaunch& wanted) {
  for (const TextParameter& p : k.parameters) {
    const bool is_buffer = p.kind == TextParameter::Kind::Buffer;
    const auto buffer = std::find_if(wanted.buffers.begin(), wanted.buffers.end(),
                                     [&](const TextBuffer& b) { return is_buffer && b.index == p.index; });
    const bool bound = is_buffer ? buffer != wanted.buffers.end()
                                 : std::any_of(wanted.threadgroup.begin(), wanted.threadgroup.end(),
                                               [&](const auto& t) { return t.first == p.index; });
    if (!bound && p.optional) continue;
    const std::string what =
        fmt::format("{} {} ({} {})", is_buffer ? "buffer" : "threadgroup memory", p.index, p.type, p.name);
    if (!bound) throw Error(fmt::format("[{}] nothing is bound to {}", k.name, what));
    if (!is_buffer) continue;
    if (p.single && buffer->bytes < p.element_bytes)
      throw Error(fmt::format("[{}] {} needs {} bytes; it has {}", k.name, what, p.element_bytes, buffer->bytes));
    if (p.dtype && buffer->dtype && *buffer->dtype != DType::U8 && *buffer->dtype != *p.dtype)
      throw Error(fmt::format("[{}] {} takes {}, not {}; give it that dtype, or the bytes as u8", k.name, what,
                              name_of(*p.dtype), name_of(*buffer->dtype)));
  }
}

TextRun MslTextRunner::run(std::string_view text, const std::string& filename, const TextOptions& options,
                           const TextLaunch& wanted) const {
  MslOptions m = msl_options(options);
  m.check = wanted.check;
  MslObject object = compile_msl(text, filename, m).take();
  TextRun result;
  result.compile_ms = object.compile_ms;
  result.warnings = object.warnings;
  ConstantValues constants;
  for (const auto& [index, bytes] : wanted.constants) constants[index] = bytes;
  const MslProgram program(std::move(object), constants);
  const MslKernel& k = program.kernel(wanted.kernel);
  result.kernel = described(k);
  check_bindings(result.kernel, wanted);
  Launch launch;
  launch.grid = wanted.grid;
  launch.threads = wanted.threads;
  launch.threadgroup = wanted.threadgroup;
  launch.check = wanted.check;
  launch.schedule = {wanted.schedule == 0   ? Schedule::Forward
                     : wanted.schedule == 1 ? Schedule::Reverse
                                            : Schedule::Random,
                     static_cast<std::uint64_t>(wanted.schedule)};
  launch.budget_seconds = wanted.budget_seconds;
  launch.workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::uint64_t threads = std::uint64_t{wanted.threads[0]} * wanted.threads[1] * wanted.threads[2];
  if (k.max_threads > 0 && threads > static_cast<std::uint64_t>(k.max_threads))
    throw Error(
        fmt::format("[{}] claims at most {} threads a threadgroup; the launch has {}", k.name, k.max_threads, threads));
  // The kernel gets copies: what it does beside them traps, and does not reach this process.
  std::vector<std::unique_ptr<GuardedMemory>> memory;
  for (const TextBuffer& b : wanted.buffers) {
    const auto p = std::find_if(k.parameters.begin(), k.parameters.end(),
                                [&](const MslParameter& q) { return q.kind == MslKind::Buffer && q.index == b.index; });
    if (p == k.parameters.end()) throw Error(fmt::format("[{}] has no buffer {}", k.name, b.index));
    // Cells of 4 bytes, or smaller where elements are: members of a struct may be of one byte.
    const std::size_t part = p->element_bytes / static_cast<std::size_t>(std::max(1, p->components));
    const int granule =
        p->scalar == MslScalar::Other || part == 0 ? 1 : static_cast<int>(std::min<std::size_t>(part, 4));
    memory.push_back(std::make_unique<GuardedMemory>(b.bytes, GuardedMemory::Align::End));
    if (b.bytes) std::memcpy(memory.back()->data(), b.data, b.bytes);
    launch.buffers.push_back(
        {b.index, memory.back()->data(), b.bytes, p->name, p->read_only, granule == 3 ? 1 : granule});
  }
  program.set_entry(k, launch);
  LaunchCounts counts;
  const auto start = std::chrono::steady_clock::now();
  const auto fault = run_launch(launch, &counts);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (fault) fail(program, k.name, filename, *fault);
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (memory[i]->bytes()) std::memcpy(wanted.buffers[i].data, memory[i]->data(), memory[i]->bytes());
  result.threads = counts.threads;
  result.barriers = counts.barriers;
  result.simd_operations = counts.simd_operations;
  result.accesses = counts.accesses;
  return result;
}

}  // namespace

const TextRunner& text_runner() {
  static const MslTextRunner runner;
  return runner;
}

}  // namespace mt::metal_host
