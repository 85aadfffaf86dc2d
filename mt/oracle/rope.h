// Rotary position embeddings: a pair (x1, x2) becomes (x1 cos a - x2 sin a, x1 sin a + x2 cos a); the pair is elements
// (p, p + dim / 2) of a head.
#pragma once
#include <cstdint>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// Where the vectors of a tensor lie: element d of head h at position s is at h * head_stride + s * seq_stride + d.
/// Together they cover the tensor.
struct RopeShape {
  std::int64_t heads = 1, seq = 1, dim = 0;
  std::int64_t head_stride = 0, seq_stride = 0;
  std::int64_t first_position = 0;
};

/// Angle of pair p at position s: (first_position + s) * 2^(-p / (dim / 2) * log2_base). The bound covers angles formed
/// in f32, so it grows with the position.
Expected rope(const HostTensor& x, const RopeShape& shape, double log2_base);

/// Frequencies of Llama 3: waves longer than original_max_position / low_freq_factor turn slower by scale_factor, waves
/// shorter than original_max_position / high_freq_factor stay, those between are blended. scale_factor 1 changes
/// nothing.
struct LlamaRope {
  double theta_base = 10000, scale_factor = 1, low_freq_factor = 1, high_freq_factor = 4, original_max_position = 8192;
};

/// x [heads, head_dim], all at one position. Parameters as the kernel holds them, in f32.
Expected rope_llama(const HostTensor& x, std::int64_t head_dim, std::int64_t position, const LlamaRope& parameters);

}  // namespace mt::oracle
