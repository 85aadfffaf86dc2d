// Compile with -fmad=false: a product is fused into a sum only where the text says fmaf.

typedef unsigned int uint;
struct bfloat {
  unsigned short bits;
  __device__ __forceinline__ explicit operator float() const { return __uint_as_float(unsigned(bits) << 16); }
};
struct alignas(8) f32x2 {
  float s0, s1;
};
struct alignas(16) f32x4 {
  float s0, s1, s2, s3;
};
typedef unsigned short u16;

namespace mt {
static __device__ __forceinline__ uint shared_address(const void* p) { return uint(__cvta_generic_to_shared(p)); }
static __device__ __forceinline__ void copy_async_16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared_address(to)), "l"(from) : "memory");
}
static __device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }
static __device__ __forceinline__ void copy_wait_0() { asm volatile("cp.async.wait_group 0;" : : : "memory"); }
// Four 8 x 8 matrices of 16-bit elements; lane l gives the place of row l % 8 of matrix l / 8.
static __device__ __forceinline__ void load_matrix(uint& w0, uint& w1, uint& w2, uint& w3, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(w0), "=r"(w1), "=r"(w2), "=r"(w3)
               : "r"(shared_address(row)));
}
// Four 8 x 8 matrices of 16-bit elements; lane l gives the place of row l % 8 of matrix l / 8.
static __device__ __forceinline__ void load_matrix_transposed(uint& w0, uint& w1, uint& w2, uint& w3, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(w0), "=r"(w1), "=r"(w2), "=r"(w3)
               : "r"(shared_address(row)));
}
// NaN if either is; -0 < +0.
static __device__ __forceinline__ float max(float x, float y) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}
// c += a b of 16 x 16 and 16 x 8 elements that a warp holds together.
static __device__ __forceinline__ void mma_bf16(float& c0, float& c1, float& c2, float& c3, uint a0, uint a1, uint a2, uint a3, uint b0,
    uint b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
// Rounds to nearest even.
static __device__ __forceinline__ bfloat to_bfloat(float x) {
  bfloat r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}
// Two elements in a word, rounded to nearest even.
static __device__ __forceinline__ uint to_bf16x2(float low, float high) {
  uint w;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low));
  return w;
}
static __device__ __forceinline__ uint word(bfloat low, bfloat high) {
  uint w;
  asm("mov.b32 %0, {%1, %2};" : "=r"(w) : "h"(low.bits), "h"(high.bits));
  return w;
}
}  // namespace mt

