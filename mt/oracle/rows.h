// Loops over the rows of a tensor.
#pragma once
#include <cstdint>
#include <vector>

#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"

namespace mt::oracle {

/// Calls f(row index, the row's values) for every row, from several threads. `cost` weighs the work for one element.
template <class F>
void each_row(const HostTensor& x, const Rows& r, F f, std::int64_t cost = 1) {
  parallel_for(r.rows, grain_for(cost * r.n), [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> row(static_cast<std::size_t>(r.n));
    for (std::int64_t i = begin; i < end; ++i) {
      read(x, i * r.n, r.n, row.data());
      f(i, row);
    }
  });
}

}  // namespace mt::oracle
