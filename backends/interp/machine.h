// The state of one launch.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>

#include "backends/backend.h"
#include "backends/interp/code.h"
#include "backends/interp/interp.h"
#include "backends/interp/mask.h"
#include "backends/interp/order.h"

namespace mt::interp {

/// Zero-filled storage that costs nothing until it is touched.
template <class T>
struct Zeroed {
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data;

  Zeroed() = default;
  explicit Zeroed(std::size_t n) : data(static_cast<T*>(std::calloc(n ? n : 1, sizeof(T)))) {
    if (!data) throw Error("interp: out of memory; use a smaller problem");
  }
  T* get() const { return data.get(); }
  T& operator[](std::size_t i) const { return data[i]; }
};

/// A memory of the kernel during a launch.
struct Cells {
  const MemoryPlan* plan = nullptr;
  std::byte* data = nullptr;
  std::int64_t count = 0;
  std::int64_t shift = 0;       // elements between the base of the buffer and the view
  Touch* touches = nullptr;     // null: inputs and thread arrays
  Crowd* atomics = nullptr;     // null: the kernel has none on it
  Stamp* stamps = nullptr;      // Thread: the threadgroup that wrote the element
  bool across = false;          // threadgroups share it
  bool starts_written = false;  // a read before any write is fine
};

/// A copy to threadgroup memory that has not arrived.
struct Flight {
  const Node* node = nullptr;
  int thread = 0;
  int group = 0;  // of the thread's groups, from 0
  std::int64_t to = 0;
  std::array<std::byte, 16> bytes{};
};

struct Machine {
  const Code& code;
  const Options& options;
  const Arguments& arguments;
  const Groups grid;
  Groups group{};
  Stamp group_serial = 0;  // threadgroups so far, from 1
  Stamp clock = 0;
  Order shared_order, device_order;
  std::vector<Cells> memories;
  std::vector<Flight> flights;
  std::vector<int> commits;  // by thread: groups of copies so far
  const Mask* mask = nullptr;
  Mask everyone;
  bool flags_live = false;  // some index arithmetic has wrapped
  std::int64_t steps = 0;   // of the current threadgroup

  Machine(const Code& c, const Options& o, const Arguments& a, const Groups& groups);

  /// Runs every threadgroup.
  void launch();
  void run(int block, const Mask& active);
  /// A barrier of the threadgroup, or of one simdgroup.
  void sync_group();
  void sync_simd(int simd);

  std::byte* data(const Slot& s) const { return arena_.get() + s.at; }
  std::byte* data(const Slot& s, int simd) const {
    return arena_.get() + s.at + s.simd_bytes() * static_cast<std::size_t>(simd);
  }
  /// Flags of a value's threads; null where it has none.
  std::uint8_t* flags(const Slot& s) const { return s.flags == kNoFlags ? nullptr : flags_.get() + s.flags; }
  const Order& order(const Cells& c) const { return c.across ? device_order : shared_order; }

  /// Copies a value for the active threads.
  void copy(const Move& move, const Mask& active) const;
  void move_all(const std::vector<Move>& moves, const Mask& active) const;
  /// As move_all, where a target may also be a source.
  void move_staged(const std::vector<Move>& moves, const Mask& active) const;
  std::byte* stage() const { return stage_.get(); }

  std::string who(int thread) const;
  std::string group_name() const;
  /// Where the kernel says so: `file:line: [kernel] what`.
  [[noreturn]] void fail(const Loc& loc, const std::string& what) const;
  [[noreturn]] void fail(const Node& node, const std::string& what) const { fail(node.inst->loc, what); }
  /// The number of the threadgroup that was running at `stamp`.
  std::string group_at(Stamp stamp) const;

 private:
  Zeroed<std::byte> arena_, scratch_, stage_;
  Zeroed<std::uint8_t> flags_;
  Zeroed<Stamp> private_stamps_;
  std::vector<Zeroed<Touch>> touches_;
  std::vector<Zeroed<Crowd>> crowds_;
  std::vector<Stamp> begins_;  // when each threadgroup began

  void bind();
  Stamp tick();
  void check_nan(const Node& node) const;
  std::string group_name(const Groups& g) const;
};

/// Adds the flags of `node`'s result: its operands' and its own overflow. See wrap.cpp.
void track_wrap(Machine& m, const Node& node);

}  // namespace mt::interp
