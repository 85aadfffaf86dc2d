// Problems larger than memory, and where they run: the cpu device maps memory where it is touched.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "mt/harness/large.h"

namespace mt {

inline constexpr std::int64_t kMany = (std::int64_t{1} << 31) + (1 << 20);

struct Cpu {
  const Backend& backend = *find_backend("cpu");
  std::unique_ptr<Device> device = backend.open().take();
  Runner runner{backend, *device};
};

inline const KernelEntry& entry_named(const std::string& name, DType dtype) {
  for (const KernelEntry& e : kernels())
    if (e.name == name && e.dtype == dtype) return e;
  throw Error("no kernel " + name);
}

/// Their batch runs along y or z, where a GPU takes 65,535 threadgroups; items are made larger instead.
inline const std::map<std::string, Problem>& along_other_axes() {
  const Problem sequences{{"batch", 30000}, {"n_q_heads", 2}, {"n_kv_heads", 1},
                          {"q_len", 300},   {"k_len", 40},    {"head_dim", 128}};
  const Problem masked = sequences.with("mask_batch", 1).with("mask_heads", 2).with("mask_q_len", 300);
  const Problem decode{{"batch", 40000}, {"n_q_heads", 2},   {"n_kv_heads", 2},
                       {"queries", 1},   {"kv_stride", 512}, {"head_dim", 64}};
  const Problem products{{"products", 65535}, {"m", 200}, {"n", 170}, {"k", 8}},
      quantised{{"m", 66000}, {"n", 9}, {"k", 33024}};
  const auto codes = [&](int bits, int group) {
    return quantised.with("words", 33024 * bits / 32).with("groups", 33024 / group);
  };
  static const std::map<std::string, Problem> problems = {
      {"mt_rope",
       {{"batch", 1025},
        {"heads", 8},
        {"seq", 2049},
        {"rows", 8 * 2049},
        {"head_dim", 128},
        {"head_stride", 2049},
        {"seq_stride", 1},
        {"offset", 0}}},
      {"mt_qmv", {{"m", 65535}, {"n", 9}, {"k", 33024}, {"group_size", 64}, {"words", 33024 / 8}, {"groups", 516}}},
      {"mt_qmv_int8_fast",
       {{"m", 65535}, {"n", 9}, {"k", 33024}, {"group_size", 64}, {"words", 33024 / 4}, {"groups", 516}}},
      {"mt_flash_decode", decode},
      {"mt_flash_decode_flat", decode},
      {"mt_flash_decode_window", decode.with("window", 100).with("sink_end", 3)},
      {"mt_qmv_mxfp4", codes(4, 32).with("m", 65535)},
      {"mt_qmv_nvfp4", codes(4, 16).with("m", 65535)},
      {"mt_qmv_mxfp8", codes(8, 32).with("m", 65535)},
      {"mt_qmm_mma_b2", codes(2, 64).with("group_size", 64)},
      {"mt_qmm_mma_b3", codes(3, 64).with("group_size", 64)},
      {"mt_qmm_mma_b4", codes(4, 64).with("group_size", 64)},
      {"mt_qmm_mma_b5", codes(5, 64).with("group_size", 64)},
      {"mt_qmm_mma_b6", codes(6, 64).with("group_size", 64)},
      {"mt_qmm_mma_b8", codes(8, 64).with("group_size", 64)},
      {"mt_qmm_mma_mxfp4", codes(4, 32)},
      {"mt_qmm_mma_nvfp4", codes(4, 16)},
      {"mt_qmm_mma_mxfp8", codes(8, 32)},
      {"mt_steel_gemm_gather", products.with("n_a", 3).with("n_b", 5)},
      {"mt_steel_gemm_gather_nt", products.with("n_a", 3).with("n_b", 5)},
      {"mt_steel_gemm_segmented", products},
      {"mt_sdpa_prefill", sequences},
      {"mt_sdpa_full", sequences},
      {"mt_sdpa_prefill_window", sequences.with("window", 50)},
      {"mt_sdpa_prefill_mask", masked},
      {"mt_sdpa_full_mask", masked},
      {"mt_sdpa_prefill_bool_mask", masked},
      {"mt_sdpa_full_bool_mask", masked.with("mask_batch", 30000)},
  };
  return problems;
}

/// A problem with more than 2^31 elements in a tensor: a case of the kernel's own with its batch enlarged.
inline std::optional<Problem> large_problem(const std::string& name, const KernelInstance& kernel) {
  if (const auto other = along_other_axes().find(name); other != along_other_axes().end()) return other->second;
  for (const Problem& p : kernel.tests()) {
    if (!p.plain() || !p.tunables().empty()) continue;
    const auto batch = batch_of(kernel, p);
    if (!batch) continue;
    std::int64_t elements = 0;
    for (const TensorSlot& s : tensor_slots(kernel.signature(), p))
      if (!s.param->temporary) elements = std::max(elements, s.count);
    bool nothing = false;  // some loop has no trips
    for (const auto& [size, value] : p.sizes()) nothing = nothing || value == 0;
    if (nothing || elements < 60 || elements > 100000) continue;
    return enlarged(kernel, p, kMany);
  }
  return std::nullopt;
}

/// Calls body(entry, problem) for every kernel with a batch, in one dtype of 16 bits: half of the mapped memory. Fails
/// the test where a kernel has no large problem, or next to none has.
template <class F>
void for_each_large(F&& body) {
  std::size_t tested = 0;
  std::string last;
  for (const KernelEntry& entry : kernels()) {
    if (entry.name == last || entry.dtype == DType::F32) continue;
    last = entry.name;
    const auto kernel = entry.make();
    if (kernel->batch().empty()) continue;
    const auto problem = large_problem(entry.name, *kernel);
    ASSERT_TRUE(problem) << entry.id() << " has no test with a batch";
    body(entry, *problem);
    ++tested;
  }
  EXPECT_GT(tested, 90u);
}

}  // namespace mt
