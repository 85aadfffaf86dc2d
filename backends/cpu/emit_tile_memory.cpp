// Tiles to and from memory: one helper function for each type of tile, dtype of memory and order of operands.
//
// Memory has lines of consecutive elements: rows, or columns where it is transposed. A buffer has lines too: rows, but
// columns for an lhs by columns; an rhs is cut into panels of as many columns as a product takes at a time. Where both
// have the same lines whole vectors move, else blocks of 8 x 8 change their order on the way.
#include <algorithm>
#include <numeric>

#include "backends/cpu/emitter.h"
#include "mt/base/error.h"

namespace mt::cpu {
namespace {

constexpr int kBlock = 8;

/// Elements of an operand that are a power of two each, the largest first.
std::vector<int> powers(int n, int most) {
  std::vector<int> parts;
  for (int p = most; n > 0; p /= 2)
    for (; n >= p; n -= p) parts.push_back(p);
  return parts;
}

}  // namespace

int Emitter::panel() const { return packed_block(options_.avx512, 1).cols; }

/// The buffer as lines: what is consecutive in it.
std::vector<Emitter::Run> Emitter::runs_of(Type t, bool by_column) const {
  if (t.role == TileRole::Rhs) {
    const int p = panel(), whole = t.cols / p, rest = t.cols % p, depth = t.rows;
    std::vector<Run> runs;
    if (whole) runs.push_back({.width = p, .count = whole, .line = p, .step = depth * p});
    if (rest) runs.push_back({.width = rest, .count = 1, .first = whole * p, .line = rest, .at = whole * p * depth});
    return runs;
  }
  const int length = by_column ? t.rows : t.cols;
  std::vector<Run> runs;
  int first = 0;
  for (const int width : {32, 16, 8}) {
    const int count = (length - first) / width;
    if (count)
      runs.push_back({.width = width, .count = count, .first = first, .line = length, .step = width, .at = first});
    first += count * width;
  }
  return runs;
}

void Emitter::count_up(const Ref& end, int step, const std::function<void(const Ref&)>& body) {
  const Ref slot = w_.stack(El::I64, 1);
  const std::string head = w_.label("count"), inner = w_.label("do"), done = w_.label("od");
  w_.set(slot, Writer::zero(El::I64));
  w_.place(head);
  const Ref now = w_.get(slot, El::I64, 1);
  w_.branch(w_.cmp("icmp slt", now, end), inner, done);
  w_.place(inner);
  body(now);
  w_.set(slot, w_.bin("add", now, Writer::integer(El::I64, step)));
  w_.jump(head);
  w_.place(done);
}
void Emitter::count_up(int end, int step, const std::function<void(const Ref&)>& body) {
  if (end == step) return body(Writer::zero(El::I64));
  count_up(Writer::integer(El::I64, end), step, body);
}

/// a * factor + constant
Ref Emitter::linear(const Ref& a, std::int64_t factor, std::int64_t constant) {
  Ref r = factor == 1 ? a : w_.bin("mul", a, Writer::integer(El::I64, factor));
  return constant ? w_.bin("add", r, Writer::integer(El::I64, constant)) : r;
}

namespace {
Ref pointer(const char* name) { return {name, El::Ptr, 1}; }
}  // namespace

/// One helper's body, in terms of lines.
struct TileMover {
  Emitter& e;
  Writer& w;
  bool store;
  DType held;
  bool across;  // lines of memory are no lines of the buffer
  std::vector<Emitter::Run> runs;
  int lines, length;  // of the buffer
  Ref tile = pointer("%tile"), memory = pointer("%memory"), stride{"%stride", El::I64, 1}, has_lines, has_length;

  static Ref num(std::int64_t v) { return Writer::integer(El::I64, v); }
  Ref plus(const Ref& a, const Ref& b) { return w.bin("add", a, b); }
  El el() const { return memory_el_of(held); }

