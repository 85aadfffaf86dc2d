#include <metal_stdlib>
using namespace metal;

// A product is fused into a sum only where the text says fma.
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

namespace mt {
// NaN if either is; +0 > -0.
static inline float max(float x, float y) { return x != x || x > y || (x == y && !signbit(x)) ? x : y; }
// c + a b of 8 x 8 elements that a simdgroup holds together, two a lane.
static inline float2 mma(float2 c, float2 a, float2 b) {
  simdgroup_matrix<float, 8, 8> left, right;
  simdgroup_matrix<float, 8, 8> sum;
  reinterpret_cast<thread float2&>(left.thread_elements()) = a;
  reinterpret_cast<thread float2&>(right.thread_elements()) = b;
  reinterpret_cast<thread float2&>(sum.thread_elements()) = c;
  simdgroup_multiply_accumulate(sum, left, right, sum);
  return reinterpret_cast<thread float2&>(sum.thread_elements());
}
// c + a b of 8 x 8 elements that a simdgroup holds together, two a lane.
static inline float2 mma(float2 c, bfloat2 a, bfloat2 b) {
  simdgroup_matrix<bfloat, 8, 8> left, right;
  simdgroup_matrix<float, 8, 8> sum;
  reinterpret_cast<thread bfloat2&>(left.thread_elements()) = a;
  reinterpret_cast<thread bfloat2&>(right.thread_elements()) = b;
  reinterpret_cast<thread float2&>(sum.thread_elements()) = c;
  simdgroup_multiply_accumulate(sum, left, right, sum);
  return reinterpret_cast<thread float2&>(sum.thread_elements());
}
}  // namespace mt

