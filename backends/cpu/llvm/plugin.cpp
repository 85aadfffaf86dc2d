// LLVM behind its C API: parse, verify, a short list of passes, an object file.
#include "backends/cpu/llvm/plugin.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

// The emitter writes loops and vectors as they shall be: clean-up is all that is left to do. Unrolling and
// vectorisation would only cost compile time.
constexpr const char* kPasses =
    "cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,"
    "licm),gvn,instcombine<no-verify-fixpoint>,dse,"
    "simplifycfg)";

struct Disposer {
  void operator()(LLVMContextRef c) const { LLVMContextDispose(c); }
  void operator()(LLVMModuleRef m) const { LLVMDisposeModule(m); }
  void operator()(LLVMTargetMachineRef t) const { LLVMDisposeTargetMachine(t); }
  void operator()(LLVMMemoryBufferRef b) const { LLVMDisposeMemoryBuffer(b); }
  void operator()(LLVMPassBuilderOptionsRef o) const { LLVMDisposePassBuilderOptions(o); }
  void operator()(char* message) const { LLVMDisposeMessage(message); }
};
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Disposer>;

int fail(char** error, const char* what, const char* detail) {
  const std::string text = std::string(what) + ": " + (detail ? detail : "no detail");
  *error = strdup(text.c_str());
  return 1;
}

void keep_quiet(LLVMDiagnosticInfoRef, void*) {}

int compile(const char* text, std::size_t length, char** object, std::size_t* object_bytes, char** error) {
  const Owned<char*> triple(LLVMGetDefaultTargetTriple()), cpu(LLVMGetHostCPUName()),
      features(LLVMGetHostCPUFeatures());
  LLVMTargetRef target = nullptr;
  char* raw = nullptr;
  if (LLVMGetTargetFromTriple(triple.get(), &target, &raw)) {
    const Owned<char*> message(raw);
    return fail(error, "no LLVM target for this machine", raw);
  }
  const Owned<LLVMTargetMachineRef> machine(LLVMCreateTargetMachine(
      target, triple.get(), cpu.get(), features.get(), LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall));
  const Owned<LLVMContextRef> context(LLVMContextCreate());
  LLVMContextSetDiagnosticHandler(context.get(), keep_quiet, nullptr);
  LLVMModuleRef raw_module = nullptr;
  const LLVMMemoryBufferRef source = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, length, "mt");
  if (LLVMParseIRInContext(context.get(), source, &raw_module, &raw)) {
    const Owned<char*> message(raw);
    return fail(error, "LLVM does not read the text", raw);
  }
  const Owned<LLVMModuleRef> module(raw_module);
  LLVMSetTarget(module.get(), triple.get());
  const LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine.get());
  LLVMSetModuleDataLayout(module.get(), layout);
  LLVMDisposeTargetData(layout);
  if (LLVMVerifyModule(module.get(), LLVMReturnStatusAction, &raw)) {
    const Owned<char*> message(raw);
    return fail(error, "LLVM refuses the text", raw);
  }
  LLVMDisposeMessage(raw);
  raw = nullptr;
  const Owned<LLVMPassBuilderOptionsRef> options(LLVMCreatePassBuilderOptions());
  if (const LLVMErrorRef failed = LLVMRunPasses(module.get(), kPasses, machine.get(), options.get())) {
    char* message = LLVMGetErrorMessage(failed);
    fail(error, "LLVM passes fail", message);
    LLVMDisposeErrorMessage(message);
    return 1;
  }
  LLVMMemoryBufferRef raw_object = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine.get(), module.get(), LLVMObjectFile, &raw, &raw_object)) {
    const Owned<char*> message(raw);
    return fail(error, "LLVM code generation fails", raw);
  }
  const Owned<LLVMMemoryBufferRef> buffer(raw_object);
  *object_bytes = LLVMGetBufferSize(buffer.get());
  *object = static_cast<char*>(std::malloc(*object_bytes));
  if (!*object) return fail(error, "out of memory", "object buffer");
  std::memcpy(*object, LLVMGetBufferStart(buffer.get()), *object_bytes);
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int mt_llvm_compile(const char* text, std::size_t length,
                                                                      char** object, std::size_t* object_bytes,
                                                                      char** error) {
  static const bool ready = [] { return LLVMInitializeNativeTarget() == 0 && LLVMInitializeNativeAsmPrinter() == 0; }();
  if (!ready) return fail(error, "LLVM has no code generator for this machine", "initialisation failed");
  return compile(text, length, object, object_bytes, error);
}
