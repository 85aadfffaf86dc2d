#include "backends/metal_host/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "backends/metal_host/group_runner.h"
#include "mt/base/error.h"

namespace mt::metal_host {
namespace {

using interp::Conflict;
using interp::Crowd;
using interp::Touch;

template <class T>
T* zeroed(std::size_t n) {
  void* p = std::calloc(n, sizeof(T));  // costs nothing until it is touched
  if (!p) throw Error("metal-host: not enough memory to check accesses; use smaller buffers");
  return static_cast<T*>(p);
}

const char* verb(Checker::Kind kind) {
  return kind == Checker::Kind::Read ? "reads" : kind == Checker::Kind::Write ? "writes" : "changes";
}

}  // namespace

Checker::Checker(GroupRunner& runner) : runner_(runner) {
  for (const Binding& b : runner.launch().buffers) {
    Region r;
    r.lo = reinterpret_cast<std::uintptr_t>(b.data);
    r.hi = r.lo + b.bytes;
    r.name = label(b);
    r.read_only = b.read_only;
    r.shift = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(std::max(1, b.granule))));
    if (!b.read_only) r.touches.reset(zeroed<Touch>(r.cells()));
    regions_.push_back(std::move(r));
  }
}

void Checker::add_array(const GroupArray& array) {
  Region r;
  r.lo = reinterpret_cast<std::uintptr_t>(array.data);
  r.hi = r.lo + array.bytes;
  r.name = array.name;
  r.device = false;
  r.touches.reset(zeroed<Touch>(r.cells()));
  r.written.resize(array.bytes);
  regions_.push_back(std::move(r));
}

void Checker::start_group() {
  ++clock_;
  device_.start(clock_);
  shared_.start(clock_);
  for (Region& r : regions_)
    if (!r.device) r.written.assign(r.written.size(), false);
}

void Checker::sync(std::uint32_t flags) {
  ++clock_;
  if (flags & MSL_MEM_DEVICE) device_.sync(clock_);
  if (flags & MSL_MEM_THREADGROUP) shared_.sync(clock_);
}

void Checker::sync_simd(std::uint32_t simd, std::uint32_t flags) {
  ++clock_;
  if (flags & MSL_MEM_DEVICE) device_.simd[simd] = clock_;
  if (flags & MSL_MEM_THREADGROUP) shared_.simd[simd] = clock_;
}

std::string Checker::thread() const { return runner_.who(runner_.fiber().context.thread_index_in_threadgroup); }

Checker::Region* Checker::region(std::uintptr_t lo, std::uintptr_t hi) {
  const auto holds = [&](const Region& r) { return lo >= r.lo && hi <= r.hi; };
  if (last_ < regions_.size() && holds(regions_[last_])) return &regions_[last_];
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (holds(regions_[i])) {
      last_ = i;
      return &regions_[i];
    }
  return nullptr;
}

/// The thread's own stack and arguments, the values of simd operations, constants of the object.
bool Checker::harmless(std::uintptr_t lo, std::uintptr_t hi) const {
  const auto inside = [&](const void* begin, const void* end) {
    return lo >= reinterpret_cast<std::uintptr_t>(begin) && hi <= reinterpret_cast<std::uintptr_t>(end);
  };
  const Fiber& f = runner_.fiber();
  const Launch& l = runner_.launch();
  const std::size_t i = f.context.thread_index_in_threadgroup;
  return inside(runner_.stacks().begin(i), runner_.stacks().end(i)) || inside(&f.context, &f.context + 1) ||
         inside(&runner_.simds()[f.simd], &runner_.simds()[f.simd] + 1) || inside(l.code, l.code + l.code_bytes);
}

