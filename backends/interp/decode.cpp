#include <fmt/format.h>

#include <algorithm>

#include "backends/interp/code.h"
#include "backends/interp/runs.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::interp {
namespace {

[[noreturn]] void fail(const Kernel& k, const Loc& loc, const std::string& what) {
  const std::string place = to_string(loc);
  throw Error(fmt::format("{}{}[{}] {}", place, place.empty() ? "" : ": ", k.name, what));
}

/// Rounds up to whole cache lines.
std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

class Decoder {
 public:
  explicit Decoder(Code& code) : code_(code), k_(code.kernel), slots_(k_.values.size()) {
    code_.blocks.resize(k_.regions.size());
  }

  void run() {
    memories();
    const std::vector<bool> indices = index_arithmetic(k_);
    const auto place = [&](ValueId v) {
      const Type t = k_.type(v);
      Slot& s = slots_[index_of(v)];
      s.dtype = t.dtype;
      s.lanes = t.is_tile() ? (t.elements() + kLanes - 1) / kLanes : t.lanes;
      s.size = size_of(t.dtype);
      s.at = code_.arena_bytes;
      code_.arena_bytes += padded(s.simd_bytes() * static_cast<std::size_t>(k_.simds()));
      if (!indices[index_of(v)]) return;
      s.flags = code_.flag_bytes;
      code_.flag_bytes += static_cast<std::size_t>(k_.threads);
    };
    walk(k_, RegionId::Root, [&](InstId i) {
      for (const ValueId v : k_.at(i).out) place(v);
      for (const RegionId r : k_.at(i).regions)
        for (const ValueId v : k_.at(r).args) place(v);
    });
    block(RegionId::Root);
  }

 private:
  Code& code_;
  const Kernel& k_;
  std::vector<Slot> slots_;

  const Slot& slot(ValueId v) const { return slots_[index_of(v)]; }
  Block& block_at(RegionId r) { return code_.blocks[index_of(r)]; }

  void memories() {
    std::int32_t device = 0;
    for (const Memory& memory : k_.memories) {
      MemoryPlan plan{.memory = &memory, .size = size_of(memory.dtype)};
      const auto n = static_cast<std::size_t>(memory.count), threads = static_cast<std::size_t>(k_.threads);
      const std::size_t bytes = n * static_cast<std::size_t>(plan.size);
      plan.tracked =
          memory.space == Space::Threadgroup || (memory.space == Space::Device && memory.access != Access::In);
      plan.at = code_.scratch_bytes;
      if (memory.space == Space::Device) {
        plan.device = device++;
      } else if (memory.space == Space::Threadgroup) {
        code_.scratch_bytes += padded(bytes);
      } else {
        code_.scratch_bytes += padded(bytes * threads);
        plan.first = code_.private_elements;
        code_.private_elements += n * threads;
      }
      code_.memories.push_back(plan);
    }
  }

  void block(RegionId r) {
    std::vector<Node> nodes;
    for (const InstId i : k_.at(r).insts) {
      Node n = node(i);
      switch (n.inst->op) {
        case Op::Const:
        case Op::Param:
        case Op::ThreadId:
        case Op::SimdId:
        case Op::LaneId:
          code_.once.push_back(std::move(n));
          break;
        case Op::GroupId:
          code_.per_group.push_back(std::move(n));
          break;
        default:
          nodes.push_back(std::move(n));
      }
    }
    Block& b = block_at(r);
    b.nodes = std::move(nodes);
    b.loc = r == RegionId::Root ? k_.loc : k_.at(k_.at(r).owner).loc;
  }

  Node node(InstId id) {
    const Inst& inst = k_.at(id);
    Node n;
    n.inst = &inst;
    n.id = static_cast<std::int32_t>(id);
    for (const ValueId v : inst.in) n.in.push_back(slot(v));
    n.has_out = !inst.out.empty();
    if (n.has_out) n.out = slot(inst.out[0]);
    if (!n.in.empty()) n.type = n.in[0].dtype;
    n.wraps = n.has_out && n.out.flags != kNoFlags && info(inst.op).effect != Effect::Control;
    for (const RegionId r : inst.regions) {
      n.blocks.push_back(static_cast<int>(index_of(r)));
      block(r);
    }
    choose(inst, n);
    return n;
  }

  void combination(const Inst& inst, Node& n, DType type) {
    n.type = type;
    n.float_op = is_float(type) && inst.op != Op::Atomic;
    if (inst.combine == Combine::Exchange) return;
    n.loop = loop_of(op_of(inst.combine), type);
    n.identity = identity_of(inst.combine, type);
    if (!n.loop)
      fail(k_, inst.loc, fmt::format("{} can't {} {}", info(inst.op).name, name_of(inst.combine), name_of(type)));
  }

