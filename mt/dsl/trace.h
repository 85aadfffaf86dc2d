// The recording of a kernel: which parameters it declares, and the instructions its body emits.
#pragma once
#include <string>
#include <vector>

#include "mt/base/error.h"
#include "mt/base/fill.h"
#include "mt/base/traits.h"
#include "mt/dsl/problem.h"
#include "mt/dsl/types.h"
#include "mt/ir/edit.h"

namespace mt {

struct TensorParam {
  std::string name;
  DType dtype;
  Access access;
  std::vector<Dim> shape;
  Fill fill;
  bool temporary = false;  // made by the runtime for one call
};

/// A scalar the kernel takes: a dimension of the problem (integers), or a real number with a default.
struct ScalarDecl {
  std::string name;
  DType dtype = DType::U32;
  double fallback = 0;  // reals: used where the problem does not give one
};

/// A count that a plan, a tuner or the command line chooses before tracing.
struct TunableDecl {
  std::string name;
  int value = 0;
  bool overridden = false;
  std::vector<int> choices;
};

/// What a kernel struct declared while it was constructed.
struct Signature {
  std::vector<TensorParam> tensors;
  std::vector<ScalarDecl> scalars;
  std::vector<TunableDecl> tunables;

  const TensorParam* tensor(std::string_view name) const;
  /// Index of the scalar of that name, or -1.
  int scalar(std::string_view name) const;
};

/// Size of a dimension in a problem.
std::int64_t extent_of(const Dim& dim, const Problem& problem);
std::vector<std::int64_t> shape_of(const TensorParam& tensor, const Problem& problem);

/// The signature under construction; Error where a parameter is declared outside a kernel struct.
Signature& declaring();
struct DeclareScope {
  explicit DeclareScope(Signature& s);
  ~DeclareScope();
  DeclareScope(const DeclareScope&) = delete;
  DeclareScope& operator=(const DeclareScope&) = delete;

 private:
  Signature* outer_;
};

/// A body being traced.
struct Trace {
  Trace(const Signature& signature, const Problem& problem, std::string name, int threads, TargetTraits traits);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  Kernel kernel;
  Builder builder;
  TargetTraits traits;
  const Problem& problem;

  ValueId value(Inst inst, Type type, Here here);
  void effect(Inst inst, Here here);
  /// Runs `body` with a new region of `owner` as the place of insertion.
  template <class F>
  void block(InstId owner, F&& body) {
    const RegionId outer = builder.region, inner = add_region(kernel, owner);
    builder.region = inner;
    body(inner);
    builder.region = outer;
  }
  /// Takes unused parameters out, names temporaries' access, and gives the kernel away.
  Kernel finish();

 private:
  Trace* outer_;
};

/// The trace in progress; Error where device code is used outside a kernel's body.
Trace& trace();

}  // namespace mt
