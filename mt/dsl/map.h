// Loops that most kernels share: over all elements of a grid, and over the elements of a row.
#pragma once
#include "mt/dsl/control.h"
#include "mt/dsl/memory.h"

namespace mt {

/// Threadgroups of `threads` threads that `map_` needs for n elements, `width` a thread.
inline std::int64_t map_groups(std::int64_t n, int width, int threads) {
  return ceil_div(n, std::int64_t{width} * threads);
}

/// Calls body(U64 index, int lanes) so that every element 0 … n - 1 is covered once by a run of `lanes` elements:
/// `width` of them a thread, one by one at the ragged end. The grid has map_groups(n, width, threads) threadgroups
/// along x.
template <class F>
void map_(At<u64, Form::One> n, int width, F&& body, Here here = Here::current()) {
  const U64 count = value_from<u64, Form::One>(n.id);
  const U64 run(width, here), first = global_id(here) * At<u64, Form::One>(run, here);
  // Equivalent if or_equal: single elements make up a last run.
  if_(At<bool, Form::One>(first + run <= count, here), [&] { body(first, width); }).else_([&] {
    if (width > 1)
      for_(
          first, count, 1, [&](U64 i) { body(i, 1); }, here);
  });
}

/// Calls body(U32 index, int lanes) so that the threads of a threadgroup together cover 0 … n - 1 of a row: runs of
/// `width` elements first, single elements at the ragged end. `even`: n is known to be a multiple of width.
template <class F>
void for_row_(At<u32, Form::One> n, int width, bool even, F&& body, Here here = Here::current()) {
  // Operators would record this file as the place; the caller's is the one to show.
  const auto apply = [&](Op op, const U32& a, const U32& b) {
    return value_from<u32, Form::One>(detail::binary(op, a.id(), b.id(), here));
  };
  const U32 count = value_from<u32, Form::One>(n.id), thread = thread_id(here);
  const U32 run(width, here), first = apply(Op::Mul, thread, run), step(threads() * width, here);
  if (even || width == 1) {
    for_(
        first, count, step, [&](U32 i) { body(i, width); }, here);
    return;
  }
  const U32 whole = apply(Op::Sub, count, apply(Op::Rem, count, run));
  for_(
      first, whole, step, [&](U32 i) { body(i, width); }, here);
  const U32 rest = apply(Op::Add, whole, thread);  // fewer than `width`, so fewer than there are threads
  if_(At<bool, Form::One>(value_from<bool, Form::One>(detail::binary(Op::Lt, rest.id(), count.id(), here)), here),
      [&] { body(rest, 1); });
}

}  // namespace mt