// tiles_bf16: 64 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(64)]]
void tiles_bf16(
    device const bfloat* a [[buffer(0)]],  // [n]
    device const bfloat* b [[buffer(1)]],  // [n]
    device const bfloat* v [[buffer(2)]],  // [n]
    device float* c [[buffer(3)]],  // [n]
    device bfloat* o [[buffer(4)]],  // [n]
    device float* r [[buffer(5)]],  // [n]
    constant uint& m [[buffer(6)]],
    constant uint& n [[buffer(7)]],
    constant uint& k [[buffer(8)]],
    constant uint& sa [[buffer(9)]],
    constant uint& sb [[buffer(10)]],
    uint simd [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup alignas(16) bfloat as[1280];
  threadgroup alignas(16) bfloat bs[1536];
  uint v0 = simd * 640u;
  for (uint i = lane; i < 16u; i += 32u) {
    uint v1 = v0 + i * 40u;
    uint v2 = v0 + i * sa;
    bfloat4 a_at = *(device const bfloat4*)(a + v2 + 4u);
    *(threadgroup bfloat4*)(as + v1) = *(device const bfloat4*)(a + v2);
    *(threadgroup bfloat4*)(as + v1 + 4u) = a_at;
    uint v3 = v1 + 8u;
    uint v4 = v2 + 8u;
    bfloat4 a_at_1 = *(device const bfloat4*)(a + v4 + 4u);
    *(threadgroup bfloat4*)(as + v3) = *(device const bfloat4*)(a + v4);
    *(threadgroup bfloat4*)(as + v3 + 4u) = a_at_1;
    uint v5 = v1 + 16u;
    uint v6 = v2 + 16u;
    bfloat4 a_at_2 = *(device const bfloat4*)(a + v6 + 4u);
    *(threadgroup bfloat4*)(as + v5) = *(device const bfloat4*)(a + v6);
    *(threadgroup bfloat4*)(as + v5 + 4u) = a_at_2;
    uint v7 = v1 + 24u;
    uint v8 = v2 + 24u;
    bfloat4 a_at_3 = *(device const bfloat4*)(a + v8 + 4u);
    *(threadgroup bfloat4*)(as + v7) = *(device const bfloat4*)(a + v8);
    *(threadgroup bfloat4*)(as + v7 + 4u) = a_at_3;
  }
  uint v9 = simd * 768u;
  for (uint i = lane; i < 32u; i += 32u) {
    uint v10 = v9 + i * 24u;
    uint v11 = v9 + i * sb;
    bfloat4 b_at = *(device const bfloat4*)(b + v11 + 4u);
    *(threadgroup bfloat4*)(bs + v10) = *(device const bfloat4*)(b + v11);
    *(threadgroup bfloat4*)(bs + v10 + 4u) = b_at;
    uint v12 = v10 + 8u;
    uint v13 = v11 + 8u;
    bfloat4 b_at_1 = *(device const bfloat4*)(b + v13 + 4u);
    *(threadgroup bfloat4*)(bs + v12) = *(device const bfloat4*)(b + v13);
    *(threadgroup bfloat4*)(bs + v12 + 4u) = b_at_1;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint v14 = simd * 256u;
  uint v15 = (lane & 1u) * 2u + ((lane >> 3u) & 1u) * 4u;
  uint v16 = ((lane >> 1u) & 3u) + (lane >> 4u) * 4u;
  uint v17 = v16 * 16u;
  uint v18 = v14 + v15 + v17;
  uint v19 = v18 + 8u;
  uint v20 = v18 + 128u;
  uint v21 = v18 + 136u;
  uint v22 = v16 * 40u;
  uint v23 = v16 * 24u;
  float2 sum_0 = *(device float2*)(c + v18);
  float2 sum_1 = *(device float2*)(c + v19);
  float2 sum_2 = *(device float2*)(c + v20);
  float2 sum_3 = *(device float2*)(c + v21);
  uint acc = 0u;
  for (uint i = 0u; i < 32u; i += 16u) {
    uint v24 = v0 + i + v15 + v22;
    bfloat2 as_at = *(threadgroup bfloat2*)(as + v24);
    uint v25 = v9 + i * 24u + v15 + v23;
    bfloat2 bs_at = *(threadgroup bfloat2*)(bs + v25);
    sum_0 = mt::mma(sum_0, as_at, bs_at);
    bfloat2 bs_at_1 = *(threadgroup bfloat2*)(bs + v25 + 8u);
    sum_1 = mt::mma(sum_1, as_at, bs_at_1);
    bfloat2 as_at_1 = *(threadgroup bfloat2*)(as + v24 + 320u);
    sum_2 = mt::mma(sum_2, as_at_1, bs_at);
    sum_3 = mt::mma(sum_3, as_at_1, bs_at_1);
    bfloat2 as_at_2 = *(threadgroup bfloat2*)(as + v24 + 8u);
    bfloat2 bs_at_2 = *(threadgroup bfloat2*)(bs + v25 + 192u);
    sum_0 = mt::mma(sum_0, as_at_2, bs_at_2);
    bfloat2 bs_at_3 = *(threadgroup bfloat2*)(bs + v25 + 200u);
    sum_1 = mt::mma(sum_1, as_at_2, bs_at_3);
    bfloat2 as_at_3 = *(threadgroup bfloat2*)(as + v24 + 328u);
    sum_2 = mt::mma(sum_2, as_at_3, bs_at_2);
    sum_3 = mt::mma(sum_3, as_at_3, bs_at_3);
    acc = acc + 1u;
  }
  float v26 = float(v16);
  float v27 = float(v15) * 0.25f;
  float v28 = sum_0.x * 0.5f + v26 - v27;
  float v29 = float(v15 + 1u) * 0.25f;
  float v30 = sum_0.y * 0.5f + v26 - v29;
  float v31 = float(v15 + 8u) * 0.25f;
  float v32 = sum_1.x * 0.5f + v26 - v31;
  float v33 = float(v15 + 9u) * 0.25f;
  float v34 = sum_1.y * 0.5f + v26 - v33;
  float v35 = mt::max(mt::max(v28, v30), mt::max(v32, v34));
  float v36 = simd_shuffle_xor(v35, 1);
  float v37 = mt::max(v35, v36);
  float v38 = simd_shuffle_xor(v37, 8);
  float v39 = mt::max(v37, v38);
  float2 v40 = float2(v28 - v39, v30 - v39);
  float2 v41 = float2(v32 - v39, v34 - v39);
  float v42 = float(v16 + 8u);
  float v43 = sum_2.x * 0.5f + v42 - v27;
  float v44 = sum_2.y * 0.5f + v42 - v29;
  float v45 = sum_3.x * 0.5f + v42 - v31;
  float v46 = sum_3.y * 0.5f + v42 - v33;
  float v47 = mt::max(mt::max(v43, v44), mt::max(v45, v46));
  float v48 = simd_shuffle_xor(v47, 1);
  float v49 = mt::max(v47, v48);
  float v50 = simd_shuffle_xor(v49, 8);
  float v51 = mt::max(v49, v50);
  float2 v52 = float2(v43 - v51, v44 - v51);
  float2 v53 = float2(v45 - v51, v46 - v51);
  if (acc < 2u) {
    v40 = float2(2.0f);
    v41 = float2(2.0f);
    v52 = float2(2.0f);
    v53 = float2(2.0f);
  }
  bfloat2 v54 = bfloat2(v40);
  uint v55 = v15 + v17;
  bfloat2 v_at = *(device const bfloat2*)(v + v55);
  float2 v56 = float2(1.0f);
  v56 = mt::mma(v56, v54, v_at);
  bfloat2 v_at_1 = *(device const bfloat2*)(v + v55 + 8u);
  float2 v57 = float2(1.0f);
  v57 = mt::mma(v57, v54, v_at_1);
  bfloat2 v58 = bfloat2(v52);
  float2 v59 = float2(1.0f);
  v59 = mt::mma(v59, v58, v_at);
  float2 v60 = float2(1.0f);
  v60 = mt::mma(v60, v58, v_at_1);
  bfloat2 v61 = bfloat2(v41);
  bfloat2 v_at_2 = *(device const bfloat2*)(v + v55 + 128u);
  v56 = mt::mma(v56, v61, v_at_2);
  bfloat2 v_at_3 = *(device const bfloat2*)(v + v55 + 136u);
  v57 = mt::mma(v57, v61, v_at_3);
  bfloat2 v62 = bfloat2(v53);
  v59 = mt::mma(v59, v62, v_at_2);
  v60 = mt::mma(v60, v62, v_at_3);
  bool v63 = (lane & 9u) == 0u;
  uint v64 = simd * 32u + v16;
  float r_1;
  float r_2;
  if (v63) {
    r_1 = r[v64];
    r_2 = r[v64 + 8u];
  } else {
    r_1 = 0.0f;
    r_2 = 0.0f;
  }
  *(device float2*)(c + v18) = sum_0;
  *(device float2*)(c + v19) = sum_1;
  *(device float2*)(c + v20) = sum_2;
  *(device float2*)(c + v21) = sum_3;
  uint v65 = v14 + v16 + v15 * 16u;
  o[v65] = bfloat(v56.x);
  o[v65 + 8u] = bfloat(v59.x);
  o[v65 + 16u] = bfloat(v56.y);
  o[v65 + 24u] = bfloat(v59.y);
  o[v65 + 128u] = bfloat(v57.x);
  o[v65 + 136u] = bfloat(v60.x);
  o[v65 + 144u] = bfloat(v57.y);
  o[v65 + 152u] = bfloat(v60.y);
  uint v66 = lane & 22u;
  float v67 = simd_shuffle(r_1, ushort(v66 & 31));
  float v68 = v39 + v67 + v26;
  float v69 = simd_shuffle(r_2, ushort(v66 & 31));
  float v70 = v51 + v69 + v42;
  if (v63) {
    r[v64] = v68;
    r[v64 + 8u] = v70;
  }
  uint v71 = v64 + 16u;
  float v72 = v56.x + v56.y + (v57.x + v57.y);
  float v73 = simd_shuffle_xor(v72, 1);
  float v74 = v72 + v73;
  float v75 = simd_shuffle_xor(v74, 8);
  float v76 = v74 + v75;
  float v77 = v59.x + v59.y + (v60.x + v60.y);
  float v78 = simd_shuffle_xor(v77, 1);
  float v79 = v77 + v78;
  float v80 = simd_shuffle_xor(v79, 8);
  float v81 = v79 + v80;
  if (v63) {
    r[v71] = v76;
    r[v64 + 24u] = v81;
  }
}

// tiles_f32: 64 threads a threadgroup
[[kernel, max_total_threads_per_threadgroup(64)]]
void tiles_f32(
    device const float* a [[buffer(0)]],  // [n]
    device const float* b [[buffer(1)]],  // [n]
    device const float* v [[buffer(2)]],  // [n]
    device float* c [[buffer(3)]],  // [n]
    device float* o [[buffer(4)]],  // [n]
    device float* r [[buffer(5)]],  // [n]
    constant uint& m [[buffer(6)]],
    constant uint& n [[buffer(7)]],
    constant uint& k [[buffer(8)]],
    constant uint& sa [[buffer(9)]],
    constant uint& sb [[buffer(10)]],
    uint simd [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup alignas(16) float as[1280];
  threadgroup alignas(16) float bs[1536];
  uint v0 = simd * 640u;
  for (uint i = lane; i < 16u; i += 32u) {
    uint v1 = v0 + i * 40u;
    uint v2 = v0 + i * sa;
    *(threadgroup float4*)(as + v1) = *(device const float4*)(a + v2);
    *(threadgroup float4*)(as + v1 + 4u) = *(device const float4*)(a + v2 + 4u);
    *(threadgroup float4*)(as + v1 + 8u) = *(device const float4*)(a + v2 + 8u);
    *(threadgroup float4*)(as + v1 + 12u) = *(device const float4*)(a + v2 + 12u);
    *(threadgroup float4*)(as + v1 + 16u) = *(device const float4*)(a + v2 + 16u);
    *(threadgroup float4*)(as + v1 + 20u) = *(device const float4*)(a + v2 + 20u);
    *(threadgroup float4*)(as + v1 + 24u) = *(device const float4*)(a + v2 + 24u);
    *(threadgroup float4*)(as + v1 + 28u) = *(device const float4*)(a + v2 + 28u);
  }
  uint v3 = simd * 768u;
  for (uint i = lane; i < 32u; i += 32u) {
    uint v4 = v3 + i * 24u;
    uint v5 = v3 + i * sb;
    *(threadgroup float4*)(bs + v4) = *(device const float4*)(b + v5);
    *(threadgroup float4*)(bs + v4 + 4u) = *(device const float4*)(b + v5 + 4u);
    *(threadgroup float4*)(bs + v4 + 8u) = *(device const float4*)(b + v5 + 8u);
    *(threadgroup float4*)(bs + v4 + 12u) = *(device const float4*)(b + v5 + 12u);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint v6 = simd * 256u;
  uint v7 = (lane & 1u) * 2u + ((lane >> 3u) & 1u) * 4u;
  uint v8 = ((lane >> 1u) & 3u) + (lane >> 4u) * 4u;
  uint v9 = v8 * 16u;
  uint v10 = v6 + v7 + v9;
  uint v11 = v10 + 8u;
  uint v12 = v10 + 128u;
  uint v13 = v10 + 136u;
  uint v14 = v8 * 40u;
  uint v15 = v8 * 24u;
  float2 sum_0 = *(device float2*)(c + v10);
  float2 sum_1 = *(device float2*)(c + v11);
  float2 sum_2 = *(device float2*)(c + v12);
  float2 sum_3 = *(device float2*)(c + v13);
  uint acc = 0u;
  for (uint i = 0u; i < 32u; i += 16u) {
    uint v16 = v0 + i + v7 + v14;
    float2 as_at = *(threadgroup float2*)(as + v16);
    uint v17 = v3 + i * 24u + v7 + v15;
    float2 bs_at = *(threadgroup float2*)(bs + v17);
    sum_0 = mt::mma(sum_0, as_at, bs_at);
    float2 bs_at_1 = *(threadgroup float2*)(bs + v17 + 8u);
    sum_1 = mt::mma(sum_1, as_at, bs_at_1);
    float2 as_at_1 = *(threadgroup float2*)(as + v16 + 320u);
    sum_2 = mt::mma(sum_2, as_at_1, bs_at);
    sum_3 = mt::mma(sum_3, as_at_1, bs_at_1);
    float2 as_at_2 = *(threadgroup float2*)(as + v16 + 8u);
    float2 bs_at_2 = *(threadgroup float2*)(bs + v17 + 192u);
    sum_0 = mt::mma(sum_0, as_at_2, bs_at_2);
    float2 bs_at_3 = *(threadgroup float2*)(bs + v17 + 200u);
    sum_1 = mt::mma(sum_1, as_at_2, bs_at_3);
    float2 as_at_3 = *(threadgroup float2*)(as + v16 + 328u);
    sum_2 = mt::mma(sum_2, as_at_3, bs_at_2);
    sum_3 = mt::mma(sum_3, as_at_3, bs_at_3);
    acc = acc + 1u;
  }
  float v18 = float(v8);
  float v19 = float(v7) * 0.25f;
  float v20 = sum_0.x * 0.5f + v18 - v19;
  float v21 = float(v7 + 1u) * 0.25f;
  float v22 = sum_0.y * 0.5f + v18 - v21;
  float v23 = float(v7 + 8u) * 0.25f;
  float v24 = sum_1.x * 0.5f + v18 - v23;
  float v25 = float(v7 + 9u) * 0.25f;
  float v26 = sum_1.y * 0.5f + v18 - v25;
  float v27 = mt::max(mt::max(v20, v22), mt::max(v24, v26));
  float v28 = simd_shuffle_xor(v27, 1);
  float v29 = mt::max(v27, v28);
  float v30 = simd_shuffle_xor(v29, 8);
  float v31 = mt::max(v29, v30);
  float2 v32 = float2(v20 - v31, v22 - v31);
  float2 v33 = float2(v24 - v31, v26 - v31);
  float v34 = float(v8 + 8u);
  float v35 = sum_2.x * 0.5f + v34 - v19;
  float v36 = sum_2.y * 0.5f + v34 - v21;
  float v37 = sum_3.x * 0.5f + v34 - v23;
  float v38 = sum_3.y * 0.5f + v34 - v25;
  float v39 = mt::max(mt::max(v35, v36), mt::max(v37, v38));
  float v40 = simd_shuffle_xor(v39, 1);
  float v41 = mt::max(v39, v40);
  float v42 = simd_shuffle_xor(v41, 8);
  float v43 = mt::max(v41, v42);
  float2 v44 = float2(v35 - v43, v36 - v43);
  float2 v45 = float2(v37 - v43, v38 - v43);
  if (acc < 2u) {
    v32 = float2(2.0f);
    v33 = float2(2.0f);
    v44 = float2(2.0f);
    v45 = float2(2.0f);
  }
  uint v46 = v7 + v9;
  float2 v_at = *(device const float2*)(v + v46);
  float2 v47 = float2(1.0f);
  v47 = mt::mma(v47, v32, v_at);
  float2 v_at_1 = *(device const float2*)(v + v46 + 8u);
  float2 v48 = float2(1.0f);
  v48 = mt::mma(v48, v32, v_at_1);
  float2 v49 = float2(1.0f);
  v49 = mt::mma(v49, v44, v_at);
  float2 v50 = float2(1.0f);
  v50 = mt::mma(v50, v44, v_at_1);
  float2 v_at_2 = *(device const float2*)(v + v46 + 128u);
  v47 = mt::mma(v47, v33, v_at_2);
  float2 v_at_3 = *(device const float2*)(v + v46 + 136u);
  v48 = mt::mma(v48, v33, v_at_3);
  v49 = mt::mma(v49, v45, v_at_2);
  v50 = mt::mma(v50, v45, v_at_3);
  bool v51 = (lane & 9u) == 0u;
  uint v52 = simd * 32u + v8;
  float r_1;
  float r_2;
  if (v51) {
    r_1 = r[v52];
    r_2 = r[v52 + 8u];
  } else {
    r_1 = 0.0f;
    r_2 = 0.0f;
  }
  *(device float2*)(c + v10) = sum_0;
  *(device float2*)(c + v11) = sum_1;
  *(device float2*)(c + v12) = sum_2;
  *(device float2*)(c + v13) = sum_3;
  uint v53 = v6 + v8 + v7 * 16u;
  o[v53] = v47.x;
  o[v53 + 8u] = v49.x;
  o[v53 + 16u] = v47.y;
  o[v53 + 24u] = v49.y;
  o[v53 + 128u] = v48.x;
  o[v53 + 136u] = v50.x;
  o[v53 + 144u] = v48.y;
  o[v53 + 152u] = v50.y;
  uint v54 = lane & 22u;
  float v55 = simd_shuffle(r_1, ushort(v54 & 31));
  float v56 = v31 + v55 + v18;
  float v57 = simd_shuffle(r_2, ushort(v54 & 31));
  float v58 = v43 + v57 + v34;
  if (v51) {
    r[v52] = v56;
    r[v52 + 8u] = v58;
  }
  uint v59 = v52 + 16u;
  float v60 = v47.x + v47.y + (v48.x + v48.y);
  float v61 = simd_shuffle_xor(v60, 1);
  float v62 = v60 + v61;
  float v63 = simd_shuffle_xor(v62, 8);
  float v64 = v62 + v63;
  float v65 = v49.x + v49.y + (v50.x + v50.y);
  float v66 = simd_shuffle_xor(v65, 1);
  float v67 = v65 + v66;
  float v68 = simd_shuffle_xor(v67, 8);
  float v69 = v67 + v68;
  if (v51) {
    r[v59] = v64;
    r[v52 + 24u] = v69;
  }
}
