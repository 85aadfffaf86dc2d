#include "backends/metal_host/group_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "backends/metal_host/checker.h"
#include "backends/metal_host/traps.h"
#include "mt/base/error.h"

namespace mt::metal_host {
namespace {

constexpr std::size_t kArea = 256 << 10;  // for threadgroup arrays and the gaps between them
constexpr std::size_t kGap = 64;          // between arrays, so that a report names the right one
constexpr int kPoison = 0xff;             // NaN in every float type

thread_local GroupRunner* running = nullptr;

const char* const kOps[] = {
#define MT_NAME(name, text) text,
    MSL_SIMD_OPS(MT_NAME)
#undef MT_NAME
};

std::size_t rounded(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

/// What unbound buffers point to: reading it is harmless, and kernels do read arguments that they then ignore.
std::uint64_t nothing() {
  alignas(64) static const std::byte zeros[64 << 10] = {};
  return reinterpret_cast<std::uint64_t>(zeros);
}

}  // namespace

GroupRunner* GroupRunner::current() { return running; }

GroupRunner::GroupRunner()
    : memory_(kArea, GuardedMemory::Align::Begin), signal_stack_(std::make_unique<std::byte[]>(kSignalStack)) {}

GroupRunner::~GroupRunner() = default;

void GroupRunner::begin(const Launch& launch) {
  launch_ = &launch;
  fault_.reset();
  trap_ = {};
  stopping_ = false;
  counts_ = {};
  const std::uint32_t most = launch.threads[0] * launch.threads[1] * launch.threads[2];
  stacks_.reserve(most);
  if (fibers_.size() < most) fibers_.resize(most);
  const std::uint32_t simds = (most + MSL_LANES - 1) / MSL_LANES;
  if (simd_room_ < simds) {
    simds_ = std::make_unique<Simdgroup[]>(simds);
    simd_room_ = simds;
  }
  for (GroupArray& a : arrays_) a.data = nullptr;
  place_threadgroup_memory();
  msl_context shared{};
  for (std::uint64_t& b : shared.buffer) b = nothing();
  for (const Binding& b : launch.buffers) shared.buffer[b.index] = reinterpret_cast<std::uint64_t>(b.data);
  for (std::size_t i = 0; i < launch.threadgroup.size(); ++i)
    shared.threadgroup[launch.threadgroup[i].first] = reinterpret_cast<std::uint64_t>(parameters_[i].data);
  shared.threads_per_simdgroup = MSL_LANES;
  shared.dispatch_simdgroups_per_threadgroup = simds;
  shared.dispatch_quadgroups_per_threadgroup = (most + 3) / 4;
  for (std::size_t k = 0; k < 3; ++k) {
    shared.dispatch_threads_per_threadgroup[k] = launch.threads[k];
    shared.threads_per_grid[k] = launch.grid[k];
    shared.threadgroups_per_grid[k] = (launch.grid[k] + launch.threads[k] - 1) / launch.threads[k];
  }
  for (std::uint32_t i = 0; i < most; ++i) {
    fibers_[i].context = shared;
    fibers_[i].simd = i / MSL_LANES;
    fibers_[i].lane = i % MSL_LANES;
  }
  if (launch.check) {
    checker_ = std::make_unique<Checker>(*this);
    for (const GroupArray& a : parameters_) checker_->add_array(a);
  } else {
    checker_.reset();
  }
  tick_seconds_ = std::clamp(launch.budget_seconds / 8, 0.001, 0.25);
  ticks_ = 0;
  seen_ = serial_;
  clock_ = std::make_unique<BudgetClock>(signal_stack_.get(), tick_seconds_);
  running = this;
}

void GroupRunner::end() {
  clock_.reset();
  if (checker_) counts_.accesses = checker_->accesses();
  running = nullptr;
  launch_ = nullptr;
}

void GroupRunner::place_threadgroup_memory() {
  provided_ = used_ = 0;
  parameters_.clear();
  std::size_t at = 0;
  for (const auto& [index, bytes] : launch_->threadgroup) {
    parameters_.push_back({memory_.data() + at, bytes, fmt::format("[[threadgroup({})]]", index), true});
    at += rounded(bytes, 64) + kGap;
    provided_ += rounded(bytes, 16);
  }
  used_ = at;
}

bool GroupRunner::in_code(const void* pc) const {
  const auto* p = static_cast<const std::byte*>(pc);
  return launch_->code && p >= launch_->code && p < launch_->code + launch_->code_bytes;
}

bool GroupRunner::tick() {
  if (seen_ != serial_) {
    seen_ = serial_;
    ticks_ = 0;
    return false;
  }
  ticks_ += tick_seconds_;
  if (ticks_ < launch_->budget_seconds) return false;
  stopping_ = true;
  return true;
}

// ── Threads of one threadgroup ──

void GroupRunner::enter(void* fiber) {
  auto& f = *static_cast<Fiber*>(fiber);
  GroupRunner& r = *running;
  r.launch_->entry(&f.context);
  Simdgroup& g = r.simds_[f.simd];
  g.ready &= ~(1u << f.lane);
  g.ended |= 1u << f.lane;
  for (;;) r.leave();
}

void GroupRunner::start(const std::array<std::uint32_t, 3>& group) {
  group_ = group;
  serial_ = serial_ + 1;
  std::array<std::uint32_t, 3> size;
  for (std::size_t k = 0; k < 3; ++k)
    size[k] = std::min(launch_->threads[k], launch_->grid[k] - group[k] * launch_->threads[k]);
  thread_count_ = size[0] * size[1] * size[2];
  simd_count_ = (thread_count_ + MSL_LANES - 1) / MSL_LANES;
  std::uint32_t i = 0;
  for (std::uint32_t z = 0; z < size[2]; ++z)
    for (std::uint32_t y = 0; y < size[1]; ++y)
      for (std::uint32_t x = 0; x < size[0]; ++x, ++i) {
        Fiber& f = fibers_[i];
        msl_context& c = f.context;
        const std::uint32_t at[3] = {x, y, z};
        for (std::size_t k = 0; k < 3; ++k) {
          c.thread_position_in_threadgroup[k] = at[k];
          c.threadgroup_position_in_grid[k] = group[k];
          c.thread_position_in_grid[k] = group[k] * launch_->threads[k] + at[k];
          c.threads_per_threadgroup[k] = size[k];
        }
        c.thread_index_in_threadgroup = i;
        c.thread_index_in_simdgroup = i % MSL_LANES;
        c.simdgroup_index_in_threadgroup = i / MSL_LANES;
        c.simdgroups_per_threadgroup = simd_count_;
        c.thread_index_in_quadgroup = i % 4;
        c.quadgroup_index_in_threadgroup = i / 4;
        c.quadgroups_per_threadgroup = (thread_count_ + 3) / 4;
        f.sp = stacks_.start(i, &GroupRunner::enter, &f);
      }
  for (std::uint32_t s = 0; s < simd_count_; ++s) {
    Simdgroup& g = simds_[s];
    const std::uint32_t lanes = std::min<std::uint32_t>(MSL_LANES, thread_count_ - s * MSL_LANES);
    g.all = g.ready = lanes == MSL_LANES ? ~0u : (1u << lanes) - 1;
    g.at_simd = g.at_barrier = g.ended = g.active = g.phase = 0;
  }
  for (GroupArray& a : arrays_) a.made = false;
  for (GroupArray& a : parameters_) std::memset(a.data, kPoison, a.bytes);
  counts_.threads += thread_count_;
  order_.resize(simd_count_);
  std::iota(order_.begin(), order_.end(), 0u);
  if (launch_->schedule.kind == Schedule::Reverse) std::reverse(order_.begin(), order_.end());
  if (launch_->schedule.kind == Schedule::Random)
    random_.seed(launch_->schedule.seed ^
                 (group[0] + 0x9e3779b97f4a7c15ull * (group[1] + 1) + (std::uint64_t{group[2]} << 40)));
  if (checker_) checker_->start_group();
}

Fiber& GroupRunner::pick(std::uint32_t simd) {
  std::uint32_t ready = simds_[simd].ready;
  int lane = std::countr_zero(ready);
  if (launch_->schedule.kind == Schedule::Reverse) {
    lane = 31 - std::countl_zero(ready);
  } else if (launch_->schedule.kind == Schedule::Random) {
    for (auto skip = static_cast<int>(random_() % static_cast<unsigned>(std::popcount(ready))); skip > 0; --skip)
      ready &= ready - 1;
    lane = std::countr_zero(ready);
  }
  return fibers_[simd * MSL_LANES + static_cast<std::uint32_t>(lane)];
}

void GroupRunner::resume(Fiber& f) {
  current_ = &f;
  ++counts_.switches;
  in_fiber_ = 1;
  mt_fiber_switch(&main_, f.sp);
  in_fiber_ = 0;
}

/// The current fiber can't go on: its simdgroup's next does, or the scheduler.
void GroupRunner::leave() {
  Fiber& f = *current_;
  if (simds_[f.simd].ready == 0 || stopping_) return mt_fiber_switch(&f.sp, main_);
  ++counts_.switches;
  current_ = &pick(f.simd);
  mt_fiber_switch(&f.sp, current_->sp);
}

void GroupRunner::fail(Fault fault) {
  fault_ = std::move(fault);
  for (;;) mt_fiber_switch(&current_->sp, main_);
}

void GroupRunner::barrier(std::uint32_t flags, const void* site) {
  Fiber& f = *current_;
  Simdgroup& g = simds_[f.simd];
  f.op = flags;
  f.site = site;
  g.ready &= ~(1u << f.lane);
  g.at_barrier |= 1u << f.lane;
  leave();
}

const std::byte* GroupRunner::simd(std::uint32_t op, const void* value, std::uint32_t bytes, const void* site) {
  Fiber& f = *current_;
  Simdgroup& g = simds_[f.simd];
  if (op >= MSL_SIMD_OP_COUNT || bytes > MSL_SLOT_BYTES)
    fail({"a simd operation that the runtime does not know", site});
  std::byte* slot = g.slots[g.phase][f.lane];
  if (bytes) std::memcpy(slot, value, bytes);
  // A barrier that names no memory leaves its slot as it was.
  if (op == MSL_OP_SIMDGROUP_BARRIER && bytes < sizeof(std::uint32_t))
    *reinterpret_cast<std::uint32_t*>(slot) = MSL_MEM_DEVICE | MSL_MEM_THREADGROUP;
  f.op = op;
  f.site = site;
  g.ready &= ~(1u << f.lane);
  g.at_simd |= 1u << f.lane;
  const auto& result = g.slots[g.phase];
  leave();
  return &result[0][0];
}

std::byte* GroupRunner::array(std::uint32_t id, std::size_t bytes, std::size_t align, const char* name,
                              const void* site) {
  if (id < arrays_.size() && arrays_[id].made) return arrays_[id].data;
  if (id > 4096) fail({"a threadgroup array with a number that the runtime does not know", site});
  if (id >= arrays_.size()) arrays_.resize(id + 1);
  GroupArray& a = arrays_[id];
  if (!a.data) {
    const std::size_t at = rounded(used_, std::max<std::size_t>(align, 64));
    provided_ += rounded(bytes, 16);
    if (provided_ > kMaxThreadgroupBytes || at + bytes > kArea)
      fail({fmt::format("its threadgroup memory grows to {} bytes; a threadgroup has {}", provided_,
                        kMaxThreadgroupBytes),
            site});
    a.data = memory_.data() + at;
    a.bytes = bytes;
    a.name = fmt::format("threadgroup array {}", name ? std::string(name) : fmt::format("number {}", id));
    used_ = at + bytes + kGap;
    if (checker_) checker_->add_array(a);
  }
  std::memset(a.data, kPoison, a.bytes);
  a.made = true;
  return a.data;
}

// ── Scheduling ──

bool GroupRunner::run(const std::array<std::uint32_t, 3>& group) {
  start(group);
  for (;;) {
    if (launch_->schedule.kind == Schedule::Random) std::shuffle(order_.begin(), order_.end(), random_);
    bool waiting = false;
    for (const std::uint32_t s : order_) {
      if (!run_simd(s)) return false;
      waiting |= simds_[s].at_barrier != 0;
    }
    if (!waiting) return true;
    if (!open_barrier()) return false;
  }
}

bool GroupRunner::run_simd(std::uint32_t simd) {
  Simdgroup& g = simds_[simd];
  for (;;) {
    while (g.ready != 0) {
      resume(pick(simd));
      if (trap_.kind != Trap::None || (stopping_ && !fault_)) report_trap();
      if (fault_) return false;
    }
    if (g.at_simd == 0) return true;
    if (!complete_simd(simd)) return false;
  }
}

std::string GroupRunner::operation(const Fiber& f) const {
  return simds_[f.simd].at_barrier >> f.lane & 1 ? "threadgroup_barrier" : kOps[f.op];
}

bool GroupRunner::complete_simd(std::uint32_t simd) {
  Simdgroup& g = simds_[simd];
  const Fiber* const lanes = &fibers_[simd * MSL_LANES];
  const Fiber& first = lanes[std::countr_zero(g.at_simd)];
  const Fiber* apart = nullptr;
  for (std::uint32_t m = g.at_simd & (g.at_simd - 1); m && !apart; m &= m - 1) {
    const Fiber& f = lanes[std::countr_zero(m)];
    if (f.op != first.op || f.site != first.site) apart = &f;
  }
  if (!apart && g.at_barrier) apart = &lanes[std::countr_zero(g.at_barrier)];
  if (apart) {
    const auto index = [&](const Fiber& f) { return simd * MSL_LANES + f.lane; };
    fault_ = {fmt::format("{} in {} while thread {} of its simdgroup is at {} {{other}}; let all lanes of a simdgroup "
                          "take the same way to it",
                          operation(first), who(index(first)), index(*apart),
                          operation(*apart) == operation(first) ? "another " + operation(first) : operation(*apart)),
              first.site, apart->site};
    return false;
  }
  ++counts_.simd_operations;
  if (checker_ && first.op == MSL_OP_SIMDGROUP_BARRIER)
    checker_->sync_simd(simd, *reinterpret_cast<const std::uint32_t*>(g.slots[g.phase][first.lane]));
  g.active = g.at_simd;
  g.phase ^= 1;
  g.ready = g.at_simd;
  g.at_simd = 0;
  return true;
}

bool GroupRunner::open_barrier() {
  std::uint32_t flags = ~0u;
  const Fiber *waits = nullptr, *ended = nullptr;
  std::uint32_t waiting_thread = 0, ended_thread = 0;
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    const Fiber& f = fibers_[i];
    if (simds_[f.simd].at_barrier >> f.lane & 1) {
      flags &= f.op;
      if (!waits) waits = &f, waiting_thread = i;
    } else if (!ended) {
      ended = &f, ended_thread = i;
    }
  }
  if (ended) {
    fault_ = {fmt::format("threadgroup_barrier in {} which thread {} ended without; let every thread reach every "
                          "barrier",
                          who(waiting_thread), ended_thread),
              waits->site};
    return false;
  }
  ++counts_.barriers;
  if (checker_) checker_->sync(flags);
  for (std::uint32_t s = 0; s < simd_count_; ++s) {
    simds_[s].ready = simds_[s].at_barrier;
    simds_[s].at_barrier = 0;
  }
  return true;
}

std::string GroupRunner::who(std::uint32_t thread) const {
  const auto& g = launch_->grid;
  const auto& t = launch_->threads;
  const bool flat = g[1] <= t[1] && g[2] <= t[2];
  return flat ? fmt::format("thread {} of threadgroup {}", thread, group_[0])
              : fmt::format("thread {} of threadgroup ({}, {}, {})", thread, group_[0], group_[1], group_[2]);
}

void GroupRunner::report_trap() {
  const Trap t = trap_;
  trap_ = {};
  const auto index = static_cast<std::uint32_t>(current_ - fibers_.data());
  const std::string thread = who(index);
  switch (t.kind) {
    case Trap::Arithmetic:
      fault_ = {fmt::format("{} divides an integer by zero, or its smallest value by -1", thread), t.pc};
      return;
    case Trap::Instruction:
      fault_ = {fmt::format("{} reaches code that the compiler holds to be out of reach: something before it is "
                            "undefined",
                            thread),
                t.pc};
      return;
    case Trap::Memory:
      break;
    default:
      fault_ = {fmt::format("{} has not ended after {} s of processor time in its threadgroup; a loop does not end, or "
                            "the budget is too small",
                            thread, launch_->budget_seconds),
                t.pc};
      return;
  }
  if (stacks_.overflowed(t.address) == static_cast<std::ptrdiff_t>(index)) {
    fault_ = {fmt::format("{} needs more than {} KiB of stack; make its arrays smaller", thread, Stacks::kBytes >> 10),
              t.pc};
    return;
  }
  // The bound memory that lies nearest names what the access was meant for.
  const auto at = reinterpret_cast<std::uintptr_t>(t.address);
  const Binding* near = nullptr;
  std::uintptr_t distance = 16 << 20;
  for (const Binding& b : launch_->buffers) {
    const auto lo = reinterpret_cast<std::uintptr_t>(b.data), hi = lo + b.bytes;
    const std::uintptr_t d = at < lo ? lo - at : at >= hi ? at - hi : 0;
    if (d < distance) near = &b, distance = d;
  }
  fault_ = {near && t.address
                ? fmt::format("{} touches byte {} of {}, which has {}", thread,
                              static_cast<std::intptr_t>(at) - reinterpret_cast<std::intptr_t>(near->data),
                              label(*near), near->bytes)
                : fmt::format("{} touches memory that is not its own, or a vector at an address that is no multiple of "
                              "its size",
                              thread),
            t.pc};
}

}  // namespace mt::metal_host
