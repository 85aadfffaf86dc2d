#include <array>

#include "backends/interp/access.h"
#include "backends/interp/runs.h"
#include "mt/ir/edit.h"

namespace mt::interp {
namespace {

/// f(thread, lane, simd, index) for every active thread.
template <class F>
void each_index(const Machine& m, const Node& n, F f) {
  for (int s = m.mask->lo; s < m.mask->hi; ++s) {
    if (m.mask->at(s) == 0) continue;
    std::array<std::int64_t, kLanes> index;
    n.widen(index.data(), m.data(n.in[0], s));
    for (std::uint32_t w = m.mask->at(s); w != 0; w &= w - 1) {
      const int l = std::countr_zero(w);
      f(s * kLanes + l, l, s, index[static_cast<std::size_t>(l)]);
    }
  }
}

/// Position of element i of an array that each thread has for itself.
std::size_t private_at(const Cells& c, int s, int l, std::int64_t i) {
  return static_cast<std::size_t>((s * c.count + i) * kLanes + l);
}

template <int Size>
void load(const Access& a) {
  const Cells& c = a.c;
  const bool own = c.plan->memory->space == Space::Thread;
  each_index(a.m, a.n, [&](int t, int l, int s, std::int64_t i) {
    a.check(i, t);
    std::byte* out = a.m.data(a.n.out, s) + l * Size;
    for (int e = 0; e < a.lanes; ++e) {
      std::size_t from = static_cast<std::size_t>(i + e);
      if (own) {
        from = private_at(c, s, l, i + e);
        if (c.stamps[from] != a.m.group_serial) fail_unwritten(a.m, a.n, c, i + e, t);
      } else if (c.touches) {
        a.read(i + e, t);
      }
      std::memcpy(out + e * kLanes * Size, c.data + from * Size, Size);
    }
  });
}

template <int Size>
void store(const Access& a) {
  const Cells& c = a.c;
  const bool own = c.plan->memory->space == Space::Thread;
  each_index(a.m, a.n, [&](int t, int l, int s, std::int64_t i) {
    a.check(i, t);
    const std::byte* in = a.m.data(a.n.in[1], s) + l * Size;
    for (int e = 0; e < a.lanes; ++e) {
      std::size_t to = static_cast<std::size_t>(i + e);
      if (own) {
        to = private_at(c, s, l, i + e);
        c.stamps[to] = a.m.group_serial;
      } else {
        a.write(i + e, t);
      }
      std::memcpy(c.data + to * Size, in + e * kLanes * Size, Size);
    }
  });
}

/// Any byte but 0 in memory is true.
void normalise(const Machine& m, const Node& n) {
  auto* p = m.data(n.out, m.mask->lo);
  for (int i = 0; i < m.mask->threads() * n.out.lanes; ++i) p[i] = std::byte{p[i] != std::byte{0}};
}

}  // namespace

void run_load(Machine& m, const Node& n) {
  const Access a(m, n, n.out.lanes);
  switch (n.out.size) {
    case 1:
      load<1>(a);
      if (n.out.dtype == DType::Bool) normalise(m, n);
      return;
    case 2:
      return load<2>(a);
    case 4:
      return load<4>(a);
    default:
      return load<8>(a);
  }
}

void run_store(Machine& m, const Node& n) {
  const Access a(m, n, n.in[1].lanes);
  switch (n.in[1].size) {
    case 1:
      return store<1>(a);
    case 2:
      return store<2>(a);
    case 4:
      return store<4>(a);
    default:
      return store<8>(a);
  }
}

/// Threads take turns in order of their number.
void run_atomic(Machine& m, const Node& n) {
  const Access a(m, n, 1);
  const int size = n.in[1].size;
  const bool exchange = n.inst->combine == Combine::Exchange;
  each_index(m, n, [&](int t, int l, int s, std::int64_t i) {
    a.check(i, t);
    a.change(i, t);
    std::byte* at = a.c.data + i * size;
    const std::byte* value = m.data(n.in[1], s) + l * size;
    const std::uint64_t old = bits_at(at, size, 0);
    if (exchange)
      std::memcpy(at, value, static_cast<std::size_t>(size));
    else
      n.loop({at, at, value, at, 1, op_of(n.inst->combine), n.type});
    if (n.has_out) put_bits(m.data(n.out, s), size, static_cast<std::size_t>(l), old);
  });
}

}  // namespace mt::interp
