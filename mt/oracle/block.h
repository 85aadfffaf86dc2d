// Runs of tensor elements as doubles: the references compute on these, whatever the dtype in memory.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

inline constexpr std::int64_t kBlock = 1024;  // elements that elementwise loops convert at a time

/// Elements [begin, begin + n) of `t` as doubles.
void read(const HostTensor& t, std::int64_t begin, std::int64_t n, double* out);
std::vector<double> read(const HostTensor& t);
/// Stores doubles into elements [begin, begin + n): rounded to nearest even for floats, truncated for integers.
void write(HostTensor& t, std::int64_t begin, std::int64_t n, const double* values);

/// Throws mt::Error with `sentence` unless `condition` holds.
void require(bool condition, std::string_view sentence);

/// A tensor seen as rows along its last axis, or along rows of `n` elements where n >= 0.
struct Rows {
  std::int64_t rows = 0, n = 0;
};
Rows rows_of(const HostTensor& t, std::int64_t n = -1);

/// All zero: what a reference then fills in.
Expected blank(std::int64_t count);

}  // namespace mt::oracle
