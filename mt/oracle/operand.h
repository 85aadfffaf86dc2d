// What numbers lose on their way into a product.
#pragma once
#include <limits>

#include "mt/base/dtype.h"

namespace mt::oracle {

/// How numbers of f32 are rounded to the dtype in which they are multiplied. By default they stay as they are.
struct OperandRounding {
  double relative = 0;  // unit roundoff: 2^-11 for f16, 2^-8 for bf16
  double floor = 0;     // the largest error below the normal range
  double largest = std::numeric_limits<double>::infinity();
  DType dtype = DType::F32;  // what all of this follows from
};

}  // namespace mt::oracle
