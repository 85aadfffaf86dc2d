// The library of the Metal Shading Language for clang's "C++ for OpenCL 2021". Precompiled once for each setting; what
// lies in it is never lowered, so it spells address spaces as OpenCL does.
#ifndef MSL_SHIM_H
#define MSL_SHIM_H
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable
// Functions of the library have no lines of their own: what they do counts as done where they are called.
#define MSL_FN inline __attribute__((always_inline, nodebug))
// Each header needs those before it.
// clang-format off
#include <msl_macros.h>
#include <abi.h>
#include <msl_traits.h>
#include <msl_vec.h>
#include <msl_packed.h>
#include <msl_math.h>
#include <msl_integer.h>
#include <msl_matrix.h>
#include <msl_simd.h>
#include <msl_simdgroup_matrix.h>
#include <msl_atomic.h>
#include <msl_global.h>
#include <msl_internals.h>
#include <msl_entry.h>
// clang-format on
#endif
