// Kernels whose printed text is kept in tests/golden.
#pragma once
#include "backends/clike/control_kernels.h"

namespace mt::clike::testing {

inline const TextKernel kGoldenKernels[] = {
    {"scale_rows", R"(kernel @scale_rows threads 128 {
  device in %x: bf16 [rows, n]
  device in %w: f32 [n]
  device out %y: bf16 [rows, n]
  scalar %n: u32 multiple 4
  scalar %eps: f32
  threadgroup %partial: f32 [4]

  %row: u32 = group_id 0
  %t: u32 = thread_id
  %simd: u32 = simd_id
  %lane: u32 = lane_id
  %n: u32 = param %n
  %eps: f32 = param %eps
  %zero: u32 = const 0
  %four: u32 = const 4
  %stride: u32 = const 512
  %f0: f32x4 = const 0.0
  %0: u64 = cast %row
  %1: u64 = cast %n
  %base: u64 = mul %0, %1
  %first: u32 = mul %t, %four
  %sums: f32x4 = for %i: u32 = %first to %n step %stride with (%sum: f32x4 = %f0) {
    %2: u64 = cast %i
    %3: u64 = add %base, %2
    %4: bf16x4 = load %x[%3] align 4
    %5: f32x4 = cast %4
    %6: f32x4 = fma %5, %5, %sum
    yield %6
  }
  %7: f32 = vector_reduce sum %sums
  %8: f32 = simd_reduce sum %7
  %9: bool = eq %lane, %zero
  if %9 {
    store %partial[%simd], %8
  }
  barrier
  %10: f32x4 = load %partial[%zero] align 4
  %11: f32 = vector_reduce sum %10
  %12: f32 = cast %n
  %13: f32 = div %11, %12
  %14: f32 = add %13, %eps
  %scale: f32 = rsqrt %14
  %15: f32x4 = splat %scale
  for %j: u32 = %first to %n step %stride {
    %16: u64 = cast %j
    %17: u64 = add %base, %16
    %18: bf16x4 = load %x[%17] align 4
    %19: f32x4 = cast %18
    %20: f32x4 = load %w[%j] align 4
    %21: f32x4 = mul %19, %15
    %22: f32x4 = mul %21, %20
    %23: bf16x4 = cast %22
    store %y[%17], %23 align 4
  }
}
)"},
    {"histogram", R"(kernel @histogram threads 64 {
  device in %keys: u8 [n]
  device inout %counts: u32 [256]
  device inout %largest: f32 [1]
  device out %before: i64 [n]
  scalar %n: u32

  %group: u32 = group_id 0
  %t: u32 = thread_id
  %n: u32 = param %n
  %threads: u32 = const 64
  %zero: u32 = const 0
  %one: u32 = const 1
  %0: u32 = mul %group, %threads
  %i: u32 = add %0, %t
  %1: bool = lt %i, %n
  %key: u32 = if %1 {
    %2: u8 = load %keys[%i]
    %3: u32 = cast %2
    %4: u32 = atomic sum %counts[%3], %one
    yield %3
  } else {
    yield %zero
  }
  %5: i64 = cast %key
  %6: i64 = simd_scan sum exclusive %5
  %7: f32 = cast %key
  %8: f32 = simd_reduce max %7
  %9: f32 = atomic max %largest[%zero], %8
  if %1 {
    %seven: i64 = const -7
    %10: i64 = mul %6, %seven
    %11: i64 = div %10, %5
    store %before[%i], %11
  }
}
)"},
    {"activate", R"(kernel @activate threads 256 {
  device in %x: f16 [n]
  device out %y: f16 [n]
  scalar %n: u32

  %group: u32 = group_id 0
  %t: u32 = thread_id
  %n: u32 = param %n
  %threads: u32 = const 256
  %eight: u32 = const 8
  %half: f32x8 = const 0.5
  %one: f32x8 = const 1.0
  %root: f32x8 = const 0.70710677
  %low: f32x8 = const -inf
  %0: u32 = mul %group, %threads
  %1: u32 = add %0, %t
  %i: u32 = mul %1, %eight
  %2: bool = lt %i, %n
  if %2 {
    %3: f16x8 = load %x[%i] align 8
    %v: f32x8 = cast %3
    %4: f32x8 = mul %v, %root
    %5: f32x8 = erf %4
    %6: f32x8 = add %5, %one
    %7: f32x8 = mul %v, %half
    %8: f32x8 = mul %7, %6
    %9: f32x8 = max %8, %low
    %10: f16x8 = cast %9
    store %y[%i], %10 align 8
  }
}
)"},
};

}  // namespace mt::clike::testing
