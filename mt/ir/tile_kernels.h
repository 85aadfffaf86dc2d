// Kernels of tiles, by role, dtype, shape and order of operands: what tests of targets run and print.
//
// Each simdgroup works on tiles of its own. Device memories are a, b, c (inputs), out (inout) and side (inout, of
// bodies), in that order.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mt/base/error.h"
#include "mt/ir/text.h"

namespace mt {

/// A kernel and its arguments.
struct TileCase {
  Kernel kernel;
  std::vector<std::uint64_t> scalars = {};
};

namespace tile_text {
using Names = std::vector<std::pair<std::string, std::string>>;
/// The text with `$NAME` replaced, the first match in the list first.
inline std::string filled(std::string text, const Names& names) {
  for (const auto& [name, value] : names)
    for (std::size_t at = 0; (at = text.find("$" + name, at)) != text.npos; at += value.size())
      text.replace(at, name.size() + 1, value);
  return text;
}
inline Kernel kernel_of(const std::string& text) {
  Result<Kernel> k = parse(text);
  if (!k) throw Error(std::string(k.error().what()) + "\n" + text);
  return k.take();
}
inline std::string count(std::int64_t n) { return std::to_string(n); }
}  // namespace tile_text

/// out = c + a * b of one tile a simdgroup.
struct TileProduct {
  DType dtype = DType::F32, out = DType::F32;
  int rows = 16, cols = 16, depth = 16;
  int m = 16, n = 16, k = 16;  // rows, columns and depth that exist
  bool lhs_t = false, rhs_t = false, out_t = false;
  int gap = 0;          // elements between lines of memory
  bool shared = false;  // operands are loaded from threadgroup memory
  int simds = 1;
  const char* index = "u32";
  bool known = false;  // m and the length of the rhs's lines are constants

