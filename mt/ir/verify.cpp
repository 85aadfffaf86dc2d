#include "mt/ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "mt/ir/edit.h"
#include "mt/ir/uniformity.h"
#include "mt/ir/verify_flights.h"
#include "mt/ir/verify_tiles.h"

namespace mt {
namespace {

bool is_lane_count(int n) { return n == 1 || n == 2 || n == 4 || n == 8; }

/// First pass: every id that the other checks follow names a table entry, and the tables agree with each other.
class Structure {
 public:
  explicit Structure(const Kernel& k) : k_(k), regions_(k.regions.size()), insts_(k.insts.size()) {}

  std::vector<Violation> run() {
    if (k_.regions.empty())
      report(InstId::None, "the kernel has no root region");
    else
      region(RegionId::Root, InstId::None);
    return std::move(found_);
  }

 private:
  void report(InstId i, std::string what) { found_.push_back({i, std::move(what)}); }
  bool value_ok(ValueId v) const { return index_of(v) < k_.values.size(); }
  static const char* op(const Inst& i) { return info(i.op).name.data(); }

  void region(RegionId r, InstId owner) {
    if (index_of(r) >= k_.regions.size()) return report(owner, "names a region that does not exist");
    if (regions_[index_of(r)]) return report(owner, "a region stands in two places");
    regions_[index_of(r)] = true;
    const Region& region = k_.at(r);
    if (region.owner != owner) report(owner, "a region's owner is another instruction");
    for (std::size_t n = 0; n < region.args.size(); ++n) {
      const ValueId v = region.args[n];
      if (!value_ok(v))
        report(owner, "a region argument does not exist");
      else if (k_.at(v).region != r || k_.at(v).def != InstId::None || k_.at(v).position != static_cast<int>(n))
        report(owner, "a region argument does not name its region and position");
    }
    for (const ValueId v : region.yields)
      if (!value_ok(v)) report(owner, "yields a value that does not exist");
    for (const InstId i : region.insts) inst(i, r, owner);
  }

  void inst(InstId id, RegionId home, InstId owner) {
    if (index_of(id) >= k_.insts.size()) return report(owner, "a region lists an instruction that does not exist");
    if (insts_[index_of(id)]) return report(id, "an instruction stands in two places");
    insts_[index_of(id)] = true;
    const Inst& i = k_.at(id);
    if (static_cast<int>(i.op) >= op_count()) return report(id, "has an op that is not in the table");
    if (i.home != home) report(id, fmt::format("{} names another home than the region that lists it", op(i)));
    for (const ValueId v : i.in)
      if (!value_ok(v)) report(id, fmt::format("{} has an operand that does not exist", op(i)));
    for (std::size_t n = 0; n < i.out.size(); ++n)
      if (!value_ok(i.out[n]))
        report(id, fmt::format("{} has a result that does not exist", op(i)));
      else if (k_.at(i.out[n]).def != id || k_.at(i.out[n]).position != static_cast<int>(n))
        report(id, fmt::format("a result of {} does not name it and its position", op(i)));
    for (const RegionId r : i.regions) region(r, id);
  }

  const Kernel& k_;
  std::vector<bool> regions_, insts_;
  std::vector<Violation> found_;
};

class Verifier {
 public:
  explicit Verifier(const Kernel& k) : k_(k), defined_(k.values.size(), false) {}

  std::vector<Violation> run() {
    declarations();
    if (!k_.at(RegionId::Root).args.empty()) report("the body takes no arguments");
    if (!k_.at(RegionId::Root).yields.empty()) report("the body yields nothing");
    region(RegionId::Root);
    if (!found_.empty()) return std::move(found_);
    if (!writes_output_) report("nothing is stored to an output; a kernel stores to an out or inout memory");
    for (const auto& [inst, what] : bad_flights(k_)) found_.push_back({inst, what});
    uniformity_ = uniformity(k_);
    convergence(RegionId::Root, Uniformity::Group);
    return std::move(found_);
  }

 private:
  void report(std::string what) { found_.push_back({at_, std::move(what)}); }
  bool check(bool good, std::string what) {
    if (!good) report(std::move(what));
    return good;
  }
  Type type(ValueId v) const { return k_.type(v); }

