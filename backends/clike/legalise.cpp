#include "backends/clike/legalise.h"

#include <fmt/format.h>
#include <algorithm>
#include <unordered_map>

#include "backends/clike/matrix_words.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"
#include "mt/ir/matrix_unit.h"

namespace mt::clike {
namespace {

using Values = std::vector<ValueId>;

bool is_narrow_int(DType t) { return is_int(t) && size_of(t) < 4; }
bool is_narrow_float(DType t) { return t == DType::F16 || t == DType::BF16; }
DType unsigned_of(DType t) { return t == DType::I64 ? DType::U64 : DType::U32; }
/// The 32-bit type in which a narrow one is computed.
DType wide(DType t) { return is_narrow_float(t) ? DType::F32 : is_signed(t) ? DType::I32 : DType::U32; }
bool wraps(Op op) { return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg || op == Op::Shl; }
bool moves(Op op) { return op == Op::Select || op == Op::Bitcast; }

class Legaliser {
 public:
  Legaliser(const Kernel& from, const LegaliseOptions& options)
      : from_(from),
        options_(options),
        b_(to_),
        words_(options.matrix_words ? find_matrix_words(from) : std::vector<bool>(from.values.size())) {
    to_.name = from.name;
    to_.threads = from.threads;
    to_.scalars = from.scalars;
    to_.memories = from.memories;
    to_.loc = from.loc;
  }

  Kernel run() {
    region(RegionId::Root, RegionId::Root);
    return std::move(to_);
  }

 private:
  /// Lanes of each chunk that a value of `lanes` becomes.
  int chunk(int lanes) const { return std::min(lanes, options_.value_lanes); }
  Type chunk_type(Type t) const { return {t.dtype, static_cast<std::uint8_t>(chunk(t.lanes))}; }
  bool is_words(ValueId v) const { return words_[index_of(v)]; }
  /// What a value has become: chunks, or words.
  const Values& parts(ValueId v) const { return map_.at(v); }
  /// Its chunks; words are taken apart.
  Values at(ValueId v) { return is_words(v) ? elements_of(parts(v), from_.type(v).dtype) : parts(v); }
  ValueId one(ValueId v) const {
    MT_ASSERT(parts(v).size() == 1, "a scalar was expected");
    return parts(v)[0];
  }
  std::vector<Type> part_types(ValueId v) const {
    const Type t = from_.type(v);
    if (is_words(v)) return std::vector<Type>(static_cast<std::size_t>(t.lanes / 2), {DType::U32});
    return std::vector<Type>(static_cast<std::size_t>(t.lanes / chunk(t.lanes)), chunk_type(t));
  }

  void region(RegionId old, RegionId made) {
    const Builder outer = b_;
    enter(made);
    for (const InstId i : from_.at(old).insts) instruction(from_.at(i));
    Values yields;
    for (const ValueId y : from_.at(old).yields) yields.insert(yields.end(), parts(y).begin(), parts(y).end());
    to_.at(made).yields = std::move(yields);
    enter(outer.region);
  }
  void enter(RegionId r) {
    b_.region = r;
    b_.at_end = true;
  }
  void name(ValueId old, const Values& made) {
    const std::string& text = from_.at(old).name;
    if (text.empty()) return;
    for (std::size_t k = 0; k < made.size(); ++k) {
      ValueInfo& info = to_.at(made[k]);
      const Inst* def = to_.def(made[k]);
      if (info.name.empty() && !(def && def->op == Op::Const))
        info.name = made.size() == 1 ? text : text + std::to_string(k);
    }
  }
  void define(ValueId old, Values made) {
    if (is_words(old) && to_.type(made[0]).dtype != DType::U32) made = paired(scalars(made));
    name(old, made);
    map_[old] = std::move(made);
  }

