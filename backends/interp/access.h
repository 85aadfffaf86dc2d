// One access of an instruction to memory: the checks that loads, stores, atomics, tiles and copies share.
#pragma once
#include <fmt/format.h>

#include <string>

#include "backends/interp/machine.h"

namespace mt::interp {

inline std::string name(const Cells& c) {
  switch (c.plan->memory->space) {
    case Space::Device:
      return c.plan->memory->name;
    case Space::Threadgroup:
      return "threadgroup array " + c.plan->memory->name;
    default:
      return "thread array " + c.plan->memory->name;
  }
}
inline std::string cell(const Cells& c, std::int64_t i) { return fmt::format("{}[{}]", name(c), i); }

[[noreturn]] inline void fail_bounds(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int lanes,
                                     int t) {
  const bool huge = i < 0 && is_unsigned(n.in[0].dtype);
  const std::string index = huge ? fmt::to_string(static_cast<std::uint64_t>(i)) : fmt::to_string(i);
  const std::string more = lanes > 1 ? fmt::format(" and the {} after it", lanes - 1) : "";
  m.fail(n, fmt::format("{} of {}[{}]{} is outside its {} elements in {}; guard it with if_ or mend the index",
                        info(n.inst->op).name, name(c), index, more, c.count, m.who(t)));
}

[[noreturn]] inline void fail_align(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int t) {
  m.fail(n, fmt::format("{} of {} claims an address that {} divides, which element {} of the buffer is not, in {}; "
                        "take the claim back or make the index a multiple",
                        info(n.inst->op).name, cell(c, i), n.inst->align, i + c.shift, m.who(t)));
}

[[noreturn]] inline void fail_unwritten(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int t) {
  const char* why = c.plan->memory->space == Space::Device ? "output that this launch has not written"
                                                           : "memory that nothing has written";
  m.fail(n, fmt::format("{} of {} reads {} in {}; write it first", info(n.inst->op).name, cell(c, i), why, m.who(t)));
}

[[noreturn]] inline void fail_wrapped(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int t) {
  m.fail(n, fmt::format("the index of this {} of {} comes of {} arithmetic that wrapped around in {}; compute it in 64 "
                        "bits or keep it in range",
                        info(n.inst->op).name, cell(c, i), name_of(n.in[0].dtype), m.who(t)));
}

/// `did`: what this access does to the element; `before`: what the other did.
[[noreturn]] inline void fail_race(const Machine& m, const Node& n, const Cells& c, std::int64_t i, int t,
                                   const Conflict& x, std::string_view did, std::string_view before) {
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

  Access(Machine& machine, const Node& node, int width) : Access(machine, node, width, node.memory, 0) {}
  /// Of another memory than the node's first, whose index is operand `operand`.
  Access(Machine& machine, const Node& node, int width, int memory, std::size_t operand)
      : m(machine),
        n(node),
        c(machine.memories[static_cast<std::size_t>(memory)]),
        lanes(width),
        flags(machine.flags_live ? machine.flags(node.in[operand]) : nullptr),
        align(node.inst->align > 1),
        order(machine.order(c)) {}

  void check(std::int64_t i, int t) const {
    inside(i, lanes, t);
    aligned(i, t);
  }
  void inside(std::int64_t i, int count, int t) const {
    if (flags && flags[t]) fail_wrapped(m, n, c, i, t);
    if (i < 0 || i > c.count - count) fail_bounds(m, n, c, i, count, t);
  }
  void aligned(std::int64_t i, int t) const {
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

}  // namespace mt::interp