  void declarations() {
    check(k_.threads >= kLanes && k_.threads <= 1024 && k_.threads % kLanes == 0,
          fmt::format("{} threads; a threadgroup has a multiple of 32 threads, 32 to 1024", k_.threads));
    std::unordered_set<std::string> names;
    bool device = true;
    for (const Memory& m : k_.memories) {
      check(!m.name.empty() && names.insert(m.name).second,
            m.name.empty() ? "a memory has no name"
                           : fmt::format("two memories are named '{}'; each has its own name", m.name));
      if (m.space == Space::Device) {
        check(device, fmt::format("device memory '{}' stands after other memory; device memories come first", m.name));
        for (const Dim& d : m.shape)
          check(!d.symbol.empty() || d.extent >= 0, fmt::format("'{}' has a negative extent", m.name));
      } else {
        device = false;
        check(m.count > 0, fmt::format("array '{}' has {} elements; it needs at least one", m.name, m.count));
        check(m.layout == Layout::Plain ||
                  (m.space == Space::Threadgroup && size_of(m.dtype) == 2 && m.count % kPanelGroup == 0),
              fmt::format("'{}' lies in panels, which are of threadgroup memory, elements of 16 bits and whole groups "
                          "of 8 rows",
                          m.name));
      }
    }
    names.clear();
    for (const ScalarParam& s : k_.scalars) {
      check(!s.name.empty() && names.insert(s.name).second,
            s.name.empty() ? "a scalar has no name"
                           : fmt::format("two scalars are named '{}'; each has its own name", s.name));
      check(s.multiple_of >= 1 && (is_int(s.dtype) || s.multiple_of == 1),
            fmt::format("scalar '{}' is declared a multiple of {}; only integers are multiples, of 1 or more", s.name,
                        s.multiple_of));
    }
  }

  /// Instructions in order: operands must have been defined before, here or in a region around.
  void region(RegionId r) {
    const Region& region = k_.at(r);
    std::vector<ValueId> made = region.args;
    for (const ValueId v : region.args) define(v);
    const InstId owner = at_;
    for (const InstId i : region.insts) {
      at_ = i;
      inst(k_.at(i));
      at_ = i;
      for (const ValueId v : k_.at(i).out) define(v);
      made.insert(made.end(), k_.at(i).out.begin(), k_.at(i).out.end());
    }
    at_ = owner;
    for (const ValueId v : region.yields) used(v, "yield");
    for (const ValueId v : made) defined_[index_of(v)] = false;
  }
  void define(ValueId v) {
    defined_[index_of(v)] = true;
    const std::string tile = bad_tile(type(v));
    check(tile.empty(), tile);
    check(is_lane_count(type(v).lanes), fmt::format("a value has {} lanes; 1, 2, 4 or 8 are possible", type(v).lanes));
  }
  void used(ValueId v, std::string_view by) {
    check(defined_[index_of(v)], fmt::format("{} uses a value that is not defined there", by));
    const Inst* def = k_.def(v);
    if (def && def->op == Op::Var && by != "get" && by != "set")
      report(fmt::format("{} uses a variable as a value; get it first", by));
  }

  void inst(const Inst& i) {
    const OpInfo& row = info(i.op);
    for (std::size_t n = 0; n < i.in.size(); ++n) {
      const bool variable = n == 0 && (i.op == Op::Get || i.op == Op::Set);
      used(i.in[n], variable ? row.name : i.op == Op::Get || i.op == Op::Set ? "operand" : row.name);
    }
    if (row.arity >= 0 && !check(static_cast<int>(i.in.size()) == row.arity,
                                 fmt::format("{} takes {} operands, not {}", row.name, row.arity, i.in.size())))
      return;
    if (i.op != Op::TileMap && !tiles(i)) return;
    if (row.effect == Effect::Control) return control(i);
    if (!check(i.regions.empty(), fmt::format("{} has no regions", row.name))) return;
    const bool team = i.op == Op::MmaTeam || i.op == Op::MmaWait;  // as many as blocks
    const std::size_t results = row.type == TypeRule::Void ? 0 : team ? i.out.size() : 1;
    if (!check(i.out.size() == results, fmt::format("{} needs {} results, not {}", row.name, results, i.out.size())))
      return;
    if (!i.in.empty() && i.op != Op::Pack)
      check(admits(row.on, type(i.in[0]).dtype),
            fmt::format("{} does not take {}", row.name, to_string(type(i.in[0]))));
    if (row.type == TypeRule::Same || row.type == TypeRule::Pred) same(i, row);
    particular(i, row);
  }

