// Statements of a kernel: which values become locals, where they are made, and control flow with mutable variables.
#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "backends/clike/dialect.h"
#include "backends/clike/names.h"
#include "backends/clike/places.h"
#include "backends/clike/spell.h"
#include "backends/clike/uses.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::clike {
namespace {

constexpr std::size_t kLongExpression = 90;  // longer expressions get a name

class KernelPrinter {
 public:
  /// `marked`: every line starts with its place between two marks, which split_places takes off again.
  KernelPrinter(const Kernel& k, const Dialect& d, Needs& needs, bool marked)
      : k_(k),
        d_(d),
        needs_(needs),
        marked_(marked),
        uses_(k),
        namer_(d.reserved()),
        exprs_(k.values.size()),
        variable_(k.values.size()) {}

  std::string run() {
    namer_.unique(k_.name);
    for (const Memory& m : k_.memories) memory_names_.push_back(namer_.unique(m.name));
    for (const ScalarParam& s : k_.scalars) scalar_names_.push_back(namer_.unique(s.name));
    std::vector<Op> ids;
    std::vector<bool> vectors(k_.memories.size(), false);
    walk(k_, RegionId::Root, [&](InstId i) {
      const Inst& inst = k_.at(i);
      if (inst.op >= Op::GroupId && inst.op <= Op::LaneId) ids.push_back(inst.op);
      if (inst.op == Op::SimdScan) ids.push_back(Op::LaneId);
      if (inst.op == Op::Load && k_.type(inst.out[0]) != Type{k_.at(inst.memory).dtype})
        vectors[index_of(inst.memory)] = true;
      if (inst.op == Op::LoadMatrix || inst.op == Op::CopyAsync || inst.op == Op::MmaTeam)
        vectors[index_of(inst.memory)] = true;
      if (inst.op == Op::Store && k_.type(inst.in[1]).lanes > 1) vectors[index_of(inst.memory)] = true;
    });
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    region(RegionId::Root);
    std::vector<std::string> names = memory_names_;
    names.insert(names.end(), scalar_names_.begin(), scalar_names_.end());
    return d_.head(k_, names, ids, vectors, needs_) + out_ + "}\n";
  }

 private:
  // ── text ──
  void line(const std::string& text, const Loc& loc = {}) {
    const std::string indent(static_cast<std::size_t>(2 * depth_), ' ');
    if (marked_) out_ += mark_place(loc.known() ? loc : here_);
    out_ += indent;
    for (const char c : text) {
      out_ += c;
      if (c == '\n') out_ += indent + "    ";
    }
    if (loc.known() && to_string(loc) != place_) {
      place_ = to_string(loc);
      out_ += "  // " + place_;
    }
    out_ += '\n';
  }
  std::string type(Type t) {
    needs_.insert({"type", t});
    return d_.type(t);
  }

  /// A vector of many parts is printed over several lines.
  bool wraps(ValueId v) const {
    const Inst* def = k_.def(v);
    return def && def->op == Op::Pack;
  }