  /// `n` elements; with a mask only some of them: the others are read as 0 and not written.
  void move(const Ref& at, const Ref& from, int n, const std::function<Ref(int first, int count)>& mask = {}) {
    int done = 0;
    for (const int part : powers(n, kLanes)) {
      const Ref t = w.element(at, El::F32, num(done)), m = w.element(from, el(), num(done));
      const Ref some = mask ? mask(done, part) : Ref{};
      if (store)
        put(e.from_f32(w.load(El::F32, part, t, 4), held), m, mask ? &some : nullptr);
      else
        w.store(e.to_f32(fetch(m, part, mask ? &some : nullptr), held), t, 4);
      done += part;
    }
  }
  Ref fetch(const Ref& from, int n, const Ref* mask) {
    if (!mask) return w.load(el(), n, from, size_of(held));
    return w.call_as(fmt::format("llvm.masked.load.{}.p0", vector_name(n)), el(), n,
                     {from, Writer::integer(El::I32, size_of(held)), *mask, Writer::zero(el(), n)});
  }
  void put(const Ref& v, const Ref& to, const Ref* mask) {
    if (!mask) return w.store(v, to, size_of(held));
    w.line(fmt::format("call void @llvm.masked.store.{}.p0({} {}, ptr {}, i32 {}, {} {})", vector_name(v.n),
                       type_name(v), v.name, to.name, size_of(held), type_name(*mask), mask->name));
  }
  std::string vector_name(int n) const {
    return fmt::format("v{}{}{}", n, el() == El::F32 ? "f" : "i", 8 * bytes_of(el()));
  }
  /// Which of the elements first, first + 1, ... are below an end.
  Ref below(const Ref& first, const Ref& end, int n) {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(n));
    std::iota(steps.begin(), steps.end(), 0);
    const Ref left = w.cast("trunc", w.bin("sub", end, first), El::I32);
    return w.cmp("icmp slt", Writer::integers(El::I32, steps), w.splat(left, n));
  }
  Ref below(const Ref& one, const Ref& end) { return w.cmp("icmp slt", one, end); }

  /// Place in the buffer of element `position` of a run's piece `c` in line `l`.
  Ref in_tile(const Emitter::Run& run, const Ref& l, const Ref& c, const Ref& position) {
    const Ref line = e.linear(l, run.line, run.at);
    const Ref piece = run.count > 1 ? plus(line, e.linear(c, run.step, 0)) : line;
    return w.element(tile, El::F32, plus(piece, position));
  }
  /// Place in memory of element (l, p) of the buffer.
  Ref in_memory(const Ref& l, const Ref& p) {
    const Ref slow = across ? p : l, fast = across ? l : p;
    return w.element(memory, el(), plus(w.bin("mul", slow, stride), fast));
  }

  enum class Mode { Whole, Masked, Guarded };

  void straight(Mode mode) {
    e.count_up(mode == Mode::Guarded ? has_lines : num(lines), 1, [&](const Ref& l) {
      for (const Emitter::Run& run : runs)
        e.count_up(run.count, 1, [&](const Ref& c) {
          const Ref first = e.linear(c, run.width, run.first);
          const auto all = [&] { move(in_tile(run, l, c, num(0)), in_memory(l, first), run.width); };
          if (mode == Mode::Whole) return all();
          if (mode == Mode::Masked)
            return move(in_tile(run, l, c, num(0)), in_memory(l, first), run.width, [&](int from, int n) {
              return w.bin("and", below(plus(first, num(from)), has_length, n), w.splat(below(l, has_lines), n));
            });
          guarded(w.cmp("icmp sle", plus(first, num(run.width)), has_length), all, [&] {
            e.count_up(w.bin("sub", has_length, first), 1,
                       [&](const Ref& x) { move(in_tile(run, l, c, x), in_memory(l, plus(first, x)), 1); });
          });
        });
    });
  }