  bool tiles(const Inst& i) {
    for (const MemoryId m : {read_by(i)[0], read_by(i)[1], written_by(i)})
      if (m != MemoryId::None && !check(index_of(m) < k_.memories.size(),
                                        fmt::format("{} names a memory that does not exist", info(i.op).name)))
        return false;
    const bool missing =
        info(i.op).type == TypeRule::Given && i.out.empty() && i.op != Op::MmaTeam && i.op != Op::MmaWait;
    if (missing) return true;
    const MemoryId to = written_by(i);
    if (to != MemoryId::None && k_.at(to).space == Space::Device) writes_output_ = true;
    const std::string bad = bad_tile_op(k_, i);
    return check(bad.empty(), bad);
  }

  void same(const Inst& i, const OpInfo& row) {
    const Type first = type(i.in[0]), want = row.type == TypeRule::Same ? first : first.with(DType::Bool);
    result_is(i, want);
    for (const ValueId v : i.in)
      check(type(v) == first, fmt::format("{} takes operands of one type, not {} and {}", row.name, to_string(first),
                                          to_string(type(v))));
  }
  void result_is(const Inst& i, Type want) {
    check(type(i.out[0]) == want, fmt::format("the result of {} must be {}, not {}", info(i.op).name, to_string(want),
                                              to_string(type(i.out[0]))));
  }
  void index_in(const Inst& i, int low, int high) {
    check(i.index >= low && i.index <= high,
          fmt::format("{} {} is not in {}..{}", info(i.op).name, i.index, low, high));
  }
  void is_index(ValueId v, std::string_view what) {
    check(type(v).lanes == 1 && is_int(type(v).dtype),
          fmt::format("{} must be one integer, not {}", what, to_string(type(v))));
  }

  void particular(const Inst& i, const OpInfo& row) {
    const Type out = i.out.empty() ? Type{} : type(i.out[0]);
    const Type in = i.in.empty() ? Type{} : type(i.in[0]);
    switch (i.op) {
      case Op::Const:
        check(out.dtype == DType::Bool ? i.bits <= 1 : bits_of(out.dtype) == 64 || i.bits >> bits_of(out.dtype) == 0,
              fmt::format("const has bits outside {}", name_of(out.dtype)));
        return;
      case Op::Param:
        if (check(i.index >= 0 && static_cast<std::size_t>(i.index) < k_.scalars.size(),
                  "param names a scalar that does not exist"))
          result_is(i, {k_.scalars[static_cast<std::size_t>(i.index)].dtype});
        return;
      case Op::GroupId:
        index_in(i, 0, 2);
        return result_is(i, {DType::U32});
      case Op::ThreadId:
      case Op::SimdId:
      case Op::LaneId:
        return result_is(i, {DType::U32});
      case Op::Select:
        check(in.lanes == 1 || in.lanes == out.lanes,
              fmt::format("the condition of select has {} lanes, the values {}; it needs 1 or as many", in.lanes,
                          out.lanes));
        for (const std::size_t n : {1u, 2u})
          check(type(i.in[n]) == out,
                fmt::format("select chooses between {}, not {}", to_string(out), to_string(type(i.in[n]))));
        return;
      case Op::Cast:
        return result_is(i, in.with(out.dtype));
      case Op::Bitcast:
        check(in.dtype != DType::Bool && out.dtype != DType::Bool && size_of(in.dtype) == size_of(out.dtype) &&
                  in.lanes == out.lanes,
              fmt::format("bitcast from {} to {}; both need the same size", to_string(in), to_string(out)));
        return;
      case Op::Splat:
        check(in.lanes == 1 && out.lanes > 1, "splat takes one scalar and gives 2, 4 or 8 lanes");
        return result_is(i, {in.dtype, out.lanes});
      case Op::Pack:
        check(i.in.size() == out.lanes, fmt::format("pack of {} scalars cannot be {}", i.in.size(), to_string(out)));
        for (const ValueId v : i.in)
          check(type(v) == out.scalar(), fmt::format("pack puts {} into {}", to_string(type(v)), to_string(out)));
        return;
      case Op::Extract:
        index_in(i, 0, in.lanes - 1);
        return result_is(i, in.scalar());
      case Op::Load:
      case Op::Store:
      case Op::Atomic:
        return memory(i, row);
      case Op::SimdReduce:
      case Op::SimdScan:
      case Op::GroupReduce:
        return combine(i, row, in);
      case Op::VectorReduce:
        combine(i, row, in);
        return result_is(i, in.scalar());
      case Op::SimdShuffle:
        is_index(i.in[1], "the lane of simd_shuffle");
        return result_is(i, in);
      case Op::SimdShuffleXor:
      case Op::SimdShuffleUp:
      case Op::SimdShuffleDown:
      case Op::SimdBroadcast:
        return index_in(i, 0, kLanes - 1);
      case Op::Get:
      case Op::Set: {
        const Inst* def = k_.def(i.in[0]);
        check(def && def->op == Op::Var, fmt::format("{} names no variable", row.name));
        if (i.op == Op::Set)
          check(type(i.in[1]) == in,
                fmt::format("set stores {} in a variable of {}", to_string(type(i.in[1])), to_string(in)));
        return;
      }
      default:
        return;
    }
  }

