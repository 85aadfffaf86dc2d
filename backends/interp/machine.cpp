#include "backends/interp/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mt/ir/edit.h"

namespace mt::interp {
namespace {

/// Copies one element of each active lane of a simdgroup.
template <int Size>
void copy_lanes(std::byte* to, const std::byte* from, int lanes, std::uint32_t word) {
  for (int e = 0; e < lanes; ++e)
    for (std::uint32_t w = word; w != 0; w &= w - 1) {
      const int at = (e * kLanes + std::countr_zero(w)) * Size;
      std::memcpy(to + at, from + at, Size);
    }
}

void copy_masked(std::byte* to, const std::byte* from, const Slot& slot, const Mask& active) {
  const std::size_t bytes = slot.simd_bytes();
  for (int s = active.lo; s < active.hi; ++s) {
    const std::size_t at = bytes * static_cast<std::size_t>(s);
    if (active.at(s) == kAllLanes)
      std::memcpy(to + at, from + at, bytes);
    else if (slot.size == 1)
      copy_lanes<1>(to + at, from + at, slot.lanes, active.at(s));
    else if (slot.size == 2)
      copy_lanes<2>(to + at, from + at, slot.lanes, active.at(s));
    else if (slot.size == 4)
      copy_lanes<4>(to + at, from + at, slot.lanes, active.at(s));
    else
      copy_lanes<8>(to + at, from + at, slot.lanes, active.at(s));
  }
}

void copy_flags(std::uint8_t* to, const std::uint8_t* from, const Mask& active) {
  active.each([&](int s, int l) { to[s * kLanes + l] = from ? from[s * kLanes + l] : 0; });
}

bool is_nan(DType t, const std::byte* p, std::size_t i) { return std::isnan(value_of(t, bits_at(p, size_of(t), i))); }

}  // namespace

Machine::Machine(const Code& c, const Options& o, const Arguments& a, const Groups& groups)
    : code(c),
      options(o),
      arguments(a),
      grid(groups),
      everyone(Mask::all(c.kernel.simds())),
      arena_(c.arena_bytes),
      scratch_(c.scratch_bytes),
      stage_(c.stage_bytes),
      flags_(c.flag_bytes),
      private_stamps_(c.private_elements) {
  bind();
}

void Machine::bind() {
  for (const MemoryPlan& plan : code.memories) {
    Cells c{.plan = &plan};
    const Memory& memory = *plan.memory;
    if (memory.space == Space::Device) {
      const BufferView& view = arguments.buffers[static_cast<std::size_t>(plan.device)];
      c.data = view.buffer->host() + view.offset;
      c.count = static_cast<std::int64_t>(view.bytes) / plan.size;
      c.shift = static_cast<std::int64_t>(view.offset) / plan.size;
      c.across = true;
      c.starts_written = memory.access != Access::Out;
    } else {
      c.data = scratch_.get() + plan.at;
      c.count = memory.count;
      if (memory.space == Space::Thread) c.stamps = private_stamps_.get() + plan.first;
    }
    const auto n = static_cast<std::size_t>(c.count);
    if (plan.tracked) c.touches = touches_.emplace_back(n).get();
    if (plan.atomics) c.atomics = crowds_.emplace_back(n).get();
    memories.push_back(c);
  }
}

Stamp Machine::tick() {
  if (clock == std::numeric_limits<Stamp>::max())
    fail(code.kernel.loc, "the launch synchronises more than 2^32 times; split it or use a smaller problem");
  return ++clock;
}
void Machine::sync_group() { shared_order.sync(tick()); }
void Machine::sync_simd(int simd) { shared_order.simd[static_cast<std::size_t>(simd)] = tick(); }

void Machine::launch() {
  mask = &everyone;
  for (const Node& n : code.once) n.run(*this, n);
  for (group[2] = 0; group[2] < grid[2]; ++group[2])
    for (group[1] = 0; group[1] < grid[1]; ++group[1])
      for (group[0] = 0; group[0] < grid[0]; ++group[0]) {
        const Stamp now = tick();
        begins_.push_back(now);
        shared_order.start(now);
        device_order.start(now);
        ++group_serial;
        flights.clear();
        commits.assign(static_cast<std::size_t>(code.kernel.threads), 0);
        steps = 0;
        mask = &everyone;
        for (const Node& n : code.per_group) n.run(*this, n);
        run(0, everyone);
      }
}

void Machine::run(int block, const Mask& active) {
  const Block& b = code.blocks[static_cast<std::size_t>(block)];
  steps += static_cast<std::int64_t>(b.nodes.size() + 1) * active.threads();
  if (steps > options.max_steps)
    fail(b.loc, fmt::format("{} has spent {} steps, the budget of a threadgroup, without ending; end the loop or raise "
                            "max_steps",
                            group_name(), options.max_steps));
  const Mask* outer = mask;
  mask = &active;
  for (const Node& n : b.nodes) {
    n.run(*this, n);
    if (n.wraps) track_wrap(*this, n);
    if (n.float_op && options.nan_birth) check_nan(n);
  }
  mask = outer;
}

void Machine::copy(const Move& move, const Mask& active) const {
  if (active.dense)
    std::memcpy(data(move.to, active.lo), data(move.from, active.lo),
                move.to.simd_bytes() * static_cast<std::size_t>(active.hi - active.lo));
  else
    copy_masked(data(move.to), data(move.from), move.to, active);
  if (flags_live && flags(move.to)) copy_flags(flags(move.to), flags(move.from), active);
}

void Machine::move_all(const std::vector<Move>& moves, const Mask& active) const {
  for (const Move& move : moves) copy(move, active);
}

void Machine::move_staged(const std::vector<Move>& moves, const Mask& active) const {
  const auto threads = static_cast<std::size_t>(code.kernel.threads);
  const auto each = [&](auto f) {
    std::byte* at = stage_.get();
    for (const Move& move : moves) {
      const std::size_t bytes = move.to.simd_bytes() * threads / kLanes;
      f(move, at, reinterpret_cast<std::uint8_t*>(at + bytes));
      at += bytes + threads;
    }
  };
  each([&](const Move& move, std::byte* at, std::uint8_t* flag) {
    std::memcpy(at, data(move.from), move.to.simd_bytes() * threads / kLanes);
    if (!flags_live) return;
    if (const std::uint8_t* from = flags(move.from))
      std::memcpy(flag, from, threads);
    else
      std::memset(flag, 0, threads);
  });
  each([&](const Move& move, std::byte* at, std::uint8_t* flag) {
    copy_masked(data(move.to), at, move.to, active);
    if (flags_live && flags(move.to)) copy_flags(flags(move.to), flag, active);
  });
}

void Machine::check_nan(const Node& n) const {
  const bool of_group = n.inst->op == Op::GroupReduce;
  const bool of_simd = info(n.inst->op).effect == Effect::Converges;
  const auto in_has = [&](const Slot& in, int s, int l, int e) {
    return is_nan(in.dtype, data(in, s), static_cast<std::size_t>(e * kLanes + l));
  };
  mask->each([&](int s, int l) {
    for (int e = 0; e < n.out.lanes; ++e) {
      if (!is_nan(n.out.dtype, data(n.out, s), static_cast<std::size_t>(e * kLanes + l))) continue;
      bool had = false;
      std::string operands;
      for (const Slot& in : n.in) {
        const int first = in.lanes == n.out.lanes ? e : 0, last = in.lanes == n.out.lanes ? e : in.lanes - 1;
        for (int other = first; other <= last; ++other) {
          had |= in_has(in, s, l, other);
          for (int g = of_group ? 0 : s; (of_group || of_simd) && g < (of_group ? code.kernel.simds() : s + 1); ++g)
            for (int lane = 0; lane < kLanes; ++lane) had |= in_has(in, g, lane, other);
          const auto i = static_cast<std::size_t>(other * kLanes + l);
          operands +=
              fmt::format("{}{}", operands.empty() ? "" : ", ", value_of(in.dtype, bits_at(data(in, s), in.size, i)));
        }
      }
      if (had) continue;
      if (of_group || of_simd) operands = "values";
      fail(n, fmt::format("{} makes a NaN of {} in {}; guard the operands or select another value",
                          info(n.inst->op).name, operands, who(s * kLanes + l)));
    }
  });
}

std::string Machine::group_name(const Groups& g) const {
  return grid[1] == 1 && grid[2] == 1 ? fmt::format("threadgroup {}", g[0])
                                      : fmt::format("threadgroup ({}, {}, {})", g[0], g[1], g[2]);
}
std::string Machine::group_name() const { return group_name(group); }

std::string Machine::who(int thread) const {
  return fmt::format("thread {} (simdgroup {}, {})", thread, thread / kLanes, group_name());
}

std::string Machine::group_at(Stamp stamp) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), stamp);
  const std::int64_t i = after - begins_.begin() - 1;
  return group_name({i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]});
}

void Machine::fail(const Loc& loc, const std::string& what) const {
  const std::string place = to_string(loc);
  throw Error(fmt::format("{}{}[{}] {}", place, place.empty() ? "" : ": ", code.kernel.name, what));
}

}  // namespace mt::interp