  // ── values ──
  std::string base_name(ValueId v) const {
    if (!k_.at(v).name.empty()) return k_.at(v).name;
    const Inst* def = k_.def(v);
    if (!def) return "acc";
    switch (def->op) {
      case Op::SimdReduce:
        return std::string(def->combine == Combine::Sum ? "total" : "all_") +
               (def->combine == Combine::Sum ? "" : std::string(name_of(def->combine)));
      case Op::SimdScan:
        return "prefix";
      case Op::Load:
        return k_.at(def->memory).name + "_at";
      default:
        return "v";
    }
  }
  std::string fresh(ValueId v) {
    const std::string base = base_name(v);
    return base == "v" ? namer_.unique(fmt::format("v{}", next_value_++)) : namer_.unique(base);
  }
  void bind(ValueId v, const std::string& name, bool owned) {
    exprs_[index_of(v)] = {name, kPrimary, false};
    if (owned) variable_[index_of(v)] = name;
  }
  /// The expression of an operand; a value that waits to be printed inside its only use is thereby used.
  Expr take(ValueId v) {
    std::erase(pending_, v);
    return exprs_[index_of(v)];
  }
  void declare(ValueId v, const Expr& e) {
    const std::string name = fresh(v);
    const Loc user = here_;
    if (const Inst* def = k_.def(v); def && def->loc.known()) here_ = def->loc;
    line(fmt::format("{} {} = {};", type(k_.type(v)), name, e.text));
    here_ = user;
    bind(v, name, true);
  }
  /// Gives names to waiting expressions that `which` picks, oldest first.
  void flush(const std::function<bool(const Expr&)>& which) {
    std::vector<ValueId> chosen;
    for (const ValueId v : pending_)
      if (which(exprs_[index_of(v)])) chosen.push_back(v);
    for (const ValueId v : chosen) {
      std::erase(pending_, v);
      declare(v, exprs_[index_of(v)]);
    }
  }
  void flush_reads() {
    flush([](const Expr& e) { return e.reads; });
  }
  void flush_mentions(const std::string& name) {
    flush([&](const Expr& e) { return mentions(e.text, name); });
  }
  /// A value has been computed as `e`: to be printed at its only use, or here.
  void result(ValueId v, Expr e, bool cheap) {
    if (uses_.count(v) == 0) return;
    const bool named = !k_.at(v).name.empty();
    exprs_[index_of(v)] = e;
    if (cheap) return;
    if (!named && uses_.count(v) == 1 && uses_.region(v) == k_.home(v) && (e.text.size() < kLongExpression || wraps(v)))
      pending_.push_back(v);
    else
      declare(v, e);
  }

  std::string element(const Inst& inst, Type t, bool write) {
    const std::string& m = memory_names_[index_of(inst.memory)];
    const Expr index = take(inst.in[0]);
    if (t == Type{k_.at(inst.memory).dtype}) return fmt::format("{}[{}]", m, index.text);
    type(t);
    return d_.vector_access(k_.at(inst.memory), t, fmt::format("({} + {})", m, at_level(index, kSum)), write);
  }

  // ── instructions ──
  void region(RegionId r) {
    for (const InstId i : k_.at(r).insts) instruction(k_.at(i), i);
  }
  /// Forgets what waits in `r` for a use that never came.
  void leave(RegionId r) {
    std::erase_if(pending_, [&](ValueId v) { return k_.home(v) == r; });
  }

  void instruction(const Inst& inst, InstId id) {
    if (inst.loc.known()) here_ = inst.loc;
    switch (inst.op) {
      case Op::Param:
        return result(inst.out[0], {scalar_names_[static_cast<std::size_t>(inst.index)], kPrimary}, true);
      case Op::GroupId:
        return identity(inst, d_.group_id(inst.index));
      case Op::ThreadId:
        return identity(inst, d_.thread_id());
      case Op::SimdId:
        return identity(inst, d_.simd_id());
      case Op::LaneId:
        return identity(inst, d_.lane_id());
      case Op::Load: {
        if (uses_.count(inst.out[0]) == 0) return;
        const Type t = k_.type(inst.out[0]);
        return result(inst.out[0], {element(inst, t, false), t.lanes == 1 ? kPrimary : kUnary, true}, false);
      }
      case Op::Store: {
        const std::string target = element(inst, k_.type(inst.in[1]), true);
        const Expr value = take(inst.in[1]);
        flush_reads();
        return line(fmt::format("{} = {};", target, value.text), inst.loc);
      }
      case Op::Atomic:
        return atomic(inst);
      case Op::MmaBlock:
        return mma(inst, id);
      case Op::LoadMatrix:
        return load_matrix(inst);
      case Op::CopyAsync:
        return copy_async(inst);
      case Op::MmaTeam:
        return mma_team(inst, id);
      case Op::MmaWait: {
        flush_reads();
        std::vector<std::string> held;
        const std::size_t first = inst.in.size() - inst.out.size();
        for (std::size_t n = 0; n < first; ++n) held.push_back(take(inst.in[n]).text);
        const std::vector<std::string> sums = in_place(inst, id, first);
        for (const std::string& statement : d_.mma_wait(inst.index, sums, held, needs_)) line(statement + ";");
        return;
      }
      case Op::CopyCommit:
      case Op::CopyWait:
      case Op::MmaFence:
        flush_reads();
        return line(d_.copy_group(inst, needs_) + ";");
      case Op::Barrier:
      case Op::SimdBarrier:
        flush_reads();
        return line(d_.barrier(inst.op == Op::SimdBarrier) + ";");
      case Op::If:
        return if_(inst, id);
      case Op::For:
        return for_(inst);
      case Op::While:
        return while_(inst);
      default:
        break;
    }
    if (info(inst.op).effect == Effect::Converges) return collective(inst);
    MT_ASSERT(info(inst.op).effect == Effect::Pure, "an op that text has no statement for");
    if (uses_.count(inst.out[0]) == 0) return;
    std::vector<Expr> in;
    bool reads = false;
    for (const ValueId v : inst.in) {
      in.push_back(take(v));
      reads |= in.back().reads;
    }
    Expr e = spell(d_, k_, inst, in, needs_);
    e.reads = reads;
    result(inst.out[0], std::move(e),
           inst.op == Op::Const || (inst.op == Op::Extract && !reads && in[0].level == kPrimary));
  }

