// The state of one emission; its members are spread over emit_*.cpp by what they emit.
//
// A simdgroup is one instruction stream. A value is a scalar base plus a pattern known at compile time, or a vector of
// 32 * lanes elements in memory order. Where lanes part, `mask` says which are on. Kernels with barriers are cut into
// segments; every segment loops over the simdgroups (emit_group.cpp).
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>

#include "backends/cpu/emit.h"
#include "backends/cpu/shape.h"
#include "backends/cpu/text.h"
#include "backends/cpu/tile_plan.h"
#include "backends/cpu/tile_products.h"

namespace mt::cpu {

struct Val {
  Type type;
  int pattern = kUniform;
  Ref ref;  // the base (type.lanes elements), or all 32 * type.lanes elements where the pattern is kVarying
};

/// Where a value that outlives its segment waits, and how it is stored there.
struct Slot {
  Ref pointer;             // stack slot, or the first simdgroup's element in scratch
  bool per_simd = false;   // one element a simdgroup
  int pattern = kUniform;  // of the value; the base alone is stored
};

/// Whether the op makes or takes whole tiles.
bool is_tile_op(Op op);

class Emitter {
 public:
  Emitter(const Kernel& kernel, const EmitOptions& options);
  Emitted run();

 private:
  // ── values (emitter.cpp) ──
  const Val& get(ValueId v);
  void define(ValueId v, Val value) { scopes_.back().values[v] = std::move(value); }
  Ref base(ValueId v);  // where uniform or patterned
  Ref wide(ValueId v);  // all lanes
  Ref widen(const Val& v);
  Ref value_for(ValueId v, int pattern) { return pattern == kVarying ? wide(v) : base(v); }
  Type type(ValueId v) const { return kernel_.type(v); }
  int count(ValueId v) const { return (shapes_.of(v).varying() ? kLanes : 1) * type(v).lanes; }
  Ref lane_mask(int lanes);             // the mask repeated for vectors of `lanes`
  Ref repeat(const Ref& v, int lanes);  // every element `lanes` times
  Ref tile(const Ref& v, int times);    // the whole operand `times` times
  Ref offsets(int pattern, El el);
  template <class F>
  void scope(F&& body) {
    scopes_.emplace_back();
    body();
    scopes_.pop_back();
  }

  // ── pure ops (emit_pure.cpp) ──
  void pure(const Inst& i);
  Ref apply(const Inst& i, const std::vector<Ref>& args, int n);
  Ref arithmetic(Op op, DType t, std::vector<Ref> args);
  Ref float_op(Op op, const std::vector<Ref>& args);
  Ref extreme(bool larger, const Ref& a, const Ref& b);
  Ref number(bool larger, const Ref& a, const Ref& b);
  Ref int_op(Op op, DType t, const std::vector<Ref>& args);
  Ref integer_division(bool rem, DType t, const Ref& a, const Ref& b);
  Ref convert(const Ref& a, DType from, DType to);
  Ref saturate(const Ref& x, DType to);
  Ref to_f32(const Ref& a, DType from);
  Ref from_f32(const Ref& a, DType to);
  Ref rounded_bf16(const Ref& a);
  Ref native_bf16(const Ref& a);
  Ref combine(Combine c, DType t, const Ref& a, const Ref& b);
  bool is_pure(const Inst& i) const;