  void crossing(Mode mode) {
    for (const Emitter::Run& run : runs)
      e.count_up(run.count, 1, [&](const Ref& c) {
        e.count_up(run.width, kBlock, [&](const Ref& s) {
          const Ref p = plus(e.linear(c, run.width, run.first), s);
          e.count_up(lines, kBlock, [&](const Ref& l) {
            if (mode != Mode::Guarded) return block(run, l, c, s, p, mode == Mode::Masked);
            const auto fits = [&](const Ref& at, const Ref& has) {
              return w.cmp("icmp sle", plus(at, num(kBlock)), has);
            };
            const auto rest = [&](const Ref& at, const Ref& has) {
              return w.call("llvm.smin", {num(kBlock), w.bin("sub", has, at)});
            };
            guarded(
                w.bin("and", fits(l, has_lines), fits(p, has_length)), [&] { block(run, l, c, s, p, false); },
                [&] {
                  e.count_up(rest(l, has_lines), 1, [&](const Ref& y) {
                    e.count_up(rest(p, has_length), 1, [&](const Ref& x) {
                      move(in_tile(run, plus(l, y), c, plus(s, x)), in_memory(plus(l, y), plus(p, x)), 1);
                    });
                  });
                });
          });
        });
      });
  }

  void block(const Emitter::Run& run, const Ref& l, const Ref& c, const Ref& s, const Ref& p, bool masked) {
    std::vector<Ref> rows, masks;
    const auto tile_row = [&](int k) { return in_tile(run, plus(l, num(k)), c, s); };
    const auto memory_row = [&](int k) { return in_memory(l, plus(p, num(k))); };
    const Ref on = masked ? below(l, has_lines, kBlock) : Ref{};
    for (int k = 0; k < kBlock; ++k) {
      if (masked) masks.push_back(w.bin("and", on, w.splat(below(plus(p, num(k)), has_length), kBlock)));
      const Ref* mask = masked ? &masks.back() : nullptr;
      rows.push_back(store ? w.load(El::F32, kBlock, tile_row(k), 4)
                           : e.to_f32(fetch(memory_row(k), kBlock, mask), held));
    }
    transpose(rows);
    for (int k = 0; k < kBlock; ++k) {
      const Ref& r = rows[static_cast<std::size_t>(k)];
      if (store)
        put(e.from_f32(r, held), memory_row(k), masked ? &masks[static_cast<std::size_t>(k)] : nullptr);
      else
        w.store(r, tile_row(k), 4);
    }
  }

  /// Pairs of rows change quarters, then halves, then wholes of their elements.
  void transpose(std::vector<Ref>& rows) {
    for (int step = 1; step < kBlock; step *= 2) {
      std::vector<Ref> next = rows;
      for (int r = 0; r < kBlock; ++r) {
        if (r & step) continue;
        const Ref &a = rows[static_cast<std::size_t>(r)], &b = rows[static_cast<std::size_t>(r + step)];
        std::vector<int> low, high;
        for (int x = 0; x < kBlock; ++x) {
          low.push_back(x & step ? kBlock + x - step : x);
          high.push_back(x & step ? kBlock + x : x + step);
        }
        next[static_cast<std::size_t>(r)] = w.shuffle(a, b, low);
        next[static_cast<std::size_t>(r + step)] = w.shuffle(a, b, high);
      }
      rows = std::move(next);
    }
  }

  void guarded(const Ref& condition, const std::function<void()>& yes, const std::function<void()>& no) {
    const std::string then = w.label("then"), other = w.label("else"), end = w.label("fi");
    w.branch(condition, then, other);
    w.place(then);
    yes();
    w.jump(end);
    w.place(other);
    no();
    w.place(end);
  }

  void clear() {
    for (const Emitter::Run& run : runs)
      e.count_up(lines, 1, [&](const Ref& l) {
        e.count_up(run.count, 1, [&](const Ref& c) {
          int done = 0;
          for (const int part : powers(run.width, kLanes)) {
            w.store(Writer::zero(El::F32, part), in_tile(run, l, c, num(done)), 4);
            done += part;
          }
        });
      });
  }

