// Device values and variables, and the operators between them.
//
// `Value<T>` is one number a thread: an SSA value, const, never assigned. `Vec<T>` is 1, 2, 4 or 8 numbers side by
// side; how many is known while tracing. `Var<T>` and `VecVar<T>` are the state that assignments change. Operators are
// hidden friends of a base class that all of these share, so that their operands may convert to `At`, which records the
// line of the kernel that wrote them.
#pragma once
#include <cmath>
#include <concepts>
#include <type_traits>
#include <vector>

#include "mt/dsl/trace.h"

namespace mt {

enum class Form : bool { One, Many };

template <class T, Form F>
class BasicValue;
template <class T, Form F>
class BasicVar;
template <class T>
class Scalar;
template <class T>
class Cell;

template <class T>
using Value = BasicValue<T, Form::One>;
template <class T>
using Vec = BasicValue<T, Form::Many>;
template <class T>
using Var = BasicVar<T, Form::One>;
template <class T>
using VecVar = BasicVar<T, Form::Many>;

using F32 = Value<f32>;
using I32 = Value<i32>;
using U32 = Value<u32>;
using I64 = Value<i64>;
using U64 = Value<u64>;
using Bool = Value<bool>;

/// Host numbers that may stand for a device constant of type T: integers for any number, floats only for f32.
template <class H, class T>
concept Literal = !std::same_as<H, bool> && !std::same_as<T, bool> &&
                  (std::integral<H> || (std::floating_point<H> && std::same_as<T, f32>));

template <class>
inline constexpr bool never = false;

namespace detail {
ValueId literal(DType dtype, double value, Here here);
ValueId literal_int(DType dtype, std::int64_t value, Here here);
ValueId unary(Op op, ValueId a, Here here);
/// `!a`, placed at the line that made the operand.
ValueId logical_not(ValueId a);
ValueId logical_not_var(ValueId var);
/// Splats the narrower operand where one has a single lane; Error where both have several and they differ.
ValueId binary(Op op, ValueId a, ValueId b, Here here);
ValueId ternary(Op op, ValueId a, ValueId b, ValueId c, Here here);
ValueId cast(ValueId v, DType to, Here here);
ValueId bitcast(ValueId v, DType to, Here here);
ValueId splat_to(ValueId v, int lanes, Here here);
ValueId extract(ValueId v, int lane, Here here);
ValueId vector_reduce(Combine c, ValueId v, Here here);
ValueId pack(const std::vector<ValueId>& values, Here here);
ValueId make_var(ValueId first, Here here);
ValueId get_var(ValueId var, Here here);
void set_var(ValueId var, ValueId value, Here here);
int lanes(ValueId v);
}  // namespace detail

/// An operand and the place it was written. Unsigned and signed 32-bit operands widen to 64 bits where asked for.
template <class T, Form F>
class At {
 public:
  ValueId id;
  Here here;
  At(const Value<T>& v, Here h = Here::current()) : id(v.id()), here(h) {}
  At(const Var<T>& v, Here h = Here::current()) : id(v.get(h)), here(h) {}
  At(const Scalar<T>& v, Here h = Here::current()) : id(v.get(h)), here(h) {}
  At(const Cell<T>& v, Here h = Here::current()) : id(v.get(h)), here(h) {}
  At(const Vec<T>& v, Here h = Here::current()) requires(F == Form::Many) : id(v.id()), here(h) {}
  At(const VecVar<T>& v, Here h = Here::current()) requires(F == Form::Many) : id(v.get(h)), here(h) {}
  template <Literal<T> H>
  At(H number, Here h = Here::current()) : id(constant(number, h)), here(h) {}
  template <class N>
  requires(std::same_as<N, u32> && (std::same_as<T, u64> || std::same_as<T, i64>)) ||
      (std::same_as<N, i32> && std::same_as<T, i64>)At(const Value<N>& v, Here h = Here::current())
      : id(detail::cast(v.id(), dtype_of<T>, h)),
  here(h) {}
  template <class N>
  requires(std::same_as<N, u32> && (std::same_as<T, u64> || std::same_as<T, i64>)) ||
      (std::same_as<N, i32> && std::same_as<T, i64>)At(const Scalar<N>& v, Here h = Here::current())
      : id(detail::cast(v.get(h), dtype_of<T>, h)),
  here(h) {}