  void instruction(const Inst& inst) {
    b_.loc = inst.loc;
    switch (inst.op) {
      case Op::Load:
        return load(inst);
      case Op::Store:
        return store(inst);
      case Op::Atomic:
        if (from_.type(inst.in[1]).lanes != 1)
          throw Error(fmt::format("{}: [{}] an atomic takes one element, not a vector; write one atomic a lane",
                                  to_string(inst.loc), from_.name));
        return define(inst.out[0], {copy(inst, {one(inst.in[0]), one(inst.in[1])}, from_.type(inst.out[0]))});
      case Op::SimdReduce:
      case Op::SimdScan:
      case Op::SimdShuffle:
      case Op::SimdShuffleXor:
      case Op::SimdShuffleUp:
      case Op::SimdShuffleDown:
      case Op::SimdBroadcast:
        return collective(inst);
      case Op::Barrier:
      case Op::SimdBarrier: {
        Inst same = inst;
        b_.add(same, {});
        return;
      }
      case Op::MmaBlock:
        return mma(inst);
      case Op::LoadMatrix:
        return load_matrix(inst);
      case Op::CopyAsync:
        return copy_async(inst);
      case Op::MmaTeam:
        return team(inst);
      case Op::MmaWait:
        return wait(inst);
      case Op::CopyCommit:
      case Op::CopyWait:
      case Op::MmaFence:
        b_.add(inst, {});
        return;
      case Op::GroupReduce:
        MT_ICE("group_reduce in text: the pipeline lowers it");
      case Op::Var:
      case Op::Get:
      case Op::Set:
        MT_ICE("a variable in text: mem2reg removes it");
      case Op::If:
      case Op::For:
      case Op::While:
        return control(inst);
      default:
        return pure(inst);
    }
  }

  ValueId copy(const Inst& inst, Values in, Type type) {
    Inst same = inst;
    same.in = std::move(in);
    same.out.clear();
    return b_.value(std::move(same), type);
  }

  void control(const Inst& inst) {
    Inst same = inst;
    same.in.clear();
    same.out.clear();
    same.regions.clear();
    std::vector<Type> results;
    for (const ValueId v : inst.in) same.in.insert(same.in.end(), parts(v).begin(), parts(v).end());
    for (const ValueId v : inst.out)
      for (const Type t : part_types(v)) results.push_back(t);
    const InstId made = b_.add(std::move(same), results);
    for (const RegionId r : inst.regions) {
      const RegionId inner = add_region(to_, made);
      for (const ValueId a : from_.at(r).args) {
        Values args;
        for (const Type t : part_types(a)) args.push_back(add_arg(to_, inner, t));
        define(a, std::move(args));
      }
      region(r, inner);
    }
    std::size_t next = 0;
    for (const ValueId v : inst.out) {
      Values made_values;
      for (std::size_t n = part_types(v).size(); n > 0; --n) made_values.push_back(to_.at(made).out[next++]);
      define(v, std::move(made_values));
    }
  }

  // ── vectors ──
  Values scalars(const Values& chunks) {
    Values out;
    for (const ValueId c : chunks)
      for (int lane = 0; lane < to_.type(c).lanes; ++lane) out.push_back(lane_of(c, lane));
    return out;
  }
  ValueId lane_of(ValueId v, int lane) {
    if (to_.type(v).lanes == 1) return v;
    const Inst* def = to_.def(v);
    if (def && def->op == Op::Pack) return def->in[static_cast<std::size_t>(lane)];
    if (def && def->op == Op::Splat) return def->in[0];
    return b_.extract(v, lane);
  }
  /// Scalars as vectors of `lanes`.
  Values grouped(const Values& list, int lanes) {
    if (lanes == 1) return list;
    Values out;
    for (std::size_t k = 0; k < list.size(); k += static_cast<std::size_t>(lanes)) {
      const Type t{to_.type(list[k]).dtype, static_cast<std::uint8_t>(lanes)};
      const auto first = list.begin() + static_cast<std::ptrdiff_t>(k);
      out.push_back(b_.value({.op = Op::Pack, .in = Values(first, first + lanes)}, t));
    }
    return out;
  }
  Values regrouped(const Values& chunks, int lanes) {
    return to_.type(chunks[0]).lanes == lanes ? chunks : grouped(scalars(chunks), lanes);
  }

