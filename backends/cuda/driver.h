// The CUDA driver, loaded at run time: the entry points that this backend calls, and nothing of the toolkit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "mt/base/error.h"

namespace mt::cuda {

using Status = int;  // CUresult; 0 is success
using Handle = void*;
using Address = std::uint64_t;  // CUdeviceptr

// Numbers of the driver's stable interface that have a name here because code asks for them.
enum Attribute : int {
  kMaxThreads = 1,
  kMaxGroupsX = 5,
  kMaxGroupsY = 6,
  kMaxGroupsZ = 7,
  kClockKhz = 13,
  kProcessors = 16,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kMajor = 75,
  kMinor = 76,
  kMaxSharedBytes = 97,  // of a block that opts in
};
enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionDynamicSharedBytes = 8,
};
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNoDevice = 100;
inline constexpr unsigned kNonBlockingStream = 1;
inline constexpr int kCaptureThreadLocal = 1;

// name, symbol, parameters
#define MT_CUDA_DRIVER(X)                                                                    \
  X(init, "cuInit", (unsigned))                                                              \
  X(driver_version, "cuDriverGetVersion", (int*))                                            \
  X(error_name, "cuGetErrorName", (Status, const char**))                                    \
  X(error_string, "cuGetErrorString", (Status, const char**))                                \
  X(device_count, "cuDeviceGetCount", (int*))                                                \
  X(device_get, "cuDeviceGet", (int*, int))                                                  \
  X(device_name, "cuDeviceGetName", (char*, int, int))                                       \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, int))                               \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, int))                              \
  X(context_create, "cuCtxCreate_v2", (Handle*, unsigned, int))                              \
  X(context_destroy, "cuCtxDestroy_v2", (Handle))                                            \
  X(context_use, "cuCtxSetCurrent", (Handle))                                                \
  X(memory_info, "cuMemGetInfo_v2", (std::size_t*, std::size_t*))                            \
  X(memory_allocate, "cuMemAlloc_v2", (Address*, std::size_t))                               \
  X(memory_free, "cuMemFree_v2", (Address))                                                  \
  X(memory_set, "cuMemsetD8Async", (Address, unsigned char, std::size_t, Handle))            \
  X(copy_in, "cuMemcpyHtoDAsync_v2", (Address, const void*, std::size_t, Handle))            \
  X(copy_out, "cuMemcpyDtoHAsync_v2", (void*, Address, std::size_t, Handle))                 \
  X(stream_create, "cuStreamCreate", (Handle*, unsigned))                                    \
  X(stream_wait, "cuStreamSynchronize", (Handle))                                            \
  X(capture_begin, "cuStreamBeginCapture_v2", (Handle, int))                                 \
  X(capture_end, "cuStreamEndCapture", (Handle, Handle*))                                    \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", (Handle*, Handle, unsigned long long)) \
  X(graph_launch, "cuGraphLaunch", (Handle, Handle))                                         \
  X(graph_exec_destroy, "cuGraphExecDestroy", (Handle))                                      \
  X(graph_destroy, "cuGraphDestroy", (Handle))                                               \
  X(event_create, "cuEventCreate", (Handle*, unsigned))                                      \
  X(event_record, "cuEventRecord", (Handle, Handle))                                         \
  X(event_elapsed, "cuEventElapsedTime", (float*, Handle, Handle))                           \
  X(event_destroy, "cuEventDestroy_v2", (Handle))                                            \
  X(module_load, "cuModuleLoadData", (Handle*, const void*))                                 \
  X(module_unload, "cuModuleUnload", (Handle))                                               \
  X(module_function, "cuModuleGetFunction", (Handle*, Handle, const char*))                  \
  X(function_attribute, "cuFuncGetAttribute", (int*, int, Handle))                           \
  X(function_set_attribute, "cuFuncSetAttribute", (Handle, int, int))                        \
  X(launch, "cuLaunchKernel",                                                                \
    (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**))

struct Driver {
#define X(name, symbol, parameters) Status(*name) parameters = nullptr;
  MT_CUDA_DRIVER(X)
#undef X
  int version = 0;  // 13000 for CUDA 13.0
  int devices = 0;

  /// `an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)`.
  std::string text(Status status) const;
};

/// The driver of this machine with at least one device, or a sentence about what is missing. Loaded once.
const Result<const Driver*>& driver();

/// A driver from that library; for `driver()` and for tests of what it says when there is none.
Result<Driver> load_driver(const char* library);

/// `CUDA 13.0`.
std::string version_text(int version);

}  // namespace mt::cuda
