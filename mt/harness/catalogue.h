// What `tile list` and docs/kernels.md say about the registered kernels.
#pragma once
#include <string>
#include <vector>

#include "mt/dsl/kernel.h"

namespace mt {

/// A parameter as one line: `x: in T [rows, n]`.
struct CataloguedTensor {
  std::string name, dtype, access;  // dtype "T" where it is the kernel's own
  std::vector<std::string> shape;
};

/// One kernel name with all its dtypes.
struct CataloguedKernel {
  std::string name, file, family;  // file from the repository's root, where known
  int line = 0;
  std::vector<std::string> dtypes;
  std::vector<CataloguedTensor> tensors;  // temporaries left out
  std::vector<std::string> sizes;         // names that a problem gives
  std::vector<ScalarDecl> reals;
  std::vector<TunableDecl> tunables;
  std::size_t temporaries = 0;
  std::size_t tests = 0, benches = 0;  // cases of one dtype
};

/// The folder of `kernels/` that holds the kernel's source: `softmax`; empty where there is none.
std::string family_of(const KernelEntry& entry);

std::vector<CataloguedKernel> catalogue(const std::vector<const KernelEntry*>& entries);

/// A table: name, dtypes, parameters, cases.
std::string catalogue_text(const std::vector<CataloguedKernel>& kernels);
/// An array of objects with everything above.
std::string catalogue_json(const std::vector<CataloguedKernel>& kernels);
/// The page docs/kernels.md.
std::string catalogue_markdown(const std::vector<CataloguedKernel>& kernels);

}  // namespace mt