  // ── memory (emit_memory.cpp) ──
  void load(const Inst& i);
  void store(const Inst& i);
  void copy_async(const Inst& i);  // emit_copy.cpp
  bool follows(const Shape& index, int lanes) const;
  void find_last_reads();
  Ref load_ahead(El el, int n, const Ref& p, int align);
  void stream(const Ref& v, const Ref& p, int align);
  Ref address(MemoryId m);
  Ref pointer_at(MemoryId m, const Ref& index64);
  Ref base_index(ValueId v);  // i64 base; patterned indices are exact for every lane that may be used
  Ref wide_index(ValueId v);  // <32 x i64>
  Ref gather(MemoryId m, ValueId index, int lanes);
  void scatter(MemoryId m, ValueId index, const Ref& v, int lanes);
  Ref lane_pointers(MemoryId m, ValueId index);
  Ref lane_pointer(MemoryId m, ValueId index, const Ref& pointers, int lane);
  Ref address_here(MemoryId m);
  Ref thread_element(MemoryId m, ValueId index, int e);
  Ref interleave(std::vector<Ref> parts);        // a0 b0 a1 b1 ...
  Ref every(const Ref& v, int step, int first);  // elements first, first + step, ...
  Ref to_memory(const Ref& v, DType t);
  Ref from_memory(const Ref& v, DType t);
  std::string metadata(MemoryId m, bool load) const;
  /// Emits `body` once for every lane that is on, in order; the lane is an i64.
  void each_lane(const std::function<void(const Ref& lane)>& body);
  void variable(const Inst& i);

  // ── collectives and atomics (emit_simd.cpp, emit_atomic.cpp) ──
  void simd(const Inst& i);
  Ref reduce(Combine c, DType t, const Ref& v, int lanes);
  Ref scan(const Inst& i, const Ref& v);
  Ref shuffle_dynamic(const Inst& i, const Ref& v);
  void atomic(const Inst& i);
  Ref atomic_one(const Inst& i, const Ref& pointer, const Ref& value);

  // ── tiles (emit_tiles.cpp, emit_tile_memory.cpp, emit_tile_products.cpp) ──
  friend struct TileMover;
  friend struct ProductInPlace;
  /// `count` pieces of a buffer of `width` consecutive elements: piece c of line l starts at l * line + c * step + at
  /// and has the elements from first + c * width on.
  struct Run {
    int width = 0, count = 0, first = 0, line = 0, step = 0, at = 0;
  };
  /// A part of a product: where it is, its rows and columns, the depth, and how far apart in their buffers are rows of
  /// the acc, rows of the lhs and its elements along the depth.
  struct MmaBlock {
    Ref to, from, lhs, rhs;
    int rows, cols, depth, acc_row, row_step, depth_step;
  };
  bool holds_tiles(const Inst& i) const;
  void tile(const Inst& i);
  void tile_access(const Inst& i);
  void tile_fill(const Inst& i);
  void tile_cast(const Inst& i);
  void tile_reduce(const Inst& i);
  void tile_map(const Inst& i);
  void tile_mma(const Inst& i);
  void mma_block(const MmaBlock& m);
  void mma_in_place(const Inst& mma, const Inst& load);
  std::optional<Ref> next_trip(const Inst& load);
  int panel() const;  // columns of an rhs that lie side by side
  std::vector<Run> runs_of(Type t, bool by_column) const;
  std::string tile_mover(bool store, Type t, DType held, bool across, bool by_column);
  std::string rows_mover(bool store, Type t, DType held);
  std::string tile_copier(int n, DType t);
  void move_tiles(const std::vector<std::pair<ValueId, ValueId>>& moves);
  Ref tile_pointer(std::size_t place);
  Ref tile_pointer(ValueId v) { return tile_pointer(tiles_.at(v)); }
  Ref scalar(ValueId v);  // what is equal on all lanes, though that may not be known of it
  Ref scalar_index(ValueId v);
  /// A function of its own, written once for each name.
  void helper(const std::string& name, std::string_view parameters, const std::function<void()>& body);
  void call_helper(const std::string& name, const std::vector<Ref>& args);
  /// A loop over 0, step, ... below the end.
  void count_up(const Ref& end, int step, const std::function<void(const Ref&)>& body);
  void count_up(int end, int step, const std::function<void(const Ref&)>& body);
  Ref linear(const Ref& a, std::int64_t factor, std::int64_t constant);