// tiles_bf16: 64 threads a block
extern "C" __global__ void __launch_bounds__(64) tiles_bf16(
    const bfloat* __restrict__ a,  // [n]
    const bfloat* __restrict__ b,  // [n]
    const bfloat* __restrict__ v,  // [n]
    float* __restrict__ c,  // [n]
    bfloat* __restrict__ o,  // [n]
    float* __restrict__ r,  // [n]
    uint m,
    uint n,
    uint k,
    uint sa,
    uint sb) {
  __shared__ alignas(16) bfloat as[1280];
  __shared__ alignas(16) bfloat bs[1536];
  const unsigned simd = threadIdx.x >> 5;
  const unsigned lane = threadIdx.x & 31;
  uint v0 = simd * 640u;
  for (uint i = lane; i < 16u; i += 32u) {
    uint v1 = v0 + i * 40u;
    uint v2 = v0 + i * sa;
    mt::copy_async_16(&as[v1], &a[v2]);
    mt::copy_async_16(&as[v1 + 8u], &a[v2 + 8u]);
    mt::copy_async_16(&as[v1 + 16u], &a[v2 + 16u]);
    mt::copy_async_16(&as[v1 + 24u], &a[v2 + 24u]);
  }
  uint v3 = simd * 768u;
  for (uint i = lane; i < 32u; i += 32u) {
    uint v4 = v3 + i * 24u;
    uint v5 = v3 + i * sb;
    mt::copy_async_16(&bs[v4], &b[v5]);
    mt::copy_async_16(&bs[v4 + 8u], &b[v5 + 8u]);
  }
  mt::copy_commit();
  mt::copy_wait_0();
  __syncthreads();
  uint v6 = simd * 256u;
  uint v7 = lane & 3u;
  uint v8 = v7 * 2u;
  uint v9 = lane >> 2u;
  uint v10 = v6 + v8 + v9 * 16u;
  f32x2 c_at = *(f32x2*)(c + v10);
  uint v11 = v10 + 128u;
  f32x2 c_at_1 = *(f32x2*)(c + v11);
  uint v12 = v10 + 8u;
  f32x2 c_at_2 = *(f32x2*)(c + v12);
  uint v13 = v10 + 136u;
  f32x2 c_at_3 = *(f32x2*)(c + v13);
  uint v14 = (lane >> 4u) * 8u;
  uint v15 = lane & 15u;
  uint v16 = v15 * 40u;
  uint v17 = v15 * 24u;
  float sum_0_0 = c_at.s0;
  float sum_0_1 = c_at.s1;
  float sum_0_2 = c_at_1.s0;
  float sum_0_3 = c_at_1.s1;
  float sum_1_0 = c_at_2.s0;
  float sum_1_1 = c_at_2.s1;
  float sum_1_2 = c_at_3.s0;
  float sum_1_3 = c_at_3.s1;
  uint acc = 0u;
  for (uint i = 0u; i < 32u; i += 16u) {
    uint v18, v19, v20, v21;
    mt::load_matrix(v18, v19, v20, v21, &as[v0 + i + v14 + v16]);
    uint v22, v23, v24, v25;
    mt::load_matrix_transposed(v22, v23, v24, v25, &bs[v3 + i * 24u + v14 + v17]);
    mt::mma_bf16(sum_0_0, sum_0_1, sum_0_2, sum_0_3, v18, v19, v20, v21, v22, v23);
    mt::mma_bf16(sum_1_0, sum_1_1, sum_1_2, sum_1_3, v18, v19, v20, v21, v24, v25);
    acc = acc + 1u;
  }
  float v26 = float(v9);
  float v27 = float(v8) * 0.25f;
  float v28 = sum_0_0 * 0.5f + v26 - v27;
  float v29 = float(v8 + 1u) * 0.25f;
  float v30 = sum_0_1 * 0.5f + v26 - v29;
  float v31 = float(v8 + 8u) * 0.25f;
  float v32 = sum_1_0 * 0.5f + v26 - v31;
  float v33 = float(v8 + 9u) * 0.25f;
  float v34 = sum_1_1 * 0.5f + v26 - v33;
  float v35 = mt::max(mt::max(v28, v30), mt::max(v32, v34));
  float v36 = __shfl_xor_sync(0xffffffffu, v35, 1);
  float v37 = mt::max(v35, v36);
  float v38 = __shfl_xor_sync(0xffffffffu, v37, 2);
  float v39 = mt::max(v37, v38);
  float v40 = v28 - v39;
  float v41 = v30 - v39;
  float v42 = float(v9 + 8u);
  float v43 = sum_0_2 * 0.5f + v42 - v27;
  float v44 = sum_0_3 * 0.5f + v42 - v29;
  float v45 = sum_1_2 * 0.5f + v42 - v31;
  float v46 = sum_1_3 * 0.5f + v42 - v33;
  float v47 = mt::max(mt::max(v43, v44), mt::max(v45, v46));
  float v48 = __shfl_xor_sync(0xffffffffu, v47, 1);
  float v49 = mt::max(v47, v48);
  float v50 = __shfl_xor_sync(0xffffffffu, v49, 2);
  float v51 = mt::max(v49, v50);
  float v52 = v43 - v51;
  float v53 = v44 - v51;
  float v54 = v32 - v39;
  float v55 = v34 - v39;
  float v56 = v45 - v51;
  float v57 = v46 - v51;
  if (acc < 2u) {
    v40 = 2.0f;
    v41 = 2.0f;
    v52 = 2.0f;
    v53 = 2.0f;
    v54 = 2.0f;
    v55 = 2.0f;
    v56 = 2.0f;
    v57 = 2.0f;
  }
  uint v58 = mt::to_bf16x2(v40, v41);
  uint v59 = mt::to_bf16x2(v52, v53);
  uint v60 = mt::to_bf16x2(v54, v55);
  uint v61 = mt::to_bf16x2(v56, v57);
  uint v62 = v7 * 32u;
  uint v63 = v9 + v62;
  float v64 = 1.0f;
  float v65 = 1.0f;
  float v66 = 1.0f;
  float v67 = 1.0f;
  mt::mma_bf16(v64, v65, v66, v67, v58, v59, v60, v61, mt::word(v[v63], v[v63 + 16u]), mt::word(v[v63 + 128u], v[v63 + 144u]));
  float v68 = 1.0f;
  float v69 = 1.0f;
  float v70 = 1.0f;
  float v71 = 1.0f;
  mt::mma_bf16(v68, v69, v70, v71, v58, v59, v60, v61, mt::word(v[v63 + 8u], v[v63 + 24u]), mt::word(v[v63 + 136u], v[v63 + 152u]));
  bool v72 = v7 == 0u;
  uint v73 = simd * 32u + v9;
  float r_1;
  float r_2;
  if (v72) {
    r_1 = r[v73];
    r_2 = r[v73 + 8u];
  } else {
    r_1 = 0.0f;
    r_2 = 0.0f;
  }
  *(f32x2*)(c + v10) = f32x2{sum_0_0, sum_0_1};
  *(f32x2*)(c + v12) = f32x2{sum_1_0, sum_1_1};
  *(f32x2*)(c + v11) = f32x2{sum_0_2, sum_0_3};
  *(f32x2*)(c + v13) = f32x2{sum_1_2, sum_1_3};
  uint v74 = v6 + v9 + v62;
  o[v74] = mt::to_bfloat(v64);
  o[v74 + 8u] = mt::to_bfloat(v66);
  o[v74 + 16u] = mt::to_bfloat(v65);
  o[v74 + 24u] = mt::to_bfloat(v67);
  o[v74 + 128u] = mt::to_bfloat(v68);
  o[v74 + 136u] = mt::to_bfloat(v70);
  o[v74 + 144u] = mt::to_bfloat(v69);
  o[v74 + 152u] = mt::to_bfloat(v71);
  uint v75 = lane & 28u;
  float v76 = __shfl_sync(0xffffffffu, r_1, v75);
  float v77 = v39 + v76 + v26;
  float v78 = __shfl_sync(0xffffffffu, r_2, v75);
  float v79 = v51 + v78 + v42;
  if (v72) {
    r[v73] = v77;
    r[v73 + 8u] = v79;
  }
  uint v80 = v73 + 16u;
  float v81 = v64 + v65 + (v68 + v69);
  float v82 = __shfl_xor_sync(0xffffffffu, v81, 1);
  float v83 = v81 + v82;
  float v84 = __shfl_xor_sync(0xffffffffu, v83, 2);
  float v85 = v83 + v84;
  float v86 = v66 + v67 + (v70 + v71);
  float v87 = __shfl_xor_sync(0xffffffffu, v86, 1);
  float v88 = v86 + v87;
  float v89 = __shfl_xor_sync(0xffffffffu, v88, 2);
  float v90 = v88 + v89;
  if (v72) {
    r[v80] = v85;
    r[v73 + 24u] = v90;
  }
}