  int access_lanes(const Inst& inst, Type t) const {
    int lanes = std::min<int>(t.lanes, options_.memory_lanes);
    while (lanes > 1 && (inst.align % lanes != 0 || lanes * size_of(t.dtype) > options_.memory_bytes)) lanes /= 2;
    return lanes;
  }
  ValueId offset(ValueId index, int by) {
    if (by == 0) return index;
    const DType t = to_.type(index).dtype;
    return elementwise(Op::Add, {index, b_.constant_int(t, by)}, {t, 1}, nullptr);
  }
  void load(const Inst& inst) {
    const Type t = from_.type(inst.out[0]);
    const int lanes = access_lanes(inst, t);
    if (is_words(inst.out[0]) && lanes > 1) return load_words(inst, lanes);
    Values parts;
    for (int k = 0; k < t.lanes; k += lanes) {
      Inst part = inst;
      part.align = lanes;
      parts.push_back(copy(part, {offset(one(inst.in[0]), k)}, {t.dtype, static_cast<std::uint8_t>(lanes)}));
    }
    if (lanes > 1) name(inst.out[0], parts);
    define(inst.out[0], regrouped(parts, chunk(t.lanes)));
  }
  void store(const Inst& inst) {
    const Type t = from_.type(inst.in[1]);
    const int lanes = access_lanes(inst, t);
    const Values parts = regrouped(at(inst.in[1]), lanes);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      Inst part = inst;
      part.align = lanes;
      part.in = {offset(one(inst.in[0]), static_cast<int>(k) * lanes), parts[k]};
      b_.add(std::move(part), {});
    }
  }