 private:
  template <class H>
  static ValueId constant(H number, Here h) {
    if constexpr (std::integral<H> && !std::same_as<T, f32>)
      return detail::literal_int(dtype_of<T>, static_cast<std::int64_t>(number), h);
    else
      return detail::literal(dtype_of<T>, static_cast<double>(number), h);
  }
};

template <class T, Form F>
BasicValue<T, F> value_from(ValueId id) {
  return BasicValue<T, F>(id, typename BasicValue<T, F>::Made{});
}

/// What every value has: comparison for equality and selection.
template <class T, Form F>
struct CommonOps {
  friend BasicValue<bool, F> operator==(At<T, F> a, At<T, F> b) {
    return value_from<bool, F>(detail::binary(Op::Eq, a.id, b.id, a.here));
  }
  friend BasicValue<bool, F> operator!=(At<T, F> a, At<T, F> b) {
    return value_from<bool, F>(detail::binary(Op::Ne, a.id, b.id, a.here));
  }
  /// `a` where the condition is true, else `b`; both are evaluated.
  friend BasicValue<T, F> select(At<bool, F> condition, At<T, F> a, At<T, F> b) {
    return value_from<T, F>(detail::ternary(Op::Select, condition.id, a.id, b.id, condition.here));
  }
};

#define MT_OPERATOR(symbol, op, R)                                       \
  friend BasicValue<R, F> operator symbol(At<T, F> a, At<T, F> b) {      \
    return value_from<R, F>(detail::binary(Op::op, a.id, b.id, a.here)); \
  }

/// Arithmetic and order of numbers.
template <class T, Form F>
struct NumberOps : CommonOps<T, F> {
  MT_OPERATOR(+, Add, T)
  MT_OPERATOR(-, Sub, T)
  MT_OPERATOR(*, Mul, T)
  MT_OPERATOR(/, Div, T)
  MT_OPERATOR(<, Lt, bool)
  MT_OPERATOR(<=, Le, bool)
  MT_OPERATOR(>, Gt, bool)
  MT_OPERATOR(>=, Ge, bool)
  friend BasicValue<T, F> operator-(At<T, F> a) { return value_from<T, F>(detail::unary(Op::Neg, a.id, a.here)); }
  friend BasicValue<T, F> min(At<T, F> a, At<T, F> b) {
    return value_from<T, F>(detail::binary(Op::Min, a.id, b.id, a.here));
  }
  friend BasicValue<T, F> max(At<T, F> a, At<T, F> b) {
    return value_from<T, F>(detail::binary(Op::Max, a.id, b.id, a.here));
  }
  friend BasicValue<T, F> abs(At<T, F> a) { return value_from<T, F>(detail::unary(Op::Abs, a.id, a.here)); }
  friend BasicValue<T, F> rem(At<T, F> a, At<T, F> b) {
    return value_from<T, F>(detail::binary(Op::Rem, a.id, b.id, a.here));
  }
};

/// Integers: remainder, bits, shifts.
template <class T, Form F>
struct IntOps : NumberOps<T, F> {
  MT_OPERATOR(%, Rem, T)
  MT_OPERATOR(&, And, T)
  MT_OPERATOR(|, Or, T)
  MT_OPERATOR(^, Xor, T)
  MT_OPERATOR(<<, Shl, T)
  MT_OPERATOR(>>, Shr, T)
  friend BasicValue<T, F> operator~(At<T, F> a) { return value_from<T, F>(detail::unary(Op::Not, a.id, a.here)); }
};

/// Bit counts of u32.
template <class T, Form F>
struct Unsigned32Ops : IntOps<T, F> {
  friend BasicValue<T, F> popcount(At<T, F> a) { return value_from<T, F>(detail::unary(Op::Popcount, a.id, a.here)); }
  friend BasicValue<T, F> clz(At<T, F> a) { return value_from<T, F>(detail::unary(Op::Clz, a.id, a.here)); }
  friend BasicValue<T, F> ctz(At<T, F> a) { return value_from<T, F>(detail::unary(Op::Ctz, a.id, a.here)); }
};

/// Logic. There is no short circuit on a device: both sides of & and | are evaluated.
template <class T, Form F>
struct BoolOps : CommonOps<T, F> {
  MT_OPERATOR(&, And, T)
  MT_OPERATOR(|, Or, T)
  MT_OPERATOR(^, Xor, T)
  friend BasicValue<T, F> operator!(At<T, F> a) { return value_from<T, F>(detail::unary(Op::Not, a.id, a.here)); }
  // Values and Vars can be asked for a host truth value (which is refused with a sentence), so the built-in ! competes
  // with the function above and only an exact match beats it. It says the line of its operand.
  friend BasicValue<T, F> operator!(const BasicValue<T, F>& a) { return value_from<T, F>(detail::logical_not(a.id())); }
};
#undef MT_OPERATOR

/// Maths on f32: one function for each unary or binary row of the op table that takes floats only.
template <class T, Form F>
struct FloatOps : NumberOps<T, F> {
#define MT_FLOAT1(Id, fn) \
  friend BasicValue<T, F> fn(At<T, F> a) { return value_from<T, F>(detail::unary(Op::Id, a.id, a.here)); }
#define MT_FLOAT2(Id, fn)                                                \
  friend BasicValue<T, F> fn(At<T, F> a, At<T, F> b) {                   \
    return value_from<T, F>(detail::binary(Op::Id, a.id, b.id, a.here)); \
  }
#include "mt/dsl/float_functions.inc"
  /// a * b + c, rounded once.
  friend BasicValue<T, F> fma(At<T, F> a, At<T, F> b, At<T, F> c) {
    return value_from<T, F>(detail::ternary(Op::Fma, a.id, b.id, c.id, a.here));
  }
  friend BasicValue<bool, F> isnan(At<T, F> a) {
    return value_from<bool, F>(detail::binary(Op::Ne, a.id, a.id, a.here));
  }
};

template <class T>
concept ComputeInt = std::same_as<T, i32> || std::same_as<T, i64> || std::same_as<T, u64>;
/// The operators of a type. Storage types narrower than 32 bits have none of arithmetic: widen with cast, compute, and
/// let the store round.
template <class T, Form F>
struct OpsOf {
  using type = CommonOps<T, F>;
};
template <Form F>
struct OpsOf<bool, F> {
  using type = BoolOps<bool, F>;
};
template <Form F>
struct OpsOf<f32, F> {
  using type = FloatOps<f32, F>;
};
template <Form F>
struct OpsOf<u32, F> {
  using type = Unsigned32Ops<u32, F>;
};
template <ComputeInt T, Form F>
struct OpsOf<T, F> {
  using type = IntOps<T, F>;
};
template <class T, Form F>
using Ops = typename OpsOf<T, F>::type;

/// An SSA value: copying names the same value again, assigning is not allowed (state is a Var).
template <class T, Form F>
class BasicValue : public Ops<T, F> {
 public:
  struct Made {};
  BasicValue(ValueId id, Made) : id_(id) {}
  BasicValue(const BasicValue&) = default;
  BasicValue& operator=(const BasicValue&) = delete;