  void identity(const Inst& inst, const std::string& name) {
    const Type t = k_.type(inst.out[0]);
    const bool plain = t.dtype == DType::U32;
    result(inst.out[0], {plain ? name : d_.convert({DType::U32}, t, name, needs_), kPrimary}, true);
  }

  void collective(const Inst& inst) {
    const Expr x = take(inst.in[0]);
    const std::string other = inst.in.size() > 1 ? at_level(take(inst.in[1]), kUnary) : "";
    const std::string call = d_.collective(inst, k_.type(inst.in[0]).dtype, x.text, other, needs_);
    if (uses_.count(inst.out[0]) == 0) return;
    declare(inst.out[0], {call, kPrimary});
  }

  void atomic(const Inst& inst) {
    const std::string target = element(inst, k_.type(inst.in[1]), true);
    const Expr value = take(inst.in[1]);
    flush_reads();
    const std::string call = d_.atomic(k_, inst, target, value.text, needs_);
    if (uses_.count(inst.out[0]) == 0)
      line(call + ";", inst.loc);
    else
      declare(inst.out[0], {call, kPrimary});
  }

  // ── matrix units and copies ──
  void mma(const Inst& inst, InstId id) {
    std::vector<std::string> in;
    const std::size_t sums = inst.out.size();
    for (std::size_t k = sums; k < inst.in.size(); ++k) in.push_back(take(inst.in[k]).text);
    const std::vector<std::string> targets = in_place(inst, id, 0);
    in.insert(in.begin(), targets.begin(), targets.end());
    const bool words = sums > 1;
    const DType operands = words ? static_cast<DType>(inst.bits) : k_.type(inst.in[1]).dtype;
    line((words ? "" : targets[0] + " = ") + d_.mma(inst, operands, in, needs_) + ";");
  }
  /// Operands from `first` on change in place and are the results: each in its own variable where nothing else reads it
  /// later. Their names.
  std::vector<std::string> in_place(const Inst& inst, InstId id, std::size_t first) {
    std::vector<std::string> targets;
    for (std::size_t k = 0; k < inst.out.size(); ++k) {
      const ValueId sum = inst.in[first + k];
      const auto own = reusable(sum, inst.out[k], inst.home, uses_.end(id));
      if (own && std::find(targets.begin(), targets.end(), *own) == targets.end()) {
        flush_mentions(*own);
        bind(inst.out[k], *own, true);
      } else {
        declare(inst.out[k], take(sum));
      }
      targets.push_back(exprs_[index_of(inst.out[k])].text);
    }
    return targets;
  }
  void mma_team(const Inst& inst, InstId id) {
    TeamProduct p{.operands = static_cast<DType>(inst.bits), .deep = inst.index, .transposed = inst.transposed};
    p.panels = address(inst.memory, inst.in[0]);
    const std::size_t first = inst.in.size() - inst.out.size();
    const bool by = inst.from != MemoryId::None;
    if (by) p.rows = address(inst.from, inst.in[1]);
    for (std::size_t n = by ? 2 : 1; n < first; ++n) p.lhs.push_back(take(inst.in[n]).text);
    p.sums = in_place(inst, id, first);
    for (const std::string& statement : d_.mma_team(p, needs_)) line(statement + ";", inst.loc);
  }
  std::string address(MemoryId m, ValueId index) {
    return fmt::format("&{}[{}]", memory_names_[index_of(m)], take(index).text);
  }
  void load_matrix(const Inst& inst) {
    const std::string from = address(inst.memory, inst.in[0]);
    std::vector<std::string> out;
    std::string names;
    for (const ValueId v : inst.out) {
      out.push_back(fresh(v));
      bind(v, out.back(), true);
      names += (names.empty() ? "" : ", ") + out.back();
    }
    line(fmt::format("{} {};", type(k_.type(inst.out[0])), names));
    line(d_.load_matrix(inst, out, from, needs_) + ";");
  }
  void copy_async(const Inst& inst) {
    const std::string to = address(inst.memory, inst.in[0]), from = address(inst.from, inst.in[1]);
    const std::string exist = inst.in.size() > 2 ? take(inst.in[2]).text : "";
    flush_reads();
    line(d_.copy_async(inst.index * size_of(k_.at(inst.memory).dtype), to, from, exist, needs_) + ";", inst.loc);
  }

