#include "mt/oracle/movement.h"

#include <fmt/format.h>

#include <cmath>

#include "mt/base/error.h"
#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"
#include "mt/oracle/rounding.h"

namespace mt::oracle {

Expected copy(const HostTensor& x) {
  Expected out = blank(x.count());
  parallel_for(x.count(), 64 * kBlock,
               [&](std::int64_t begin, std::int64_t end) { read(x, begin, end - begin, out.value.data() + begin); });
  return out;
}

Expected strided_copy(const HostTensor& source, const std::vector<std::int64_t>& shape,
                      const std::vector<std::int64_t>& strides, std::int64_t offset) {
  require(shape.size() == strides.size(),
          fmt::format("a strided copy of {} axes has {} strides; give each axis one", shape.size(), strides.size()));
  std::int64_t count = 1;
  for (const std::int64_t d : shape) count *= d;
  Expected out = blank(count);
  const std::int64_t available = source.count();
  parallel_for(count, 64 * kBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t rest = i, at = offset;
      for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) at += rest % shape[axis] * strides[axis];
      if (at < 0 || at >= available)
        throw Error(
            fmt::format("oracle: element {} of a strided copy is at {} of {}, which has {} elements; mend the "
                        "shape, the strides or the offset",
                        i, at, source.name, available));
      out.value[static_cast<std::size_t>(i)] = source.at(at);
    }
  });
  return out;
}

Expected gather_rows(const HostTensor& table, const HostTensor& indices) {
  const Rows r = rows_of(table);
  Expected out = blank(indices.count() * r.n);
  parallel_for(indices.count(), grain_for(r.n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = indices.int_at(i);
      if (row < 0 || row >= r.rows) continue;
      read(table, row * r.n, r.n, out.value.data() + i * r.n);
    }
  });
  return out;
}

Expected arange(double start, double step, std::int64_t n) {
  Expected out = blank(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto index = static_cast<double>(i);
    const double product = index * step, value = start + product;
    const bool exact_product = nearest_f32(product) == product, exact_index = nearest_f32(index) == index;
    const double roundings = (exact_product ? 0 : 1) + (exact_index ? 0 : 1);
    const double sum_error = nearest_f32(value) == value ? 0 : kUnit * std::fabs(value);
    put(out, i, {value, roundings * kUnit * std::fabs(product) + sum_error});
  }
  return out;
}

Expected random_hash(std::int64_t n) {
  Expected out = blank(n);
  for (std::int64_t i = 0; i < n; ++i) {
    auto x = static_cast<std::uint32_t>(i + 1);
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    out.value[static_cast<std::size_t>(i)] = x;
  }
  return out;
}

}  // namespace mt::oracle