  // ── matrix units ──
  Values elements_of(const Values& words, DType t) {
    Values out;
    for (const ValueId w : words) {
      out.push_back(cast_bits(cast(w, DType::U16), t));
      const ValueId high = b_.binary(Op::Shr, w, b_.constant({DType::U32}, 16));
      out.push_back(cast_bits(cast(high, DType::U16), t));
    }
    return out;
  }
  /// Words of neighbouring scalars of 16 bits.
  Values paired(const Values& list) {
    Values out;
    for (std::size_t k = 0; k + 1 < list.size(); k += 2) out.push_back(word(list[k], list[k + 1]));
    return out;
  }
  ValueId word(ValueId low, ValueId high) {
    const Inst *a = to_.def(low), *b = to_.def(high);
    const DType t = to_.type(low).dtype;
    if (a && b && a->op == Op::Const && b->op == Op::Const) return b_.constant({DType::U32}, a->bits | b->bits << 16);
    const auto rounds = [&](const Inst* i) { return i && i->op == Op::Cast && to_.type(i->in[0]).dtype == DType::F32; };
    if (rounds(a) && rounds(b)) return rounded(a->in[0], b->in[0], t);
    return b_.value({.op = Op::Pack, .in = {low, high}}, {DType::U32});
  }
  ValueId rounded(ValueId low, ValueId high, DType t) {
    const InstId id = add_inst(
        to_, {.op = Op::Cast, .bits = static_cast<std::uint64_t>(t), .in = {low, high}, .loc = b_.loc}, {{DType::U32}});
    append(to_, b_.region, id);
    return to_.at(id).out[0];
  }
  /// A pack whose result is words: those of another value where they stand there side by side.
  Values packed_words(const Inst& inst) {
    Values out;
    for (std::size_t k = 0; k < inst.in.size(); k += 2) {
      const Inst *a = from_.def(inst.in[k]), *b = from_.def(inst.in[k + 1]);
      const bool side_by_side = a && b && a->op == Op::Extract && b->op == Op::Extract && a->in[0] == b->in[0] &&
                                a->index % 2 == 0 && b->index == a->index + 1 && is_words(a->in[0]);
      out.push_back(side_by_side ? parts(a->in[0])[static_cast<std::size_t>(a->index / 2)]
                                 : word(at(inst.in[k])[0], at(inst.in[k + 1])[0]));
    }
    return out;
  }
  void load_words(const Inst& inst, int lanes) {
    const Type t = from_.type(inst.out[0]);
    Values out;
    for (int k = 0; k < t.lanes; k += lanes) {
      Inst part = inst;
      part.align = lanes;
      const Type words{DType::U32, static_cast<std::uint8_t>(lanes / 2)};
      const Values each = scalars({copy(part, {offset(one(inst.in[0]), k)}, words)});
      out.insert(out.end(), each.begin(), each.end());
    }
    define(inst.out[0], std::move(out));
  }
  void load_matrix(const Inst& inst) {
    Inst made = inst;
    made.in = {one(inst.in[0])};
    made.out.clear();
    const InstId id = add_inst(to_, std::move(made), std::vector<Type>(4, {DType::U32}));
    append(to_, b_.region, id);
    define(inst.out[0], to_.at(id).out);
  }
  void mma(const Inst& inst) {
    const Type t = from_.type(inst.out[0]), operand = from_.type(inst.in[1]);
    if (static_cast<MatrixUnit>(inst.index) == MatrixUnit::Fma) {
      const Values acc = scalars(at(inst.in[0])), columns = scalars(at(inst.in[2]));
      const ValueId row = cast(scalars(at(inst.in[1]))[0], DType::F32);
      Values out;
      for (std::size_t k = 0; k < acc.size(); ++k) out.push_back(b_.fma(row, cast(columns[k], DType::F32), acc[k]));
      return define(inst.out[0], grouped(out, chunk(t.lanes)));
    }
    if (!options_.matrix_words)
      return define(inst.out[0], {copy(inst, {one(inst.in[0]), one(inst.in[1]), one(inst.in[2])}, t)});
    Inst made = inst;
    made.in = scalars(at(inst.in[0]));
    for (const ValueId v : {inst.in[1], inst.in[2]}) made.in.insert(made.in.end(), parts(v).begin(), parts(v).end());
    made.bits = static_cast<std::uint64_t>(operand.dtype);
    made.out.clear();
    const InstId id = add_inst(to_, std::move(made), std::vector<Type>(t.lanes, {DType::F32}));
    append(to_, b_.region, id);
    define(inst.out[0], grouped(to_.at(id).out, chunk(t.lanes)));
  }
  /// Acc blocks, the last operands, become their elements; so do the results, which are those blocks later.
  void blocks(const Inst& inst, Inst made) {
    const std::size_t first = inst.in.size() - inst.out.size();
    for (std::size_t n = first; n < inst.in.size(); ++n) {
      const Values elements = scalars(at(inst.in[n]));
      made.in.insert(made.in.end(), elements.begin(), elements.end());
    }
    made.out.clear();
    const std::size_t lanes = inst.out.empty() ? 1 : from_.type(inst.out[0]).lanes;
    const InstId id = add_inst(to_, std::move(made), std::vector<Type>(inst.out.size() * lanes, {DType::F32}));
    append(to_, b_.region, id);
    for (std::size_t n = 0; n < inst.out.size(); ++n) {
      const auto begin = to_.at(id).out.begin() + static_cast<std::ptrdiff_t>(n * lanes);
      const Values elements(begin, begin + static_cast<std::ptrdiff_t>(lanes));
      define(inst.out[n], grouped(elements, chunk(static_cast<int>(lanes))));
    }
  }
  void team(const Inst& inst) {
    MT_ASSERT(options_.matrix_words, "a product of a team in a language without words of matrices");
    Inst made = inst;
    made.bits = static_cast<std::uint64_t>(from_.at(inst.memory).dtype);
    made.in = {one(inst.in[0])};
    const bool by = inst.from != MemoryId::None;
    if (by) made.in.push_back(one(inst.in[1]));
    for (std::size_t n = by ? 2 : 1; n + inst.out.size() < inst.in.size(); ++n)
      made.in.insert(made.in.end(), parts(inst.in[n]).begin(), parts(inst.in[n]).end());
    blocks(inst, std::move(made));
  }
  void wait(const Inst& inst) {
    Inst made = inst;
    made.in.clear();
    for (std::size_t n = 0; n + inst.out.size() < inst.in.size(); ++n)
      made.in.insert(made.in.end(), parts(inst.in[n]).begin(), parts(inst.in[n]).end());
    blocks(inst, std::move(made));
  }
  void copy_async(const Inst& inst) {
    Inst made = inst;
    made.in = {one(inst.in[0]), one(inst.in[1])};
    const ValueId exist = one(inst.in[2]);
    const Inst* def = to_.def(exist);
    if (!def || def->op != Op::Const || def->bits < static_cast<std::uint64_t>(inst.index)) {
      const ValueId some = b_.binary(Op::Min, exist, b_.constant_int(DType::U32, inst.index));
      made.in.push_back(b_.binary(Op::Mul, some, b_.constant_int(DType::U32, size_of(from_.at(inst.memory).dtype))));
    }
    append(to_, b_.region, add_inst(to_, std::move(made), {}));
  }

