// Element types of tensors and values.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace mt {

enum class DType : std::uint8_t { F32, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64, Bool };
inline constexpr int kDTypeCount = 12;

/// Bytes of one element in memory. Bool takes one byte.
constexpr int size_of(DType t) {
  constexpr int sizes[kDTypeCount] = {4, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  return sizes[static_cast<int>(t)];
}
constexpr std::string_view name_of(DType t) {
  constexpr std::string_view names[kDTypeCount] = {"f32", "f16", "bf16", "i8",  "u8",  "i16",
                                                   "u16", "i32", "u32",  "i64", "u64", "bool"};
  return names[static_cast<int>(t)];
}
constexpr bool is_float(DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; }
constexpr bool is_signed(DType t) { return t == DType::I8 || t == DType::I16 || t == DType::I32 || t == DType::I64; }
constexpr bool is_unsigned(DType t) { return t == DType::U8 || t == DType::U16 || t == DType::U32 || t == DType::U64; }
constexpr bool is_int(DType t) { return is_signed(t) || is_unsigned(t); }
constexpr int bits_of(DType t) { return t == DType::Bool ? 1 : 8 * size_of(t); }

/// The dtype with that name, or nothing.
constexpr std::optional<DType> dtype_from(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace mt