  void combine(const Inst& i, const OpInfo& row, Type t) {
    check(i.combine != Combine::Exchange && admits(info(op_of(i.combine)).on, t.dtype),
          fmt::format("{} {} does not take {}", row.name, name_of(i.combine), to_string(t)));
  }

  void memory(const Inst& i, const OpInfo& row) {
    if (!check(index_of(i.memory) < k_.memories.size(), fmt::format("{} names a memory that does not exist", row.name)))
      return;
    const Memory& m = k_.at(i.memory);
    is_index(i.in[0], fmt::format("the index of {}", row.name));
    const Type value = type(i.op == Op::Load ? i.out[0] : i.in[1]);
    check(value.dtype == m.dtype, fmt::format("{} of {} in '{}', which holds {}; cast it", row.name, to_string(value),
                                              m.name, name_of(m.dtype)));
    check(is_lane_count(i.align) && i.align <= value.lanes,
          fmt::format("{} of {} lanes claims an alignment of {}; 1 to its lanes is possible", row.name, value.lanes,
                      i.align));
    if (i.op == Op::Load) return;
    check(m.space != Space::Device || m.access != Access::In,
          fmt::format("{} to '{}', which is an input; declare it out or inout", row.name, m.name));
    if (m.space == Space::Device) writes_output_ = true;
    if (i.op != Op::Atomic) return;
    check(type(i.out[0]) == value && value.lanes == 1, "atomic takes one scalar and gives its old value");
    check(m.space != Space::Thread, fmt::format("atomic on '{}', an array of one thread; use load and store", m.name));
    if (i.combine != Combine::Exchange) combine(i, row, value);
  }

  bool types_match(const std::vector<ValueId>& a, std::size_t from_a, const std::vector<ValueId>& b,
                   std::size_t from_b) {
    if (a.size() < from_a || b.size() < from_b || a.size() - from_a != b.size() - from_b) return false;
    for (std::size_t n = from_a; n < a.size(); ++n)
      if (type(a[n]) != type(b[from_b + n - from_a])) return false;
    return true;
  }