  template <Literal<T> H>
  requires(F == Form::One) BasicValue(H number, Here here = Here::current()) : id_(At<T, F>(number, here).id) {}
  BasicValue(const BasicVar<T, F>& v, Here here = Here::current()) : id_(v.get(here)) {}
  BasicValue(const Scalar<T>& v, Here here = Here::current()) requires(F == Form::One) : id_(v.get(here)) {}
  BasicValue(const Cell<T>& v, Here here = Here::current()) requires(F == Form::One) : id_(v.get(here)) {}
  /// A u32 widens to 64 bits.
  BasicValue(const Value<u32>& v,
             Here here = Here::current()) requires(F == Form::One && (std::same_as<T, u64> || std::same_as<T, i64>))
      : id_(detail::cast(v.id(), dtype_of<T>, here)) {}

  template <class B>
  requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(never<B>,
                  "a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |");
    return false;
  }

  ValueId id() const { return id_; }
  int lanes() const { return detail::lanes(id_); }
  /// Lane `e` of a vector, 0 <= e < lanes().
  Value<T> operator[](int e) const requires(F == Form::Many) {
    return value_from<T, Form::One>(detail::extract(id_, e, Here::current()));
  }

 private:
  ValueId id_;
};

template <class A, Form F, class B>
auto operator&&(const BasicValue<A, F>&, const B&) {
  static_assert(never<A>, "&& does not short-circuit on the device: write & or nest if_");
}
template <class A, Form F, class B>
auto operator||(const BasicValue<A, F>&, const B&) {
  static_assert(never<A>, "|| does not short-circuit on the device: write | or nest if_");
}

