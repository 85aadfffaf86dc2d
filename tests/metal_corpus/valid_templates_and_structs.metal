// valid
#include <metal_stdlib>
using namespace metal;
namespace lib {
namespace detail {
template <typename T>
inline T id(T x) {
  return x;
}
}  // namespace detail
struct Add {
  template <typename T>
  T operator()(T a, T b) {
    return a + b;
  }
};
struct Max {
  template <typename T>
  T operator()(T a, T b) {
    return a > b ? a : b;
  }
};
template <typename T, typename Op, int N = 4>
[[kernel]] void reduce(const device T* in [[buffer(0)]], device T* out [[buffer(1)]], constant uint& n [[buffer(2)]],
                       uint lid [[thread_position_in_threadgroup]], uint lsize [[threads_per_threadgroup]]) {
  Op op;
  T acc = in[0];
  for (uint i = lid * N; i < n; i += lsize * N) {
    for (int j = 0; j < N; j++) acc = op(acc, detail::id<T>(in[i + j]));
  }
  threadgroup T shared[32];
  shared[lid % 32] = acc;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lid == 0) {
    for (uint k = 1; k < 32; k++) acc = op(acc, shared[k]);
    *out = acc;
  }
}
#define INST(name, T, Op)                                                                            \
  template [[host_name(#name "_" #T)]] [[kernel]] void reduce<T, Op>(                                \
      const device T* in [[buffer(0)]], device T* out [[buffer(1)]], constant uint& n [[buffer(2)]], \
      uint lid [[thread_position_in_threadgroup]], uint lsize [[threads_per_threadgroup]]);
INST(add, float, Add)
INST(max, half, Max)
INST(add, int, Add)
}  // namespace lib
kernel void plain(device int* a, device int* b [[buffer(4)]], device int* c, uint i [[thread_position_in_grid]]) {
  a[i] = b[i] + c[i];
}
struct Node {
  int left, right;
  float value;
};
struct Tree {
  device Node* nodes;
  uint count;
};
float walk(Tree t, uint i) {
  float s = 0;
  uint at = i;
  while (at < t.count) {
    s += t.nodes[at].value;
    at = 2 * at + 1;
  }
  return s;
}
kernel void tree(device Node* nodes [[buffer(0)]], device float* out [[buffer(1)]], constant uint* n [[buffer(2)]],
                 uint i [[thread_position_in_grid]]) {
  Tree t;
  t.nodes = nodes;
  t.count = *n;
  Tree u = {nodes, n[0]};
  out[i] = walk(t, i) + walk(u, i + 1);
  Node x = nodes[i];
  x.value += 1;
  nodes[i] = x;
  device Node& ref = nodes[i + 1];
  ref.left = ref.right;
}
constant uint3 kDims [[function_constant(0)]];
constant half kScale [[function_constant(1)]];
constant uint kTotal = kDims.x * kDims.y;
kernel void fc(device half* x [[buffer(0)]], uint3 i [[thread_position_in_grid]]) {
  if (i.x < kTotal) x[i.x] = x[i.x] * kScale + half(kDims.z);
}
kernel void longs(device ulong* x [[buffer(0)]], device long2* y [[buffer(1)]], uint i [[thread_index_in_threadgroup]],
                  uint sg [[simdgroup_index_in_threadgroup]], uint n [[threads_per_simdgroup]]) {
  x[i] = mulhi(x[i], 3ul) + popcount(x[i]) + clz(x[i]) + extract_bits(x[i], 3, 5) + rotate(x[i], 3ul);
  y[i] = max(y[i], long2(1, 2)) - y[i].yx;
  x[sg] += n;
}
