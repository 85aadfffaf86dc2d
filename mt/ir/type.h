// The type of an IR value: a dtype and a number of lanes (elements that one thread holds side by side).
#pragma once
#include <cstdint>
#include <string>

#include "mt/base/dtype.h"

namespace mt {

struct Type {
  DType dtype = DType::F32;
  std::uint8_t lanes = 1;  // 1, 2, 4 or 8

  bool operator==(const Type&) const = default;
  Type with(DType d) const { return {d, lanes}; }
  Type scalar() const { return {dtype, 1}; }
};

inline std::string to_string(Type t) {
  std::string s(name_of(t.dtype));
  return t.lanes > 1 ? s + "x" + std::to_string(t.lanes) : s;
}

}  // namespace mt
