// What is said where the device was not built: everywhere but on a Mac with metal-cpp.
#include "backends/metal/device/gpu.h"

namespace mt::metal {

std::string why_no_gpu() {
#ifdef __APPLE__
  return "metal: the device was not built, for lack of metal-cpp; configure with -DMT_METAL_CPP=DIR, the folder that "
         "holds Metal/Metal.hpp (tools/setup.sh --dev fetches it into build/metal-cpp)";
#else
  return "metal: the device is there on macOS only; `tile build --target metal` writes the text, and --device "
         "metal-host compiles and runs it here";
#endif
}

Result<std::unique_ptr<Gpu>> open_gpu(int) { return Error(why_no_gpu()); }

}  // namespace mt::metal
