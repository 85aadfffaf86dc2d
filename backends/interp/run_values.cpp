#include <array>

#include "backends/interp/machine.h"
#include "backends/interp/runs.h"

// Pure ops run for every thread of the hull, active or not: they can't fail, and what they leave in inactive threads is
// never read.
namespace mt::interp {
namespace {

std::size_t elements(const Machine& m, const Slot& s) {
  return static_cast<std::size_t>(m.mask->threads()) * static_cast<std::size_t>(s.lanes);
}

template <class F>
void by_size(int size, F f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}
template <class T>
T get(const std::byte* p, std::size_t i) {
  T v;
  std::memcpy(&v, p + i * sizeof(T), sizeof(T));
  return v;
}
template <class T>
void put(std::byte* p, std::size_t i, T v) {
  std::memcpy(p + i * sizeof(T), &v, sizeof(T));
}

}  // namespace

void run_loop(Machine& m, const Node& n) {
  const int s = m.mask->lo;
  const std::byte* a = m.data(n.in[0], s);
  const std::byte* b = n.in.size() > 1 ? m.data(n.in[1], s) : a;
  const std::byte* c = n.in.size() > 2 ? m.data(n.in[2], s) : a;
  n.loop({m.data(n.out, s), a, b, c, elements(m, n.out), n.inst->op, n.type});
}

void run_constant(Machine& m, const Node& n) {
  for (std::size_t i = 0; i < elements(m, n.out); ++i) put_bits(m.data(n.out, m.mask->lo), n.out.size, i, n.inst->bits);
}

void run_index(Machine& m, const Node& n) {
  const auto axis = static_cast<std::size_t>(n.inst->index);
  for (int t = m.mask->lo * kLanes; t < m.mask->hi * kLanes; ++t) {
    std::uint64_t v = 0;
    switch (n.inst->op) {
      case Op::Param:
        v = m.arguments.scalars[axis];
        break;
      case Op::GroupId:
        v = static_cast<std::uint64_t>(m.group[axis]);
        break;
      case Op::ThreadId:
        v = static_cast<std::uint64_t>(t);
        break;
      case Op::SimdId:
        v = static_cast<std::uint64_t>(t / kLanes);
        break;
      default:
        v = static_cast<std::uint64_t>(t % kLanes);
    }
    put_bits(m.data(n.out), n.out.size, static_cast<std::size_t>(t), v);
  }
}

void run_select(Machine& m, const Node& n) {
  by_size(n.out.size, [&](auto sample) {
    using T = decltype(sample);
    const int lanes = n.out.lanes, condition_lanes = n.in[0].lanes;
    for (int s = m.mask->lo; s < m.mask->hi; ++s) {
      const std::byte *a = m.data(n.in[1], s), *b = m.data(n.in[2], s);
      std::byte* out = m.data(n.out, s);
      for (int e = 0; e < lanes; ++e) {
        const std::byte* condition = m.data(n.in[0], s) + (condition_lanes > 1 ? e * kLanes : 0);
        for (std::size_t l = 0; l < kLanes; ++l) {
          const std::size_t i = static_cast<std::size_t>(e) * kLanes + l;
          const T x = get<T>(a, i), y = get<T>(b, i);
          put<T>(out, i, condition[l] != std::byte{0} ? x : y);
        }
      }
    }
  });
}

void run_bitcast(Machine& m, const Node& n) {
  const auto simds = static_cast<std::size_t>(m.mask->hi - m.mask->lo);
  std::memcpy(m.data(n.out, m.mask->lo), m.data(n.in[0], m.mask->lo), n.out.simd_bytes() * simds);
}

void run_splat(Machine& m, const Node& n) {
  const std::size_t bytes = n.in[0].simd_bytes();
  for (int s = m.mask->lo; s < m.mask->hi; ++s)
    for (int e = 0; e < n.out.lanes; ++e)
      std::memcpy(m.data(n.out, s) + bytes * static_cast<std::size_t>(e), m.data(n.in[0], s), bytes);
}

void run_pack(Machine& m, const Node& n) {
  const std::size_t bytes = n.in[0].simd_bytes();
  for (int s = m.mask->lo; s < m.mask->hi; ++s)
    for (std::size_t e = 0; e < n.in.size(); ++e) std::memcpy(m.data(n.out, s) + bytes * e, m.data(n.in[e], s), bytes);
}

void run_extract(Machine& m, const Node& n) {
  const std::size_t bytes = n.out.simd_bytes();
  for (int s = m.mask->lo; s < m.mask->hi; ++s)
    std::memcpy(m.data(n.out, s), m.data(n.in[0], s) + bytes * static_cast<std::size_t>(n.inst->index), bytes);
}

/// Lanes are combined from the first to the last.
void run_vector_reduce(Machine& m, const Node& n) {
  const std::size_t bytes = n.out.simd_bytes();
  for (int s = m.mask->lo; s < m.mask->hi; ++s) {
    const std::byte* in = m.data(n.in[0], s);
    std::byte* out = m.data(n.out, s);
    std::memcpy(out, in, bytes);
    for (int e = 1; e < n.in[0].lanes; ++e)
      n.loop({out, out, in + bytes * static_cast<std::size_t>(e), out, kLanes, op_of(n.inst->combine), n.type});
  }
}

}  // namespace mt::interp