  void collective(const Inst& inst) {
    Values out;
    for (const ValueId v : scalars(at(inst.in[0]))) out.push_back(collective_scalar(inst, v));
    define(inst.out[0], grouped(out, chunk(from_.type(inst.in[0]).lanes)));
  }
  ValueId collective_scalar(const Inst& inst, ValueId v) {
    const DType t = to_.type(v).dtype;
    const bool combines = inst.op == Op::SimdReduce || inst.op == Op::SimdScan;
    Values in = {v};
    for (std::size_t k = 1; k < inst.in.size(); ++k) in.push_back(one(inst.in[k]));
    const bool plain_bool = inst.op == Op::SimdReduce && inst.combine != Combine::Xor;
    if (t == DType::Bool ? plain_bool : size_of(t) >= 4) return copy(inst, in, {t});
    if (!combines && is_narrow_float(t)) {
      in[0] = cast(cast_bits(v, DType::U16), DType::U32);
      return cast_bits(cast(copy(inst, in, {DType::U32}), DType::U16), t);
    }
    const DType w = t == DType::Bool ? DType::U32 : wide(t);
    in[0] = cast(v, w);
    const ValueId r = cast(copy(inst, in, {w}), t);
    if (inst.op != Op::SimdScan || !inst.exclusive) return r;
    // The identity of the wide type need not survive the narrowing.
    const ValueId lane = b_.value({.op = Op::LaneId}, {DType::U32});
    const ValueId first = b_.binary(Op::Eq, lane, b_.constant({DType::U32}, 0));
    return b_.select(first, b_.constant({t}, identity_of(inst.combine, t)), r);
  }

  // ── elementwise ──
  void pure(const Inst& inst) {
    const Type t = from_.type(inst.out[0]);
    const int lanes = chunk(t.lanes);
    const std::size_t count = static_cast<std::size_t>(t.lanes / lanes);
    Values out;
    switch (inst.op) {
      case Op::Const:
        out.assign(count, b_.constant(chunk_type(t), inst.bits));
        break;
      case Op::Splat:
        out.assign(count, b_.splat(one(inst.in[0]), lanes));
        break;
      case Op::Pack: {
        if (is_words(inst.out[0])) return define(inst.out[0], packed_words(inst));
        Values list;
        for (const ValueId v : inst.in) {
          const Values each = scalars(at(v));
          list.insert(list.end(), each.begin(), each.end());
        }
        out = grouped(list, lanes);
        break;
      }
      case Op::Extract: {
        const Values& all = parts(inst.in[0]);
        if (is_words(inst.in[0])) {
          const ValueId w = all[static_cast<std::size_t>(inst.index / 2)];
          out = {elements_of({w}, t.dtype)[static_cast<std::size_t>(inst.index % 2)]};
          break;
        }
        const int width = to_.type(all[0]).lanes;
        out = {lane_of(all[static_cast<std::size_t>(inst.index / width)], inst.index % width)};
        break;
      }
      case Op::VectorReduce:
        out = {reduced(inst)};
        break;
      default:
        for (std::size_t k = 0; k < count; ++k) {
          Values in;
          for (const ValueId v : inst.in) {
            const Values each = at(v);
            in.push_back(each[each.size() == 1 ? 0 : k]);
          }
          out.push_back(elementwise(inst.op, std::move(in), chunk_type(t), &inst));
        }
    }
    define(inst.out[0], std::move(out));
  }

