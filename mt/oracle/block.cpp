#include "mt/oracle/block.h"

#include <fmt/format.h>

#include <string>

#include "mt/base/error.h"
#include "mt/base/half.h"

namespace mt::oracle {
namespace {

template <class T>
void widen(const T* from, std::int64_t n, double* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<double>(from[i]);
}

}  // namespace

void read(const HostTensor& t, std::int64_t begin, std::int64_t n, double* out) {
  switch (t.dtype) {
    case DType::F32:
      return widen(t.as<float>() + begin, n, out);
    case DType::F16:
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<double>(f16_to_f32(t.as<std::uint16_t>()[begin + i]));
      return;
    case DType::BF16:
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<double>(bf16_to_f32(t.as<std::uint16_t>()[begin + i]));
      return;
    case DType::U32:
      return widen(t.as<std::uint32_t>() + begin, n, out);
    case DType::I32:
      return widen(t.as<std::int32_t>() + begin, n, out);
    default:
      for (std::int64_t i = 0; i < n; ++i) out[i] = t.at(begin + i);
  }
}

std::vector<double> read(const HostTensor& t) {
  std::vector<double> out(static_cast<std::size_t>(t.count()));
  read(t, 0, t.count(), out.data());
  return out;
}

void write(HostTensor& t, std::int64_t begin, std::int64_t n, const double* values) {
  switch (t.dtype) {
    case DType::F32:
      for (std::int64_t i = 0; i < n; ++i) t.as<float>()[begin + i] = static_cast<float>(values[i]);
      return;
    case DType::F16:
      for (std::int64_t i = 0; i < n; ++i) t.as<std::uint16_t>()[begin + i] = f32_to_f16(f64_to_f32_odd(values[i]));
      return;
    case DType::BF16:
      for (std::int64_t i = 0; i < n; ++i) t.as<std::uint16_t>()[begin + i] = f32_to_bf16(f64_to_f32_odd(values[i]));
      return;
    default:
      for (std::int64_t i = 0; i < n; ++i) t.set(begin + i, values[i]);
  }
}

void require(bool condition, std::string_view sentence) {
  if (!condition) throw Error("oracle: " + std::string(sentence));
}

Rows rows_of(const HostTensor& t, std::int64_t n) {
  const std::int64_t count = t.count();
  if (n < 0 && t.shape.empty()) return {1, 1};
  Rows r{1, n};
  if (n < 0) {
    r.n = t.shape.back();
    for (std::size_t i = 0; i + 1 < t.shape.size(); ++i) r.rows *= t.shape[i];
  } else {
    r.rows = n == 0 ? 0 : count / n;
  }
  require(r.rows * r.n == count, fmt::format("tensor {} of {} elements has no whole number of rows of {}; pass its row "
                                             "length",
                                             t.name, count, r.n));
  return r;
}

Expected blank(std::int64_t count) {
  Expected e;
  e.value.resize(static_cast<std::size_t>(count));
  e.bound.resize(static_cast<std::size_t>(count));
  return e;
}

}  // namespace mt::oracle
