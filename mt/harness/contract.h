// What a launch must keep, checked once for all backends and before anything runs.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "mt/dsl/kernel.h"

namespace mt {

/// A tensor parameter in one problem.
struct TensorSlot {
  const TensorParam* param = nullptr;
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;
  std::size_t bytes = 0;
};

/// All names of sizes, or of real scalars, that problems of this kernel may have.
std::vector<std::string> size_names(const KernelInstance& instance);
std::vector<std::string> real_names(const KernelInstance& instance);

/// Sizes that parameters need are there, none is unknown or negative, and scalars fit their dtype; every override
/// names a tunable and has one of its values. Throws Error.
void check_problem(const KernelInstance& instance, const Problem& problem, const Overrides& overrides);

/// Shapes and bytes of all tensors. Throws Error where a tensor is larger than memory can be.
std::vector<TensorSlot> tensor_slots(const Signature& signature, const Problem& problem);

/// The value that a problem gives to a scalar, as bits of its dtype. Throws Error where it does not fit or breaks what
/// the kernel was compiled for.
std::uint64_t scalar_bits(const ScalarParam& scalar, const Signature& signature, const Problem& problem);

/// Threads, threadgroup memory and the grid against what the device and the compiled program allow. Throws Error.
void check_geometry(const Kernel& kernel, const Groups& groups, const Limits& limits, int program_threads);
std::int64_t threadgroup_bytes(const Kernel& kernel);

/// Every tensor has a buffer of exactly its bytes, and nothing that is written overlaps another tensor. Throws Error.
void check_bindings(const std::vector<TensorSlot>& slots, const std::map<std::string, BufferView>& views);

/// The view starts where the compiled accesses of a tensor can start. Throws Error.
void check_alignment(const std::string& tensor, const BufferView& view, std::size_t alignment);

/// `[kernel/dtype] what; problem n:5`.
std::string contextual(const std::string& kernel_id, const Problem& problem, std::string_view what);
/// Runs `f`; an Error from it says which kernel and problem it is about.
template <class F>
auto in_context(const std::string& kernel_id, const Problem& problem, F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    throw Error(contextual(kernel_id, problem, e.what()));
  }
}

}  // namespace mt
