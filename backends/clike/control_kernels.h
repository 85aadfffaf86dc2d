// Small hand-made kernels on u32: one thread i writes y[i] from x[i] and n. Each holds a shape of control flow that is
// easy to print wrongly.
#pragma once
#include <fmt/format.h>
#include <string>

namespace mt::clike::testing {

struct TextKernel {
  const char* name;
  const char* body;
};

inline const TextKernel kControlKernels[] = {
    {"swap_in_loop", R"(
  %0: u32, %1: u32 = for %t: u32 = %zero to %n step %one with (%a: u32 = %xi, %b: u32 = %one) {
    %2: u32 = add %a, %b
    yield %b, %2
  }
  store %y[%i], %0
)"},
    {"rotate_three", R"(
  %0: u32, %1: u32, %2: u32 = for %t: u32 = %zero to %n step %one with (%a: u32 = %xi, %b: u32 = %one, %c: u32 = %i) {
    yield %b, %c, %a
  }
  %3: u32 = mul %0, %1
  %4: u32 = sub %3, %2
  store %y[%i], %4
)"},
    {"waits_across_an_if", R"(
  %9: u32 = add %xi, %one
  %c: bool = lt %i, %n
  %8: u32 = if %c {
    yield %i
  } else {
    %0: u32 = mul %n, %n
    store %y[%i], %0
    yield %xi
  }
  %1: u32 = mul %9, %8
  store %y[%i], %1
)"},
    {"load_before_store", R"(
  %old: u32 = load %y[%i]
  %0: u32 = add %xi, %n
  store %y[%i], %0
  %1: u32 = load %y[%i]
  %2: u32 = mul %1, %old
  store %y[%i], %2
)"},
    {"nested_accumulators", R"(
  %0: u32 = for %p: u32 = %zero to %n step %one with (%sum: u32 = %xi) {
    %1: u32 = for %q: u32 = %zero to %p step %one with (%inner: u32 = %sum) {
      %2: u32 = bit_xor %inner, %q
      %3: u32 = add %2, %one
      yield %3
    }
    %4: bool = eq %1, %p
    %5: u32 = if %4 {
      %6: u32 = mul %1, %n
      yield %6
    } else {
      yield %1
    }
    yield %5
  }
  store %y[%i], %0
)"},
    {"count_steps", R"(
  %0: u32, %1: u32 = while with (%v: u32 = %xi, %steps: u32 = %zero) {
    %2: bool = ne %v, %zero
    yield %2, %v, %steps
  } do (%w: u32, %s: u32) {
    %3: u32 = shr %w, %one
    %4: u32 = add %s, %one
    yield %3, %4
  }
  store %y[%i], %1
)"},
    {"passes_other_values_on", R"(
  %0: u32, %1: u32 = while with (%v: u32 = %n) {
    %2: u32 = mul %v, %xi
    %3: bool = gt %v, %zero
    yield %3, %2, %v
  } do (%w: u32, %s: u32) {
    store %y[%i], %w
    %4: u32 = sub %s, %one
    yield %4
  }
  %5: u32 = load %y[%i]
  %6: u32 = add %0, %5
  %7: u32 = sub %6, %1
  store %y[%i], %7
)"},
    {"constants_at_the_edge", R"(
  %32: u32 = const 32
  %31: u32 = const 31
  %0: u32 = shl %xi, %32
  %1: u32 = shr %xi, %32
  %2: u32 = shr %xi, %31
  %3: u32 = div %xi, %zero
  %4: u32 = rem %xi, %zero
  %m: i32 = const -1
  %5: i32 = bitcast %xi
  %6: i32 = div %5, %m
  %7: i32 = rem %5, %m
  %low: i32 = const -2147483648
  %8: i32 = sub %6, %low
  %9: i32 = add %8, %7
  %10: u32 = bitcast %9
  %11: u32 = add %0, %1
  %12: u32 = add %11, %2
  %13: u32 = add %3, %4
  %14: u32 = add %12, %13
  %15: u32 = sub %14, %10
  store %y[%i], %15
)"},
    {"words_of_the_language", R"(
  %kernel: u32 = add %xi, %n
  %float: u32 = mul %kernel, %kernel
  %lane: u32 = bit_xor %float, %kernel
  %y: u32 = bit_or %lane, %float
  store %y[%i], %y
)"},
};

/// The whole text of a control kernel.
inline std::string text_of(const TextKernel& k) {
  return fmt::format(
      "kernel @{} threads 32 {{\n  device in %x: u32 [32]\n  device inout %y: u32 [32]\n  scalar %n: u32\n"
      "  %i: u32 = thread_id\n  %n: u32 = param %n\n  %zero: u32 = const 0\n  %one: u32 = const 1\n"
      "  %xi: u32 = load %x[%i]\n{}}}\n",
      k.name, k.body);
}

}  // namespace mt::clike::testing
