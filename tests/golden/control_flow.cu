// Compile with -fmad=false: a product is fused into a sum only where the text says fmaf.

typedef unsigned int uint;

namespace mt {
static __device__ __forceinline__ int div(int x, int y) { return y == 0 ? 0 : y == -1 ? int(0u - uint(x)) : x / y; }
static __device__ __forceinline__ uint div(uint x, uint y) { return y == 0u ? 0u : x / y; }
static __device__ __forceinline__ int rem(int x, int y) { return y == 0 || y == -1 ? 0 : x % y; }
static __device__ __forceinline__ uint rem(uint x, uint y) { return y == 0u ? 0u : x % y; }
static __device__ __forceinline__ uint shl(uint x, uint y) { return y < 32u ? x << y : 0u; }
static __device__ __forceinline__ uint shr(uint x, uint y) { return y < 32u ? x >> y : 0u; }
}  // namespace mt

// swap_in_loop: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) swap_in_loop(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
  uint a = xi;
  uint b = 1u;
  for (uint t = 0u; t < n; ++t) {
    uint a_next = b;
    b = a + b;
    a = a_next;
  }
  y[threadIdx.x] = a;
}

// rotate_three: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) rotate_three(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
  uint a = xi;
  uint b = 1u;
  uint c = threadIdx.x;
  for (uint t = 0u; t < n; ++t) {
    uint a_next = b;
    b = c;
    c = a;
    a = a_next;
  }
  y[threadIdx.x] = a * b - c;
}

// waits_across_an_if: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) waits_across_an_if(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
  bool c = threadIdx.x < n;
  uint v0 = xi + 1u;
  if (c) {
    xi = threadIdx.x;
  } else {
    y[threadIdx.x] = n * n;
  }
  y[threadIdx.x] = v0 * xi;
}

// load_before_store: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) load_before_store(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
  uint old = y[threadIdx.x];
  y[threadIdx.x] = xi + n;
  y[threadIdx.x] = y[threadIdx.x] * old;
}

// nested_accumulators: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) nested_accumulators(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
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
  y[threadIdx.x] = sum;
}

// count_steps: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) count_steps(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
  uint v = xi;
  uint steps = 0u;
  while (v != 0u) {
    v = v >> 1u;
    steps = steps + 1u;
  }
  y[threadIdx.x] = steps;
}

// passes_other_values_on: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) passes_other_values_on(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
  uint v = n;
  uint w;
  while (true) {
    w = v * xi;
    if (!(v > 0u)) break;
    y[threadIdx.x] = w;
    v = v - 1u;
  }
  y[threadIdx.x] = w + y[threadIdx.x] - v;
}

// constants_at_the_edge: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) constants_at_the_edge(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
  int v0 = int(xi);
  uint v1 = uint(mt::div(v0, -1)) - 0x80000000u;
  uint v2 = mt::shl(xi, 32u) + mt::shr(xi, 32u) + (xi >> 31u) + (mt::div(xi, 0u) + mt::rem(xi, 0u)) - uint(int(v1 + uint(mt::rem(v0, -1))));
  y[threadIdx.x] = v2;
}

// words_of_the_language: 32 threads a block
extern "C" __global__ void __launch_bounds__(32) words_of_the_language(
    const uint* __restrict__ x,  // [32]
    uint* __restrict__ y,  // [32]
    uint n) {
  uint xi = x[threadIdx.x];
  uint kernel = xi + n;
  uint float_1 = kernel * kernel;
  uint lane_1 = float_1 ^ kernel;
  uint y_1 = lane_1 | float_1;
  y[threadIdx.x] = y_1;
}