  std::string name() const {
    return fmt::format("product_{}_{}_{}x{}x{}_{}{}{}_{}_{}_{}_{}{}", name_of(dtype), name_of(out), rows, cols, depth,
                       int{lhs_t}, int{rhs_t}, int{out_t}, gap, shared ? "shared" : "device", simds, index,
                       known ? "_known" : "");
  }
};

inline TileCase tile_product(const TileProduct& p) {
  using namespace tile_text;
  const int a_line = (p.lhs_t ? p.rows : p.depth) + p.gap, a_size = (p.lhs_t ? p.depth : p.rows) * a_line;
  const int b_line = (p.rhs_t ? p.depth : p.cols) + p.gap, b_size = (p.rhs_t ? p.cols : p.depth) * b_line;
  const int c_line = (p.out_t ? p.rows : p.cols) + p.gap, c_size = (p.out_t ? p.cols : p.rows) * c_line;
  // The last simdgroup's memory ends with what exists.
  const auto total = [&](int size, int lines, int length, int line) {
    return count(size * (p.simds - 1) + std::max(1, std::min(lines, length) > 0 ? (lines - 1) * line + length : 0));
  };
  const int m = std::min(p.m, p.rows), n = std::min(p.n, p.cols), k = std::min(p.k, p.depth);
  const std::string staged = R"(
  threadgroup %sa: $T [$A]
  threadgroup %sb: $T [$B])",
                    copied = R"(
  %t: u32 = thread_id
  %threads: u32 = const $H
  %zero: u32 = const 0
  %ca: u32 = const $A
  %cb: u32 = const $B
  for %i: u32 = %t to %ca step %threads {
    %v: $T = load %a[%i]
    store %sa[%i], %v
  }
  for %i2: u32 = %t to %cb step %threads {
    %v2: $T = load %b[%i2]
    store %sb[%i2], %v2
  }
  barrier)";
  const std::string text = "kernel @" + p.name() + R"( threads $H {
  device in %a: $T [$A]
  device in %b: $T [$B]
  device in %c: f32 [$C]
  device inout %out: $O [$C])" +
                           (p.shared ? staged : "") + R"(
  scalar %m: u32
  scalar %n: u32
  scalar %k: u32
  scalar %la: $I
  scalar %lb: $I
  scalar %lc: $I
  %sg0: u32 = simd_id
  %sg: $I = cast %sg0
  %sm: u32 = $BOUND_M
  %sn: u32 = $BOUND_N
  %sk: u32 = $BOUND_K
  %sla: $I = param %la
  %slb: $I = param %lb
  %slc: $I = param %lc)" + (p.shared ? copied : "") +
                           R"(
  %ea: $I = const $SA
  %eb: $I = const $SB
  %ec: $I = const $SC
  %pa: $I = mul %sg, %ea
  %pb: $I = mul %sg, %eb
  %pc: $I = mul %sg, %ec
  %lhs: $T.lhs.$RxK = tile_load %$Fa[%pa, %sla, %sm, %sk]$LT
  %rhs: $T.rhs.$KxC = tile_load %$Fb[%pb, %slb, %sk, %sn]$RT
  %acc: f32.acc.$RxC = tile_load %c[%pc, %slc, %sm, %sn]$OT
  %sum: f32.acc.$RxC = tile_mma %acc, %lhs, %rhs
  tile_store %out[%pc, %slc, %sm, %sn], %sum$OT
})";
  const auto turned = [](bool t) { return std::string(t ? " transposed" : ""); };
  const auto bound = [&](bool constant, const char* scalar, int value) {
    return constant ? "const " + count(value) : std::string("param %") + scalar;
  };
  TileCase c{kernel_of(filled(text, {{"BOUND_M", bound(p.known, "m", p.m)},
                                     {"BOUND_N", bound(p.known && !p.rhs_t, "n", p.n)},
                                     {"BOUND_K", bound(p.known && p.rhs_t, "k", p.k)},
                                     {"RxK", fmt::format("{}x{}", p.rows, p.depth)},
                                     {"KxC", fmt::format("{}x{}", p.depth, p.cols)},
                                     {"RxC", fmt::format("{}x{}", p.rows, p.cols)},
                                     {"SA", count(a_size)},
                                     {"SB", count(b_size)},
                                     {"SC", count(c_size)},
                                     {"LT", turned(p.lhs_t)},
                                     {"RT", turned(p.rhs_t)},
                                     {"OT", turned(p.out_t)},
                                     {"A", total(a_size, p.lhs_t ? k : m, p.lhs_t ? m : k, a_line)},
                                     {"B", total(b_size, p.rhs_t ? n : k, p.rhs_t ? k : n, b_line)},
                                     {"C", total(c_size, p.out_t ? n : m, p.out_t ? m : n, c_line)},
                                     {"T", std::string(name_of(p.dtype))},
                                     {"O", std::string(name_of(p.out))},
                                     {"I", p.index},
                                     {"F", p.shared ? "s" : ""},
                                     {"H", count(32 * p.simds)}}))};
  for (const int s : {p.m, p.n, p.k, a_line, b_line, c_line}) c.scalars.push_back(static_cast<std::uint64_t>(s));
  return c;
}

