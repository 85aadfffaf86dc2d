// valid
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

#define TILE 16
typedef float Real;
enum class Mode : uint { Add = 0, Mul = 1 };

struct Complex {
  float re, im;
  Complex() thread {}
  Complex(float r, float i = 0) thread : re(r), im(i) {}
  Complex operator+(Complex o) const { return Complex(re + o.re, im + o.im); }
  Complex operator*(const thread Complex& o) const thread {
    return Complex(re * o.re - im * o.im, re * o.im + im * o.re);
  }
  thread Complex& operator+=(Complex o) thread {
    re += o.re;
    im += o.im;
    return *this;
  }
  float norm() const { return re * re + im * im; }
  static Complex one() { return Complex(1, 0); }
};

struct Params {
  uint rows, cols;
  float2 scale;
  packed_float3 offset;
  array<int, 4> dims;
  int stride[3];
  Mode mode;
};

template <typename T, int N>
struct Tile {
  T data[N][N];
  static constant constexpr const int kSize = N * N;
  METAL_FUNC thread T& at(int i, int j) thread { return data[i][j]; }
  METAL_FUNC const threadgroup T& at(int i, int j) const threadgroup { return data[i][j]; }
  METAL_FUNC threadgroup T& at(int i, int j) threadgroup { return data[i][j]; }
};

template <typename T>
struct Traits {
  typedef float acc;
  static constexpr constant bool wide = false;
};
template <>
struct Traits<int> {
  typedef int acc;
  static constexpr constant bool wide = true;
};

constant float kWeights[4] = {0.1f, 0.2f, 0.3f, 0.4f};
constant int2 kOffsets[2] = {int2(0, 1), int2(1, 0)};
constant float4 kColor = float4(1, 2, 3, 4);
constant constexpr int kCount = 4;
static constant constexpr const uint kMask = 0xffu;

inline float sum4(threadgroup float (&s)[64], uint i) { return s[i] + s[(i + 1) & 63]; }
inline float first(const device float4* p) { return p->x + p[1].y + (*p).zw.x; }
template <typename T>
T clampTo(T x, T lo, T hi) {
  return x < lo ? lo : (x > hi ? hi : x);
}
template <typename U, typename T = U>
enable_if_t<is_floating_point_v<T>, T> half_of(U x) {
  return T(x) / T(2);
}
float pick(const thread float* v, int n) {
  float m = v[0];
  for (int i = 1; i < n; i++) m = max(m, v[i]);
  return m;
}
void swap_(thread float& a, thread float& b) {
  float t = a;
  a = b;
  b = t;
}
float3 rotate3(float3x3 m, float3 v) { return m * v; }

kernel void everything(device float* out [[buffer(0)]], const device float* in [[buffer(1)]],
                       constant Params& p [[buffer(2)]], device atomic_int* counter [[buffer(3)]],
                       const device packed_float3* pts [[buffer(4)]], device half4* hs [[buffer(5)]],
                       constant float4x4& m [[buffer(6)]], threadgroup float4* scratch [[threadgroup(0)]],
                       uint2 gid [[thread_position_in_grid]], uint2 lid [[thread_position_in_threadgroup]],
                       ushort lane [[thread_index_in_simdgroup]], uint2 grid [[threads_per_grid]]) {
  threadgroup float s[64];
  threadgroup Tile<float, TILE> tile;
  threadgroup Complex zs[2];
  uint i = gid.y * grid.x + gid.x;
  s[i & 63] = in[i];
  tile.at(lid.y & 15, lid.x & 15) = in[i];
  scratch[lid.x] = float4(in[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  Params q = p;
  Complex z(1, 2), w = Complex::one();
  z += w * z + Complex(3);
  zs[0] = z;
  z = zs[0];
  float acc = sum4(s, i & 63) + tile.at(1, 2) + z.norm();
#pragma unroll
  for (int k = 0; k < kCount; ++k) acc += kWeights[k] * float(q.dims[k]) + float(q.stride[k % 3]);
  switch (q.mode) {
    case Mode::Add:
      acc += 1;
      break;
    case Mode::Mul: {
      acc *= 2;
      break;
    }
    default:
      break;
  }
  float3 pt = pts[i];
  float3 v = pt * 2.0f + float3(p.offset);
  v.xy = v.yx + kColor.zw + p.scale;
  v = normalize(cross(v, float3(0, 0, 1)));
  float4 t = m * float4(v, 1.0f);
  float3x3 r = float3x3(float3(1, 0, 0), float3(0, 1, 0), float3(0, 0, 1));
  v = rotate3(r, v) + t.xyz / t.w;
  hs[i] = half4(t) + hs[i].wzyx;
  hs[i].xy *= half2(2.0h);
  float vals[3] = {v.x, v.y, v.z};
  swap_(vals[0], vals[1]);
  acc += pick(vals, 3) + clampTo(acc, 0.0f, 1.0f) + half_of(acc) + float(half_of<half>(half(acc)));
  const device float4* in4 = (const device float4*)in;
  acc += first(in4) + in4[i / 4][i & 3];
  thread float* pv = vals;
  threadgroup float* ps = (i & 1) ? &s[0] : s + 1;
  const device float* pd = i > 3 ? in : nullptr;
  if (pd) acc += pd[0];
  acc += pv[2] + ps[0];
  int old = atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
  acc += float(old) + float(kOffsets[1].x) + float(Tile<float, 4>::kSize) + (Traits<int>::wide ? 1 : 2);
  uint bits = as_type<uint>(acc) & ~kMask;
  acc = as_type<float>(bits);
  auto f = simd_shuffle_xor(acc, ushort(1)) + simd_broadcast(acc, 0) + simd_prefix_exclusive_sum(acc);
  if constexpr (is_same_v<Real, float>) acc += f;
  uint4 u = uint4(1, 2, 3, 4) << 2u;
  u = select(u, u + 1, u > uint4(8));
  bool2 b = isnan(float2(acc, f));
  if (any(b) || all(b)) return;
  uchar4 c = uchar4(u);
  acc += float(c.w) + dot(float4(u), float4(1)) + fma(acc, 2.0f, 1.0f) + (i == 0 ? 0.0f : sqrt(fabs(acc)));
  do {
    acc *= 0.5f;
    if (acc > 100) continue;
  } while (acc > 10);
  out[i] = acc, out[i + 1] = min3(acc, f, 1.0f);
  int e;
  out[i] += frexp(acc, e) + ldexp(acc, e) + sincos(acc, vals[0]);
}
