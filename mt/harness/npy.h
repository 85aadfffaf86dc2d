// NumPy's .npy files: one array each. The format is the one that numpy.lib.format documents, versions 1 to 3.
#pragma once
#include <string>
#include <string_view>

#include "mt/base/host_tensor.h"

namespace mt {

/// The array in a file's bytes, in row-major order. bf16 is read from arrays of two bytes without a type (V2), which is
/// how NumPy stores it. Throws Error, which begins with `name`, for what is no such file, is damaged, or holds elements
/// of another kind.
HostTensor parse_npy(std::string_view bytes, const std::string& name);

/// The bytes of a file that holds the tensor.
std::string npy_bytes(const HostTensor& tensor);

}  // namespace mt
