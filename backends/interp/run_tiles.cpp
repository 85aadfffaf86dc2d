// Tiles are stored row-major in the slots of a simdgroup: element i is where a thread's value has element i / 32 of
// lane i % 32, and that lane answers for it where memory is touched.
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/interp/access.h"
#include "backends/interp/runs.h"
#include "mt/ir/edit.h"
#include "mt/ir/matrix_unit.h"

namespace mt::interp {
namespace {

template <class F>
void each_simd(const Machine& m, F f) {
  for (int s = m.mask->lo; s < m.mask->hi; ++s)
    if (m.mask->at(s) != 0) f(s);
}

Type type_of(const Machine& m, ValueId v) { return m.code.kernel.type(v); }
const Inst& inst(const Node& n) { return *n.inst; }

float* floats(const Machine& m, const Slot& slot, int simd) { return reinterpret_cast<float*>(m.data(slot, simd)); }
float as_f32(DType t, const std::byte* p, std::size_t i) {
  return static_cast<float>(value_of(t, bits_at(p, size_of(t), i)));
}
void put_f32(DType t, std::byte* p, std::size_t i, float v) {
  put_bits(p, size_of(t), i, convert(DType::F32, t, bits_of(DType::F32, static_cast<double>(v))));
}

/// An operand that is equal on all lanes: what lane 0 has. Says which lane differs.
std::int64_t uniform(const Machine& m, const Node& n, std::size_t operand, int simd) {
  const Slot& slot = n.in[operand];
  const auto at = [&](int l) {
    return int_value_of(slot.dtype, bits_at(m.data(slot, simd), slot.size, static_cast<std::size_t>(l)));
  };
  const std::int64_t first = at(0);
  for (int l = 1; l < kLanes; ++l)
    if (at(l) != first)
      m.fail(n, fmt::format("operand {} of {} is {} on lane 0 and {} in {}; tiles need one value on all lanes", operand,
                            info(n.inst->op).name, first, at(l), m.who(simd * kLanes + l)));
  return first;
}

/// f(row, column, place in memory) for the elements of a tile that exist; `none(row, column)` for the others.
template <class F, class G>
void each_element(const Machine& m, const Node& n, Type t, int simd, F f, G none) {
  const std::int64_t base = uniform(m, n, 0, simd), stride = uniform(m, n, 1, simd);
  const std::int64_t rows = uniform(m, n, 2, simd), cols = t.role == TileRole::Rows ? 1 : uniform(m, n, 3, simd);
  for (int r = 0; r < t.rows; ++r)
    for (int c = 0; c < t.cols; ++c) {
      if (r < rows && c < cols)
        f(r, c, inst(n).transposed ? base + c * stride + r : base + r * stride + c);
      else
        none(r, c);
    }
}

int lane_of(int element) { return element % kLanes; }

}  // namespace

void run_tile_fill(Machine& m, const Node& n) {
  const int count = type_of(m, inst(n).out[0]).elements();
  each_simd(m, [&](int s) { std::fill_n(floats(m, n.out, s), count, *floats(m, n.in[0], s)); });
}

void run_tile_load(Machine& m, const Node& n) {
  const Type t = type_of(m, inst(n).out[0]);
  const Access a(m, n, 1);
  const DType held = a.c.plan->memory->dtype;
  each_simd(m, [&](int s) {
    std::byte* out = m.data(n.out, s);
    const auto put = [&](int r, int c, float v) { put_f32(t.dtype, out, static_cast<std::size_t>(r * t.cols + c), v); };
    each_element(
        m, n, t, s,
        [&](int r, int c, std::int64_t at) {
          const int thread = s * kLanes + lane_of(r * t.cols + c);
          a.check(at, thread);
          if (a.c.touches) a.read(at, thread);
          put(r, c, as_f32(held, a.c.data, static_cast<std::size_t>(at)));
        },
        [&](int r, int c) { put(r, c, 0); });
  });
}

void run_tile_store(Machine& m, const Node& n) {
  const Type t = type_of(m, inst(n).in[4]);
  const Access a(m, n, 1);
  const DType held = a.c.plan->memory->dtype;
  each_simd(m, [&](int s) {
    const float* in = floats(m, n.in[4], s);
    each_element(
        m, n, t, s,
        [&](int r, int c, std::int64_t at) {
          const int thread = s * kLanes + lane_of(r * t.cols + c);
          a.check(at, thread);
          a.write(at, thread);
          put_f32(held, a.c.data, static_cast<std::size_t>(at), in[r * t.cols + c]);
        },
        [](int, int) {});
  });
}

void run_tile_mma(Machine& m, const Node& n) {
  const Type a = type_of(m, inst(n).in[1]), b = type_of(m, inst(n).in[2]);
  std::vector<float> lhs(static_cast<std::size_t>(a.elements())), rhs(static_cast<std::size_t>(b.elements()));
  each_simd(m, [&](int s) {
    for (std::size_t i = 0; i < lhs.size(); ++i) lhs[i] = as_f32(a.dtype, m.data(n.in[1], s), i);
    for (std::size_t i = 0; i < rhs.size(); ++i) rhs[i] = as_f32(b.dtype, m.data(n.in[2], s), i);
    float* out = floats(m, n.out, s);
    std::memmove(out, floats(m, n.in[0], s), static_cast<std::size_t>(a.rows * b.cols) * sizeof(float));
    for (int r = 0; r < a.rows; ++r)
      for (int k = 0; k < a.cols; ++k)
        for (int c = 0; c < b.cols; ++c)
          out[r * b.cols + c] +=
              lhs[static_cast<std::size_t>(r * a.cols + k)] * rhs[static_cast<std::size_t>(k * b.cols + c)];
  });
}

void run_tile_cast(Machine& m, const Node& n) {
  const Type t = type_of(m, inst(n).out[0]);
  each_simd(m, [&](int s) {
    for (int i = 0; i < t.elements(); ++i)
      put_f32(t.dtype, m.data(n.out, s), static_cast<std::size_t>(i), floats(m, n.in[0], s)[i]);
  });
}

void run_tile_reduce(Machine& m, const Node& n) {
  const Type t = type_of(m, inst(n).in[0]);
  const auto f = info(op_of(inst(n).combine)).f;
  each_simd(m, [&](int s) {
    const float* in = floats(m, n.in[0], s);
    for (int r = 0; r < t.rows; ++r) {
      float sum = in[r * t.cols];
      for (int c = 1; c < t.cols; ++c) sum = f(sum, in[r * t.cols + c], 0);
      floats(m, n.out, s)[r] = sum;
    }
  });
}

/// The region sees 32 elements at a time, one a lane. enter: the targets are its arguments; leave: what it yields.
void run_tile_map(Machine& m, const Node& n) {
  const Type t = type_of(m, inst(n).out[0]);
  const std::size_t tiles = n.in.size();
  std::vector<Type> types;
  for (const ValueId v : inst(n).in) types.push_back(type_of(m, v));
  const Mask outer = *m.mask;
  std::vector<float> result(static_cast<std::size_t>(m.code.kernel.threads) * static_cast<std::size_t>(n.out.lanes));
  for (int first = 0; first < t.elements(); first += kLanes) {
    const int count = std::min(kLanes, t.elements() - first);
    const Mask active = outer.where([&](int) { return count == kLanes ? kAllLanes : (1u << count) - 1; });
    each_simd(m, [&](int s) {
      for (int l = 0; l < count; ++l) {
        const int e = first + l, row = e / t.cols, col = e % t.cols;
        for (std::size_t i = 0; i < tiles; ++i)
          floats(m, n.enter[i].to, s)[l] = floats(m, n.in[i], s)[types[i].role == TileRole::Acc ? e : row];
        reinterpret_cast<std::uint32_t*>(m.data(n.enter[tiles].to, s))[l] = static_cast<std::uint32_t>(row);
        reinterpret_cast<std::uint32_t*>(m.data(n.enter[tiles + 1].to, s))[l] = static_cast<std::uint32_t>(col);
      }
    });
    m.run(n.blocks[0], active);
    each_simd(m, [&](int s) {
      for (int l = 0; l < count; ++l)
        result[static_cast<std::size_t>(s * n.out.lanes * kLanes + first + l)] = floats(m, n.leave[0].from, s)[l];
    });
  }
  each_simd(m,
            [&](int s) { std::copy_n(result.data() + s * n.out.lanes * kLanes, t.elements(), floats(m, n.out, s)); });
}

void run_copy_async(Machine& m, const Node& n) {
  const Access to(m, n, 1), from(m, n, 1, n.from, 1);
  const int size = to.c.plan->size, count = inst(n).index;
  m.mask->each([&](int s, int l) {
    const int t = s * kLanes + l;
    const auto operand = [&](std::size_t i) {
      return int_value_of(n.in[i].dtype, bits_at(m.data(n.in[i], s), n.in[i].size, static_cast<std::size_t>(l)));
    };
    Flight flight{&n, t, m.commits[static_cast<std::size_t>(t)], operand(0), {}};
    const std::int64_t source = operand(1), exist = operand(2);
    to.aligned(flight.to, t);
    if (exist > 0) from.aligned(source, t);
    for (int e = 0; e < count; ++e) {
      to.inside(flight.to + e, 1, t);
      to.write(flight.to + e, t);
      to.c.touches[flight.to + e].wrote = 0;  // undefined until it has arrived
      if (e >= exist) continue;
      from.inside(source + e, 1, t);
      if (from.c.touches) from.read(source + e, t);
      std::memcpy(flight.bytes.data() + e * size, from.c.data + (source + e) * size, static_cast<std::size_t>(size));
    }
    m.flights.push_back(flight);
  });
}

void run_copy_commit(Machine& m, const Node&) {
  m.mask->each([&](int s, int l) { ++m.commits[static_cast<std::size_t>(s * kLanes + l)]; });
}

void run_copy_wait(Machine& m, const Node& n) {
  const auto arrives = [&](const Flight& f) {
    return f.group < m.commits[static_cast<std::size_t>(f.thread)] - inst(n).index;
  };
  for (const Flight& f : m.flights) {
    if (!arrives(f)) continue;
    const Access to(m, *f.node, 1);
    const int size = to.c.plan->size;
    for (int e = 0; e < f.node->inst->index; ++e) {
      to.write(f.to + e, f.thread);
      std::memcpy(to.c.data + (f.to + e) * size, f.bytes.data() + e * size, static_cast<std::size_t>(size));
    }
  }
  m.flights.erase(std::remove_if(m.flights.begin(), m.flights.end(), arrives), m.flights.end());
}

void run_load_matrix(Machine& m, const Node& n) {
  const Access a(m, n, 8);
  constexpr std::size_t kSize = 2;
  each_simd(m, [&](int s) {
    std::array<std::int64_t, kLanes> row{};
    n.widen(row.data(), m.data(n.in[0], s));
    for (int l = 0; l < kLanes; ++l) {
      const std::int64_t at = row[static_cast<std::size_t>(l)];
      a.check(at, s * kLanes + l);
      if (at % 8 != 0)
        m.fail(n, fmt::format("load_matrix reads a row at element {} in {}; rows start at multiples of 8", at,
                              m.who(s * kLanes + l)));
      for (int e = 0; e < 8; ++e) a.read(at + e, s * kLanes + l);
    }
    for (int l = 0; l < kLanes; ++l)
      for (int e = 0; e < 8; ++e) {
        int r = l / 4, c = l % 4 * 2 + e % 2;
        if (inst(n).transposed) std::swap(r, c);
        const std::int64_t from = row[static_cast<std::size_t>(e / 2 * 8 + r)] + c;
        std::memcpy(m.data(n.out, s) + static_cast<std::size_t>(e * kLanes + l) * kSize,
                    a.c.data + static_cast<std::size_t>(from) * kSize, kSize);
      }
  });
}

namespace {

/// The rows x cols elements of a block that a simdgroup holds.
std::vector<float> gather(const Machine& m, const BlockLayout& layout, const Slot& slot, int s) {
  std::vector<float> block(static_cast<std::size_t>(layout.rows * layout.cols), NAN);
  for (int l = 0; l < kLanes; ++l)
    for (int e = 0; e < layout.count(); ++e) {
      const auto [r, c] = layout.at(l, e);
      block[static_cast<std::size_t>(r * layout.cols + c)] =
          as_f32(slot.dtype, m.data(slot, s), static_cast<std::size_t>(e * kLanes + l));
    }
  return block;
}
void scatter(const Machine& m, const BlockLayout& layout, const Slot& slot, int s, const std::vector<float>& block) {
  for (int l = 0; l < kLanes; ++l)
    for (int e = 0; e < layout.count(); ++e) {
      const auto [r, c] = layout.at(l, e);
      floats(m, slot, s)[e * kLanes + l] = block[static_cast<std::size_t>(r * layout.cols + c)];
    }
}
/// acc += lhs * rhs, all row-major.
void multiply(const UnitInfo& unit, std::vector<float>& acc, const std::vector<float>& lhs,
              const std::vector<float>& rhs) {
  for (int r = 0; r < unit.acc.rows; ++r)
    for (int k = 0; k < unit.lhs.cols; ++k)
      for (int c = 0; c < unit.acc.cols; ++c)
        acc[static_cast<std::size_t>(r * unit.acc.cols + c)] +=
            lhs[static_cast<std::size_t>(r * unit.lhs.cols + k)] * rhs[static_cast<std::size_t>(k * unit.rhs.cols + c)];
}

}  // namespace

void run_mma_block(Machine& m, const Node& n) {
  const UnitInfo& unit = info(static_cast<MatrixUnit>(inst(n).index));
  each_simd(m, [&](int s) {
    std::vector<float> acc = gather(m, unit.acc, n.in[0], s);
    multiply(unit, acc, gather(m, unit.lhs, n.in[1], s), gather(m, unit.rhs, n.in[2], s));
    scatter(m, unit.acc, n.out, s, acc);
  });
}

/// The whole product at once, for each simdgroup by itself; that all are there and read one operand the verifier knows.
void run_mma_team(Machine& m, const Node& n) {
  const UnitInfo& unit = info(MatrixUnit::Mma16);
  const Access a(m, n, 1);
  const bool by = n.from >= 0, down = inst(n).transposed;
  const Access left(m, n, 1, by ? n.from : n.memory, by ? 1 : 0);
  const std::size_t sums = n.next.size(), deep = static_cast<std::size_t>(inst(n).index);
  const std::size_t rows = by ? 1 : (n.in.size() - 1 - sums) / deep, cols = sums / rows;
  const DType held = a.c.plan->memory->dtype;
  each_simd(m, [&](int s) {
    const std::int64_t base = uniform(m, n, 0, s), own = by ? uniform(m, n, 1, s) : 0;
    if (by && own - uniform(m, n, 1, s / kTeam * kTeam) != s % kTeam * std::int64_t{16} * kPanelColumns)
      m.fail(n, "the rows of the team's simdgroups do not follow each other");
    /// Block (row, col) of an operand; `turned`: memory holds columns where the operand has rows.
    const auto block_of = [&](const Access& from, std::int64_t first, const BlockLayout& layout, std::size_t row,
                              std::size_t col, bool turned) {
      const bool swizzled = from.c.plan->memory->layout == Layout::Swizzled;
      std::vector<float> block(static_cast<std::size_t>(layout.rows * layout.cols));
      for (int i = 0; i < layout.rows; ++i)
        for (int j = 0; j < layout.cols; ++j) {
          const std::int64_t r = static_cast<std::int64_t>(row) * layout.rows + i,
                             c = static_cast<std::int64_t>(col) * layout.cols + j;
          std::int64_t at = first + (turned ? c * kPanelColumns + r : r * kPanelColumns + c);
          if (swizzled) at ^= at / kPanelColumns % 8 * 8;
          const int element = i * layout.cols + j, thread = s * kLanes + lane_of(element);
          from.check(at, thread);
          from.read(at, thread);
          block[static_cast<std::size_t>(element)] = as_f32(held, from.c.data, static_cast<std::size_t>(at));
        }
      return block;
    };
    std::vector<std::vector<float>> acc;
    for (const Move& block : n.next) acc.push_back(gather(m, unit.acc, block.from, s));
    for (std::size_t k = 0; k < deep; ++k)
      for (std::size_t c = 0; c < cols; ++c) {
        const std::vector<float> rhs = block_of(a, base, unit.rhs, k, c, down);
        for (std::size_t r = 0; r < rows; ++r)
          multiply(unit, acc[r * cols + c],
                   by ? block_of(left, own, unit.lhs, 0, k, false) : gather(m, unit.lhs, n.in[1 + r * deep + k], s),
                   rhs);
      }
    for (std::size_t b = 0; b < sums; ++b) scatter(m, unit.acc, n.next[b].to, s, acc[b]);
  });
}

void run_mma_wait(Machine& m, const Node& n) {
  each_simd(m, [&](int s) {
    for (const Move& block : n.next) std::copy_n(m.data(block.from, s), block.to.simd_bytes(), m.data(block.to, s));
  });
}

void run_nothing(Machine&, const Node&) {}

}  // namespace mt::interp
