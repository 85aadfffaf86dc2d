#include <fmt/format.h>

#include <array>

#include "backends/interp/machine.h"
#include "backends/interp/runs.h"
#include "mt/ir/edit.h"

namespace mt::interp {
namespace {

std::string name(const Cells& c) {
  switch (c.plan->memory->space) {
    case Space::Device:
      return c.plan->memory->name;
    case Space::Threadgroup:
      return "threadgroup array " + c.plan->memory->name;
    default:
      return "thread array " + c.plan->memory->name;
  }
}
std::string cell(const Cells& c, std::int64_t i) { return fmt::format("{}[{}]", name(c), i); }

[[noreturn]] void fail_bounds(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int lanes, int t) {
  const bool huge = i < 0 && is_unsigned(n.in[0].dtype);
  const std::string index = huge ? fmt::to_string(static_cast<std::uint64_t>(i)) : fmt::to_string(i);
  const std::string more = lanes > 1 ? fmt::format(" and the {} after it", lanes - 1) : "";
  m.fail(n, fmt::format("{} of {}[{}]{} is outside its {} elements in {}; guard it with if_ or mend the index",
                        info(n.inst->op).name, name(c), index, more, c.count, m.who(t)));
}

[[noreturn]] void fail_align(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int t) {
  m.fail(n, fmt::format("{} of {} claims an address that {} divides, which element {} of the buffer is not, in {}; "
                        "take the claim back or make the index a multiple",
                        info(n.inst->op).name, cell(c, i), n.inst->align, i + c.shift, m.who(t)));
}

[[noreturn]] void fail_unwritten(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int t) {
  const char* why = c.plan->memory->space == Space::Device ? "output that this launch has not written"
                                                           : "memory that nothing has written";
  m.fail(n, fmt::format("{} of {} reads {} in {}; write it first", info(n.inst->op).name, cell(c, i), why, m.who(t)));
}

[[noreturn]] void fail_wrapped(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int t) {
  m.fail(n, fmt::format("the index of this {} of {} comes of {} arithmetic that wrapped around in {}; compute it in 64 "
                        "bits or keep it in range",
                        info(n.inst->op).name, cell(c, i), name_of(n.in[0].dtype), m.who(t)));
}

/// `did`: what this access does to the element; `before`: what the other did.
[[noreturn]] void fail_race(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int t, const Conflict& x,
                            std::string_view did, std::string_view before) {
  std::string place;
  if (x.node >= 0) place = to_string(m.code.kernel.insts[static_cast<std::size_t>(x.node)].loc);
  if (!place.empty()) place = " at " + place;
  const std::string head = fmt::format("race on {}: {} {} it", cell(c, i), m.who(t), did);
  if (x.kind == Conflict::Group)
    m.fail(n, fmt::format("{} and {} {} it{}; threadgroups of a launch are unordered, use an atomic or a second launch",
                          head, m.group_at(x.stamp), before, place));
  const std::string other =
      x.thread < 0 ? "another thread" : fmt::format("thread {} (simdgroup {})", x.thread, x.thread / kLanes);
  if (c.across)
    m.fail(n, fmt::format("{} and {} {} it{}; a barrier does not order device memory, exchange values through "
                          "threadgroup memory",
                          head, other, before, place));
  const bool one_simd = x.thread >= 0 && x.thread / kLanes == t / kLanes;
  m.fail(n, fmt::format("{} and {} {} it{} with no barrier between; put {} there", head, other, before, place,
                        one_simd ? "simd_barrier() or barrier()" : "barrier()"));
}

/// One access of an instruction: the checks that all kinds share.
struct Access {
  Machine& m;
  const Node& n;
  const Cells& c;
  const int lanes;
  const std::uint8_t* flags;
  const bool align;
  const Order& order;

  Access(Machine& machine, const Node& node, int width)
      : m(machine),
        n(node),
        c(machine.memories[static_cast<std::size_t>(node.memory)]),
        lanes(width),
        flags(machine.flags_live ? machine.flags(node.in[0]) : nullptr),
        align(node.inst->align > 1),
        order(machine.order(c)) {}

  void check(std::int64_t i, int t) const {
    if (flags && flags[t]) fail_wrapped(m, n, c, i, t);
    if (i < 0 || i > c.count - lanes) fail_bounds(m, n, c, i, lanes, t);
    if (align && (i + c.shift) % n.inst->align != 0) fail_align(m, n, c, i, t);
  }
  void read(std::int64_t i, int t) const {
    Touch& touch = c.touches[i];
    if (!c.starts_written && touch.wrote < order.begin && (!c.across || touch.wrote == 0))
      fail_unwritten(m, n, c, i, t);
    if (const Conflict x = touch.written(t, order, c.across)) fail_race(m, n, c, i, t, x, "reads", "wrote");
    if (c.atomics)
      if (const Conflict x = c.atomics[i].against(t, order, c.across)) fail_race(m, n, c, i, t, x, "reads", "changed");
    touch.reads.add(t, n.id, m.clock, order);
  }
  void write(std::int64_t i, int t) const {
    Touch& touch = c.touches[i];
    if (const Conflict x = touch.written(t, order, c.across)) fail_race(m, n, c, i, t, x, "writes", "wrote");
    if (const Conflict x = touch.reads.against(t, order, c.across)) fail_race(m, n, c, i, t, x, "writes", "read");
    if (c.atomics)
      if (const Conflict x = c.atomics[i].against(t, order, c.across)) fail_race(m, n, c, i, t, x, "writes", "changed");
    touch.wrote = m.clock;
    touch.thread = static_cast<std::uint16_t>(t);
    touch.node = n.id;
  }
  void change(std::int64_t i, int t) const {
    Touch& touch = c.touches[i];
    if (!c.starts_written && touch.wrote < order.begin && (!c.across || touch.wrote == 0))
      fail_unwritten(m, n, c, i, t);
    if (const Conflict x = touch.written(t, order, c.across)) fail_race(m, n, c, i, t, x, "changes", "wrote");
    if (const Conflict x = touch.reads.against(t, order, c.across)) fail_race(m, n, c, i, t, x, "changes", "read");
    c.atomics[i].add(t, n.id, m.clock, order);
  }
};

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
