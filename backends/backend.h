// The whole contract between the harness and a target. A backend is one folder that registers one Backend object.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mt/base/error.h"
#include "mt/base/traits.h"
#include "mt/ir/kernel.h"
#include "mt/passes/pipeline.h"

namespace mt {

/// What one launch on a device may ask for.
struct Limits {
  int max_threads = 1024;                      // of a threadgroup
  std::int64_t threadgroup_bytes = 32 * 1024;  // of threadgroup memory
  std::array<std::int64_t, 3> max_groups = {(1ll << 31) - 1, 65535, 65535};
};

struct DeviceInfo {
  std::string backend;  // "cpu", "interp", ...
  std::string name;     // the hardware
  Limits limits;
  std::map<std::string, std::string> details;  // for `tile device`: cores, instruction set, driver, ...
  std::size_t cache_bytes = 0;                 // of the last-level cache; 0 where it is the host's
};

/// Rates that hardware reaches at best, at one moment.
struct Ceiling {
  double copy = 0;          // bytes read plus bytes written, per second
  double read = 0;          // bytes per second
  double write = 0;         // bytes per second
  double flops = 0;         // f32, a fused multiply-add counts as two
  double matrix_flops = 0;  // of 16-bit operands on a matrix unit; 0: the device has none, or it is not known
  double launch = 0;        // seconds of a launch that does nothing, among others; 0 where it is not known
};

/// Memory of a device.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::size_t bytes() const = 0;
  virtual void write(const void* from, std::size_t bytes, std::size_t offset = 0) = 0;
  virtual void read(void* to, std::size_t bytes, std::size_t offset = 0) const = 0;
  /// Host address where the memory is the host's own, else null.
  virtual std::byte* host() { return nullptr; }
};

/// A part of a buffer, bound to one memory parameter.
struct BufferView {
  Buffer* buffer = nullptr;
  std::size_t offset = 0;  // bytes
  std::size_t bytes = 0;   // what the kernel may touch
};

/// Arguments in the kernel's order: device memories, then scalars (bits of their dtype, zero-extended).
struct Arguments {
  std::vector<BufferView> buffers;
  std::vector<std::uint64_t> scalars;
};
using Groups = std::array<std::int64_t, 3>;

/// A kernel compiled for one device.
class Program {
 public:
  virtual ~Program() = default;
  /// Limit of this compiled kernel (registers may lower it below the device's).
  virtual int max_threads() const { return 1024; }
  /// Bytes that the start of the view bound to device memory `n` must be a multiple of, above the size of its elements:
  /// what the compiled accesses rely on.
  virtual std::size_t start_alignment(std::size_t n) const {
    (void)n;
    return 1;
  }
  bool from_cache = false;
  double compile_ms = 0;
  std::map<std::string, std::string> details;  // registers, spills, object bytes, instruction set, ...
};

/// Launches that a device has kept, to run them again without the host's part in it.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Runs all of them in order and waits; seconds by the device's own clock. Throws Error.
  virtual double run() = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// Zero-filled memory aligned to at least 256 bytes. Throws Error when there is none left.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;
  /// Compiles a kernel that `optimise` has run over with this backend's options. Throws Error.
  virtual std::shared_ptr<Program> compile(const Kernel& kernel) = 0;
  /// Enqueues one launch; geometry and sizes have been checked. Throws Error on what only the device can find.
  virtual void launch(Program& program, const Arguments& arguments, const Groups& groups) = 0;
  /// Waits for what was enqueued. Throws Error for a launch that failed.
  virtual void wait() {}
  /// Keeps the launches that `enqueue` makes instead of running them; null where the device can't, and then nothing was
  /// called. Buffers and programs of the launches must outlive the recording.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& enqueue) {
    (void)enqueue;
    return nullptr;
  }
  /// Measures the device; nothing where its memory is the host's, whose rates the harness measures itself.
  virtual std::optional<Ceiling> measure_ceiling() { return std::nullopt; }
  /// Sets a switch that only some devices have ("nan_birth", "max_steps" of interp); false where this one has no such
  /// switch or the value is out of its range. It holds for the launches that follow.
  virtual bool set_option(std::string_view, std::int64_t) { return false; }
};

class TextRunner;  // backends/text_runner.h

/// What `tile build` writes for one kernel.
struct Artefact {
  std::string extension;  // "metal", "cu", "ll"
  std::string text;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;         // as in --device and --target
  virtual std::string_view description() const = 0;  // one line
  virtual PipelineOptions pipeline() const = 0;
  /// What kernels may know of it when they choose counts and geometry.
  virtual TargetTraits traits() const { return {}; }
  /// Text of the optimised kernel in the target's language, where the target has one.
  virtual std::optional<Artefact> artefact(const Kernel&) const { return std::nullopt; }
  /// What becomes of the tiles of an optimised kernel that the pipeline left as they are, a sentence each.
  virtual std::vector<std::string> tile_notes(const Kernel&) const { return {}; }
  /// One text for the stages of a program, with what they share written once.
  virtual std::optional<Artefact> program(const std::vector<Kernel>& stages) const;
  /// What several texts are linked into for shipping: the file's extension, which also names it as a target of
  /// `tile build`; empty where there is no such form.
  virtual std::string_view library_name() const { return ""; }
  /// The bytes of that library, from texts by the names of their files. `progress` hears what is worked on and may
  /// throw. Throws Error, also where the tools that make it are missing.
  virtual std::string library(const std::vector<std::pair<std::string, std::string>>& texts,
                              const std::function<void(const std::string&)>& progress) const;
  /// Checks of the generated text by a compiler that is present (nvcc, NVRTC): empty when good, else the sentence;
  /// nothing where there is no such compiler. `facts` receives what it says: compiler, and by kernel (as `name.fact`)
  /// registers, spill_bytes, shared_bytes.
  virtual std::optional<std::string> check_artefact(const Artefact&,
                                                    std::map<std::string, std::string>* facts = nullptr) const {
    (void)facts;
    return std::nullopt;
  }
  /// The device, or why there is none here.
  virtual Result<std::unique_ptr<Device>> open(int index = 0) const = 0;
  /// A sentence that says why it can't run here; empty where it can.
  virtual std::string unavailable() const { return ""; }
  /// Runs text that was not printed here, where the backend can; it lives as long as the backend.
  virtual const TextRunner* text_runner() const { return nullptr; }
  /// Devices that tests use at a time where nobody says: 1 where a launch fills the machine, more where compiling takes
  /// most of the time.
  virtual int test_jobs() const { return 1; }
  /// Preference as the default device; higher wins; 0 never.
  virtual int rank() const { return 0; }
};

/// All backends in this build, by name.
const std::vector<const Backend*>& backends();
const Backend* find_backend(std::string_view name);
/// Called from a static object in the backend's folder.
bool register_backend(const Backend& backend);

}  // namespace mt
