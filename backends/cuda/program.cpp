#include "backends/cuda/program.h"

#include <fmt/format.h>

#include <chrono>

#include "backends/clike/alignment.h"
#include "backends/cuda/compiler.h"
#include "backends/cuda/dialect.h"

namespace mt::cuda {
namespace {

constexpr std::size_t kWidestAccess = 16;  // bytes

std::string geometry(const std::string& kernel, const Groups& groups, unsigned threads) {
  return fmt::format("[{}] on {}x{}x{} blocks of {} threads", kernel, groups[0], groups[1], groups[2], threads);
}

}  // namespace

ObjectCache& cubin_cache() {
  static ObjectCache cache(ObjectCache::standard_folder("cuda"));
  return cache;
}

Machine machine_code(const std::string& text, const std::string& kernel, const std::string& arch, ObjectCache& cache,
                     bool fresh) {
  const std::string compiler = compiler_identity();
  const std::string key = cubin_key(text, arch, compiler);
  if (!fresh)
    if (auto found = cache.find(key)) return {std::move(*found), true};
  const std::optional<Compiled> made = compile(text, arch);
  if (!made)
    throw Error(
        fmt::format("cuda: kernel {} is not in the cache and there is no compiler for it; install NVRTC or nvcc "
                    "of the CUDA toolkit, or name the library in MT_NVRTC",
                    kernel));
  if (!made->error.empty()) throw Error(fmt::format("cuda: [{}] {}: {}", kernel, made->compiler, made->error));
  if (made->cubin.empty()) throw Error(fmt::format("cuda: [{}] {} gave no machine code", kernel, made->compiler));
  cache.store(key, made->cubin);
  return {made->cubin, false};
}

CudaProgram::CudaProgram(const Kernel& kernel, const std::string& arch, const std::shared_ptr<Context>& context)
    : name_(kernel.name),
      threads_(static_cast<unsigned>(kernel.threads)),
      dynamic_bytes_(static_cast<unsigned>(dynamic_shared_bytes(kernel))),
      alignment_(clike::view_alignments(kernel, kWidestAccess)) {
  const auto start = std::chrono::steady_clock::now();
  for (const Memory& m : kernel.memories)
    if (m.space == Space::Device) memories_.push_back(m.name);
  const std::string text = clike::print_text({kernel}, CudaDialect{});
  Machine made = machine_code(text, name_, arch, cubin_cache());
  from_cache = made.from_cache;
  cubin_ = std::move(made.cubin);
  Status status = load(*context);
  if (status != 0 && from_cache && !context->ended()) {
    cubin_ = machine_code(text, name_, arch, cubin_cache(), true).cubin;
    from_cache = false;
    status = load(*context);
  }
  context->check(status, fmt::format("[{}] loading its code for {}", name_, arch));
  loaded_in_ = context;
  const auto ask = [&](int attribute) {
    int value = 0;
    context->use().function_attribute(&value, attribute, function_);
    return value;
  };
  max_threads_ = ask(kFunctionMaxThreads);
  details["registers"] = std::to_string(ask(kFunctionRegisters));
  details["local_bytes"] = std::to_string(ask(kFunctionLocalBytes));
  details["shared_bytes"] = std::to_string(ask(kFunctionSharedBytes) + static_cast<int>(dynamic_bytes_));
  details["cubin_bytes"] = std::to_string(cubin_.size());
  details["arch"] = arch;
  compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

CudaProgram::~CudaProgram() {
  const auto context = loaded_in_.lock();
  if (context && module_ && !context->ended()) context->use().module_unload(module_);
}

Status CudaProgram::load(Context& context) {
  const Driver& d = context.use();
  if (const Status s = d.module_load(&module_, cubin_.data())) return s;
  if (const Status s = d.module_function(&function_, module_, name_.c_str())) return s;
  if (dynamic_bytes_ == 0) return 0;
  return d.function_set_attribute(function_, kFunctionDynamicSharedBytes, static_cast<int>(dynamic_bytes_));
}

void CudaProgram::launch(const std::shared_ptr<Context>& context, std::vector<void*>& arguments, const Groups& groups) {
  if (loaded_in_.lock() != context) {
    context->check(load(*context), fmt::format("[{}] loading its code again", name_));
    loaded_in_ = context;
  }
  const std::string what = geometry(name_, groups, threads_);
  const auto count = [&](int axis) { return static_cast<unsigned>(groups[static_cast<std::size_t>(axis)]); };
  context->check(context->use().launch(function_, count(0), count(1), count(2), threads_, 1, 1, dynamic_bytes_,
                                       context->stream(), arguments.data(), nullptr),
                 "launching " + what);
  context->launched(what);
}

}  // namespace mt::cuda
