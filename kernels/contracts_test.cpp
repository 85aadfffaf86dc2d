// What kernels refuse before anything is launched, and the sentence they say.
#include <gtest/gtest.h>

#include <algorithm>

#include "mt/dsl/kernel.h"

namespace mt {
namespace {

/// A problem from the kernel's own tests.
Problem sound(const KernelInstance& k) {
  const Problems all = k.tests();
  for (const Problem& p : all) {
    bool whole = true;
    for (const auto& [name, value] : p.sizes()) whole = whole && (value > 0 || name == "sink_end" || name == "offset");
    if (whole) return p;
  }
  return all.front();
}

std::string refusal(const std::string& name, const std::function<Problem(const Problem&)>& broken) {
  const auto it =
      std::find_if(kernels().begin(), kernels().end(), [&](const KernelEntry& e) { return e.name == name; });
  if (it == kernels().end()) return "no kernel " + name;
  const auto k = it->make();
  for (const bool gpu : {true, false}) {
    EXPECT_NO_THROW(k->plan(sound(*k), {.gpu = gpu})) << name;
    try {
      k->plan(broken(sound(*k)), {.gpu = gpu});
      return "accepted";
    } catch (const Error& e) {
      if (!gpu) return e.what();
    }
  }
  return "";
}

void refuses(const std::string& kernel, const std::string& size, std::int64_t value, const std::string& why) {
  const std::string said = refusal(kernel, [&](const Problem& p) { return p.with(size, value); });
  EXPECT_NE(said.find(why), std::string::npos) << kernel << " " << size << ":" << value << " says: " << said;
}

TEST(Contracts, DecodeAttention) {
  for (const std::string k :
       {"mt_sdpa_vector", "ffai_sdpa_decode", "ffai_sdpa_decode_2pass", "sdpa_decode_batched_q4"}) {
    refuses(k, "n_q_heads", 7, "divide evenly among the KV heads");
    refuses(k, "n_kv_heads", 0, "divide evenly among the KV heads");
    refuses(k, "n_kv", 1 << 20, "must not exceed kv_stride");
    refuses(k, "head_dim", 72, "multiple of 32 up to 512");
    refuses(k, "head_dim", 0, "multiple of 32 up to 512");
    refuses(k, "queries", 0, "1 to 8 queries");
    refuses(k, "queries", 9, "1 to 8 queries");
    refuses(k, "queries", 3, "the number in the kernel's name");
  }
  refuses("mt_sdpa_vector_d64", "head_dim", 128, "the one in the kernel's name");
}

TEST(Contracts, TileAttention) {
  for (const std::string k : {"mt_sdpa_prefill", "mt_sdpa_full_mask", "mt_flash_decode", "mt_flash_decode_window"}) {
    refuses(k, "head_dim", 44, "a multiple of 8 up to 256");
    refuses(k, "head_dim", 264, "a multiple of 8 up to 256");
    refuses(k, "n_kv_heads", 0, "divide evenly among the KV heads");
  }
  for (const std::string k : {"mt_sdpa_full_mask", "mt_sdpa_prefill_bool_mask"}) {
    refuses(k, "mask_batch", 3, "mask_batch must be 1 or batch");
    refuses(k, "mask_heads", 5, "mask_heads must be 1 or n_q_heads");
    refuses(k, "mask_q_len", 7, "mask_q_len must be 1 or q_len");
  }
  for (const std::string k : {"mt_sdpa_prefill_window", "mt_flash_decode_window", "mt_flash_decode_paged_window"})
    refuses(k, "window", 0, "window must be 1 or more");
}

TEST(Contracts, RotaryEmbeddings) {
  refuses("mt_rope", "head_dim", 63, "head_dim must be even");
  refuses("ffai_rope_llama", "head_dim", 0, "head_dim must be even");
  refuses("mt_rope", "rows", 1, "rows must be heads * seq");
  refuses("mt_rope", "head_stride", 99, "the strides, in rows, must be");
}

TEST(Contracts, AffineCodes) {
  for (const std::string k : {"mt_affine_quantize_int3", "mt_affine_dequantize_int3"}) {
    refuses(k, "group_size", 40, "fills whole 32-bit words");
    refuses(k, "group_size", 0, "fills whole 32-bit words");
    refuses(k, "words", 1, "words must be group_size * bits / 32");
  }
  refuses("mt_qmv", "group_size", 48, "group_size must be a multiple of 32");
  refuses("mt_qmv", "group_size", 0, "group_size must be a multiple of 32");
  refuses("mt_qmv", "k", 100, "k must be a multiple of group_size");
  refuses("mt_qmv_int8_fast", "words", 3, "words must be k * bits / 32");
  refuses("mt_qmv", "groups", 77, "groups must be k / group_size");
}

TEST(Contracts, StridedCopy) {
  refuses("mt_strided_copy_nd", "rank", 9, "rank must be 1 to 8");
  refuses("mt_strided_copy_nd", "n", 12345, "n must be the product");
  refuses("mt_strided_copy_nd", "src_size", 0, "must lie inside src");
  // Places that only look to lie inside because they are beyond 64 bits.
  const std::string said = refusal("mt_strided_copy_nd", [](const Problem& p) {
    return p.with("rank", 1).with("d0", 3).with("s0", std::int64_t{1} << 62).with("n", 3);
  });
  EXPECT_NE(said.find("must lie inside src"), std::string::npos) << said;
  const std::string wrapped = refusal("mt_strided_copy_nd", [](const Problem& p) {
    const std::int64_t size = std::int64_t{1} << 31;
    return p.with("rank", 3).with("d0", size).with("d1", size).with("d2", 4).with("n", 0);
  });
  EXPECT_NE(wrapped.find("must lie inside src"), std::string::npos) << wrapped;
}

}  // namespace
}  // namespace mt
