// A named, typed, shaped block of host memory: what test inputs, expected results and launches are made of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mt/base/dtype.h"

namespace mt {

struct HostTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::int64_t> shape;  // row-major; an empty shape holds one element
  std::vector<std::byte> data;

  HostTensor() = default;
  /// Zero-filled.
  HostTensor(std::string tensor_name, DType type, std::vector<std::int64_t> dims);

  std::int64_t count() const;
  std::size_t bytes() const { return data.size(); }
  /// Element `i` as a double: exact for every dtype but 64-bit integers beyond 2^53.
  double at(std::int64_t i) const;
  /// Element `i` as an integer; floats are truncated.
  std::int64_t int_at(std::int64_t i) const;
  /// Rounds to nearest even for floats; integers take the value modulo their width.
  void set(std::int64_t i, double value);
  void set_int(std::int64_t i, std::int64_t value);
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data.data());
  }
};

/// `value` rounded to `type` and back: what a store of that dtype leaves in memory.
double round_to(DType type, double value);
/// Half the distance between neighbouring values of `type` at |value|; the rounding error of one store. 0 for integers.
double half_ulp(DType type, double value);

}  // namespace mt