/// A kernel whose body works on accs of `rows` x `cols`: %x, %y (from a and c), operands %l (rows x cols, from b) and
/// %r (cols x cols, from b) of a dtype, the rows tile %q (the first column of c), %f0, %f1, %n (a scalar), %zero, %one,
/// %two, %three; %side[%beside] and the 2 * rows elements from there are the simdgroup's own. The body leaves an acc
/// %result, which goes to out.
inline TileCase tile_body(const std::string& name, const std::string& body, DType dtype, int rows, int cols, int simds,
                          std::uint64_t n) {
  using namespace tile_text;
  const std::string text = "kernel @" + name + R"( threads $H {
  device in %a: f32 [$A]
  device in %b: $T [$B]
  device in %c: f32 [$A]
  device inout %out: f32 [$A]
  device inout %side: $T [$D]
  threadgroup %s: f32 [$H]
  scalar %count: u32
  %n: u32 = param %count
  %t: u32 = thread_id
  %sg: u32 = simd_id
  %zero: u32 = const 0
  %one: u32 = const 1
  %two: u32 = const 2
  %three: u32 = const 3
  %f0: f32 = const 0.0
  %f1: f32 = const 1.0
  %rows: u32 = const $R
  %cols: u32 = const $C
  %size: u32 = const $E
  %part: u32 = mul %sg, %size
  %twice: u32 = const $TWICE
  %beside: u32 = mul %sg, %twice
  %x: $ACC = tile_load %a[%part, %cols, %rows, %cols]
  %y: $ACC = tile_load %c[%part, %cols, %rows, %cols]
  %q: $ROWS = tile_load %c[%part, %cols, %rows, %one]
  %l: $LHS = tile_load %b[%part, %cols, %rows, %cols]
  %r: $RHS = tile_load %b[%zero, %cols, %cols, %cols]
)" + body + R"(
  tile_store %out[%part, %cols, %rows, %cols], %result
})";
  const int elements = rows * cols;
  TileCase c{kernel_of(filled(text, {{"ACC", fmt::format("f32.acc.{}x{}", rows, cols)},
                                     {"ROWS", fmt::format("f32.rows.{}x1", rows)},
                                     {"LHS", fmt::format("{}.lhs.{}x{}", name_of(dtype), rows, cols)},
                                     {"RHS", fmt::format("{}.rhs.{}x{}", name_of(dtype), cols, cols)},
                                     {"A", count(elements * simds)},
                                     {"B", count(std::max(elements * simds, cols * cols))},
                                     {"TWICE", count(2 * rows)},
                                     {"T", std::string(name_of(dtype))},
                                     {"D", count(2 * rows * simds)},
                                     {"H", count(32 * simds)},
                                     {"R", count(rows)},
                                     {"C", count(cols)},
                                     {"E", count(elements)}}))};
  c.scalars = {n};
  return c;
}