  /// The lanes of a vector combined pairwise; narrow types in 32 bits, rounded once.
  ValueId reduced(const Inst& inst) {
    const DType t = from_.type(inst.out[0]).dtype;
    const DType w = t != DType::Bool && size_of(t) < 4 ? wide(t) : t;
    Values list = scalars(at(inst.in[0]));
    for (ValueId& v : list) v = cast(v, w);
    for (; list.size() > 1; list.resize(list.size() / 2))
      for (std::size_t k = 0; k < list.size() / 2; ++k)
        list[k] = elementwise(op_of(inst.combine), {list[2 * k], list[2 * k + 1]}, {w}, nullptr);
    return cast(list[0], t);
  }

  /// `op` on operands of one chunk; `inst` gives what the op carries besides operands.
  ValueId elementwise(Op op, Values in, Type result, const Inst* inst) {
    if (in.empty() || moves(op)) return plain(op, std::move(in), result, inst);
    const DType t = to_.type(in[0]).dtype;
    if (op == Op::Cast) return cast(in[0], result.dtype);
    const bool predicate = info(op).type == TypeRule::Pred;
    if (op == Op::Abs && is_unsigned(t)) return in[0];
    if (is_narrow_float(t) || (is_narrow_int(t) && !predicate)) {
      for (ValueId& v : in) v = cast(v, wide(t));
      const ValueId r = elementwise(op, std::move(in), result.with(predicate ? DType::Bool : wide(t)), inst);
      return predicate ? r : cast(r, t);
    }
    if (is_signed(t) && wraps(op)) {
      for (ValueId& v : in) v = cast_bits(v, unsigned_of(t));
      return cast_bits(plain(op, std::move(in), result.with(unsigned_of(t)), inst), t);
    }
    return plain(op, std::move(in), result, inst);
  }
  ValueId plain(Op op, Values in, Type result, const Inst* inst) {
    Inst made = inst ? *inst : Inst{};
    made.op = op;
    made.in = std::move(in);
    made.out.clear();
    return b_.value(std::move(made), result);
  }

  /// Same bits as another dtype of the size.
  ValueId cast_bits(ValueId v, DType to) {
    const Type t = to_.type(v);
    if (t.dtype == to) return v;
    if (const Inst* def = to_.def(v)) {
      if (def->op == Op::Const) return b_.constant(t.with(to), def->bits);
      if (def->op == Op::Bitcast) return cast_bits(def->in[0], to);
    }
    return b_.bitcast(v, to);
  }
  ValueId cast(ValueId v, DType to) {
    const Type t = to_.type(v);
    if (t.dtype == to) return v;
    if (const Inst* def = to_.def(v); def && def->op == Op::Const)
      return b_.constant(t.with(to), convert(t.dtype, to, def->bits));
    // Narrow floats convert through f32 only; the table rounds twice in the same way.
    const bool through = is_narrow_float(t.dtype) ? to != DType::F32 : is_narrow_float(to) && t.dtype != DType::F32;
    return through ? cast(b_.cast(v, DType::F32), to) : b_.cast(v, to);
  }

  const Kernel& from_;
  LegaliseOptions options_;
  Kernel to_;
  Builder b_;
  const std::vector<bool> words_;  // by value
  std::unordered_map<ValueId, Values> map_;
};

}  // namespace

Kernel legalise(const Kernel& kernel, const LegaliseOptions& options) { return Legaliser(kernel, options).run(); }

}  // namespace mt::clike