  void access(const Inst& inst, Node& n) {
    n.memory = static_cast<int>(index_of(inst.memory));
    n.widen = widen_of(n.in[0].dtype);
    const Memory& memory = k_.at(inst.memory);
    if (!n.widen)
      fail(k_, inst.loc, fmt::format("an index is a 32- or 64-bit integer, not {}; cast it", name_of(n.in[0].dtype)));
    if (inst.op != Op::Load && memory.space == Space::Device && memory.access == Access::In)
      fail(k_, inst.loc,
           fmt::format("{} to {}, which is an input; declare it Out or InOut", info(inst.op).name, memory.name));
    const Slot& value = inst.op == Op::Load ? n.out : n.in[1];
    if (value.dtype != memory.dtype)
      fail(k_, inst.loc,
           fmt::format("{} of {} from memory of {}; cast the value", name_of(value.dtype), memory.name,
                       name_of(memory.dtype)));
    if (inst.op != Op::Atomic) return;
    if (memory.space == Space::Thread)
      fail(k_, inst.loc, fmt::format("atomic on {}, which one thread has for itself; use load and store", memory.name));
    code_.memories[index_of(inst.memory)].atomics = true;
    combination(inst, n, memory.dtype);
  }

  static bool reads_target(const std::vector<Move>& moves) {
    for (std::size_t i = 0; i < moves.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (moves[i].from.at == moves[j].to.at) return true;
    return false;
  }

  static void add(std::vector<Move>& moves, const Slot& from, const Slot& to) {
    if (from.at != to.at) moves.push_back({from, to});
  }

  void loop_for(const Inst& inst, Node& n) {
    const Region& body = k_.at(inst.regions[0]);
    n.index = slot(body.args[0]);
    n.run = for_of(n.index.dtype);
    if (!n.run) fail(k_, inst.loc, "a loop counts in a 32- or 64-bit integer; cast its bounds");
    add(n.enter, n.in[0], n.index);
    for (std::size_t i = 0; i < inst.out.size(); ++i) {
      const Slot& carried = slot(body.args[i + 1]);
      add(n.enter, n.in[i + 3], carried);
      add(n.next, slot(body.yields[i]), carried);
      add(n.leave, carried, slot(inst.out[i]));
    }
    n.staged = reads_target(n.next);
    std::size_t bytes = 0;
    for (const Move& m : n.next) bytes += (m.to.simd_bytes() + kLanes) * static_cast<std::size_t>(k_.simds());
    if (n.staged) code_.stage_bytes = std::max(code_.stage_bytes, bytes);
  }

  void loop_while(const Inst& inst, Node& n) {
    const Region &test = k_.at(inst.regions[0]), &body = k_.at(inst.regions[1]);
    n.run = &run_while;
    block_at(inst.regions[0]).condition = slot(test.yields[0]);
    for (std::size_t i = 0; i < test.args.size(); ++i) {
      add(n.enter, n.in[i], slot(test.args[i]));
      add(n.next, slot(body.yields[i]), slot(test.args[i]));
    }
    for (std::size_t i = 0; i < inst.out.size(); ++i) add(n.leave, slot(test.yields[i + 1]), slot(inst.out[i]));
    for (std::size_t i = 0; i < body.args.size(); ++i) add(n.leave_else, slot(test.yields[i + 1]), slot(body.args[i]));
  }

  void branch(const Inst& inst, Node& n) {
    n.run = &run_if;
    for (std::size_t i = 0; i < inst.out.size(); ++i) {
      add(n.leave, slot(k_.at(inst.regions[0]).yields[i]), slot(inst.out[i]));
      if (inst.regions.size() > 1) add(n.leave_else, slot(k_.at(inst.regions[1]).yields[i]), slot(inst.out[i]));
    }
  }

  void map(const Inst& inst, Node& n) {
    const Region& body = k_.at(inst.regions[0]);
    n.run = &run_tile_map;
    for (const ValueId v : body.args) n.enter.push_back({{}, slot(v)});
    n.leave.push_back({slot(body.yields[0]), {}});
  }

  void touches(const Inst& inst, Node& n, Run by) {
    n.run = by;
    if (inst.memory != MemoryId::None) n.memory = static_cast<int>(index_of(inst.memory));
    if (inst.from != MemoryId::None) n.from = static_cast<int>(index_of(inst.from));
    if (!n.in.empty()) n.widen = widen_of(n.in[0].dtype);
  }

  /// The last operands are acc blocks, which become the results.
  void blocks(const Inst& inst, Node& n) {
    const std::size_t first = inst.in.size() - inst.out.size();
    for (std::size_t k = 0; k < inst.out.size(); ++k) n.next.push_back({n.in[first + k], slot(inst.out[k])});
  }

  void choose(const Inst& inst, Node& n) {
    switch (inst.op) {
      case Op::TileFill:
        return touches(inst, n, &run_tile_fill);
      case Op::TileLoad:
        return touches(inst, n, &run_tile_load);
      case Op::TileStore:
        return touches(inst, n, &run_tile_store);
      case Op::TileMma:
        return touches(inst, n, &run_tile_mma);
      case Op::TileCast:
        return touches(inst, n, &run_tile_cast);
      case Op::TileReduce:
        return touches(inst, n, &run_tile_reduce);
      case Op::TileMap:
        return map(inst, n);
      case Op::CopyAsync:
        return touches(inst, n, &run_copy_async);
      case Op::CopyCommit:
        return touches(inst, n, &run_copy_commit);
      case Op::CopyWait:
        return touches(inst, n, &run_copy_wait);
      case Op::TileWait:
      case Op::MmaFence:
        n.run = &run_nothing;
        return;
      case Op::MmaWait:
        n.run = &run_mma_wait;
        return blocks(inst, n);
      case Op::MmaTeam:
        blocks(inst, n);
        return touches(inst, n, &run_mma_team);
      case Op::LoadMatrix:
        return touches(inst, n, &run_load_matrix);
      case Op::MmaBlock:
        return touches(inst, n, &run_mma_block);
      case Op::Const:
        n.run = &run_constant;
        return;
      case Op::Param:
      case Op::GroupId:
      case Op::ThreadId:
      case Op::SimdId:
      case Op::LaneId:
        n.run = &run_index;
        return;
      case Op::Select:
        n.run = &run_select;
        return;
      case Op::Cast:
        n.run = &run_loop;
        n.loop = cast_of(n.type, n.out.dtype);
        return;
      case Op::Bitcast:
      case Op::Var:
      case Op::Get:
        n.run = &run_bitcast;
        return;
      case Op::Splat:
        n.run = &run_splat;
        return;
      case Op::Pack:
        n.run = &run_pack;
        return;
      case Op::Extract:
        n.run = &run_extract;
        return;
      case Op::VectorReduce:
        n.run = &run_vector_reduce;
        return combination(inst, n, n.type);
      case Op::Load:
        n.run = &run_load;
        return access(inst, n);
      case Op::Store:
        n.run = &run_store;
        return access(inst, n);
      case Op::Atomic:
        n.run = &run_atomic;
        return access(inst, n);
      case Op::SimdReduce:
        n.run = &run_simd_reduce;
        return combination(inst, n, n.type);
      case Op::SimdScan:
        n.run = &run_simd_scan;
        return combination(inst, n, n.type);
      case Op::GroupReduce:
        n.run = &run_group_reduce;
        return combination(inst, n, n.type);
      case Op::SimdShuffle:
        n.widen = widen_of(n.in[1].dtype);
        if (!n.widen) fail(k_, inst.loc, "the lane of a shuffle is a 32- or 64-bit integer; cast it");
        n.run = &run_shuffle;
        return;
      case Op::SimdShuffleXor:
      case Op::SimdShuffleUp:
      case Op::SimdShuffleDown:
      case Op::SimdBroadcast:
        n.run = &run_shuffle;
        return;
      case Op::Barrier:
        n.run = &run_barrier;
        return;
      case Op::SimdBarrier:
        n.run = &run_simd_barrier;
        return;
      case Op::Set:
        n.run = &run_set;
        return;
      case Op::If:
        return branch(inst, n);
      case Op::For:
        return loop_for(inst, n);
      case Op::While:
        return loop_while(inst, n);
      default:
        n.run = &run_loop;
        n.loop = loop_of(inst.op, n.type);
        n.float_op = is_float(n.type) && info(inst.op).type != TypeRule::Pred;
        if (!n.loop) fail(k_, inst.loc, fmt::format("{} has no meaning for {}", info(inst.op).name, name_of(n.type)));
    }
  }
};

}  // namespace

void decode(const Kernel& kernel, Code& code) {
  if (kernel.threads < kLanes || kernel.threads > 1024 || kernel.threads % kLanes != 0)
    fail(kernel, kernel.loc,
         fmt::format("a threadgroup has 32 to 1024 threads in whole simdgroups, not {}", kernel.threads));
  code.kernel = kernel;
  Decoder(code).run();
}

}  // namespace mt::interp
