// Products of tiles: from packed operands by blocks that stay in registers, and from lines of memory as they lie.
#include <algorithm>
#include <array>

#include "backends/cpu/emitter.h"

namespace mt::cpu {
namespace {

constexpr int kLine = 64;  // bytes of the caches

Ref pointer(const char* name) { return {name, El::Ptr, 1}; }
Ref i64(std::int64_t v) { return Writer::integer(El::I64, v); }

}  // namespace

void Emitter::tile_mma(const Inst& i) {
  if (const Inst* load = products_.in_place(i)) return mma_in_place(i, *load);
  const Type a = type(i.in[1]), b = type(i.in[2]);
  const int rows = products_.rows(i.out[0]), cols = b.cols, depth = a.cols;
  const bool by_column = tiles_.by_column(i.in[1]);
  const std::string name =
      fmt::format("mt_mma_{}of{}x{}x{}{}", rows, a.rows, cols, depth, by_column ? "_by_column" : "");
  helper(name, "ptr %to, ptr %from, ptr noalias %lhs, ptr noalias %rhs", [&] {
    const int row_step = by_column ? 1 : depth, depth_step = by_column ? a.rows : 1;
    for (const Run& run : runs_of(b, false))
      count_up(run.count, 1, [&](const Ref& c) {
        const Ref rhs = w_.element(pointer("%rhs"), El::F32, linear(c, run.step, run.at));
        const int tall = packed_block(options_.avx512, rows).rows, whole = rows / tall * tall;
        const auto block = [&](const Ref& row, int count) {
          const Ref place = w_.bin("add", linear(row, cols, run.first), linear(c, run.width, 0));
          const Ref lhs = w_.element(pointer("%lhs"), El::F32, linear(row, row_step, 0));
          mma_block({w_.element(pointer("%to"), El::F32, place), w_.element(pointer("%from"), El::F32, place), lhs, rhs,
                     count, run.width, depth, cols, row_step, depth_step});
        };
        if (whole) count_up(whole, tall, [&](const Ref& row) { block(row, tall); });
        if (whole < rows) block(i64(whole), rows - whole);
      });
  });
  call_helper(name, {tile_pointer(i.out[0]), tile_pointer(i.in[0]), tile_pointer(i.in[1]), tile_pointer(i.in[2])});
}

void Emitter::mma_block(const MmaBlock& m) {
  const int vector = options_.avx512 ? 16 : 8;
  std::vector<std::pair<int, int>> parts;  // columns: the first, and how many
  for (int from = 0; from < m.cols;) {
    const int n = m.cols - from >= vector ? vector : 8;
    parts.emplace_back(from, n);
    from += n;
  }
  struct Sum {
    Ref slot;
    std::int64_t place;
    int n;
  };
  std::vector<Sum> sums;
  for (int r = 0; r < m.rows; ++r)
    for (const auto& [from, n] : parts) sums.push_back({w_.stack(El::F32, n), std::int64_t{r} * m.acc_row + from, n});
  for (const Sum& s : sums) w_.set(s.slot, w_.load(El::F32, s.n, w_.element(m.from, El::F32, i64(s.place)), 4));
  count_up(i64(m.depth), 1, [&](const Ref& k) {
    std::vector<Ref> right;
    const Ref at = w_.element(m.rhs, El::F32, linear(k, m.cols, 0));
    for (const auto& [from, n] : parts) right.push_back(w_.load(El::F32, n, w_.element(at, El::F32, i64(from)), 4));
    const Ref left = w_.element(m.lhs, El::F32, linear(k, m.depth_step, 0));
    std::size_t next = 0;
    for (int r = 0; r < m.rows; ++r) {
      const Ref one = w_.load(El::F32, 1, w_.element(left, El::F32, i64(std::int64_t{r} * m.row_step)), 4);
      for (const Ref& b : right) {
        const Sum& s = sums[next++];
        w_.set(s.slot, w_.call("llvm.fma", {w_.splat(one, s.n), b, w_.get(s.slot, El::F32, s.n)}));
      }
    }
  });
  for (const Sum& s : sums) w_.store(w_.get(s.slot, El::F32, s.n), w_.element(m.to, El::F32, i64(s.place)), 4);
}

// ── the right operand where it lies ──

/// %to += %lhs * the operand whose first element is at %memory, `%stride` elements from line to line, of which %lines
/// exist. Meanwhile it asks for the lines from %next on, if that `is known`: hardware does not look beyond a page.
struct ProductInPlace {
  Emitter& e;
  Writer& w;
  int rows, cols, depth, vector;
  DType held;
  bool next_known;
  Ref to = pointer("%to"), lhs = pointer("%lhs"), memory = pointer("%memory"), stride{"%stride", El::I64, 1},
      lines{"%lines", El::I64, 1}, next = pointer("%next");