// tiles_f32: 64 threads a block
extern "C" __global__ void __launch_bounds__(64) tiles_f32(
    const float* __restrict__ a,  // [n]
    const float* __restrict__ b,  // [n]
    const float* __restrict__ v,  // [n]
    float* __restrict__ c,  // [n]
    float* __restrict__ o,  // [n]
    float* __restrict__ r,  // [n]
    uint m,
    uint n,
    uint k,
    uint sa,
    uint sb) {
  __shared__ alignas(16) float as[1280];
  __shared__ alignas(16) float bs[1536];
  const unsigned simd = threadIdx.x >> 5;
  const unsigned lane = threadIdx.x & 31;
  uint v0 = simd * 640u;
  for (uint i = lane; i < 16u; i += 32u) {
    uint v1 = v0 + i * 40u;
    uint v2 = v0 + i * sa;
    mt::copy_async_16(&as[v1], &a[v2]);
    mt::copy_async_16(&as[v1 + 4u], &a[v2 + 4u]);
    mt::copy_async_16(&as[v1 + 8u], &a[v2 + 8u]);
    mt::copy_async_16(&as[v1 + 12u], &a[v2 + 12u]);
    mt::copy_async_16(&as[v1 + 16u], &a[v2 + 16u]);
    mt::copy_async_16(&as[v1 + 20u], &a[v2 + 20u]);
    mt::copy_async_16(&as[v1 + 24u], &a[v2 + 24u]);
    mt::copy_async_16(&as[v1 + 28u], &a[v2 + 28u]);
  }
  uint v3 = simd * 768u;
  for (uint i = lane; i < 32u; i += 32u) {
    uint v4 = v3 + i * 24u;
    uint v5 = v3 + i * sb;
    mt::copy_async_16(&bs[v4], &b[v5]);
    mt::copy_async_16(&bs[v4 + 4u], &b[v5 + 4u]);
    mt::copy_async_16(&bs[v4 + 8u], &b[v5 + 8u]);
    mt::copy_async_16(&bs[v4 + 12u], &b[v5 + 12u]);
  }
  mt::copy_commit();
  mt::copy_wait_0();
  __syncthreads();
  uint v6 = simd * 256u;
  uint v7 = lane & 3u;
  uint v8 = v7 * 4u;
  uint v9 = lane >> 2u;
  uint v10 = v6 + v8 + v9 * 16u;
  f32x4 c_at = *(f32x4*)(c + v10);
  uint v11 = v10 + 128u;
  f32x4 c_at_1 = *(f32x4*)(c + v11);
  uint v12 = v9 * 40u;
  float sum_0_0 = c_at.s0;
  float sum_0_1 = c_at.s1;
  float sum_0_2 = c_at.s2;
  float sum_0_3 = c_at.s3;
  float sum_1_0 = c_at_1.s0;
  float sum_1_1 = c_at_1.s1;
  float sum_1_2 = c_at_1.s2;
  float sum_1_3 = c_at_1.s3;
  uint acc = 0u;
  for (uint i = 0u; i < 32u; i += 16u) {
    uint v13 = v0 + i + v12;
    f32x4 as_at = *(f32x4*)(as + v13);
    uint v14 = v3 + i * 24u + v8;
    f32x4 bs_at = *(f32x4*)(bs + v14);
    f32x4 as_at_1 = *(f32x4*)(as + v13 + 320u);
    f32x4 bs_at_1 = *(f32x4*)(bs + v14 + 24u);
    f32x4 bs_at_2 = *(f32x4*)(bs + v14 + 48u);
    float v15 = fmaf(as_at_1.s2, bs_at_2.s0, fmaf(as_at_1.s1, bs_at_1.s0, fmaf(as_at_1.s0, bs_at.s0, sum_1_0)));
    float v16 = fmaf(as_at_1.s2, bs_at_2.s1, fmaf(as_at_1.s1, bs_at_1.s1, fmaf(as_at_1.s0, bs_at.s1, sum_1_1)));
    float v17 = fmaf(as_at_1.s2, bs_at_2.s2, fmaf(as_at_1.s1, bs_at_1.s2, fmaf(as_at_1.s0, bs_at.s2, sum_1_2)));
    float v18 = fmaf(as_at_1.s2, bs_at_2.s3, fmaf(as_at_1.s1, bs_at_1.s3, fmaf(as_at_1.s0, bs_at.s3, sum_1_3)));
    f32x4 bs_at_3 = *(f32x4*)(bs + v14 + 72u);
    float v19 = fmaf(as_at.s3, bs_at_3.s0, fmaf(as_at.s2, bs_at_2.s0, fmaf(as_at.s1, bs_at_1.s0, fmaf(as_at.s0, bs_at.s0, sum_0_0))));
    float v20 = fmaf(as_at.s3, bs_at_3.s1, fmaf(as_at.s2, bs_at_2.s1, fmaf(as_at.s1, bs_at_1.s1, fmaf(as_at.s0, bs_at.s1, sum_0_1))));
    float v21 = fmaf(as_at.s3, bs_at_3.s2, fmaf(as_at.s2, bs_at_2.s2, fmaf(as_at.s1, bs_at_1.s2, fmaf(as_at.s0, bs_at.s2, sum_0_2))));
    float v22 = fmaf(as_at.s3, bs_at_3.s3, fmaf(as_at.s2, bs_at_2.s3, fmaf(as_at.s1, bs_at_1.s3, fmaf(as_at.s0, bs_at.s3, sum_0_3))));
    f32x4 as_at_2 = *(f32x4*)(as + v13 + 4u);
    f32x4 bs_at_4 = *(f32x4*)(bs + v14 + 96u);
    f32x4 as_at_3 = *(f32x4*)(as + v13 + 324u);
    f32x4 bs_at_5 = *(f32x4*)(bs + v14 + 120u);
    float v23 = fmaf(as_at_3.s1, bs_at_5.s0, fmaf(as_at_3.s0, bs_at_4.s0, fmaf(as_at_1.s3, bs_at_3.s0, v15)));
    float v24 = fmaf(as_at_3.s1, bs_at_5.s1, fmaf(as_at_3.s0, bs_at_4.s1, fmaf(as_at_1.s3, bs_at_3.s1, v16)));
    float v25 = fmaf(as_at_3.s1, bs_at_5.s2, fmaf(as_at_3.s0, bs_at_4.s2, fmaf(as_at_1.s3, bs_at_3.s2, v17)));
    float v26 = fmaf(as_at_3.s1, bs_at_5.s3, fmaf(as_at_3.s0, bs_at_4.s3, fmaf(as_at_1.s3, bs_at_3.s3, v18)));
    f32x4 bs_at_6 = *(f32x4*)(bs + v14 + 144u);
    float v27 = fmaf(as_at_2.s2, bs_at_6.s0, fmaf(as_at_2.s1, bs_at_5.s0, fmaf(as_at_2.s0, bs_at_4.s0, v19)));
    float v28 = fmaf(as_at_2.s2, bs_at_6.s1, fmaf(as_at_2.s1, bs_at_5.s1, fmaf(as_at_2.s0, bs_at_4.s1, v20)));
    float v29 = fmaf(as_at_2.s2, bs_at_6.s2, fmaf(as_at_2.s1, bs_at_5.s2, fmaf(as_at_2.s0, bs_at_4.s2, v21)));
    float v30 = fmaf(as_at_2.s2, bs_at_6.s3, fmaf(as_at_2.s1, bs_at_5.s3, fmaf(as_at_2.s0, bs_at_4.s3, v22)));
    f32x4 bs_at_7 = *(f32x4*)(bs + v14 + 168u);
    f32x4 as_at_4 = *(f32x4*)(as + v13 + 8u);
    f32x4 bs_at_8 = *(f32x4*)(bs + v14 + 192u);
    f32x4 as_at_5 = *(f32x4*)(as + v13 + 328u);
    float v31 = fmaf(as_at_5.s0, bs_at_8.s0, fmaf(as_at_3.s3, bs_at_7.s0, fmaf(as_at_3.s2, bs_at_6.s0, v23)));
    float v32 = fmaf(as_at_5.s0, bs_at_8.s1, fmaf(as_at_3.s3, bs_at_7.s1, fmaf(as_at_3.s2, bs_at_6.s1, v24)));
    float v33 = fmaf(as_at_5.s0, bs_at_8.s2, fmaf(as_at_3.s3, bs_at_7.s2, fmaf(as_at_3.s2, bs_at_6.s2, v25)));
    float v34 = fmaf(as_at_5.s0, bs_at_8.s3, fmaf(as_at_3.s3, bs_at_7.s3, fmaf(as_at_3.s2, bs_at_6.s3, v26)));
    f32x4 bs_at_9 = *(f32x4*)(bs + v14 + 216u);
    float v35 = fmaf(as_at_4.s1, bs_at_9.s0, fmaf(as_at_4.s0, bs_at_8.s0, fmaf(as_at_2.s3, bs_at_7.s0, v27)));
    float v36 = fmaf(as_at_4.s1, bs_at_9.s1, fmaf(as_at_4.s0, bs_at_8.s1, fmaf(as_at_2.s3, bs_at_7.s1, v28)));
    float v37 = fmaf(as_at_4.s1, bs_at_9.s2, fmaf(as_at_4.s0, bs_at_8.s2, fmaf(as_at_2.s3, bs_at_7.s2, v29)));
    float v38 = fmaf(as_at_4.s1, bs_at_9.s3, fmaf(as_at_4.s0, bs_at_8.s3, fmaf(as_at_2.s3, bs_at_7.s3, v30)));
    f32x4 bs_at_10 = *(f32x4*)(bs + v14 + 240u);
    f32x4 bs_at_11 = *(f32x4*)(bs + v14 + 264u);
    float v39 = fmaf(as_at_5.s3, bs_at_11.s0, fmaf(as_at_5.s2, bs_at_10.s0, fmaf(as_at_5.s1, bs_at_9.s0, v31)));
    float v40 = fmaf(as_at_5.s3, bs_at_11.s1, fmaf(as_at_5.s2, bs_at_10.s1, fmaf(as_at_5.s1, bs_at_9.s1, v32)));
    float v41 = fmaf(as_at_5.s3, bs_at_11.s2, fmaf(as_at_5.s2, bs_at_10.s2, fmaf(as_at_5.s1, bs_at_9.s2, v33)));
    float v42 = fmaf(as_at_5.s3, bs_at_11.s3, fmaf(as_at_5.s2, bs_at_10.s3, fmaf(as_at_5.s1, bs_at_9.s3, v34)));
    f32x4 as_at_6 = *(f32x4*)(as + v13 + 12u);
    f32x4 bs_at_12 = *(f32x4*)(bs + v14 + 288u);
    float v43 = fmaf(as_at_6.s0, bs_at_12.s0, fmaf(as_at_4.s3, bs_at_11.s0, fmaf(as_at_4.s2, bs_at_10.s0, v35)));
    float v44 = fmaf(as_at_6.s0, bs_at_12.s1, fmaf(as_at_4.s3, bs_at_11.s1, fmaf(as_at_4.s2, bs_at_10.s1, v36)));
    float v45 = fmaf(as_at_6.s0, bs_at_12.s2, fmaf(as_at_4.s3, bs_at_11.s2, fmaf(as_at_4.s2, bs_at_10.s2, v37)));
    float v46 = fmaf(as_at_6.s0, bs_at_12.s3, fmaf(as_at_4.s3, bs_at_11.s3, fmaf(as_at_4.s2, bs_at_10.s3, v38)));
    f32x4 as_at_7 = *(f32x4*)(as + v13 + 332u);
    f32x4 bs_at_13 = *(f32x4*)(bs + v14 + 312u);
    f32x4 bs_at_14 = *(f32x4*)(bs + v14 + 336u);
    float v47 = fmaf(as_at_7.s2, bs_at_14.s0, fmaf(as_at_7.s1, bs_at_13.s0, fmaf(as_at_7.s0, bs_at_12.s0, v39)));
    float v48 = fmaf(as_at_7.s2, bs_at_14.s1, fmaf(as_at_7.s1, bs_at_13.s1, fmaf(as_at_7.s0, bs_at_12.s1, v40)));
    float v49 = fmaf(as_at_7.s2, bs_at_14.s2, fmaf(as_at_7.s1, bs_at_13.s2, fmaf(as_at_7.s0, bs_at_12.s2, v41)));
    float v50 = fmaf(as_at_7.s2, bs_at_14.s3, fmaf(as_at_7.s1, bs_at_13.s3, fmaf(as_at_7.s0, bs_at_12.s3, v42)));
    f32x4 bs_at_15 = *(f32x4*)(bs + v14 + 360u);
    float v51 = fmaf(as_at_6.s3, bs_at_15.s0, fmaf(as_at_6.s2, bs_at_14.s0, fmaf(as_at_6.s1, bs_at_13.s0, v43)));
    float v52 = fmaf(as_at_6.s3, bs_at_15.s1, fmaf(as_at_6.s2, bs_at_14.s1, fmaf(as_at_6.s1, bs_at_13.s1, v44)));
    float v53 = fmaf(as_at_6.s3, bs_at_15.s2, fmaf(as_at_6.s2, bs_at_14.s2, fmaf(as_at_6.s1, bs_at_13.s2, v45)));
    float v54 = fmaf(as_at_6.s3, bs_at_15.s3, fmaf(as_at_6.s2, bs_at_14.s3, fmaf(as_at_6.s1, bs_at_13.s3, v46)));
    sum_0_0 = v51;
    sum_0_1 = v52;
    sum_0_2 = v53;
    sum_0_3 = v54;
    sum_1_0 = fmaf(as_at_7.s3, bs_at_15.s0, v47);
    sum_1_1 = fmaf(as_at_7.s3, bs_at_15.s1, v48);
    sum_1_2 = fmaf(as_at_7.s3, bs_at_15.s2, v49);
    sum_1_3 = fmaf(as_at_7.s3, bs_at_15.s3, v50);
    acc = acc + 1u;
  }
  float v55 = float(v9);
  float v56 = float(v8) * 0.25f;
  float v57 = sum_0_0 * 0.5f + v55 - v56;
  float v58 = float(v8 + 1u) * 0.25f;
  float v59 = sum_0_1 * 0.5f + v55 - v58;
  float v60 = float(v8 + 2u) * 0.25f;
  float v61 = sum_0_2 * 0.5f + v55 - v60;
  float v62 = float(v8 + 3u) * 0.25f;
  float v63 = sum_0_3 * 0.5f + v55 - v62;
  float v64 = mt::max(mt::max(v57, v59), mt::max(v61, v63));
  float v65 = __shfl_xor_sync(0xffffffffu, v64, 1);
  float v66 = mt::max(v64, v65);
  float v67 = __shfl_xor_sync(0xffffffffu, v66, 2);
  float v68 = mt::max(v66, v67);
  float v69 = v57 - v68;
  float v70 = v59 - v68;
  float v71 = v61 - v68;
  float v72 = v63 - v68;
  float v73 = float(v9 + 8u);
  float v74 = sum_1_0 * 0.5f + v73 - v56;
  float v75 = sum_1_1 * 0.5f + v73 - v58;
  float v76 = sum_1_2 * 0.5f + v73 - v60;
  float v77 = sum_1_3 * 0.5f + v73 - v62;
  float v78 = mt::max(mt::max(v74, v75), mt::max(v76, v77));
  float v79 = __shfl_xor_sync(0xffffffffu, v78, 1);
  float v80 = mt::max(v78, v79);
  float v81 = __shfl_xor_sync(0xffffffffu, v80, 2);
  float v82 = mt::max(v80, v81);
  float v83 = v74 - v82;
  float v84 = v75 - v82;
  float v85 = v76 - v82;
  float v86 = v77 - v82;
  if (acc < 2u) {
    v69 = 2.0f;
    v70 = 2.0f;
    v71 = 2.0f;
    v72 = 2.0f;
    v83 = 2.0f;
    v84 = 2.0f;
    v85 = 2.0f;
    v86 = 2.0f;
  }
  uint v87 = lane & 28u;
  float v88 = __shfl_sync(0xffffffffu, v69, v87);
  f32x4 v_at = *(const f32x4*)(v + v8);
  float v89 = __shfl_sync(0xffffffffu, v83, v87);
  float v90 = __shfl_sync(0xffffffffu, v70, v87);
  f32x4 v_at_1 = *(const f32x4*)(v + v8 + 16u);
  float v91 = __shfl_sync(0xffffffffu, v84, v87);
  float v92 = __shfl_sync(0xffffffffu, v71, v87);
  f32x4 v_at_2 = *(const f32x4*)(v + v8 + 32u);
  float v93 = __shfl_sync(0xffffffffu, v85, v87);
  float v94 = __shfl_sync(0xffffffffu, v72, v87);
  f32x4 v_at_3 = *(const f32x4*)(v + v8 + 48u);
  float v95 = fmaf(v94, v_at_3.s0, fmaf(v92, v_at_2.s0, fmaf(v90, v_at_1.s0, fmaf(v88, v_at.s0, 1.0f))));
  float v96 = fmaf(v94, v_at_3.s1, fmaf(v92, v_at_2.s1, fmaf(v90, v_at_1.s1, fmaf(v88, v_at.s1, 1.0f))));
  float v97 = fmaf(v94, v_at_3.s2, fmaf(v92, v_at_2.s2, fmaf(v90, v_at_1.s2, fmaf(v88, v_at.s2, 1.0f))));
  float v98 = fmaf(v94, v_at_3.s3, fmaf(v92, v_at_2.s3, fmaf(v90, v_at_1.s3, fmaf(v88, v_at.s3, 1.0f))));
  float v99 = __shfl_sync(0xffffffffu, v86, v87);
  float v100 = fmaf(v99, v_at_3.s0, fmaf(v93, v_at_2.s0, fmaf(v91, v_at_1.s0, fmaf(v89, v_at.s0, 1.0f))));
  float v101 = fmaf(v99, v_at_3.s1, fmaf(v93, v_at_2.s1, fmaf(v91, v_at_1.s1, fmaf(v89, v_at.s1, 1.0f))));
  float v102 = fmaf(v99, v_at_3.s2, fmaf(v93, v_at_2.s2, fmaf(v91, v_at_1.s2, fmaf(v89, v_at.s2, 1.0f))));
  float v103 = fmaf(v99, v_at_3.s3, fmaf(v93, v_at_2.s3, fmaf(v91, v_at_1.s3, fmaf(v89, v_at.s3, 1.0f))));
  uint v104 = v87 | 1u;
  float v105 = __shfl_sync(0xffffffffu, v69, v104);
  f32x4 v_at_4 = *(const f32x4*)(v + v8 + 64u);
  float v106 = __shfl_sync(0xffffffffu, v83, v104);
  float v107 = __shfl_sync(0xffffffffu, v70, v104);
  f32x4 v_at_5 = *(const f32x4*)(v + v8 + 80u);
  float v108 = __shfl_sync(0xffffffffu, v84, v104);
  float v109 = __shfl_sync(0xffffffffu, v71, v104);
  f32x4 v_at_6 = *(const f32x4*)(v + v8 + 96u);
  float v110 = __shfl_sync(0xffffffffu, v85, v104);
  float v111 = __shfl_sync(0xffffffffu, v72, v104);
  f32x4 v_at_7 = *(const f32x4*)(v + v8 + 112u);
  float v112 = fmaf(v111, v_at_7.s0, fmaf(v109, v_at_6.s0, fmaf(v107, v_at_5.s0, fmaf(v105, v_at_4.s0, v95))));
  float v113 = fmaf(v111, v_at_7.s1, fmaf(v109, v_at_6.s1, fmaf(v107, v_at_5.s1, fmaf(v105, v_at_4.s1, v96))));
  float v114 = fmaf(v111, v_at_7.s2, fmaf(v109, v_at_6.s2, fmaf(v107, v_at_5.s2, fmaf(v105, v_at_4.s2, v97))));
  float v115 = fmaf(v111, v_at_7.s3, fmaf(v109, v_at_6.s3, fmaf(v107, v_at_5.s3, fmaf(v105, v_at_4.s3, v98))));
  float v116 = __shfl_sync(0xffffffffu, v86, v104);
  float v117 = fmaf(v116, v_at_7.s0, fmaf(v110, v_at_6.s0, fmaf(v108, v_at_5.s0, fmaf(v106, v_at_4.s0, v100))));
  float v118 = fmaf(v116, v_at_7.s1, fmaf(v110, v_at_6.s1, fmaf(v108, v_at_5.s1, fmaf(v106, v_at_4.s1, v101))));
  float v119 = fmaf(v116, v_at_7.s2, fmaf(v110, v_at_6.s2, fmaf(v108, v_at_5.s2, fmaf(v106, v_at_4.s2, v102))));
  float v120 = fmaf(v116, v_at_7.s3, fmaf(v110, v_at_6.s3, fmaf(v108, v_at_5.s3, fmaf(v106, v_at_4.s3, v103))));
  uint v121 = v87 | 2u;
  float v122 = __shfl_sync(0xffffffffu, v69, v121);
  f32x4 v_at_8 = *(const f32x4*)(v + v8 + 128u);
  float v123 = __shfl_sync(0xffffffffu, v83, v121);
  float v124 = __shfl_sync(0xffffffffu, v70, v121);
  f32x4 v_at_9 = *(const f32x4*)(v + v8 + 144u);
  float v125 = __shfl_sync(0xffffffffu, v84, v121);
  float v126 = __shfl_sync(0xffffffffu, v71, v121);
  f32x4 v_at_10 = *(const f32x4*)(v + v8 + 160u);
  float v127 = __shfl_sync(0xffffffffu, v85, v121);
  float v128 = __shfl_sync(0xffffffffu, v72, v121);
  f32x4 v_at_11 = *(const f32x4*)(v + v8 + 176u);
  float v129 = fmaf(v128, v_at_11.s0, fmaf(v126, v_at_10.s0, fmaf(v124, v_at_9.s0, fmaf(v122, v_at_8.s0, v112))));
  float v130 = fmaf(v128, v_at_11.s1, fmaf(v126, v_at_10.s1, fmaf(v124, v_at_9.s1, fmaf(v122, v_at_8.s1, v113))));
  float v131 = fmaf(v128, v_at_11.s2, fmaf(v126, v_at_10.s2, fmaf(v124, v_at_9.s2, fmaf(v122, v_at_8.s2, v114))));
  float v132 = fmaf(v128, v_at_11.s3, fmaf(v126, v_at_10.s3, fmaf(v124, v_at_9.s3, fmaf(v122, v_at_8.s3, v115))));
  float v133 = __shfl_sync(0xffffffffu, v86, v121);
  float v134 = fmaf(v133, v_at_11.s0, fmaf(v127, v_at_10.s0, fmaf(v125, v_at_9.s0, fmaf(v123, v_at_8.s0, v117))));
  float v135 = fmaf(v133, v_at_11.s1, fmaf(v127, v_at_10.s1, fmaf(v125, v_at_9.s1, fmaf(v123, v_at_8.s1, v118))));
  float v136 = fmaf(v133, v_at_11.s2, fmaf(v127, v_at_10.s2, fmaf(v125, v_at_9.s2, fmaf(v123, v_at_8.s2, v119))));
  float v137 = fmaf(v133, v_at_11.s3, fmaf(v127, v_at_10.s3, fmaf(v125, v_at_9.s3, fmaf(v123, v_at_8.s3, v120))));
  uint v138 = v87 | 3u;
  float v139 = __shfl_sync(0xffffffffu, v69, v138);
  f32x4 v_at_12 = *(const f32x4*)(v + v8 + 192u);
  float v140 = __shfl_sync(0xffffffffu, v83, v138);
  float v141 = __shfl_sync(0xffffffffu, v70, v138);
  f32x4 v_at_13 = *(const f32x4*)(v + v8 + 208u);
  float v142 = __shfl_sync(0xffffffffu, v84, v138);
  float v143 = __shfl_sync(0xffffffffu, v71, v138);
  f32x4 v_at_14 = *(const f32x4*)(v + v8 + 224u);
  float v144 = __shfl_sync(0xffffffffu, v85, v138);
  float v145 = __shfl_sync(0xffffffffu, v72, v138);
  f32x4 v_at_15 = *(const f32x4*)(v + v8 + 240u);
  float v146 = fmaf(v145, v_at_15.s0, fmaf(v143, v_at_14.s0, fmaf(v141, v_at_13.s0, fmaf(v139, v_at_12.s0, v129))));
  float v147 = fmaf(v145, v_at_15.s1, fmaf(v143, v_at_14.s1, fmaf(v141, v_at_13.s1, fmaf(v139, v_at_12.s1, v130))));
  float v148 = fmaf(v145, v_at_15.s2, fmaf(v143, v_at_14.s2, fmaf(v141, v_at_13.s2, fmaf(v139, v_at_12.s2, v131))));
  float v149 = fmaf(v145, v_at_15.s3, fmaf(v143, v_at_14.s3, fmaf(v141, v_at_13.s3, fmaf(v139, v_at_12.s3, v132))));
  float v150 = __shfl_sync(0xffffffffu, v86, v138);
  float v151 = fmaf(v150, v_at_15.s0, fmaf(v144, v_at_14.s0, fmaf(v142, v_at_13.s0, fmaf(v140, v_at_12.s0, v134))));
  float v152 = fmaf(v150, v_at_15.s1, fmaf(v144, v_at_14.s1, fmaf(v142, v_at_13.s1, fmaf(v140, v_at_12.s1, v135))));
  float v153 = fmaf(v150, v_at_15.s2, fmaf(v144, v_at_14.s2, fmaf(v142, v_at_13.s2, fmaf(v140, v_at_12.s2, v136))));
  float v154 = fmaf(v150, v_at_15.s3, fmaf(v144, v_at_14.s3, fmaf(v142, v_at_13.s3, fmaf(v140, v_at_12.s3, v137))));
  bool v155 = v7 == 0u;
  uint v156 = simd * 32u + v9;
  float r_1;
  float r_2;
  if (v155) {
    r_1 = r[v156];
    r_2 = r[v156 + 8u];
  } else {
    r_1 = 0.0f;
    r_2 = 0.0f;
  }
  *(f32x4*)(c + v10) = f32x4{sum_0_0, sum_0_1, sum_0_2, sum_0_3};
  *(f32x4*)(c + v11) = f32x4{sum_1_0, sum_1_1, sum_1_2, sum_1_3};
  uint v157 = v6 + v9 + v7 * 64u;
  o[v157] = v146;
  o[v157 + 8u] = v151;
  o[v157 + 16u] = v147;
  o[v157 + 24u] = v152;
  o[v157 + 32u] = v148;
  o[v157 + 40u] = v153;
  o[v157 + 48u] = v149;
  o[v157 + 56u] = v154;
  float v158 = __shfl_sync(0xffffffffu, r_1, v87);
  float v159 = v68 + v158 + v55;
  float v160 = __shfl_sync(0xffffffffu, r_2, v87);
  float v161 = v82 + v160 + v73;
  if (v155) {
    r[v156] = v159;
    r[v156 + 8u] = v161;
  }
  uint v162 = v156 + 16u;
  float v163 = v146 + v147 + (v148 + v149);
  float v164 = __shfl_xor_sync(0xffffffffu, v163, 1);
  float v165 = v163 + v164;
  float v166 = __shfl_xor_sync(0xffffffffu, v165, 2);
  float v167 = v165 + v166;
  float v168 = v151 + v152 + (v153 + v154);
  float v169 = __shfl_xor_sync(0xffffffffu, v168, 1);
  float v170 = v168 + v169;
  float v171 = __shfl_xor_sync(0xffffffffu, v170, 2);
  float v172 = v170 + v171;
  if (v155) {
    r[v162] = v167;
    r[v156 + 24u] = v172;
  }
}