/// State of one thread. Not copyable: `auto w = var` does not compile, so nobody aliases it by accident.
template <class T, Form F>
class BasicVar : public Ops<T, F> {
 public:
  explicit BasicVar(At<T, F> first) : id_(detail::make_var(first.id, first.here)) {}
  /// A vector variable whose lanes all start as `first`.
  BasicVar(int lanes, At<T, Form::One> first) requires(F == Form::Many)
      : id_(detail::make_var(detail::splat_to(first.id, lanes, first.here), first.here)) {}
  BasicVar(const BasicVar&) = delete;
  BasicVar(BasicVar&& other) noexcept : id_(other.id_) {}  // for containers; the moved-from variable is not used again
  BasicVar& operator=(At<T, F> v) { return set(v); }
  BasicVar& operator=(const BasicVar& v) { return set(At<T, F>(v)); }
  BasicVar& operator+=(At<T, F> v) {
    return set(At<T, F>(value_from<T, F>(detail::binary(Op::Add, get(v.here), v.id, v.here)), v.here));
  }
  BasicVar& operator-=(At<T, F> v) {
    return set(At<T, F>(value_from<T, F>(detail::binary(Op::Sub, get(v.here), v.id, v.here)), v.here));
  }
  BasicVar& operator*=(At<T, F> v) {
    return set(At<T, F>(value_from<T, F>(detail::binary(Op::Mul, get(v.here), v.id, v.here)), v.here));
  }
  Value<T> operator[](int e) const requires(F == Form::Many) {
    return value_from<T, Form::One>(detail::extract(get(Here::current()), e, Here::current()));
  }
  template <class B>
  requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(never<B>,
                  "a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |");
    return false;
  }
  friend BasicValue<T, F> operator!(const BasicVar& a) requires(std::same_as<T, bool>) {
    return value_from<T, F>(detail::logical_not_var(a.id_));
  }
  ValueId get(Here here) const { return detail::get_var(id_, here); }
  int lanes() const { return detail::lanes(id_); }

 private:
  BasicVar& set(At<T, F> v) {
    detail::set_var(id_, detail::splat_to(v.id, detail::lanes(id_), v.here), v.here);
    return *this;
  }
  ValueId id_;
};

/// Anything that stands for one number or a vector, as a value.
template <class T, Form F>
BasicValue<T, F> as_value(const BasicValue<T, F>& v) {
  return v;
}
template <class T, Form F>
BasicValue<T, F> as_value(const BasicVar<T, F>& v, Here here = Here::current()) {
  return value_from<T, F>(v.get(here));
}
template <class T>
Value<T> as_value(const Scalar<T>& v, Here here = Here::current()) {
  return value_from<T, Form::One>(v.get(here));
}
template <class T>
Value<T> as_value(const Cell<T>& v, Here here = Here::current()) {
  return value_from<T, Form::One>(v.get(here));
}

