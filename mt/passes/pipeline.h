// The order in which passes run, for every target.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mt/ir/kernel.h"
#include "mt/ir/matrix_unit.h"

namespace mt {

/// What tiles become.
struct TileLowering {
  bool lower = false;                   // false: the target takes tiles as they are
  MatrixUnit narrow = MatrixUnit::Fma;  // multiplies operands of 16 bits
  MatrixUnit wide = MatrixUnit::Fma;    // multiplies operands of f32
  bool load_matrix = false;             // the target has load_matrix
  bool copy_async = false;              // the target copies to threadgroup memory while it works
  bool teams = false;                   // the target has mma_team
  bool operator==(const TileLowering&) const = default;
};

/// What differs between targets. A backend states its own; everything that compiles for it uses the same.
struct PipelineOptions {
  bool lower_group_reduce = true;  // group_reduce becomes simd_reduce + threadgroup memory + barriers
  bool contiguous_simds = false;   // a `for` over simdgroups gives each a contiguous run instead of a stride
  int max_vector_bytes = 16;       // widest load or store that vectorisation makes
  TileLowering tiles = {};
  bool verify_each = true;  // verifier after every pass; a violation is an internal error
  bool operator==(const PipelineOptions&) const = default;
};

struct Pass {
  std::string_view name;
  std::string_view what;                         // one line for `tile inspect --pass`
  bool (*run)(Kernel&, const PipelineOptions&);  // whether it changed anything
  bool reorders = false;                         // may combine floats in another order: results keep the oracle's bound
};

/// All passes by name, in pipeline order (a pass that runs twice stands twice).
const std::vector<Pass>& pipeline();

/// Called after each pass with its name, whether it changed the kernel, the seconds it took and the kernel.
using PassObserver = std::function<void(const Pass&, bool changed, double seconds, const Kernel&)>;

/// Runs the whole pipeline. The kernel must verify before.
void optimise(Kernel& kernel, const PipelineOptions& options, const PassObserver& observe = {});

}  // namespace mt
