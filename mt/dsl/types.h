// C++ names of the element types, and how storage types widen for arithmetic.
#pragma once
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mt/base/dtype.h"
#include "mt/base/loc.h"

namespace mt {

using f32 = float;
using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
/// Storage types: loads widen them to f32, stores round once to nearest even.
struct f16 {};
struct bf16 {};

inline constexpr float inf = std::numeric_limits<float>::infinity();

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<f32> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<f16> {
  static constexpr DType value = DType::F16;
};
template <>
struct DTypeOf<bf16> {
  static constexpr DType value = DType::BF16;
};
template <>
struct DTypeOf<i8> {
  static constexpr DType value = DType::I8;
};
template <>
struct DTypeOf<u8> {
  static constexpr DType value = DType::U8;
};
template <>
struct DTypeOf<i16> {
  static constexpr DType value = DType::I16;
};
template <>
struct DTypeOf<u16> {
  static constexpr DType value = DType::U16;
};
template <>
struct DTypeOf<i32> {
  static constexpr DType value = DType::I32;
};
template <>
struct DTypeOf<u32> {
  static constexpr DType value = DType::U32;
};
template <>
struct DTypeOf<i64> {
  static constexpr DType value = DType::I64;
};
template <>
struct DTypeOf<u64> {
  static constexpr DType value = DType::U64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// Floating-point storage: what most kernels are templated on.
template <class T>
concept Storage = std::same_as<T, f32> || std::same_as<T, f16> || std::same_as<T, bf16>;

template <class T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<f16> {
  using type = f32;
};
template <>
struct ComputeOf<bf16> {
  using type = f32;
};
template <>
struct ComputeOf<i8> {
  using type = i32;
};
template <>
struct ComputeOf<i16> {
  using type = i32;
};
template <>
struct ComputeOf<u8> {
  using type = u32;
};
template <>
struct ComputeOf<u16> {
  using type = u32;
};
/// The type in which a loaded T is computed with.
template <class T>
using compute_t = typename ComputeOf<T>::type;

}  // namespace mt
