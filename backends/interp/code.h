// A kernel decoded for execution: every value has a place in one arena, every instruction a function that runs it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/interp/loops.h"
#include "mt/ir/kernel.h"

namespace mt::interp {

struct Machine;
struct Node;
using Run = void (*)(Machine&, const Node&);

inline constexpr std::size_t kNoFlags = ~std::size_t{0};

/// Where a value lives. Element e of thread t is at (t / 32 * lanes + e) * 32 + t % 32, so that the threads of a run of
/// simdgroups are one contiguous piece.
struct Slot {
  std::size_t at = 0;            // bytes from the arena's begin
  std::size_t flags = kNoFlags;  // a byte a thread: the value came of index arithmetic that wrapped
  DType dtype = DType::U32;
  int lanes = 1;
  int size = 4;  // of one element
  std::size_t simd_bytes() const { return static_cast<std::size_t>(size * lanes * kLanes); }
};

struct Move {
  Slot from, to;
};

struct Node {
  Run run = nullptr;
  std::int32_t id = 0;  // of the instruction
  const Inst* inst = nullptr;
  std::vector<Slot> in;
  Slot out;  // the only result; control flow moves its results itself
  bool has_out = false;
  Loop loop = nullptr;      // elementwise work, or the combination of two operands
  Widen widen = nullptr;    // index operand of memory, lane operand of a shuffle
  DType type = DType::U32;  // of the operands of `loop`
  bool float_op = false;    // makes floats of floats: may give birth to a NaN
  bool wraps = false;       // the result has flags
  int memory = -1, from = -1;
  std::uint64_t identity = 0;  // of the combination
  std::vector<int> blocks;     // regions
  // Control: what moves at the entry, at the end of each round, and to the results. See run_control.cpp. Products of
  // teams: from which acc blocks `next` come.
  std::vector<Move> enter, next, leave, leave_else;
  bool staged = false;  // `next` reads what it overwrites
  Slot index;           // For
};

struct Block {
  std::vector<Node> nodes;
  Loc loc;         // of the instruction that owns it
  Slot condition;  // While, region 0
};

struct MemoryPlan {
  const Memory* memory = nullptr;
  int size = 4;
  bool tracked = false;  // Device memory that the kernel may write, and threadgroup memory
  bool atomics = false;
  std::int32_t device = -1;  // which of the launch's buffers
  std::size_t at = 0;        // Threadgroup, Thread: bytes from the begin of the scratch
  std::size_t touches = 0;   // Threadgroup: first element in the table of touches
  std::size_t first = 0;     // Thread: first stamp
};

struct Code {
  Kernel kernel;              // nodes point into it
  std::vector<Block> blocks;  // by region
  std::vector<Node> once;     // the same in the whole launch: constants, parameters, thread indices
  std::vector<Node> per_group;
  std::vector<MemoryPlan> memories;
  std::size_t arena_bytes = 0, flag_bytes = 0, scratch_bytes = 0, shared_elements = 0, private_elements = 0;
  std::size_t stage_bytes = 0;  // widest staged set of moves

  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
};

/// Decodes `kernel`, which must verify. Throws Error for what can't run on any device: a store to an input, a
/// threadgroup of more than 1024 threads or of part of a simdgroup.
void decode(const Kernel& kernel, Code& code);

/// The values whose arithmetic reaches an index of a load, store or atomic unbroken (add, sub, mul, shl, integer casts,
/// selects, variables, region arguments and results), by value id.
std::vector<bool> index_arithmetic(const Kernel& kernel);

}  // namespace mt::interp
