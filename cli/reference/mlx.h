// MLX's own Metal kernels as a second opinion: which of them computes what a kernel of the registry does, and how MLX
// launches it. The kernels come from a folder that the user has; nothing of MLX is part of this tree.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mt/dsl/kernel.h"

namespace mt::reference {

using Bytes = std::vector<std::byte>;
using Extent = std::array<std::uint32_t, 3>;

template <class T>
Bytes bytes_of(const T& value) {
  Bytes b(sizeof value);
  std::memcpy(b.data(), &value, sizeof value);
  return b;
}
template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes b(values.size() * sizeof(T));
  if (!b.empty()) std::memcpy(b.data(), values.data(), b.size());
  return b;
}

/// What lies at an index: the tensor of that name, or the bytes.
struct Bound {
  Bound(int i, std::string name) : index(i), tensor(std::move(name)) {}
  Bound(int i, const char* name) : index(i), tensor(name) {}
  Bound(int i, Bytes b) : index(i), bytes(std::move(b)) {}
  int index = 0;
  std::string tensor;
  Bytes bytes;
};

/// One launch of a kernel of MLX.
struct Launch {
  std::vector<std::string> files;  // below mlx/backend/metal/kernels, as they must be included; the last has the kernel
  std::string function;            // its template
  std::vector<std::string> words;  // that the last file must hold as well: what not every version has
  std::string arguments;           // of the template; empty where the file itself instantiates the kernel
  std::string host_name;
  std::vector<Bound> buffers;
  std::vector<std::pair<int, Bytes>> constants;  // function constants, as far as the version has them
  Extent grid{1, 1, 1};                          // threads of the whole launch
  Extent threads{1, 1, 1};                       // of a threadgroup
};

/// Where MLX means to be less exact than f32 arithmetic with one rounding at the store, and why.
struct Allowance {
  bool storage_arithmetic = false;           // each rounding that the oracle's bound counts is one of the storage dtype
  std::function<double(double value)> more;  // absolute error beyond that, of an element with this value; may be empty
  std::string why;                           // empty: MLX is judged as our kernel is
};

/// What MLX runs for one problem of one kernel.
struct Counterpart {
  std::string name;  // of the kernel that tells it from others, as in MLX: softmax_looped<half>
  std::vector<Launch> launches;
  std::vector<HostTensor> scratch;  // tensors between launches, or inputs as MLX wants them
  Allowance allowance;
  /// What is right where MLX's definition is another than ours: from inputs and from the tensors that MLX wrote. Empty:
  /// the kernel's own oracle.
  std::function<ExpectedOutputs(const std::map<std::string, HostTensor>& tensors)> oracle;
  std::string differs;  // then: how the definitions differ
  /// Fills scratch tensors from inputs. May be empty.
  std::function<void(std::map<std::string, HostTensor>& tensors)> prepare = {};
};

/// The counterparts of some kernels of the registry.
struct Family {
  std::vector<std::string> kernels;
  bool edges = false;  // NaN, infinities and the like mean the same in MLX
  /// None where MLX would take this problem to no kernel that is known here.
  std::function<std::vector<Counterpart>(const KernelEntry&, const Problem&)> counterparts;
  Problems more = {};  // beside the kernels' own tests, for kernels of MLX that those do not reach
};
const std::vector<Family>& families();
/// Null where MLX has none.
const Family* family_of_kernel(const std::string& name);

/// MLX's kernels in a folder.
class MlxTree {
 public:
  /// The folder of MLX's sources, its include folder, or a folder of site-packages that has them. UsageError, with what
  /// to give instead, where no kernels are found.
  explicit MlxTree(const std::string& folder);
  /// For #include.
  const std::string& root() const { return root_; }
  /// `0.32.4`, or `of unknown version`.
  const std::string& version() const { return version_; }
  /// A sentence where a launch's files or template are missing; empty where all is there.
  std::string lacks(const Launch& launch) const;
  /// Whether the kernel's file has a function constant of that index: versions differ.
  bool has_constant(const Launch& launch, int index) const;
  /// The text to compile: includes and one instantiation.
  static std::string text(const Launch& launch);

 private:
  std::string source(const std::string& file) const;
  std::string root_, version_;
};

// What the lists of families share.

/// `float`, `half`, `bfloat16_t`.
std::string mlx_type(DType t);
/// `float32`, `float16`, `bfloat16`.
std::string mlx_name(DType t);
std::uint32_t count32(std::int64_t n);
inline std::uint32_t round_up(std::int64_t n, std::int64_t to) { return count32((n + to - 1) / to * to); }
/// As many threads a threadgroup as MLX takes for a grid of threads: powers of two in turn, 1024 at most.
Extent block_of(const Extent& grid);
/// Half and bfloat arithmetic, where MLX computes in the dtype it stores.
Allowance in_storage(DType t);

/// out [m, n] = a [m, k] times b [k, n], all of one dtype; a transposed one lies as [k, m] or [n, k].
struct Product {
  DType dtype = DType::F32;
  std::int64_t m = 0, n = 0, k = 0;
  std::string a, b, out;  // names of tensors
  bool a_transposed = false, b_transposed = false;
};
/// What MLX has for it: gemv for vectors and for each row of a, steel gemm for two rows and columns or more.
std::vector<Counterpart> dense_products(const Product& p);

std::vector<Family> map_families();
std::vector<Family> row_families();
std::vector<Family> order_families();
std::vector<Family> attention_families();
std::vector<Family> rotary_families();
std::vector<Family> gather_families();
std::vector<Family> quantised_families();
std::vector<Family> product_families();

}  // namespace mt::reference
