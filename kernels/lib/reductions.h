// The four reductions that families of kernels are registered for.
#pragma once
#include "mt/dsl/dsl.h"
#include "mt/oracle/reduce.h"

namespace mt {

struct ReductionRow {
  const char* suffix;  // of the registered name
  Combine combine;
  oracle::Reduction meaning;
};
inline constexpr ReductionRow kReductions[] = {{"", Combine::Sum, oracle::Reduction::Sum},
                                               {"_prod", Combine::Prod, oracle::Reduction::Prod},
                                               {"_max", Combine::Max, oracle::Reduction::Max},
                                               {"_min", Combine::Min, oracle::Reduction::Min}};

/// What a reduction over nothing gives.
inline float identity_f32(Combine c) { return static_cast<float>(value_of(DType::F32, identity_of(c, DType::F32))); }

/// Makes `k` the kernel of a row. Factors lie close to 1, with logarithms that cancel on average: products of a million
/// stay in the range of f32, and in every dtype hardly a factor is 1 itself.
template <class K>
void set_reduction(K& k, const ReductionRow& row) {
  k.combine = row.combine;
  k.meaning = row.meaning;
  if (row.combine == Combine::Prod) k.x.fill_with(Fill::uniform(0.97, 1.0303).without_edges());
}

}  // namespace mt