  El el() const { return memory_el_of(held); }
  Ref line(const Ref& first, const Ref& number) { return w.element(first, el(), w.bin("mul", number, stride)); }
  Ref elements(const Ref& at, int first) {
    return e.to_f32(w.load(el(), vector, w.element(at, el(), i64(first)), size_of(held)), held);
  }
  /// Into the second-level cache: in the first one it would push out what is worked on.
  void ask(const Ref& at) { w.line(fmt::format("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 2, i32 1)", at.name)); }

  // Lines are rows of the operand: each is scaled by an element of the row's lhs and added.
  void by_rows() {
    for (int row = 0; row < rows;) {
      int tall = 0;
      for (int col = 0; col < cols;) {
        const Block block = lines_block(vector == 16, rows - row, cols - col);
        tall = block.rows;
        add_rows(row, tall, col, block.cols / vector);
        col += block.cols;
      }
      row += tall;
    }
  }
  void add_rows(int row, int tall, int col, int vectors) {
    std::vector<Ref> sums;
    const auto place = [&](int n) {
      return w.element(to, El::F32, i64(std::int64_t{row + n / vectors} * cols + col + n % vectors * vector));
    };
    for (int n = 0; n < tall * vectors; ++n) {
      sums.push_back(w.stack(El::F32, vector));
      w.set(sums.back(), w.load(El::F32, vector, place(n), 4));
    }
    e.count_up(lines, 1, [&](const Ref& k) {
      const Ref at = w.element(line(memory, k), el(), i64(col));
      if (next_known && row == 0) {
        const Ref after = w.element(line(next, k), el(), i64(col));
        for (int b = 0; b < vectors * vector * size_of(held); b += kLine) ask(w.element(after, El::I8, i64(b)));
      }
      std::vector<Ref> right;
      for (int v = 0; v < vectors; ++v) right.push_back(elements(at, v * vector));
      for (int r = 0; r < tall; ++r) {
        const Ref left = w.element(w.element(lhs, El::F32, i64(std::int64_t{row + r} * depth)), El::F32, k);
        const Ref one = w.splat(w.load(El::F32, 1, left, 4), vector);
        for (int v = 0; v < vectors; ++v) {
          const Ref& s = sums[static_cast<std::size_t>(r * vectors + v)];
          w.set(s, w.call("llvm.fma", {one, right[static_cast<std::size_t>(v)], w.get(s, El::F32, vector)}));
        }
      }
    });
    for (int n = 0; n < tall * vectors; ++n)
      w.store(w.get(sums[static_cast<std::size_t>(n)], El::F32, vector), place(n), 4);
  }