  // ── control flow ──
  struct Move {
    std::string target;
    Expr value;
    Type type;
  };
  /// Assigns all at once: an assignment waits for those that read its target; a cycle goes through a temporary.
  void assign(std::vector<Move> moves) {
    std::erase_if(moves, [](const Move& m) { return m.target == m.value.text; });
    while (!moves.empty()) {
      const auto ready = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
        return std::none_of(moves.begin(), moves.end(),
                            [&](const Move& o) { return &o != &m && mentions(o.value.text, m.target); });
      });
      if (ready != moves.end()) {
        line(fmt::format("{} = {};", ready->target, ready->value.text));
        moves.erase(ready);
        continue;
      }
      const std::string temporary = namer_.unique(moves.front().target + "_next");
      line(fmt::format("{} {} = {};", type(moves.front().type), temporary, moves.front().value.text));
      moves.front().value.text = temporary;
    }
  }

  /// The variable of `v`, where `v` owns one that is free for `next` once it has been read by `end`. A variable keeps
  /// its name: a value that the source calls otherwise gets its own.
  std::optional<std::string> reusable(ValueId v, ValueId next, RegionId home, int end) const {
    const auto& own = variable_[index_of(v)];
    if (!own || k_.home(v) != home || uses_.last(v) > end || uses_.pinned(v)) return std::nullopt;
    const std::string& name = k_.at(next).name;
    if (!name.empty() && *own != name && !own->starts_with(name + "_")) return std::nullopt;
    return own;
  }

  std::string wish(ValueId result_value, ValueId other) const {
    if (!k_.at(other).name.empty()) return k_.at(other).name;
    if (!k_.at(result_value).name.empty()) return k_.at(result_value).name;
    return k_.def(other) ? "r" : "acc";
  }

  void if_(const Inst& inst, InstId id) {
    const Region& yes = k_.at(inst.regions[0]);
    const Region& no = k_.at(inst.regions[1]);
    const Expr condition = take(inst.in[0]);
    flush_reads();
    std::vector<std::string> targets(inst.out.size());
    std::vector<bool> preset(inst.out.size(), false);
    for (std::size_t k = 0; k < inst.out.size(); ++k) {
      const Type t = k_.type(inst.out[k]);
      for (const ValueId v : {no.yields[k], yes.yields[k]}) {
        const auto own = reusable(v, inst.out[k], inst.home, uses_.end(id));
        if (!own || std::find(targets.begin(), targets.end(), *own) != targets.end()) continue;
        flush_mentions(*own);
        targets[k] = *own;
        break;
      }
      if (!targets[k].empty()) continue;
      targets[k] = namer_.unique(wish(inst.out[k], inst.out[k]));
      // With nothing to do in the other branch, its value stands first and is overwritten.
      preset[k] = no.insts.empty();
      const std::string first = preset[k] ? " = " + take(no.yields[k]).text : "";
      line(fmt::format("{} {}{};", type(t), targets[k], first));
    }
    const auto branch = [&](RegionId r, bool skip_preset) {
      region(r);
      std::vector<Move> moves;
      for (std::size_t k = 0; k < inst.out.size(); ++k)
        if (!(skip_preset && preset[k])) moves.push_back({targets[k], take(k_.at(r).yields[k]), k_.type(inst.out[k])});
      assign(std::move(moves));
      leave(r);
    };
    const std::string before = std::move(out_);
    const std::string place = place_;
    const auto capture = [&](RegionId r, bool skip) {
      out_.clear();
      ++depth_;
      namer_.open();
      branch(r, skip);
      namer_.close();
      --depth_;
      return std::move(out_);
    };
    out_.clear();
    line("", inst.loc);  // keeps the place in step; the text is made again below
    const std::string then = capture(inst.regions[0], false), other = capture(inst.regions[1], true);
    out_ = before;
    const std::string last = place_;
    place_ = place;
    if (then.empty() && !other.empty()) {
      line(fmt::format("if (!{}) {{", at_level(condition, kUnary)), inst.loc);
      out_ += other;
      line("}");
    } else if (!then.empty()) {
      line(fmt::format("if ({}) {{", condition.text), inst.loc);
      out_ += then;
      if (!other.empty()) {
        line("} else {");
        out_ += other;
      }
      line("}");
    }
    place_ = last;
    for (std::size_t k = 0; k < inst.out.size(); ++k) bind(inst.out[k], targets[k], true);
  }

  /// Declares (or takes over) the variable of a loop-carried value.
  std::string carried(ValueId initial, ValueId arg, ValueId result_value, RegionId home) {
    if (uses_.count(initial) == 1)
      if (const auto own = reusable(initial, arg, home, uses_.last(initial))) return *own;
    const std::string name = namer_.unique(wish(result_value, arg));
    line(fmt::format("{} {} = {};", type(k_.type(arg)), name, take(initial).text));
    return name;
  }

  void for_(const Inst& inst) {
    const Region& body = k_.at(inst.regions[0]);
    const ValueId index = body.args[0];
    std::vector<std::string> names;
    for (std::size_t k = 0; k < inst.out.size(); ++k) {
      names.push_back(carried(inst.in[k + 3], body.args[k + 1], inst.out[k], inst.home));
      bind(body.args[k + 1], names[k], true);
    }
    std::string bounds[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const Expr e = take(inst.in[k]);
      bounds[k] = e.text;
      const bool again = k > 0 && (e.reads || e.text.size() > 30);
      if (!again && !(k == 1 && e.level < kSum)) continue;
      bounds[k] = namer_.unique(k == 1 ? "end" : "step");
      line(fmt::format("{} {} = {};", type(k_.type(inst.in[k])), bounds[k], e.text));
    }
    flush_reads();
    namer_.open();
    const std::string i = namer_.unique(k_.at(index).name.empty() ? "i" : k_.at(index).name);
    bind(index, i, false);
    const Inst* step = k_.def(inst.in[2]);
    const bool by_one = step && step->op == Op::Const && step->bits == 1;
    line(fmt::format("for ({} {} = {}; {} < {}; {}) {{", type(k_.type(index)), i, bounds[0], i, bounds[1],
                     by_one ? "++" + i : i + " += " + bounds[2]),
         inst.loc);
    ++depth_;
    region(inst.regions[0]);
    std::vector<Move> moves;
    for (std::size_t k = 0; k < names.size(); ++k)
      moves.push_back({names[k], take(body.yields[k]), k_.type(inst.out[k])});
    assign(std::move(moves));
    leave(inst.regions[0]);
    namer_.close();
    --depth_;
    line("}");
    for (std::size_t k = 0; k < names.size(); ++k) bind(inst.out[k], names[k], true);
  }

  void while_(const Inst& inst) {
    const Region& test = k_.at(inst.regions[0]);
    const Region& body = k_.at(inst.regions[1]);
    std::vector<std::string> names;
    for (std::size_t k = 0; k < test.args.size(); ++k) {
      names.push_back(carried(inst.in[k], test.args[k], test.args[k], inst.home));
      bind(test.args[k], names[k], true);
    }
    // What the test passes on: the carried variable itself, or one of its own.
    std::vector<std::string> passed(inst.out.size());
    std::vector<bool> alias(inst.out.size(), false);
    for (std::size_t k = 0; k < inst.out.size(); ++k) {
      const ValueId y = test.yields[k + 1];
      const bool is_arg = std::find(test.args.begin(), test.args.end(), y) != test.args.end();
      if (is_arg && std::find(passed.begin(), passed.end(), exprs_[index_of(y)].text) == passed.end()) {
        passed[k] = exprs_[index_of(y)].text;
        alias[k] = true;
        continue;
      }
      passed[k] = namer_.unique(wish(inst.out[k], body.args[k]));
      line(fmt::format("{} {};", type(k_.type(inst.out[k])), passed[k]));
    }
    flush_reads();
    const std::string before = std::move(out_);
    out_.clear();
    ++depth_;
    namer_.open();
    region(inst.regions[0]);
    const Expr condition = take(test.yields[0]);
    std::vector<Move> moves;
    for (std::size_t k = 0; k < passed.size(); ++k)
      if (!alias[k]) moves.push_back({passed[k], take(test.yields[k + 1]), k_.type(inst.out[k])});
    const bool simple = out_.empty() && moves.empty();
    if (!simple) {
      // A passed variable may be read by the condition only as it was: the condition gets a name first.
      Expr stop = condition;
      if (std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return mentions(condition.text, m.target); })) {
        stop = {namer_.unique("more"), kPrimary};
        line(fmt::format("bool {} = {};", stop.text, condition.text));
      }
      assign(std::move(moves));
      line(fmt::format("if (!{}) break;", at_level(stop, kUnary)));
    }
    leave(inst.regions[0]);
    const std::string inside = std::move(out_);
    out_ = before;
    --depth_;
    line(simple ? fmt::format("while ({}) {{", condition.text) : std::string("while (true) {"), inst.loc);
    out_ += inside;
    ++depth_;
    for (std::size_t k = 0; k < passed.size(); ++k) bind(body.args[k], passed[k], true);
    region(inst.regions[1]);
    moves.clear();
    for (std::size_t k = 0; k < names.size(); ++k)
      moves.push_back({names[k], take(body.yields[k]), k_.type(test.args[k])});
    assign(std::move(moves));
    leave(inst.regions[1]);
    namer_.close();
    --depth_;
    line("}");
    for (std::size_t k = 0; k < passed.size(); ++k) bind(inst.out[k], passed[k], true);
  }

  const Kernel& k_;
  const Dialect& d_;
  Needs& needs_;
  bool marked_;
  Uses uses_;
  Namer namer_;
  std::vector<Expr> exprs_;                           // by value: how to name or compute it
  std::vector<std::optional<std::string>> variable_;  // by value: the variable that holds it alone
  std::vector<ValueId> pending_;                      // expressions that wait for their only use
  std::vector<std::string> memory_names_, scalar_names_;
  std::string out_, place_;
  Loc here_;  // of the instruction that is being printed
  int depth_ = 1;
  int next_value_ = 0;
};

/// Prelude entries that `needs` call for, each after what it needs itself: types, then functions.
void resolve(const Dialect& d, const Needs& needs, Needs& done, std::string& types, std::string& functions) {
  for (const Need& n : needs) {
    if (!done.insert(n).second) continue;
    Needs inner;
    const std::string text = d.helper(n, inner);
    resolve(d, inner, done, types, functions);
    (n.name == "type" ? types : functions) += text;
  }
}

}  // namespace

std::string print_text(const std::vector<Kernel>& kernels, const Dialect& dialect, std::vector<Loc>* places) {
  Needs needs, done;
  std::string body, types, functions;
  for (const Kernel& k : kernels) {
    const Kernel legal = legalise(k, dialect.legalise_options());
    const std::string head_place = places ? mark_place({}) : "";
    body += head_place + "\n" + KernelPrinter(legal, dialect, needs, places != nullptr).run();
  }
  resolve(dialect, needs, done, types, functions);
  std::string out = dialect.preamble();
  if (!types.empty()) out += "\n" + types;
  if (!functions.empty()) out += "\nnamespace mt {\n" + functions + "}  // namespace mt\n";
  out += body;
  if (!places) return out;
  places->clear();
  return split_places(out, *places);
}

}  // namespace mt::clike