void Checker::outside(Kind kind, std::uintptr_t at, std::size_t bytes, const void* site) {
  const Region* near = nullptr;
  std::uintptr_t distance = ~std::uintptr_t{0};
  for (const Region& r : regions_) {
    const std::uintptr_t d = at < r.lo ? r.lo - at : at >= r.hi ? at - r.hi : 0;
    if (d < distance) near = &r, distance = d;
  }
  const std::string what = fmt::format("{} {} {} byte{}", thread(), verb(kind), bytes, bytes == 1 ? "" : "s");
  if (!near || distance > (1u << 30))
    runner_.fail({what + " of memory that is neither a bound buffer nor a threadgroup array", site});
  runner_.fail({fmt::format("{} at byte {} of {}, which has {}", what,
                            static_cast<std::intptr_t>(at) - static_cast<std::intptr_t>(near->lo), near->name,
                            near->hi - near->lo),
                site});
}

void Checker::race(const Region& r, std::size_t cell, const Conflict& x, Kind kind, const char* before,
                   const void* site) {
  const void* other = x.node >= 0 ? runner_.launch().code + x.node : nullptr;
  const std::string head =
      fmt::format("race on byte {} of {}: {} {} it", cell << r.shift, r.name, thread(), verb(kind));
  if (x.kind == Conflict::Group)
    runner_.fail(
        {fmt::format("{} and another threadgroup {} it {{other}}; threadgroups of a launch are not ordered, use "
                     "an atomic or a second launch",
                     head, before),
         site, other});
  const std::string who = x.thread < 0 ? "another thread" : fmt::format("thread {}", x.thread);
  runner_.fail({fmt::format("{} and {} {} it {{other}} with no barrier for {} memory between", head, who, before,
                            r.device ? "device" : "threadgroup"),
                site, other});
}

void Checker::cell(Region& r, std::size_t n, Kind kind, std::int32_t node, const void* site) {
  const auto t = static_cast<int>(runner_.fiber().context.thread_index_in_threadgroup);
  const interp::Order& order = r.device ? device_ : shared_;
  Touch& touch = r.touches[n];
  if (const Conflict x = touch.written(t, order, r.device)) race(r, n, x, kind, "wrote", site);
  if (kind != Kind::Read)
    if (const Conflict x = touch.reads.against(t, order, r.device)) race(r, n, x, kind, "read", site);
  if (kind != Kind::Atomic && r.atomics)
    if (const Conflict x = r.atomics[n].against(t, order, r.device)) race(r, n, x, kind, "changed", site);
  if (kind == Kind::Read) {
    touch.reads.add(t, node, clock_, order);
  } else if (kind == Kind::Atomic) {
    r.atomics[n].add(t, node, clock_, order);
  } else {
    touch.wrote = clock_;
    touch.thread = static_cast<std::uint16_t>(t);
    touch.node = node;
  }
}

void Checker::access(Kind kind, const void* address, std::size_t bytes, const void* site, bool aligned) {
  ++accesses_;
  const auto lo = reinterpret_cast<std::uintptr_t>(address), hi = lo + bytes;
  Region* r = region(lo, hi);
  if (!r) {
    if (harmless(lo, hi) || bytes == 0) return;
    return outside(kind, lo, bytes, site);
  }
  if (aligned && lo % std::min<std::size_t>(bytes, 8) != 0)
    runner_.fail({fmt::format("{} {} {} bytes at byte {} of {}, an address that is no multiple of their size", thread(),
                              verb(kind), bytes, lo - r->lo, r->name),
                  site});
  if (!r->device) {
    for (std::uintptr_t b = lo - r->lo; b < hi - r->lo; ++b) {
      if (kind != Kind::Write && !r->written[b])
        runner_.fail({fmt::format("{} {} byte {} of {}, which nothing has written in this threadgroup", thread(),
                                  verb(kind), b, r->name),
                      site});
      r->written[b] = true;
    }
  }
  if (r->read_only) {
    if (kind != Kind::Read)
      runner_.fail({fmt::format("{} {} {}, which is const", thread(), verb(kind), r->name), site});
    return;
  }
  if (kind == Kind::Atomic && !r->atomics) r->atomics.reset(zeroed<Crowd>(r->cells()));
  const auto node = static_cast<std::int32_t>(static_cast<const std::byte*>(site) - runner_.launch().code);
  for (std::size_t n = (lo - r->lo) >> r->shift; n <= (hi - 1 - r->lo) >> r->shift; ++n) cell(*r, n, kind, node, site);
}

}  // namespace mt::metal_host
