#include <limits>
#include <type_traits>

#include "backends/interp/machine.h"
#include "mt/ir/edit.h"

// Index arithmetic must not wrap: targets may compute it wider. A value that wrapped is only flagged; the Error comes
// when a load, store or atomic uses it.
namespace mt::interp {
namespace {

template <class T>
bool wraps(Op op, T a, T b) {
  T r;
  switch (op) {
    case Op::Add:
      return __builtin_add_overflow(a, b, &r);
    case Op::Sub:
      return __builtin_sub_overflow(a, b, &r);
    case Op::Mul:
      return __builtin_mul_overflow(a, b, &r);
    case Op::Shl: {
      if (a == 0) return false;
      const auto width = std::numeric_limits<std::make_unsigned_t<T>>::digits;
      if (b < 0 || b >= width) return true;
      const T shifted = static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
      return (shifted >> b) != a;  // an arithmetic shift brings a changed sign back too
    }
    default:
      return false;
  }
}

template <class T>
bool any_wrap(Op op, const void* pa, const void* pb, std::size_t n) {
  const T *a = static_cast<const T*>(pa), *b = static_cast<const T*>(pb);
  if constexpr (std::is_same_v<T, std::uint32_t>) {  // the common case, in a form that vectorises
    std::uint64_t high = 0;
    if (op == Op::Add) {
      for (std::size_t i = 0; i < n; ++i) high |= static_cast<std::uint64_t>(a[i]) + b[i];
      return high >> 32 != 0;
    }
    if (op == Op::Mul) {
      for (std::size_t i = 0; i < n; ++i) high |= static_cast<std::uint64_t>(a[i]) * b[i];
      return high >> 32 != 0;
    }
  }
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) any |= wraps<T>(op, a[i], b[i]);
  return any;
}

template <class F>
auto by_type(DType t, F f) {
  switch (t) {
    case DType::I8:
      return f(std::int8_t{});
    case DType::U8:
      return f(std::uint8_t{});
    case DType::I16:
      return f(std::int16_t{});
    case DType::U16:
      return f(std::uint16_t{});
    case DType::I32:
      return f(std::int32_t{});
    case DType::I64:
      return f(std::int64_t{});
    case DType::U64:
      return f(std::uint64_t{});
    default:
      return f(std::uint32_t{});
  }
}

/// Whether an integer conversion changes the number.
bool cast_wraps(DType from, DType to, std::uint64_t bits) {
  const std::uint64_t made = convert(from, to, bits);
  const std::int64_t a = int_value_of(from, bits), b = int_value_of(to, made);
  const bool a_negative = is_signed(from) && a < 0, b_negative = is_signed(to) && b < 0;
  return a != b || a_negative != b_negative;
}

}  // namespace

void track_wrap(Machine& m, const Node& n) {
  const Op op = n.inst->op;
  const bool arithmetic = op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Shl;
  if (!m.flags_live) {
    const int lo = m.mask->lo;
    const auto threads = static_cast<std::size_t>(m.mask->threads());
    if (arithmetic) {
      const bool any = by_type(n.type, [&](auto sample) {
        return any_wrap<decltype(sample)>(op, m.data(n.in[0], lo), m.data(n.in[1], lo), threads);
      });
      if (!any) return;
    } else if (op == Op::Cast) {
      if (size_of(n.out.dtype) > size_of(n.type) && (is_unsigned(n.type) || is_signed(n.out.dtype))) return;
    } else {
      return;
    }
  }
  // Inactive threads hold anything, so the flags are made one active thread at a time.
  std::uint8_t* out = m.flags(n.out);
  const auto flag = [&](std::size_t operand, int t) {
    const std::uint8_t* f = m.flags(n.in[operand]);
    return f && f[t];
  };
  m.mask->each([&](int s, int l) {
    const int t = s * kLanes + l;
    const auto i = static_cast<std::size_t>(t);
    bool wrapped = false;
    if (op == Op::Select) {
      wrapped = bits_at(m.data(n.in[0]), 1, i) ? flag(1, t) : flag(2, t);
    } else if (op == Op::Cast) {
      wrapped = flag(0, t) || cast_wraps(n.type, n.out.dtype, bits_at(m.data(n.in[0]), n.in[0].size, i));
    } else if (arithmetic) {
      wrapped = flag(0, t) || flag(1, t) || by_type(n.type, [&](auto sample) {
                  using T = decltype(sample);
                  T a, b;
                  std::memcpy(&a, m.data(n.in[0]) + i * sizeof(T), sizeof(T));
                  std::memcpy(&b, m.data(n.in[1]) + i * sizeof(T), sizeof(T));
                  return wraps<T>(op, a, b);
                });
    } else {
      wrapped = flag(0, t);
    }
    out[t] = wrapped;
    m.flags_live |= wrapped;
  });
}

}  // namespace mt::interp
