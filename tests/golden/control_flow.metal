#include <metal_stdlib>
using namespace metal;

// A product is fused into a sum only where the text says fma.
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

namespace mt {
static inline int div(int x, int y) { return y == 0 ? 0 : y == -1 ? int(0u - uint(x)) : x / y; }
static inline uint div(uint x, uint y) { return y == 0u ? 0u : x / y; }
static inline int rem(int x, int y) { return y == 0 || y == -1 ? 0 : x % y; }
static inline uint rem(uint x, uint y) { return y == 0u ? 0u : x % y; }
static inline uint shl(uint x, uint y) { return y < 32u ? x << y : 0u; }
static inline uint shr(uint x, uint y) { return y < 32u ? x >> y : 0u; }
}  // namespace mt

// swap_in_loop: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void swap_in_loop(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  uint a = xi;
  uint b = 1u;
  for (uint t = 0u; t < n; ++t) {
    uint a_next = b;
    b = a + b;
    a = a_next;
  }
  y[thread_index] = a;
}

// rotate_three: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void rotate_three(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  uint a = xi;
  uint b = 1u;
  uint c = thread_index;
  for (uint t = 0u; t < n; ++t) {
    uint a_next = b;
    b = c;
    c = a;
    a = a_next;
  }
  y[thread_index] = a * b - c;
}

// waits_across_an_if: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void waits_across_an_if(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  bool c = thread_index < n;
  uint v0 = xi + 1u;
  if (c) {
    xi = thread_index;
  } else {
    y[thread_index] = n * n;
  }
  y[thread_index] = v0 * xi;
}

// load_before_store: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void load_before_store(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  uint old = y[thread_index];
  y[thread_index] = xi + n;
  y[thread_index] = y[thread_index] * old;
}

// nested_accumulators: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void nested_accumulators(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  uint sum = xi;
  for (uint p = 0u; p < n; ++p) {
    uint inner = sum;
    for (uint q = 0u; q < p; ++q) {
      inner = (inner ^ q) + 1u;
    }
    if (inner == p) {
      inner = inner * n;
    }
    sum = inner;
  }
  y[thread_index] = sum;
}

// count_steps: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void count_steps(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  uint v = xi;
  uint steps = 0u;
  while (v != 0u) {
    v = v >> 1u;
    steps = steps + 1u;
  }
  y[thread_index] = steps;
}

// passes_other_values_on: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void passes_other_values_on(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  uint v = n;
  uint w;
  while (true) {
    w = v * xi;
    if (!(v > 0u)) break;
    y[thread_index] = w;
    v = v - 1u;
  }
  y[thread_index] = w + y[thread_index] - v;
}

// constants_at_the_edge: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void constants_at_the_edge(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  int v0 = int(xi);
  uint v1 = uint(mt::div(v0, -1)) - 0x80000000u;
  uint v2 = mt::shl(xi, 32u) + mt::shr(xi, 32u) + (xi >> 31u) + (mt::div(xi, 0u) + mt::rem(xi, 0u)) - uint(int(v1 + uint(mt::rem(v0, -1))));
  y[thread_index] = v2;
}

// words_of_the_language: 32 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(32)]]
void words_of_the_language(
    device const uint* x [[buffer(0)]],  // [32]
    device uint* y [[buffer(1)]],  // [32]
    constant uint& n [[buffer(2)]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  uint xi = x[thread_index];
  uint kernel_1 = xi + n;
  uint float_1 = kernel_1 * kernel_1;
  uint lane_1 = float_1 ^ kernel_1;
  uint y_1 = lane_1 | float_1;
  y[thread_index] = y_1;
}
