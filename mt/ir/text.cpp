// The printer of the text form; the parser is in text_parse.cpp.
//
//   kernel @scale threads 64 {
//     device in %x: f32 [rows, 128]
//     device out %y: f32 [rows, 128]
//     scalar %n: u32 multiple 4
//
//     %0: u32 = group_id 0
//     %1: u32 = param %n
//     %2: f32x4 = load %x[%0] align 4
//     store %y[%0], %2
//   }
//
// Memories, scalars and values are three separate sets of names. `;` starts a comment; one that reads `file:line` is
// the source place of what stands before it.
#include "mt/ir/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <unordered_set>

#include "mt/ir/edit.h"
#include "mt/ir/matrix_unit.h"

namespace mt {
namespace {

bool is_plain(const std::string& name) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), plain);
}

/// The name as it stands, or quoted where it has other characters than an identifier.
std::string quoted(const std::string& name) {
  if (is_plain(name)) return name;
  std::string s = "\"";
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (s += '\\') += c;
    else if (u < 0x20 || u == 0x7f)
      s += fmt::format("\\x{:02x}", u);
    else
      s += c;
  }
  return s + "\"";
}

std::string constant_text(DType t, std::uint64_t bits) {
  if (t == DType::Bool) return bits ? "true" : "false";
  if (is_unsigned(t)) return fmt::format("{}", bits);
  if (is_signed(t)) return fmt::format("{}", int_value_of(t, bits));
  const auto v = static_cast<float>(value_of(t, bits));
  if (std::isnan(v)) return fmt::format("nan:{:#x}", bits);
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string s = fmt::format("{}", v);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

class Printer {
 public:
  Printer(const Kernel& k, const PrintOptions& options) : k_(k), options_(options), names_(k.values.size()) {}

  std::string run() {
    line(0, fmt::format("kernel @{} threads {} {{", quoted(k_.name), k_.threads), k_.loc);
    for (const Memory& m : k_.memories) print_memory(m);
    for (const ScalarParam& s : k_.scalars) {
      const std::string multiple = s.multiple_of == 1 ? "" : fmt::format(" multiple {}", s.multiple_of);
      line(1, fmt::format("scalar %{}: {}{}", quoted(s.name), name_of(s.dtype), multiple), {});
    }
    if (!k_.memories.empty() || !k_.scalars.empty()) text_ += "\n";
    for (const InstId i : k_.at(RegionId::Root).insts) print_inst(i, 1);
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  void line(int depth, const std::string& s, const Loc& loc) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += s;
    if (options_.locations && loc.known()) text_ += " ; " + to_string(loc);
    text_ += "\n";
  }

  void print_memory(const Memory& m) {
    std::string s;
    if (m.space == Space::Device) {
      s = m.access == Access::In ? "device in " : m.access == Access::Out ? "device out " : "device inout ";
      if (m.temporary) s += "temporary ";
    } else {
      s = m.space == Space::Threadgroup ? "threadgroup " : "thread ";
    }
    s += fmt::format("%{}: {} [", quoted(m.name), name_of(m.dtype));
    if (m.space == Space::Device) {
      for (std::size_t i = 0; i < m.shape.size(); ++i) {
        const Dim& d = m.shape[i];
        s += (i ? ", " : "") + (d.symbol.empty() ? std::to_string(d.extent) : quoted(d.symbol));
      }
    } else {
      s += std::to_string(m.count);
    }
    static constexpr const char* orders[] = {"", " panels", " swizzled"};
    line(1, s + "]" + orders[static_cast<int>(m.layout)], m.loc);
  }

  /// Gives `v` its name: the source's, made unique, or its number in the order of appearance.
  const std::string& define(ValueId v) {
    std::string name = k_.at(v).name;
    const std::int64_t number = defined_++;
    if (!is_plain(name)) {
      name = std::to_string(number);
    } else if (!taken_.insert(name).second) {
      std::string unique;
      std::int64_t n = number;
      do {
        unique = fmt::format("{}.{}", name, n++);
      } while (!taken_.insert(unique).second);
      name = unique;
    }
    return names_[index_of(v)] = "%" + name;
  }
  std::string use(ValueId v) const {
    const std::size_t i = index_of(v);
    return i < names_.size() && !names_[i].empty() ? names_[i] : fmt::format("%undefined{}", static_cast<int>(v));
  }
  std::string uses(const std::vector<ValueId>& list, std::size_t from = 0) const {
    std::string s;
    for (std::size_t i = from; i < list.size(); ++i) s += (i > from ? ", " : "") + use(list[i]);
    return s;
  }
  std::string definition(ValueId v) {
    const std::string& name = define(v);
    return name + ": " + to_string(k_.type(v));
  }
  std::string memory(MemoryId m) const {
    return fmt::format("%{}", index_of(m) < k_.memories.size() ? quoted(k_.at(m).name) : "undefined");
  }

  std::string operands(const Inst& i) const {
    const std::string name(info(i.op).name);
    const std::string align = i.align == 1 ? "" : fmt::format(" align {}", i.align);
    switch (i.op) {
      case Op::Const:
        return fmt::format("const {}", i.out.empty() ? "?" : constant_text(k_.type(i.out[0]).dtype, i.bits));
      case Op::Param: {
        const auto n = static_cast<std::size_t>(i.index);
        return fmt::format("param %{}", n < k_.scalars.size() ? quoted(k_.scalars[n].name) : "undefined");
      }
      case Op::GroupId:
        return fmt::format("group_id {}", i.index);
      case Op::Load:
        return fmt::format("load {}[{}]{}", memory(i.memory), uses(i.in), align);
      case Op::TileLoad:
      case Op::LoadMatrix:
        return fmt::format("{} {}[{}]{}", name, memory(i.memory), uses(i.in), i.transposed ? " transposed" : "");
      case Op::TileStore: {
        const std::vector<ValueId> where(i.in.begin(), i.in.end() - (i.in.empty() ? 0 : 1));
        return fmt::format("{} {}[{}], {}{}", name, memory(i.memory), uses(where), uses(i.in, where.size()),
                           i.transposed ? " transposed" : "");
      }
      case Op::CopyAsync: {
        const auto use_at = [&](std::size_t n) { return n < i.in.size() ? use(i.in[n]) : std::string("?"); };
        return fmt::format("{} {}[{}], {}[{}], {} of {}{}", name, memory(i.memory), use_at(0), memory(i.from),
                           use_at(1), use_at(2), i.index, align);
      }
      case Op::MmaTeam: {
        const auto use_at = [&](std::size_t n) { return n < i.in.size() ? use(i.in[n]) : std::string("?"); };
        const bool by = i.from != MemoryId::None;
        return fmt::format("{} {}[{}]{}, {}{} of {}", name, memory(i.memory), use_at(0),
                           by ? fmt::format(" by {}[{}]", memory(i.from), use_at(1)) : "", uses(i.in, by ? 2 : 1),
                           i.transposed ? " transposed" : "", i.index);
      }
      case Op::MmaWait:
        return fmt::format("{} {}{}{}", name, i.index, i.in.empty() ? "" : ", ", uses(i.in));
      case Op::TileWait:
      case Op::CopyWait:
        return fmt::format("{} {}", name, i.index);
      case Op::MmaBlock:
        return fmt::format("{} {}, {}", name, uses(i.in), info(static_cast<MatrixUnit>(i.index)).name);
      case Op::TileReduce:
        return fmt::format("{} {} {}", name, name_of(i.combine), uses(i.in));
      case Op::Store:
      case Op::Atomic: {
        const std::string combine = i.op == Op::Atomic ? fmt::format(" {}", name_of(i.combine)) : "";
        const std::string index = i.in.empty() ? "?" : use(i.in[0]);
        return fmt::format("{}{} {}[{}], {}{}", name, combine, memory(i.memory), index, uses(i.in, 1), align);
      }
      case Op::SimdReduce:
      case Op::SimdScan:
      case Op::GroupReduce:
      case Op::VectorReduce:
        return fmt::format("{} {}{} {}", name, name_of(i.combine), i.exclusive ? " exclusive" : "", uses(i.in));
      case Op::Extract:
      case Op::SimdShuffleXor:
      case Op::SimdShuffleUp:
      case Op::SimdShuffleDown:
      case Op::SimdBroadcast:
        return fmt::format("{} {}, {}", name, uses(i.in), i.index);
      default:
        return i.in.empty() ? name : name + " " + uses(i.in);
    }
  }

  /// `(%a: f32 = %init, ...)`; the initial values are `in[from]` on, the arguments `args[skip]` on.
  std::string carried(const Inst& i, const std::vector<ValueId>& args, std::size_t from, std::size_t skip) {
    std::string s;
    for (std::size_t n = skip; n < args.size(); ++n) {
      const std::size_t source = from + n - skip;
      s += n > skip ? ", " : "";
      s += definition(args[n]) + " = " + (source < i.in.size() ? use(i.in[source]) : "?");
    }
    return s.empty() ? s : " with (" + s + ")";
  }

  void print_region(const std::vector<InstId>& insts, const std::vector<ValueId>& yields, int depth) {
    for (const InstId inner : insts) print_inst(inner, depth);
    if (!yields.empty()) line(depth, "yield " + uses(yields), {});
  }

  void print_inst(InstId id, int depth) {
    const Inst& i = k_.at(id);
    std::string head;
    for (const ValueId v : i.out) head += (head.empty() ? "" : ", ") + definition(v);
    if (!head.empty()) head += " = ";
    if (info(i.op).effect != Effect::Control) return line(depth, head + operands(i), i.loc);

    const auto region = [&](std::size_t n) { return n < i.regions.size() ? k_.at(i.regions[n]) : Region{}; };
    const Region first = region(0), second = region(1);
    if (i.op == Op::If) {
      head += "if " + uses(i.in);
    } else if (i.op == Op::For) {
      if (i.in.size() < 3 || first.args.empty()) return line(depth, head + "for ?", i.loc);
      head += "for " + definition(first.args[0]) +
              fmt::format(" = {} to {} step {}", use(i.in[0]), use(i.in[1]), use(i.in[2])) +
              carried(i, first.args, 3, 1) + (i.contiguous ? " contiguous" : "");
    } else if (i.op == Op::TileMap) {
      head += "tile_map " + uses(i.in) + " (";
      for (std::size_t n = 0; n < first.args.size(); ++n) head += (n ? ", " : "") + definition(first.args[n]);
      head += ")";
    } else {
      head += "while" + carried(i, first.args, 0, 0);
    }
    line(depth, head + " {", i.loc);
    print_region(first.insts, first.yields, depth + 1);
    if (i.op == Op::If && !(second.insts.empty() && second.yields.empty())) {
      line(depth, "} else {", {});
      print_region(second.insts, second.yields, depth + 1);
    } else if (i.op == Op::While) {
      std::string args;
      for (const ValueId v : second.args) args += (args.empty() ? "" : ", ") + definition(v);
      line(depth, args.empty() ? "} do {" : "} do (" + args + ") {", {});
      print_region(second.insts, second.yields, depth + 1);
    }
    line(depth, "}", {});
  }

  const Kernel& k_;
  PrintOptions options_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> taken_;
  std::int64_t defined_ = 0;
  std::string text_;
};

}  // namespace

std::string print(const Kernel& kernel, const PrintOptions& options) { return Printer(kernel, options).run(); }

}  // namespace mt
