// Buffers as people write them on a command line.
#pragma once
#include <string>
#include <string_view>

#include "mt/base/host_tensor.h"

namespace mt {

/// One line for --help and for refusals.
inline constexpr std::string_view kBufferSpecs =
    "FILE.npy, FILE:DTYPE:SHAPE (raw bytes), zeros|ones|arange:DTYPE:SHAPE, random:DTYPE:SHAPE[:SEED] or DTYPE:VALUE; "
    "a "
    "shape is 128 or 4x128";

/// The tensor that `spec` describes; see kBufferSpecs. Random floats are normal with deviation 1, random integers lie
/// in -100 to 100 or 0 to 200. UsageError for what is no such description, Error for a file that can't be read.
HostTensor make_buffer(const std::string& spec);

/// One value of a dtype, `1.5:f32` or `f32:1.5`. UsageError for anything else, and for a value that the dtype can't
/// hold.
HostTensor make_scalar(const std::string& spec);

/// `f32 [4, 128]: 0.1 to 3, mean 1.2, 0 NaN; first 0.1, 0.2, …`.
std::string summary(const HostTensor& tensor);

}  // namespace mt
