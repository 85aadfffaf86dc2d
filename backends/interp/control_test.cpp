#include "backends/interp/testing.h"

namespace mt::interp {
namespace {

/// What the body leaves in y.
std::vector<double> y_of(const std::string& body, std::uint64_t n = 64) {
  Launch l = launch_of(body, n);
  EXPECT_EQ(l.run(), "");
  std::vector<double> v;
  for (int i = 0; i < 64; ++i) v.push_back(l.tensors[1].at(i));
  return v;
}

TEST(Control, IfPicksBySideAndNests) {
  const auto y = y_of(R"(
  %c40: u32 = const 40
  %low: bool = lt %t, %c40
  %odd: u32 = bit_and %t, %c1
  %is_odd: bool = ne %odd, %c0
  %a: f32, %b: f32 = if %low {
    %r: f32 = if %is_odd {
      yield %f1
    } else {
      yield %xt
    }
    yield %r, %xt
  } else {
    %n: f32 = neg %xt
    yield %n, %f1
  }
  %sum: f32 = add %a, %b
  store %y[%t], %sum
  if %is_odd {
    store %y[%t], %f1
  })");
  for (int t = 0; t < 64; ++t) EXPECT_EQ(y[static_cast<std::size_t>(t)], t % 2 ? 1 : t < 40 ? 2 * t : 1 - t) << t;
}

TEST(Control, ForRunsEachThreadsOwnTripsAndSwapsWhatItCarries) {
  const auto y = y_of(R"(
  %a: f32, %b: f32 = for %i: u32 = %c0 to %t step %c2 with (%p0: f32 = %xt, %q0: f32 = %f1) {
    %fi: f32 = cast %i
    %next: f32 = add %p0, %fi
    yield %q0, %next
  }
  %ten: f32 = const 1000.0
  %hi: f32 = mul %a, %ten
  %both: f32 = add %hi, %b
  store %y[%t], %both)");
  for (int t = 0; t < 64; ++t) {
    double a = t, b = 1;
    for (int i = 0; i < t; i += 2) {
      const double next = a + i;
      a = b;
      b = next;
    }
    EXPECT_EQ(y[static_cast<std::size_t>(t)], a * 1000 + b) << t;
  }
}

TEST(Control, ForMovesAllCarriedValuesAtOnce) {
  const auto y = y_of(R"(
  %two: f32 = const 2.0
  %a: f32, %b: f32, %c: f32 = for %i: u32 = %c0 to %l step %c1 with (%p0: f32 = %xt, %q0: f32 = %f1, %r0: f32 = %two) {
    yield %r0, %p0, %q0
  }
  %ten: f32 = const 100.0
  %x1: f32 = mul %a, %ten
  %x2: f32 = add %x1, %b
  %x3: f32 = mul %x2, %ten
  %x4: f32 = add %x3, %c
  store %y[%t], %x4)");
  for (int t = 0; t < 64; ++t) {
    const double turns[3][3] = {{1.0 * t, 1, 2}, {2, 1.0 * t, 1}, {1, 2, 1.0 * t}};
    const double* v = turns[t % 32 % 3];
    EXPECT_EQ(y[static_cast<std::size_t>(t)], v[0] * 10000 + v[1] * 100 + v[2]) << t;
  }
}

TEST(Control, SignedLoopCountsFromBelowZero) {
  const auto y = y_of(R"(
  %b: i32 = const -3
  %e: i32 = cast %l
  %s: i32 = const 1
  %r: f32 = for %i: i32 = %b to %e step %s with (%acc: f32 = %xt) {
    %next: f32 = add %acc, %f1
    yield %next
  }
  store %y[%t], %r)");
  for (int t = 0; t < 64; ++t) EXPECT_EQ(y[static_cast<std::size_t>(t)], t + t % 32 + 3) << t;
}

TEST(Control, WhilePassesOnWhatTheConditionLeft) {
  const auto y = y_of(R"(
  %i: u32, %f: f32 = while with (%a: u32 = %t, %acc: f32 = %f1) {
    %go: bool = gt %a, %c2
    %half: u32 = shr %a, %c1
    yield %go, %half, %acc
  } do (%h: u32, %bcc: f32) {
    %more: f32 = add %bcc, %f1
    yield %h, %more
  }
  %fi: f32 = cast %i
  %sum: f32 = add %fi, %f
  store %y[%t], %sum)");
  for (int t = 0; t < 64; ++t) {
    int a = t, acc = 1;
    while (a > 2) {
      a /= 2;
      ++acc;
    }
    EXPECT_EQ(y[static_cast<std::size_t>(t)], a / 2 + acc) << t;
  }
}

TEST(Control, VariablesKeepStatePerThread) {
  const auto y = y_of(R"(
  %v: f32 = var %f1
  %w: f32 = var %xt
  for %i: u32 = %c0 to %l step %c1 {
    %in: f32 = var %f1
    %old: f32 = get %v
    %k: u32 = bit_and %i, %c1
    %odd: bool = ne %k, %c0
    if %odd {
      set %in, %old
    }
    %add: f32 = get %in
    %new: f32 = add %old, %add
    set %v, %new
    %keep: f32 = get %w
    set %w, %keep
  }
  %last: f32 = get %v
  %first: f32 = get %w
  %sum: f32 = add %last, %first
  store %y[%t], %sum)");
  for (int t = 0; t < 64; ++t) {
    double v = 1;
    for (int i = 0; i < t % 32 && i < 31; ++i) v += i % 2 ? v : 1;
    EXPECT_EQ(y[static_cast<std::size_t>(t)], static_cast<double>(static_cast<float>(v) + static_cast<float>(t))) << t;
  }
}

TEST(Control, LoopOverSimdgroupsMarkedContiguousIsALoop) {
  const auto y = y_of(R"(
  for %i: u32 = %sg to %nn step %c2 contiguous {
    %first: bool = eq %l, %c0
    if %first {
      %f: f32 = cast %sg
      store %y[%i], %f
    }
  })");
  for (int t = 0; t < 64; ++t) EXPECT_EQ(y[static_cast<std::size_t>(t)], t % 2) << t;
}

TEST(Control, PrivateArraysAreOnesOwn) {
  const auto y = y_of(R"(
  store %p[%c0], %xt
  store %p[%c1], %f1
  %k: u32 = bit_and %t, %c1
  %v: f32 = load %p[%k]
  store %y[%t], %v)");
  for (int t = 0; t < 64; ++t) EXPECT_EQ(y[static_cast<std::size_t>(t)], t % 2 ? 1 : t) << t;
}

}  // namespace
}  // namespace mt::interp
