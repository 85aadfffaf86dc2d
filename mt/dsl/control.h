// Device control flow: functions that take lambdas. A keyword runs now, a name with an underscore runs on the device.
#pragma once
#include <utility>

#include "mt/dsl/identity.h"
#include "mt/dsl/value.h"

namespace mt {

/// What if_ returns: `.else_([&] {...})` adds the other branch.
class Else {
 public:
  explicit Else(InstId owner) : owner_(owner) {}
  template <class F>
  void else_(F&& body) && {
    static_assert(std::is_void_v<std::invoke_result_t<F>>,
                  "an else_ body returns nothing: assign to a Var declared outside");
    const InstId owner = owner_;
    Trace& t = trace();
    const RegionId outer = t.builder.region;
    t.builder.region = t.kernel.at(owner).regions[1];
    body();
    t.builder.region = outer;
  }

 private:
  InstId owner_;
};

/// Runs the body where the condition holds.
template <class F>
Else if_(At<bool, Form::One> condition, F&& body) {
  static_assert(std::is_void_v<std::invoke_result_t<F>>,
                "an if_ body returns nothing: assign to a Var declared outside, or use select");
  Trace& t = trace();
  const InstId owner = t.builder.add({.op = Op::If, .in = {condition.id}, .loc = condition.here}, {});
  t.block(owner, [&](RegionId) { body(); });
  t.block(owner, [](RegionId) {});
  return Else(owner);
}

template <class X>
struct IndexOf {
  using type = u32;
};
template <class X>
requires DeviceExpr<X>
struct IndexOf<X> {
  using type = element_t<X>;
};
/// The integer type of a loop whose end is an X: a host number counts as u32.
template <class X>
using index_t = typename IndexOf<X>::type;

namespace detail {
template <class I, class F>
void for_loop(ValueId begin, ValueId end, ValueId step, bool contiguous, Here here, F&& body) {
  static_assert(std::integral<I> && !std::same_as<I, bool>,
                "a for_ counts in integers: cast the end, or count in an integer and compute the float from it");
  static_assert(std::is_void_v<std::invoke_result_t<F, Value<I>>>,
                "a for_ body returns nothing: assign to a Var declared outside");
  Trace& t = trace();
  const InstId owner =
      t.builder.add({.op = Op::For, .contiguous = contiguous, .in = {begin, end, step}, .loc = here}, {});
  t.block(owner, [&](RegionId r) { body(value_from<I, Form::One>(add_arg(t.kernel, r, {dtype_of<I>}))); });
}
}  // namespace detail

/// for (i = begin; i < end; i += step) body(i). The index has the type of `end`. The step must be positive.
template <class End, class F>
void for_(At<index_t<End>, Form::One> begin, const End& end, At<index_t<End>, Form::One> step, F&& body,
          Here here = Here::current()) {
  detail::for_loop<index_t<End>>(begin.id, At<index_t<End>, Form::One>(end, here).id, step.id, false, here,
                                 std::forward<F>(body));
}
/// for (i = 0; i < end; ++i) body(i).
template <class End, class F>
void for_(const End& end, F&& body, Here here = Here::current()) {
  for_(At<index_t<End>, Form::One>(0, here), end, At<index_t<End>, Form::One>(1, here), std::forward<F>(body), here);
}
/// Deals 0 … end - 1 to the simdgroups of the threadgroup, each index to one of them, in an order that the target
/// chooses. All lanes of a simdgroup see the same index.
template <class F>
void for_simds(At<u32, Form::One> end, F&& body, Here here = Here::current()) {
  const U32 step(simd_count(), here);
  detail::for_loop<u32>(simd_id(here).id(), end.id, step.id(), true, here, std::forward<F>(body));
}

/// while (condition()) body(). Both are traced once; state is in Vars.
template <class C, class F>
void while_(C&& condition, F&& body, Here here = Here::current()) {
  static_assert(std::is_void_v<std::invoke_result_t<F>>,
                "a while_ body returns nothing: assign to a Var declared outside");
  Trace& t = trace();
  const InstId owner = t.builder.add({.op = Op::While, .loc = here}, {});
  t.block(owner, [&](RegionId r) {
    const Bool go = condition();
    t.kernel.at(r).yields = {go.id()};
  });
  t.block(owner, [&](RegionId) { body(); });
}

/// Trace-time loop: `for (int i : unroll(4))` emits the body four times.
class unroll {
 public:
  explicit unroll(int n) : n_(n) {}
  class Step {
   public:
    explicit Step(int i) : i_(i) {}
    int operator*() const { return i_; }
    Step& operator++() {
      ++i_;
      return *this;
    }
    bool operator!=(Step o) const { return i_ < o.i_; }

   private:
    int i_;
  };
  Step begin() const { return Step(0); }
  Step end() const { return Step(n_); }

 private:
  int n_;
};

}  // namespace mt
