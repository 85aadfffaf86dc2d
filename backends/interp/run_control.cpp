#include <fmt/format.h>

#include <type_traits>

#include "backends/interp/machine.h"
#include "backends/interp/runs.h"
#include "mt/ir/edit.h"

namespace mt::interp {
namespace {

/// A bit for each true byte of a simdgroup's bools.
std::uint32_t true_lanes(const std::byte* bools) {
  std::uint32_t word = 0;
  for (int l = 0; l < kLanes; ++l) word |= static_cast<std::uint32_t>(bools[l] != std::byte{0}) << l;
  return word;
}

void move_next(const Machine& m, const Node& n, const Mask& active) {
  n.staged ? m.move_staged(n.next, active) : m.move_all(n.next, active);
}

/// enter: the initial values to the region's arguments (begin first); next: yields to the carried arguments; leave:
/// carried arguments to the results.
template <class T>
void run_for(Machine& m, const Node& n) {
  m.move_all(n.enter, *m.mask);
  const auto step_of = [&](auto* at, int s) {
    return reinterpret_cast<T*>(at) + static_cast<std::ptrdiff_t>(s) * kLanes;
  };
  T* index = reinterpret_cast<T*>(m.data(n.index));
  std::byte *end = m.data(n.in[1]), *step = m.data(n.in[2]);
  Mask active = *m.mask;
  for (;;) {
    active = active.where([&](int s) {
      const T *i = index + s * kLanes, *e = step_of(end, s);
      std::uint32_t word = 0;
      for (int l = 0; l < kLanes; ++l) word |= static_cast<std::uint32_t>(i[l] < e[l]) << l;
      return word;
    });
    if (active.empty()) break;
    m.run(n.blocks[0], active);
    move_next(m, n, active);
    active.each([&](int s, int l) {
      T& i = index[s * kLanes + l];
      const T by = step_of(step, s)[l];
      if (__builtin_add_overflow(i, by, &i))
        m.fail(n, fmt::format("the index of the loop wraps around past {} in {}; end it earlier or use a 64-bit index",
                              std::is_signed_v<T> ? "the ends of its type" : "the largest of its type",
                              m.who(s * kLanes + l)));
    });
  }
  m.move_all(n.leave, *m.mask);
}

}  // namespace

void run_set(Machine& m, const Node& n) { m.copy({n.in[1], n.in[0]}, *m.mask); }

/// leave, leave_else: what the regions yield to the results.
void run_if(Machine& m, const Node& n) {
  const std::byte* condition = m.data(n.in[0]);
  const auto lanes = [&](int s) { return true_lanes(condition + s * kLanes); };
  const Mask yes = m.mask->where(lanes), no = m.mask->where([&](int s) { return ~lanes(s); });
  if (!yes.empty()) {
    m.run(n.blocks[0], yes);
    m.move_all(n.leave, yes);
  }
  if (!no.empty() && n.blocks.size() > 1) {
    m.run(n.blocks[1], no);
    m.move_all(n.leave_else, no);
  }
}

Run for_of(DType index) {
  switch (index) {
    case DType::U32:
      return &run_for<std::uint32_t>;
    case DType::I32:
      return &run_for<std::int32_t>;
    case DType::U64:
      return &run_for<std::uint64_t>;
    case DType::I64:
      return &run_for<std::int64_t>;
    default:
      return nullptr;
  }
}

/// enter: initial values to the arguments of region 0; leave: what region 0 passes on to the results; leave_else: the
/// same to the arguments of region 1; next: yields of region 1 to the arguments of region 0.
void run_while(Machine& m, const Node& n) {
  m.move_all(n.enter, *m.mask);
  const Slot& condition = m.code.blocks[static_cast<std::size_t>(n.blocks[0])].condition;
  Mask active = *m.mask;
  while (!active.empty()) {
    m.run(n.blocks[0], active);
    const auto lanes = [&](int s) { return true_lanes(m.data(condition, s)); };
    const Mask done = active.where([&](int s) { return ~lanes(s); });
    active = active.where(lanes);
    m.move_all(n.leave, done);
    if (active.empty()) break;
    m.move_all(n.leave_else, active);
    m.run(n.blocks[1], active);
    m.move_all(n.next, active);
  }
}

}  // namespace mt::interp