  // ── control (emit_control.cpp) ──
  void region(RegionId r);
  void inst(InstId id);
  bool waits(const Inst& i) const;
  void if_(const Inst& i);
  void if_uniform(const Inst& i);
  void if_varying(const Inst& i);
  void if_flat(const Inst& i);
  void for_(const Inst& i);
  void for_uniform(const Inst& i);
  void for_divergent(const Inst& i);
  void while_(const Inst& i);
  void while_uniform(const Inst& i);
  void while_divergent(const Inst& i);
  Ref any(const Ref& mask);
  Ref all(const Ref& mask);
  std::optional<Ref> all_on(ValueId condition);  // as a scalar test, where the condition compares a pattern
  Ref below(const Ref& index, std::int64_t low, std::int64_t high, const Ref& end, DType t, bool or_equal);
  struct Transfer {  // values that control flow hands on
    std::vector<std::pair<ValueId, ValueId>> moves;
    void add(ValueId from, ValueId to) { moves.emplace_back(from, to); }
  };
  Ref slot_of(ValueId v);
  void take(ValueId v, const Ref& slot);
  void take_as(ValueId v, ValueId made_for, const Ref& slot);
  void hand_on(const Transfer& t, const std::vector<Ref>& slots);
  int cost(RegionId r) const;
  bool only_pure(RegionId r) const;

  // ── segments (emit_group.cpp) ──
  void plan_segment(const std::vector<InstId>& insts, const std::vector<ValueId>& tail);
  void need(ValueId v, int segment);
  bool cheap(ValueId v) const;
  int price(ValueId v, int depth) const;
  void make_slot(ValueId v);
  void flush(std::vector<InstId>& pending, const std::function<void()>& tail, const std::vector<ValueId>& tail_uses);
  void group_control(const Inst& i, std::vector<InstId>& pending);
  void group_reduce(const Inst& i, std::vector<InstId>& pending);
  std::vector<ValueId> in_segment(const Transfer& t) const;
  void transfer(const Transfer& t, bool group_level);
  void arrive(const std::vector<ValueId>& values);
  void group_region(RegionId r, const Transfer& leave);
  void hand_slot(ValueId v);
  Ref agreed(ValueId v);
  bool syncs(const Inst& i) const;
  bool on_group_level(const Inst& i) const;
  void save(ValueId v, const Slot& slot);
  void put(const Ref& value, Type t, const Slot& slot);
  Val recall(ValueId v, const Slot& slot);
  Ref slot_pointer(const Slot& slot, int n, El el);
  std::size_t reserve(std::size_t bytes);

  struct Scope {
    std::unordered_map<ValueId, Val> values;
    std::unordered_map<ValueId, Ref> wide;
  };

  const Kernel& kernel_;
  const EmitOptions& options_;
  std::unordered_map<MemoryId, RegionId>
      last_read_;  // where a device memory is read for the last time, by whole vectors
  Shapes shapes_;
  TileProducts products_;
  TilePlan tiles_;
  std::size_t tiles_at_ = 0;  // in scratch memory: the first simdgroup's tiles
  Writer w_;
  std::vector<Scope> scopes_ = std::vector<Scope>(1);
  std::set<ValueId> waiting_;  // conditions whose vectors are made where they are asked for
  std::optional<Ref> mask_;    // <32 x i1>; none: all lanes are on
  int copies_ = 0;             // bodies being emitted a second time for the all-on path
  std::vector<Ref> memories_, params_;
  std::vector<Ref> group_id_;
  Ref simd_;  // i64 index of the simdgroup
  std::unordered_map<ValueId, Ref> variables_;
  std::size_t scratch_ = 0;

  struct Trip {  // of the innermost loop whose trips all lanes make together
    InstId loop;
    Ref now, end, step;
  };
  std::optional<Trip> trip_;

  // Plan: which segment makes a value, which values each segment takes from outside.
  std::vector<int> uses_;                    // by value
  std::vector<char> group_value_;            // by value: made at group level
  std::vector<int> made_in_;                 // by value: its segment, -1 otherwise
  std::vector<std::vector<ValueId>> needs_;  // by segment
  std::unordered_map<ValueId, Slot> slots_;
  int segment_ = 0;
  bool planning_ = false;
};

}  // namespace mt::cpu