/// Bodies for `tile_body`, by name: elements, reductions, and what control flow does with tiles.
inline const std::vector<std::pair<std::string, std::string>>& tile_bodies() {
  static const std::vector<std::pair<std::string, std::string>> bodies = {
      {"fill", "%result: $ACC = tile_fill %f1"},
      {"maps", R"(
  %sum: $ACC = tile_map %x, %y, %q (%e: f32, %g: f32, %h: f32, %i: u32, %j: u32) {
    %fi: f32 = cast %i
    %fj: f32 = cast %j
    %d: f32 = sub %fi, %fj
    %p: f32 = fma %e, %g, %h
    %u: f32 = add %p, %d
    yield %u
  }
  %result: $ACC = tile_map %sum (%e2: f32, %i2: u32, %j2: u32) {
    %row: u32 = mul %i2, %cols
    %at0: u32 = add %row, %j2
    %at: u32 = add %at0, %part
    %v: f32 = load %c[%at]
    %below: bool = gt %j2, %i2
    %w: f32 = add %e2, %v
    %z: f32 = select %below, %e2, %w
    yield %z
  })"},
      {"constant_map", R"(
  %result: $ACC = tile_map %x (%e: f32, %i: u32, %j: u32) {
    yield %f1
  })"},
      {"reductions", R"(
  %sum: $ROWS = tile_reduce sum %x
  %most: $ROWS = tile_reduce max %x
  %least: $ROWS = tile_reduce min %y
  %mix: $ROWS = tile_map %sum, %most, %least (%e: f32, %g: f32, %h: f32, %i: u32, %j: u32) {
    %fi: f32 = cast %i
    %p: f32 = sub %g, %h
    %u: f32 = fma %p, %fi, %e
    %fj: f32 = cast %j
    %v: f32 = add %u, %fj
    yield %v
  }
  %f8: f32 = const 0.125
  %small: $ACC = tile_map %y (%e2: f32, %i2: u32, %j2: u32) {
    %near: f32 = fma %e2, %f8, %f1
    yield %near
  }
  %all: $ROWS = tile_reduce prod %small
  %result: $ACC = tile_map %x, %mix, %all (%e3: f32, %g3: f32, %h3: f32, %i3: u32, %j3: u32) {
    %s3: f32 = add %g3, %h3
    %w3: f32 = add %e3, %s3
    yield %w3
  })"},
      {"rows_store", R"(
  %sum: $ROWS = tile_reduce sum %x
  %seven: u32 = const 7
  tile_store %side[%beside, %two, %seven, %one], %sum
  %back: $ROWS = tile_fill %f1
  %result: $ACC = tile_map %x, %back (%e: f32, %g: f32, %i: u32, %j: u32) {
    %w: f32 = add %e, %g
    yield %w
  })"},
      {"cast_product", R"(
  %low: $LHS = tile_cast %x
  %sum: $ACC = tile_mma %y, %low, %r
  %result: $ACC = tile_map %sum, %x (%e: f32, %g: f32, %i: u32, %j: u32) {
    %w: f32 = add %e, %g
    yield %w
  })"},
      {"used_twice", R"(
  %one_more: $ACC = tile_mma %x, %l, %r
  %two_more: $ACC = tile_mma %one_more, %l, %r
  %other: $ACC = tile_mma %x, %l, %r
  %result: $ACC = tile_map %two_more, %other, %x, %one_more (%e: f32, %g: f32, %h: f32, %k: f32, %i: u32, %j: u32) {
    %u: f32 = sub %e, %g
    %v: f32 = add %h, %k
    %w: f32 = fma %v, %v, %u
    yield %w
  })"},
      {"carried", R"(
  %result: $ACC = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x) {
    %next: $ACC = tile_mma %acc, %l, %r
    yield %next
  })"},
      {"carried_and_kept", R"(
  %sum: $ACC, %old: $ACC = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x, %last: $ACC = %x) {
    %next: $ACC = tile_mma %acc, %l, %r
    yield %next, %acc
  }
  %result: $ACC = tile_map %sum, %old, %x (%e: f32, %g: f32, %h: f32, %i2: u32, %j: u32) {
    %d: f32 = sub %e, %g
    %w: f32 = add %d, %h
    yield %w
  })"},
      {"swapped", R"(
  %p: $ACC, %s1: $ACC = for %i: u32 = %zero to %n step %one with (%u: $ACC = %x, %v: $ACC = %y) {
    yield %v, %u
  }
  %result: $ACC = tile_map %p, %s1 (%e: f32, %g: f32, %i2: u32, %j: u32) {
    %w: f32 = fma %e, %e, %g
    yield %w
  })"},
      {"ring_of_three", R"(
  %third: $ACC = tile_mma %x, %l, %r
  %p: $ACC, %p1: $ACC, %p2: $ACC = for %i: u32 = %zero to %n step %one with (%u: $ACC = %x, %v: $ACC = %y, %w: $ACC = %third) {
    %more: $ACC = tile_map %w (%e0: f32, %i0: u32, %j0: u32) {
      %plus: f32 = add %e0, %f1
      yield %plus
    }
    yield %v, %more, %u
  }
  %result: $ACC = tile_map %p, %p1, %p2, %x, %y (%e: f32, %g: f32, %h: f32, %k: f32, %m: f32, %i2: u32, %j: u32) {
    %s1: f32 = fma %e, %g, %h
    %s2: f32 = fma %k, %m, %s1
    yield %s2
  })"},
      {"operands_carried", R"(
  %result: $ACC, %last: $LHS = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x, %left: $LHS = %l) {
    %next: $ACC = tile_mma %acc, %left, %r
    %turn: u32 = bit_and %i, %one
    %odd: bool = eq %turn, %one
    %other: $LHS = if %odd {
      %new: $LHS = tile_load %b[%part, %rows, %rows, %cols] transposed
      yield %new
    } else {
      yield %l
    }
    yield %next, %other
  })"},
      {"operand_by_columns_carried", R"(
  %first: $LHS = tile_load %b[%part, %rows, %rows, %cols] transposed
  %result: $ACC, %last: $LHS = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x, %left: $LHS = %first) {
    %next: $ACC = tile_mma %acc, %left, %r
    %new: $LHS = tile_load %b[%part, %rows, %two, %cols] transposed
    yield %next, %new
  })"},
      {"chosen", R"(
  %many: bool = gt %n, %two
  %result: $ACC, %rest: $ACC = if %many {
    %u: $ACC = tile_mma %x, %l, %r
    yield %u, %x
  } else {
    yield %y, %y
  }
  %keep: $ROWS = tile_reduce sum %rest
  tile_store %side[%beside, %one, %rows, %one], %keep)"},
      {"chosen_in_a_loop", R"(
  %result: $ACC, %rest: $ACC = for %i: u32 = %zero to %n step %one with (%u: $ACC = %x, %v: $ACC = %y) {
    %bit: u32 = bit_and %i, %one
    %odd: bool = eq %bit, %one
    %p: $ACC, %s1: $ACC = if %odd {
      %sum: $ACC = tile_mma %u, %l, %r
      yield %sum, %u
    } else {
      yield %v, %u
    }
    yield %p, %s1
  })"},
      {"while", R"(
  %result: $ACC, %k: u32 = while with (%u: $ACC = %x, %k0: u32 = %zero) {
    %go: bool = lt %k0, %n
    %half: $ACC = tile_map %u (%e: f32, %i: u32, %j: u32) {
      %h: f32 = const 0.5
      %w: f32 = mul %e, %h
      yield %w
    }
    yield %go, %half, %k0
  } do (%v: $ACC, %k1: u32) {
    %sum: $ACC = tile_mma %v, %l, %r
    %k2: u32 = add %k1, %one
    yield %sum, %k2
  })"},
      {"while_swaps", R"(
  %result: $ACC, %rest: $ACC, %k: u32 = while with (%u: $ACC = %x, %v: $ACC = %y, %k0: u32 = %zero) {
    %go: bool = lt %k0, %n
    yield %go, %v, %u, %k0
  } do (%p: $ACC, %s1: $ACC, %k1: u32) {
    %k2: u32 = add %k1, %one
    %sum: $ACC = tile_mma %p, %l, %r
    yield %s1, %sum, %k2
  })"},
      {"loops_in_loops", R"(
  %result: $ACC, %top: $ROWS = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x, %m: $ROWS = %q) {
    %in: $ACC = for %j: u32 = %zero to %i step %one with (%inner: $ACC = %y) {
      %more: $ACC = tile_mma %inner, %l, %r
      yield %more
    }
    %red: $ROWS = tile_reduce max %in
    %m1: $ROWS = tile_map %m, %red (%e0: f32, %g0: f32, %i0: u32, %j0: u32) {
      %w0: f32 = max %e0, %g0
      yield %w0
    }
    %next: $ACC = tile_map %acc, %in, %m1 (%e: f32, %g: f32, %h: f32, %i1: u32, %j1: u32) {
      %d: f32 = sub %g, %h
      %w: f32 = add %e, %d
      yield %w
    }
    yield %next, %m1
  })"},
      {"over_barriers", R"(
  %result: $ACC, %last: $ACC = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x, %other: $ACC = %y) {
    %fi: f32 = cast %t
    store %s[%t], %fi
    barrier
    %sum: $ACC = tile_mma %acc, %l, %r
    %plus: $ACC = tile_map %sum (%e: f32, %i1: u32, %j1: u32) {
      %last_thread: u32 = bit_and %j1, %three
      %v: f32 = load %s[%last_thread]
      %w: f32 = add %e, %v
      yield %w
    }
    barrier
    yield %other, %plus
  })"},
      {"chosen_with_barriers", R"(
  %many: bool = gt %n, %two
  %result: $ACC = if %many {
    %u: $ACC = tile_mma %x, %l, %r
    barrier
    %w: $ACC = tile_mma %u, %l, %r
    yield %w
  } else {
    barrier
    yield %y
  })"},
  };
  return bodies;
}

}  // namespace mt