  void control(const Inst& i) {
    const std::string_view name = info(i.op).name;
    if (i.op == Op::TileMap) {
      if (!tiles(i)) return;
      return region(i.regions[0]);
    }
    const std::size_t regions = i.op == Op::For ? 1 : 2;
    if (!check(i.regions.size() == regions,
               fmt::format("{} needs {} regions, not {}", name, regions, i.regions.size())))
      return;
    const Region &a = k_.at(i.regions[0]), &b = k_.at(i.regions[regions - 1]);
    const auto agree = [&](bool good, const char* what) {
      check(good, fmt::format("{}: {} do not agree in number and type", name, what));
    };
    if (i.op == Op::If) {
      check(type(i.in[0]) == Type{DType::Bool},
            fmt::format("the condition of if must be bool, not {}", to_string(type(i.in[0]))));
      check(a.args.empty() && b.args.empty(), "the regions of if take no arguments");
      agree(types_match(a.yields, 0, i.out, 0), "then yields and results");
      agree(types_match(b.yields, 0, i.out, 0), "else yields and results");
    } else if (i.op == Op::For) {
      if (!check(i.in.size() >= 3, "for needs begin, end and step")) return;
      is_index(i.in[0], "the begin of for");
      for (const std::size_t n : {1u, 2u})
        check(type(i.in[n]) == type(i.in[0]), "begin, end and step of for must be of one type");
      check(!a.args.empty() && type(a.args[0]) == type(i.in[0]), "the index of for must have the type of its begin");
      agree(types_match(a.args, 1, i.in, 3), "carried arguments and initial values");
      agree(types_match(a.yields, 0, i.out, 0), "yields and results");
      agree(types_match(i.in, 3, i.out, 0), "initial values and results");
      const Inst* step = k_.def(i.in[2]);
      if (step && step->op == Op::Const)
        check(
            int_value_of(type(i.in[2]).dtype, step->bits) > 0 || (is_unsigned(type(i.in[2]).dtype) && step->bits != 0),
            "the step of for must be positive");
    } else {
      agree(types_match(a.args, 0, i.in, 0), "arguments and initial values");
      check(!a.yields.empty() && type(a.yields[0]) == Type{DType::Bool},
            "while must first yield its condition, a bool");
      agree(types_match(a.yields, 1, i.out, 0), "what the condition passes on and results");
      agree(types_match(b.args, 0, i.out, 0), "arguments of the body and results");
      agree(types_match(b.yields, 0, i.in, 0), "yields of the body and initial values");
    }
    for (const RegionId r : i.regions) region(r);
  }

  /// Where threads meet, the control flow around must be the same for all that have to take part.
  void convergence(RegionId r, Uniformity control) {
    for (const InstId id : k_.at(r).insts) {
      const Inst& i = k_.at(id);
      at_ = id;
      const OpInfo& row = info(i.op);
      if (row.effect == Effect::Control) {
        Uniformity inner = control;
        const auto under = [&](ValueId v) { inner = std::max(inner, uniformity_[index_of(v)]); };
        if (i.op == Op::If) under(i.in[0]);
        if (i.op == Op::For)
          for (const std::size_t n : {0u, 1u, 2u}) under(i.in[n]);
        if (i.op == Op::While) under(k_.at(i.regions[0]).yields[0]);
        for (const RegionId s : i.regions) convergence(s, inner);
      }
      const std::string varying = bad_tile_uniformity(k_, i, uniformity_);
      check(varying.empty(), varying);
      const bool by_simd =
          i.op == Op::TileMap || i.op == Op::TileLoad || i.op == Op::TileStore || i.op == Op::LoadMatrix;
      if (i.op == Op::MmaTeam) {
        check(control == Uniformity::Group && !i.in.empty() && uniformity_[index_of(i.in[0])] == Uniformity::Group,
              "mma_team is reached by all simdgroups together, with one operand for all");
      } else if (by_simd) {
        check(control != Uniformity::Varying,
              fmt::format("{} is reached by a part of the simdgroup; move it out of the if_ or loop whose condition "
                          "differs between lanes",
                          row.name));
      } else if (row.effect == Effect::Syncs && i.op != Op::SimdBarrier) {
        check(control == Uniformity::Group, fmt::format("{} is reached by a part of the threadgroup; move it out of "
                                                        "the if_ or loop whose condition differs between threads",
                                                        row.name));
      } else if (row.effect == Effect::Converges || i.op == Op::SimdBarrier) {
        check(control != Uniformity::Varying, fmt::format("{} is reached by a part of the simdgroup; move it out of "
                                                          "the if_ or loop whose condition differs between lanes",
                                                          row.name));
      }
    }
  }

  const Kernel& k_;
  std::vector<bool> defined_;
  std::vector<Uniformity> uniformity_;
  std::vector<Violation> found_;
  InstId at_ = InstId::None;
  bool writes_output_ = false;
};

}  // namespace

std::vector<Violation> find_violations(const Kernel& kernel) {
  std::vector<Violation> found = Structure(kernel).run();
  return found.empty() ? Verifier(kernel).run() : found;
}

std::string verify(const Kernel& kernel) {
  std::string text;
  for (const Violation& v : find_violations(kernel)) {
    const std::string place = to_string(v.inst == InstId::None ? kernel.loc : kernel.at(v.inst).loc);
    text += fmt::format("{}{}[{}] {}\n", place, place.empty() ? "" : ": ", kernel.name, v.what);
  }
  return text;
}

}  // namespace mt
