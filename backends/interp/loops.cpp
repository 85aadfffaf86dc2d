#include "backends/interp/loops.h"

#include <array>
#include <type_traits>
#include <utility>

#include "mt/base/error.h"
#include "mt/base/half.h"
#include "mt/ir/edit.h"
#include "mt/ir/op_rows.h"

namespace mt::interp {
namespace {

template <DType T>
struct Stored;
// clang-format off
template <> struct Stored<DType::F32> { using type = float; };
template <> struct Stored<DType::F16> { using type = std::uint16_t; };
template <> struct Stored<DType::BF16> { using type = std::uint16_t; };
template <> struct Stored<DType::I8> { using type = std::int8_t; };
template <> struct Stored<DType::U8> { using type = std::uint8_t; };
template <> struct Stored<DType::I16> { using type = std::int16_t; };
template <> struct Stored<DType::U16> { using type = std::uint16_t; };
template <> struct Stored<DType::I32> { using type = std::int32_t; };
template <> struct Stored<DType::U32> { using type = std::uint32_t; };
template <> struct Stored<DType::I64> { using type = std::int64_t; };
template <> struct Stored<DType::U64> { using type = std::uint64_t; };
template <> struct Stored<DType::Bool> { using type = std::uint8_t; };
// clang-format on
template <DType T>
using stored = typename Stored<T>::type;

constexpr std::size_t kOps = std::size(kOpRows);

/// The table's semantics of op number O on elements of T: what evaluate() computes, inlined.
template <std::size_t O, DType T>
void typed_loop(const Span& s) {
  constexpr const OpInfo& row = kOpRows[O];
  constexpr bool predicate = row.type == TypeRule::Pred;
  constexpr bool shift = O == static_cast<std::size_t>(Op::Shl) || O == static_cast<std::size_t>(Op::Shr);
  using In = stored<T>;
  using Out = std::conditional_t<predicate, std::uint8_t, In>;
  auto* out = static_cast<Out*>(s.out);
  const auto* a = static_cast<const In*>(s.a);
  const auto* b = static_cast<const In*>(s.b);
  if constexpr (is_float(T)) {
    const auto* c = static_cast<const In*>(s.c);
    for (std::size_t i = 0; i < s.n; ++i) {
      const float r = row.f(a[i], b[i], c[i]);
      if constexpr (predicate)
        out[i] = r != 0;
      else
        out[i] = r;
    }
  } else if constexpr (is_signed(T)) {
    for (std::size_t i = 0; i < s.n; ++i) {
      std::int64_t y = b[i];
      if (shift && static_cast<std::uint64_t>(y) >= 8 * sizeof(In)) y = 64;
      out[i] = static_cast<Out>(row.s(a[i], y));
    }
  } else {
    for (std::size_t i = 0; i < s.n; ++i) {
      std::uint64_t y = b[i];
      if (shift && y >= 8 * sizeof(In)) y = 64;
      const std::uint64_t r = row.u(a[i], y);
      out[i] = static_cast<Out>(T == DType::Bool ? r & 1 : r);
    }
  }
}

/// Whether a pointer to semantics is set. By specialisation: GCC can't compare it in a constant under
/// -fsanitize=undefined.
template <auto F>
constexpr bool kPresent = true;
template <>
constexpr bool kPresent<static_cast<decltype(OpInfo::f)>(nullptr)> = false;
template <>
constexpr bool kPresent<static_cast<decltype(OpInfo::u)>(nullptr)> = false;
template <>
constexpr bool kPresent<static_cast<decltype(OpInfo::s)>(nullptr)> = false;

template <std::size_t O, DType T>
constexpr Loop typed_entry() {
  constexpr const OpInfo& row = kOpRows[O];
  constexpr bool present = is_float(T) ? kPresent<row.f> : is_signed(T) ? kPresent<row.s> : kPresent<row.u>;
  if constexpr (present)
    return &typed_loop<O, T>;
  else
    return nullptr;
}
template <DType T, std::size_t... O>
constexpr std::array<Loop, kOps> typed_row(std::index_sequence<O...>) {
  return {typed_entry<O, T>()...};
}
template <DType T>
constexpr std::array<Loop, kOps> kTyped = typed_row<T>(std::make_index_sequence<kOps>());

/// Any op and dtype, one element at a time.
void evaluate_loop(const Span& s) {
  const int size = size_of(s.type), out_size = info(s.op).type == TypeRule::Pred ? 1 : size;
  for (std::size_t i = 0; i < s.n; ++i) {
    const auto r = evaluate(s.op, s.type, bits_at(s.a, size, i), bits_at(s.b, size, i), bits_at(s.c, size, i));
    put_bits(s.out, out_size, i, *r);
  }
}

template <DType T>
float widen_float(stored<T> x) {
  if constexpr (T == DType::F32) return x;
  if constexpr (T == DType::F16) return f16_to_f32(x);
  if constexpr (T == DType::BF16) return bf16_to_f32(x);
}
template <DType T>
stored<T> narrow_float(float x) {
  if constexpr (T == DType::F32) return x;
  if constexpr (T == DType::F16) return f32_to_f16(x);
  if constexpr (T == DType::BF16) return f32_to_bf16(x);
}

/// convert() of the table, inlined; float to integer goes through it.
template <DType From, DType To>
void cast_loop(const Span& s) {
  auto* out = static_cast<stored<To>*>(s.out);
  const auto* in = static_cast<const stored<From>*>(s.a);
  for (std::size_t i = 0; i < s.n; ++i) {
    if constexpr (From == To)
      out[i] = in[i];
    else if constexpr (is_float(From) && is_float(To))
      out[i] = narrow_float<To>(widen_float<From>(in[i]));
    else if constexpr (is_float(From) && To == DType::Bool)
      out[i] = widen_float<From>(in[i]) != 0;
    else if constexpr (is_float(From))
      put_bits(out, size_of(To), i, convert(From, To, bits_at(in, size_of(From), i)));
    else if constexpr (To == DType::Bool)
      out[i] = in[i] != 0;
    else if constexpr (is_float(To))
      out[i] = narrow_float<To>(static_cast<float>(in[i]));
    else
      out[i] = static_cast<stored<To>>(in[i]);
  }
}
template <std::size_t... I>
constexpr std::array<Loop, sizeof...(I)> cast_table(std::index_sequence<I...>) {
  return {&cast_loop<static_cast<DType>(I / kDTypeCount), static_cast<DType>(I % kDTypeCount)>...};
}

template <class T>
void widen(std::int64_t* out, const void* in) {
  const auto* from = static_cast<const T*>(in);
  for (int l = 0; l < kLanes; ++l) out[l] = static_cast<std::int64_t>(from[l]);
}

}  // namespace

Loop loop_of(Op op, DType type) {
  const auto o = static_cast<std::size_t>(op);
  switch (type) {
    case DType::F32:
      return kTyped<DType::F32>[o];
    case DType::I32:
      return kTyped<DType::I32>[o];
    case DType::U32:
      return kTyped<DType::U32>[o];
    case DType::I64:
      return kTyped<DType::I64>[o];
    case DType::U64:
      return kTyped<DType::U64>[o];
    case DType::Bool:
      return kTyped<DType::Bool>[o];
    default: {
      const OpInfo& row = info(op);
      const bool has = is_float(type) ? row.f != nullptr : is_signed(type) ? row.s != nullptr : row.u != nullptr;
      return has ? &evaluate_loop : nullptr;
    }
  }
}

Loop cast_of(DType from, DType to) {
  static constexpr auto table = cast_table(std::make_index_sequence<kDTypeCount * kDTypeCount>());
  return table[static_cast<std::size_t>(from) * kDTypeCount + static_cast<std::size_t>(to)];
}

Widen widen_of(DType type) {
  switch (type) {
    case DType::I32:
      return &widen<std::int32_t>;
    case DType::U32:
      return &widen<std::uint32_t>;
    case DType::I64:
      return &widen<std::int64_t>;
    case DType::U64:
      return &widen<std::uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace mt::interp
