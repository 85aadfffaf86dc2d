// What instrumented code may touch, and in which order: bounds, races, reads of threadgroup memory that nothing wrote.
//
// Accesses of one element by two threads of a threadgroup, one of them a plain write, need a barrier between that names
// the memory's space; a simdgroup's barrier orders its own lanes. Threadgroups are not ordered at all.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backends/interp/order.h"
#include "backends/metal_host/launch.h"

namespace mt::metal_host {

class GroupRunner;
struct GroupArray;

class Checker {
 public:
  enum class Kind : std::uint8_t { Read, Write, Atomic };

  explicit Checker(GroupRunner& runner);
  void start_group();
  void add_array(const GroupArray& array);
  /// An access by the current fiber; `site` lies behind the instruction. Does not return where it is wrong.
  void access(Kind kind, const void* address, std::size_t bytes, const void* site, bool aligned);
  void sync(std::uint32_t flags);
  void sync_simd(std::uint32_t simd, std::uint32_t flags);
  std::uint64_t accesses() const { return accesses_; }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  template <class T>
  using Table = std::unique_ptr<T[], Free>;
  struct Region {
    std::uintptr_t lo = 0, hi = 0;
    std::string name;
    bool device = true, read_only = false;
    unsigned shift = 0;  // log2 of the bytes of a cell
    Table<interp::Touch> touches;
    Table<interp::Crowd> atomics;  // made at the first atomic
    std::vector<bool> written;     // threadgroup memory: by byte
    std::size_t cells() const { return ((hi - lo) >> shift) + 1; }
  };

  Region* region(std::uintptr_t lo, std::uintptr_t hi);
  bool harmless(std::uintptr_t lo, std::uintptr_t hi) const;
  void outside(Kind kind, std::uintptr_t at, std::size_t bytes, const void* site);
  void cell(Region& r, std::size_t n, Kind kind, std::int32_t node, const void* site);
  void race(const Region& r, std::size_t cell, const interp::Conflict& x, Kind kind, const char* before,
            const void* site);
  std::string thread() const;

  GroupRunner& runner_;
  std::vector<Region> regions_;
  std::size_t last_ = 0;
  interp::Order device_, shared_;
  interp::Stamp clock_ = 0;
  std::uint64_t accesses_ = 0;
};

}  // namespace mt::metal_host