  void run() {
    const auto some = [&](const char* name, int most) {
      return w.cast("zext", w.call("llvm.umin", {{name, El::I32, 1}, Writer::integer(El::I32, most)}), El::I64);
    };
    has_lines = some("%lines", lines);
    has_length = some("%length", length);
    const auto all = [&](Mode mode) { across ? crossing(mode) : straight(mode); };
    guarded(
        w.bin("and", w.cmp("icmp eq", has_lines, num(lines)), w.cmp("icmp eq", has_length, num(length))),
        [&] { all(Mode::Whole); },
        [&] {
          if (e.options_.small_masks) return all(Mode::Masked);
          if (!store) clear();
          all(Mode::Guarded);
        });
  }
};

/// %tile, %memory, %stride, %lines, %length: how many lines of the buffer exist, and elements of a line.
std::string Emitter::tile_mover(bool store, Type t, DType held, bool across, bool by_column) {
  std::string shape = to_string(t);
  std::replace(shape.begin(), shape.end(), '.', '_');
  const std::string name = fmt::format("mt_{}_{}_{}{}{}", store ? "store" : "load", shape, name_of(held),
                                       across ? "_across" : "", by_column ? "_by_column" : "");
  helper(name, "ptr noalias %tile, ptr noalias %memory, i64 %stride, i32 %lines, i32 %length", [&] {
    TileMover{
        *this, w_, store, held, across, runs_of(t, by_column), by_column ? t.cols : t.rows, by_column ? t.rows : t.cols}
        .run();
  });
  return name;
}

/// Rows: elements of one column, `stride` apart.
std::string Emitter::rows_mover(bool store, Type t, DType held) {
  const std::string name = fmt::format("mt_{}_rows_{}_{}", store ? "store" : "load", t.rows, name_of(held));
  helper(name, "ptr noalias %tile, ptr noalias %memory, i64 %stride, i32 %lines", [&] {
    const Ref tile = pointer("%tile"), memory = pointer("%memory");
    const El el = memory_el_of(held);
    const Ref lines{"%lines", El::I32, 1}, most = Writer::integer(El::I32, t.rows);
    const Ref has = w_.cast("zext", w_.call("llvm.umin", {lines, most}), El::I64);
    if (!store)
      count_up(t.rows, kBlock,
               [&](const Ref& r) { w_.store(Writer::zero(El::F32, kBlock), w_.element(tile, El::F32, r), 4); });
    count_up(has, 1, [&](const Ref& r) {
      const Ref at = w_.element(tile, El::F32, r);
      const Ref m = w_.element(memory, el, w_.bin("mul", r, {"%stride", El::I64, 1}));
      if (store)
        w_.store(from_f32(w_.load(El::F32, 1, at, 4), held), m, size_of(held));
      else
        w_.store(to_f32(w_.load(el, 1, m, size_of(held)), held), at, 4);
    });
  });
  return name;
}

void Emitter::tile_access(const Inst& i) {
  const bool store = i.op == Op::TileStore;
  const ValueId value = store ? i.in[4] : i.out[0];
  if (!store && products_.in_place(value)) return;
  const Type t = type(value);
  const DType held = kernel_.at(i.memory).dtype;
  const Ref place = pointer_at(i.memory, scalar_index(i.in[0])), stride = scalar_index(i.in[1]);
  const Ref rows = scalar(i.in[2]), cols = scalar(i.in[3]), tile = tile_pointer(value);
  if (t.role == TileRole::Rows) return call_helper(rows_mover(store, t, held), {tile, place, stride, rows});
  const bool by_column = tiles_.by_column(value);
  const bool across = i.transposed != by_column;
  call_helper(tile_mover(store, t, held, across, by_column),
              {tile, place, stride, by_column ? cols : rows, by_column ? rows : cols});
}

}  // namespace mt::cpu