  // Lines are columns of the operand: dot products with the lhs's rows along them, of several lines at a time.
  void by_dots() {
    for (int row = 0, count = 0; row < rows; row += count) {
      const Block block = dots_block(vector == 16, rows - row);
      const int together = block.cols;
      count = block.rows;
      const Ref whole = w.bin("and", lines, i64(-together));
      e.count_up(whole, together, [&](const Ref& first) { dots(first, together, row, count); });
      e.count_up(w.bin("sub", lines, whole), 1, [&](const Ref& n) { dots(w.bin("add", whole, n), 1, row, count); });
    }
  }
  void dots(const Ref& first, int count, int row, int tall) {
    std::vector<Ref> at, after;
    for (int n = 0; n < count; ++n) {
      at.push_back(line(memory, e.linear(first, 1, n)));
      if (next_known && row == 0) after.push_back(line(next, e.linear(first, 1, n)));
    }
    std::vector<Ref> sums;
    for (int n = 0; n < tall * count; ++n) {
      sums.push_back(w.stack(El::F32, vector));
      w.set(sums.back(), Writer::zero(El::F32, vector));
    }
    const int cached = std::max(vector, kLine / size_of(held)), step = depth % cached == 0 ? cached : vector;
    e.count_up(i64(depth), step, [&](const Ref& k) {
      std::vector<Ref> here;
      for (const Ref& a : at) here.push_back(w.element(a, el(), k));
      for (const Ref& a : after) ask(w.element(a, el(), k));
      for (int part = 0; part < step; part += vector) {
        std::vector<Ref> right;
        for (const Ref& h : here) right.push_back(elements(h, part));
        for (int r = 0; r < tall; ++r) {
          const Ref left = w.element(w.element(lhs, El::F32, i64(std::int64_t{row + r} * depth + part)), El::F32, k);
          const Ref q = w.load(El::F32, vector, left, 4);
          for (int n = 0; n < count; ++n) {
            const Ref& s = sums[static_cast<std::size_t>(r * count + n)];
            w.set(s, w.call("llvm.fma", {q, right[static_cast<std::size_t>(n)], w.get(s, El::F32, vector)}));
          }
        }
      }
    });
    std::vector<Ref> parts;
    for (const Ref& s : sums) parts.push_back(w.get(s, El::F32, vector));
    const Ref all = totals(std::move(parts));
    for (int r = 0; r < tall; ++r) {
      const Ref place = w.element(w.element(to, El::F32, i64(std::int64_t{row + r} * cols)), El::F32, first);
      w.store(w.bin("fadd", w.load(El::F32, count, place, 4),
                    count == 1 ? w.extract(all, r) : w.slice(all, r * count, count)),
              place, 4);
    }
  }
  /// The sum of each vector's elements, in order; at most as many vectors as one has elements, filled up to 4, 8 or 16.
  Ref totals(std::vector<Ref> v) {
    std::size_t count = 4;
    while (count < v.size()) count *= 2;
    v.resize(count, v[0]);
    // Quarters of 128 bits hold parts of two sums, then of four.
    v = met(v, {0, 4, 1, 5}, {2, 6, 3, 7});
    v = met(v, {0, 1, 4, 5}, {2, 3, 6, 7});
    // A sum is spread over that many quarters, side by side.
    for (int spread = vector / 4; spread > 1; spread /= 2) {
      std::vector<Ref> sums;
      for (std::size_t n = 0; n < v.size(); n += 2) {
        const bool alone = v.size() == 1;
        std::vector<int> low, high;
        for (int i = 0; i < v[n].n * (alone ? 1 : 2); ++i) (i / 4 % spread < spread / 2 ? low : high).push_back(i);
        const Ref& other = alone ? v[n] : v[n + 1];
        sums.push_back(w.bin("fadd", w.shuffle(v[n], other, low), w.shuffle(v[n], other, high)));
      }
      v = std::move(sums);
    }
    return v[0];
  }
  /// Neighbours a, b become one: quarter by quarter, elements `low` plus elements `high` of a (0 to 3) and b (4 to 7).
  std::vector<Ref> met(const std::vector<Ref>& v, const std::array<int, 4>& low, const std::array<int, 4>& high) {
    std::vector<Ref> sums;
    for (std::size_t n = 0; n < v.size(); n += 2) {
      const auto pick = [&](const std::array<int, 4>& from) {
        std::vector<int> m;
        for (int quarter = 0; quarter < vector; quarter += 4)
          for (const int i : from) m.push_back(quarter + i % 4 + i / 4 * vector);
        return w.shuffle(v[n], v[n + 1], m);
      };
      sums.push_back(w.bin("fadd", pick(low), pick(high)));
    }
    return sums;
  }
};

void Emitter::mma_in_place(const Inst& mma, const Inst& load) {
  const Type a = type(mma.in[1]), b = type(mma.in[2]);
  const DType held = kernel_.at(load.memory).dtype;
  const int rows = products_.rows(mma), lines = load.transposed ? b.cols : b.rows;
  const std::size_t from = tiles_.at(mma.in[0]), to = tiles_.at(mma.out[0]);
  if (from != to)
    call_helper(tile_copier(type(mma.out[0]).elements(), DType::F32), {tile_pointer(to), tile_pointer(from)});
  const Ref exist = w_.call("llvm.umin", {scalar(load.in[load.transposed ? 3 : 2]), Writer::integer(El::I32, lines)});
  std::vector<Ref> args{tile_pointer(to), tile_pointer(mma.in[1]), pointer_at(load.memory, scalar_index(load.in[0])),
                        scalar_index(load.in[1]), w_.cast("zext", exist, El::I64)};
  const std::optional<Ref> next = next_trip(load);
  if (next) args.push_back(*next);
  const std::string name = fmt::format("mt_{}_{}of{}x{}x{}_{}{}", load.transposed ? "dots" : "lines", rows, a.rows,
                                       b.cols, a.cols, name_of(held), next ? "" : "_alone");
  const std::string parameters =
      "ptr noalias %to, ptr noalias readonly %lhs, ptr noalias readonly %memory, i64 %stride, i64 %lines";
  helper(name, parameters + (next ? ", ptr %next" : ""), [&] {
    ProductInPlace p{*this, w_, rows, b.cols, a.cols, options_.avx512 ? 16 : 8, held, next.has_value()};
    load.transposed ? p.by_dots() : p.by_rows();
  });
  call_helper(name, args);
}

/// Where the load reads in the next trip of the loop around it, in the last trip where it does now. Nothing where that
/// takes more than arithmetic and inputs of the kernel.
std::optional<Ref> Emitter::next_trip(const Inst& load) {
  if (!trip_ || kernel_.at(load.home).owner != trip_->loop) return std::nullopt;
  const std::vector<InstId>& insts = kernel_.at(load.home).insts;
  std::set<ValueId> wanted{load.in[0]};
  std::vector<InstId> slice;  // the last one first
  for (auto id = insts.rbegin(); id != insts.rend(); ++id) {
    const Inst& i = kernel_.at(*id);
    if (std::none_of(i.out.begin(), i.out.end(), [&](ValueId v) { return wanted.contains(v); })) continue;
    const bool read =
        i.op == Op::Load && kernel_.at(i.memory).space == Space::Device && kernel_.at(i.memory).access == Access::In;
    if ((!read && !is_pure(i)) || !i.regions.empty() || !shapes_.of(i.out[0]).uniform()) return std::nullopt;
    wanted.insert(i.in.begin(), i.in.end());
    slice.push_back(*id);
  }
  const std::vector<ValueId>& args = kernel_.at(load.home).args;
  if (std::any_of(args.begin() + 1, args.end(), [&](ValueId v) { return wanted.contains(v); })) return std::nullopt;
  std::optional<Ref> place;
  scope([&] {
    const DType t = type(args[0]).dtype;
    const std::string less = is_unsigned(t) ? "icmp ult" : "icmp slt";
    const Ref next = w_.bin("add", trip_->now, trip_->step);
    const Ref more = w_.bin("and", w_.cmp(less, trip_->now, next), w_.cmp(less, next, trip_->end));
    define(args[0], {type(args[0]), kUniform, w_.select(more, next, trip_->now)});
    for (auto id = slice.rbegin(); id != slice.rend(); ++id) inst(*id);
    place = pointer_at(load.memory, scalar_index(load.in[0]));
  });
  return place;
}

}  // namespace mt::cpu