template <class X>
struct ElementOf;
template <class T, Form F>
struct ElementOf<BasicValue<T, F>> {
  using type = T;
  static constexpr Form form = F;
};
/// Element type and form of a device expression.
template <class X>
using element_t = typename ElementOf<decltype(as_value(std::declval<const X&>()))>::type;
template <class X>
inline constexpr Form form_of = ElementOf<decltype(as_value(std::declval<const X&>()))>::form;
template <class X>
concept DeviceExpr = requires(const X& x) {
  as_value(x);
};

/// Numeric conversion by the rules of the op table: float to int truncates and saturates, ints wrap.
template <class To, DeviceExpr X>
auto cast(const X& v, Here here = Here::current()) {
  return value_from<To, form_of<X>>(detail::cast(as_value(v).id(), dtype_of<To>, here));
}
/// The same bits as another type of the same size.
template <class To, DeviceExpr X>
auto bitcast(const X& v, Here here = Here::current()) {
  return value_from<To, form_of<X>>(detail::bitcast(as_value(v).id(), dtype_of<To>, here));
}
/// An f32 rounded to a storage type and back, as a store and a load would.
template <Storage S, DeviceExpr X>
auto round_to(const X& v, Here here = Here::current()) {
  return value_from<f32, form_of<X>>(detail::cast(detail::cast(as_value(v).id(), dtype_of<S>, here), DType::F32, here));
}

/// Sum, maximum and minimum over the lanes of one thread's vector, in any order.
template <class T>
Value<T> sum(const Vec<T>& v, Here here = Here::current()) {
  return value_from<T, Form::One>(detail::vector_reduce(Combine::Sum, v.id(), here));
}
template <class T>
Value<T> max_of(const Vec<T>& v, Here here = Here::current()) {
  return value_from<T, Form::One>(detail::vector_reduce(Combine::Max, v.id(), here));
}
template <class T>
Value<T> min_of(const Vec<T>& v, Here here = Here::current()) {
  return value_from<T, Form::One>(detail::vector_reduce(Combine::Min, v.id(), here));
}
template <class T>
Value<T> prod(const Vec<T>& v, Here here = Here::current()) {
  return value_from<T, Form::One>(detail::vector_reduce(Combine::Prod, v.id(), here));
}
/// Σ a[e] * b[e].
inline F32 dot(const Vec<f32>& a, const Vec<f32>& b, Here here = Here::current()) {
  return value_from<f32, Form::One>(
      detail::vector_reduce(Combine::Sum, detail::binary(Op::Mul, a.id(), b.id(), here), here));
}

/// f(0) … f(n - 1), made while tracing.
template <class F>
auto each(int n, F&& f) {
  std::vector<decltype(f(0))> all;
  all.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all.push_back(f(i));
  return all;
}
/// n variables that start as `first`.
template <class T>
std::vector<Var<T>> vars(int n, std::type_identity_t<At<T, Form::One>> first) {
  return each(n, [&](int) { return Var<T>(value_from<T, Form::One>(first.id)); });
}
/// n vector variables of `lanes` lanes that start as `first`.
template <class T>
std::vector<VecVar<T>> vec_vars(int n, int lanes, std::type_identity_t<At<T, Form::One>> first) {
  return each(n, [&](int) { return VecVar<T>(lanes, value_from<T, Form::One>(first.id)); });
}
/// f(0) … f(lanes - 1) side by side.
template <class F>
auto pack(int lanes, F&& f, Here here = Here::current()) {
  std::vector<ValueId> ids;
  for (int e = 0; e < lanes; ++e) ids.push_back(as_value(f(e)).id());
  return value_from<element_t<decltype(f(0))>, Form::Many>(detail::pack(ids, here));
}
/// One number in each of `lanes` lanes.
template <DeviceExpr X>
auto splat(const X& v, int lanes, Here here = Here::current()) {
  return value_from<element_t<X>, Form::Many>(detail::splat_to(as_value(v).id(), lanes, here));
}

}  // namespace mt
