// Who touched an element of memory and whether a barrier lies between that and another access.
//
// Time is a counter that every synchronisation advances. An access is ordered before a later one by another thread
// where its stamp is older than the last barrier of the threadgroup, or, within one simdgroup, than that simdgroup's
// last simd_barrier. Threadgroups of a launch run one after another here but are unordered by definition, so that a
// stamp from before the current threadgroup began means a conflict between threadgroups.
#pragma once
#include <array>
#include <cstdint>

#include "backends/interp/mask.h"

namespace mt::interp {

using Stamp = std::uint32_t;  // 0: never

/// When the threads of the current threadgroup were last ordered, for one space of memory.
struct Order {
  Stamp begin = 1;  // of the current threadgroup
  Stamp group = 1;
  std::array<Stamp, kMaxSimds> simd{};  // never older than `group`

  void start(Stamp now) {
    begin = now;
    sync(now);
  }
  void sync(Stamp now) {
    group = now;
    simd.fill(now);
  }
};

struct Conflict {
  enum Kind : std::uint8_t { None, Thread, Group } kind = None;
  std::int32_t thread = -1;  // -1: not known which
  std::int32_t node = -1;    // where it was touched, as the id of a Node; -1: not known
  Stamp stamp = 0;
  explicit operator bool() const { return kind != None; }
};

/// The accesses of one kind (reads, or atomics) to one element by any number of threads, as much of them as decides
/// whether a later access of another thread conflicts.
struct Crowd {
  Stamp last = 0;     // the latest, by `thread`
  Stamp same = 0;     // the latest by another thread of the same simdgroup; exact while `other` is ordered
  Stamp other = 0;    // the latest by a thread of another simdgroup
  Stamp foreign = 0;  // any by an earlier threadgroup
  std::int32_t node = -1;
  std::uint16_t thread = 0;

  void add(int t, std::int32_t at, Stamp now, const Order& order) {
    if (last == now && thread == t) return;
    if (last != 0 && last < order.begin) {
      foreign = last;
      last = same = other = 0;
    }
    if (last != 0 && thread != t) {
      if (thread / kLanes == t / kLanes) {
        same = last;
      } else {
        other = last;
        same = 0;
      }
    }
    last = now;
    thread = static_cast<std::uint16_t>(t);
    node = at;
  }
  /// Whether one of them is unordered with an access by thread `t` now. `across`: threadgroups share the memory.
  Conflict against(int t, const Order& order, bool across) const {
    if (last == 0 && foreign == 0) return {};
    if (across && foreign != 0) return {Conflict::Group, -1, -1, foreign};
    if (last < order.begin) return across ? Conflict{Conflict::Group, thread, node, last} : Conflict{};
    const int simd = t / kLanes;
    const bool mine = thread / kLanes == simd;
    if (thread != t && last >= (mine ? order.simd[static_cast<std::size_t>(simd)] : order.group))
      return {Conflict::Thread, thread, node, last};
    if (other >= order.group) return {Conflict::Thread, -1, -1, other};
    if (mine && same >= order.simd[static_cast<std::size_t>(simd)]) return {Conflict::Thread, -1, -1, same};
    return {};
  }
};

/// One element: its last plain write, and its plain reads.
struct Touch {
  Stamp wrote = 0;
  std::int32_t node = -1;
  std::uint16_t thread = 0;
  Crowd reads;

  Conflict written(int t, const Order& order, bool across) const {
    if (wrote < order.begin) return across && wrote != 0 ? Conflict{Conflict::Group, thread, node, wrote} : Conflict{};
    if (thread == t || wrote < order.group) return {};
    if (thread / kLanes == t / kLanes && wrote < order.simd[static_cast<std::size_t>(t / kLanes)]) return {};
    return {Conflict::Thread, thread, node, wrote};
  }
};

}  // namespace mt::interp
