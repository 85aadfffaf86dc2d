// The parser of the text form that text.cpp prints.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "mt/base/real.h"
#include "mt/ir/edit.h"
#include "mt/ir/matrix_unit.h"
#include "mt/ir/text.h"
#include "mt/ir/text_lexer.h"
#include "mt/ir/verify.h"

namespace mt {
namespace {

constexpr int kMaxNesting = 64;
constexpr int kMaxTile = 1024;

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokenize(text)) {}

  Kernel run() {
    expect_word("kernel");
    k_.loc = place(peek().line);
    expect("@");
    k_.name = name();
    expect_word("threads");
    k_.threads = number<int>();
    expect("{");
    while (parse_declaration()) {
    }
    parse_region(RegionId::Root, 0);
    expect("}");
    if (peek().kind != Token::End) fail("text after the kernel; one text holds one kernel");
    const std::vector<Violation> violations = find_violations(k_);
    if (!violations.empty()) {
      const Violation& v = violations.front();
      const int at = v.inst == InstId::None ? 1 : lines_[index_of(v.inst)];
      throw Error(fmt::format("line {}: [{}] {}", at, k_.name, v.what));
    }
    return std::move(k_);
  }

 private:
  struct Definition {
    std::string name;
    Type type;
    int line = 0;
  };

  const Token& peek() const { return tokens_.list[at_]; }
  Token next() {
    const Token t = peek();
    if (t.kind != Token::End) ++at_;
    return t;
  }
  [[noreturn]] void fail(const std::string& what, int line = 0) const {
    const std::string kernel = k_.name.empty() ? "" : fmt::format("[{}] ", k_.name);
    throw Error(fmt::format("line {}: {}{}", line ? line : peek().line, kernel, what));
  }
  int last() const { return tokens_.list[at_ ? at_ - 1 : 0].line; }
  std::string shown() const { return peek().kind == Token::End ? "the end of the text" : "'" + peek().text + "'"; }
  bool is(const char* text, Token::Kind kind) const { return peek().kind == kind && peek().text == text; }
  bool accept(const char* punct) { return is(punct, Token::Punct) && (++at_, true); }
  bool accept_word(const char* word) { return is(word, Token::Word) && (++at_, true); }
  void expect(const char* punct) {
    if (!accept(punct)) fail(fmt::format("expected '{}' before {}", punct, shown()));
  }
  void expect_word(const char* word) {
    if (!accept_word(word)) fail(fmt::format("expected '{}' before {}", word, shown()));
  }
  Loc place(int line) const {
    const auto it = tokens_.comments.find(line);
    return it == tokens_.comments.end() ? Loc{} : it->second;
  }
  std::string word(const char* what) {
    if (peek().kind != Token::Word) fail(fmt::format("expected {} before {}", what, shown()));
    return next().text;
  }
  std::string name() {
    if (peek().kind == Token::String) return next().text;
    return word("a name");
  }
  template <class T>
  T number() {
    const std::string s = word("a number");
    T value{};
    const auto [rest, failed] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (failed != std::errc{} || rest != s.data() + s.size()) {
      --at_;
      fail(fmt::format("'{}' is no number that fits here", s));
    }
    return value;
  }
  DType dtype() {
    const std::string s = word("a dtype");
    const auto t = dtype_from(s);
    if (!t) {
      --at_;
      fail(fmt::format("'{}' is no dtype; the dtypes are f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 bool", s));
    }
    return *t;
  }
  Type type() {
    const std::string s = word("a type");
    if (const auto tile = tile_type_from(s)) return *tile;
    const std::size_t x = s.find('x');
    const auto t = dtype_from(std::string_view(s).substr(0, x));
    const std::string lanes = x == std::string::npos ? "1" : s.substr(x + 1);
    if (!t || (lanes != "1" && lanes != "2" && lanes != "4" && lanes != "8")) {
      --at_;
      fail(fmt::format("'{}' is no type; write a dtype, a dtype and x2, x4 or x8, or a tile as dtype.role.RxC", s));
    }
    return {*t, static_cast<std::uint8_t>(lanes[0] - '0')};
  }

  /// `dtype.role.RxC`
  static std::optional<Type> tile_type_from(const std::string& s) {
    const std::size_t a = s.find('.'), b = a == std::string::npos ? a : s.find('.', a + 1);
    if (b == std::string::npos) return std::nullopt;
    const auto t = dtype_from(std::string_view(s).substr(0, a));
    const auto role = tile_role_from(std::string_view(s).substr(a + 1, b - a - 1));
    int rows = 0, cols = 0;
    const char* end = s.data() + s.size();
    const auto [x, bad_rows] = std::from_chars(s.data() + b + 1, end, rows);
    if (!t || !role || bad_rows != std::errc{} || x == end || *x != 'x') return std::nullopt;
    const auto [rest, bad_cols] = std::from_chars(x + 1, end, cols);
    if (bad_cols != std::errc{} || rest != end || rows < 1 || cols < 1 || rows > kMaxTile || cols > kMaxTile)
      return std::nullopt;
    return tile_type(*role, *t, rows, cols);
  }

  bool parse_declaration() {
    Memory m;
    m.loc = place(peek().line);
    if (accept_word("scalar")) {
      ScalarParam s;
      expect("%");
      s.name = name();
      expect(":");
      s.dtype = dtype();
      if (accept_word("multiple")) s.multiple_of = number<std::int64_t>();
      if (!scalars_.emplace(s.name, static_cast<std::int32_t>(k_.scalars.size())).second)
        fail(fmt::format("a second scalar named %{}", s.name), last());
      k_.scalars.push_back(std::move(s));
      return true;
    }
    if (accept_word("device")) {
      const std::string access = word("in, out or inout");
      if (access != "in" && access != "out" && access != "inout") {
        --at_;
        fail(fmt::format("device memory is in, out or inout, not '{}'", access));
      }
      m.access = access == "in" ? Access::In : access == "out" ? Access::Out : Access::InOut;
      m.temporary = accept_word("temporary");
    } else if (accept_word("threadgroup")) {
      m.space = Space::Threadgroup;
    } else if (accept_word("thread")) {
      m.space = Space::Thread;
    } else {
      return false;
    }
    expect("%");
    m.name = name();
    expect(":");
    m.dtype = dtype();
    expect("[");
    if (m.space == Space::Device) {
      while (!is("]", Token::Punct)) {
        if (!m.shape.empty()) expect(",");
        const bool numeric = peek().kind == Token::Word && !std::isalpha(static_cast<unsigned char>(peek().text[0])) &&
                             peek().text[0] != '_';
        m.shape.push_back(numeric ? Dim(number<std::int64_t>()) : Dim(name()));
        if (!numeric && m.shape.back().symbol.empty()) fail("a dimension's name is empty", last());
      }
    } else {
      m.count = number<std::int64_t>();
    }
    expect("]");
    if (accept_word("panels")) m.layout = Layout::Panels;
    if (accept_word("swizzled")) m.layout = Layout::Swizzled;
    if (!memories_.emplace(m.name, static_cast<MemoryId>(k_.memories.size())).second)
      fail(fmt::format("a second memory named %{}", m.name), last());
    k_.memories.push_back(std::move(m));
    return true;
  }

  Definition definition() {
    Definition d;
    expect("%");
    d.line = peek().line;
    d.name = word("a value's name");
    expect(":");
    d.type = type();
    return d;
  }
  void bind(ValueId v, const Definition& d) {
    if (!values_.emplace(d.name, v).second) fail(fmt::format("%{} is defined twice", d.name), d.line);
    if (std::isdigit(static_cast<unsigned char>(d.name[0])) == 0) k_.at(v).name = d.name;
  }
  ValueId use() {
    expect("%");
    const int line = peek().line;
    const std::string n = word("a value's name");
    const auto it = values_.find(n);
    if (it == values_.end()) fail(fmt::format("%{} is used but not defined before", n), line);
    return it->second;
  }
  std::vector<ValueId> uses() {
    std::vector<ValueId> list = {use()};
    while (accept(",")) list.push_back(use());
    return list;
  }

  /// Instructions and yields up to the closing brace, which stays.
  void parse_region(RegionId r, int depth) {
    if (depth > kMaxNesting) fail(fmt::format("regions are nested deeper than {}", kMaxNesting), last());
    while (!is("}", Token::Punct)) {
      if (peek().kind == Token::End) fail("the text ends inside a region; close it with }");
      if (accept_word("yield")) {
        k_.at(r).yields = uses();
        if (!is("}", Token::Punct)) fail("an instruction after yield; yield is the last of a region");
        return;
      }
      parse_inst(r, depth);
    }
  }

  void parse_inst(RegionId r, int depth) {
    const int line = peek().line;
    std::vector<Definition> results;
    if (is("%", Token::Punct)) {
      do {
        results.push_back(definition());
      } while (accept(","));
      expect("=");
    }
    const std::string op_name = word("an instruction");
    const auto op = op_from(op_name);
    if (!op) fail(fmt::format("'{}' is no op", op_name), line);
    Inst inst{.op = *op, .loc = place(line)};
    if (*op == Op::For) return parse_for(r, std::move(inst), results, line, depth);
    if (*op == Op::While) return parse_while(r, std::move(inst), results, line, depth);
    if (*op == Op::TileMap) return parse_map(r, std::move(inst), results, line, depth);
    parse_operands(inst, results);
    const InstId id = place_inst(r, std::move(inst), results, line);
    if (*op != Op::If) return;
    const RegionId then_region = add_region(k_, id), else_region = add_region(k_, id);
    braces(then_region, depth);
    if (accept_word("else")) braces(else_region, depth);
  }

  void braces(RegionId r, int depth) {
    expect("{");
    parse_region(r, depth + 1);
    expect("}");
  }

  InstId place_inst(RegionId r, Inst inst, const std::vector<Definition>& results, int line) {
    std::vector<Type> types;
    for (const Definition& d : results) types.push_back(d.type);
    const InstId id = add_inst(k_, std::move(inst), types);
    append(k_, r, id);
    lines_.resize(k_.insts.size(), line);
    const std::vector<ValueId> out = k_.at(id).out;
    for (std::size_t n = 0; n < out.size(); ++n) bind(out[n], results[n]);
    return id;
  }

  void memory(Inst& inst) {
    expect("%");
    const int line = peek().line;
    const std::string n = name();
    const auto it = memories_.find(n);
    if (it == memories_.end()) fail(fmt::format("no memory is named %{}", n), line);
    inst.memory = it->second;
    expect("[");
    inst.in = uses();
    expect("]");
  }
  void combine(Inst& inst) {
    const std::string n = word("sum, prod, min, max, and, or, xor or exchange");
    const auto c = combine_from(n);
    if (!c) {
      --at_;
      fail(fmt::format("'{}' is no combination; write sum, prod, min, max, and, or, xor or exchange", n));
    }
    inst.combine = *c;
  }

  void parse_operands(Inst& inst, const std::vector<Definition>& results) {
    switch (inst.op) {
      case Op::Const:
        if (results.size() != 1) fail("const has one result", last());
        inst.bits = constant(results[0].type.dtype);
        return;
      case Op::Param: {
        expect("%");
        const std::string n = name();
        const auto it = scalars_.find(n);
        if (it == scalars_.end()) fail(fmt::format("no scalar is named %{}", n), last());
        inst.index = it->second;
        return;
      }
      case Op::GroupId:
        inst.index = number<std::int32_t>();
        return;
      case Op::Atomic:
        combine(inst);
        [[fallthrough]];
      case Op::Load:
      case Op::Store:
        memory(inst);
        if (inst.op != Op::Load) {
          expect(",");
          inst.in.push_back(use());
        }
        if (accept_word("align")) inst.align = number<std::int32_t>();
        return;
      case Op::TileLoad:
      case Op::LoadMatrix:
      case Op::TileStore:
        memory(inst);
        if (inst.op == Op::TileStore) {
          expect(",");
          inst.in.push_back(use());
        }
        inst.transposed = accept_word("transposed");
        return;
      case Op::CopyAsync: {
        memory(inst);
        expect(",");
        Inst source;
        memory(source);
        inst.from = source.memory;
        inst.in.insert(inst.in.end(), source.in.begin(), source.in.end());
        expect(",");
        inst.in.push_back(use());
        expect_word("of");
        inst.index = number<std::int32_t>();
        if (accept_word("align")) inst.align = number<std::int32_t>();
        return;
      }
      case Op::MmaTeam:
        memory(inst);
        if (accept_word("by")) {
          Inst lhs;
          memory(lhs);
          inst.from = lhs.memory;
          inst.in.insert(inst.in.end(), lhs.in.begin(), lhs.in.end());
        }
        do {
          expect(",");
          inst.in.push_back(use());
        } while (is(",", Token::Punct));
        inst.transposed = accept_word("transposed");
        expect_word("of");
        inst.index = number<std::int32_t>();
        return;
      case Op::MmaWait:
        inst.index = number<std::int32_t>();
        while (accept(",")) inst.in.push_back(use());
        return;
      case Op::TileWait:
      case Op::CopyWait:
        inst.index = number<std::int32_t>();
        return;
      case Op::MmaBlock: {
        for (int n = 0; n < 3; ++n) {
          inst.in.push_back(use());
          expect(",");
        }
        const std::string unit = word("a matrix unit");
        for (inst.index = 0; inst.index < kMatrixUnits; ++inst.index)
          if (mt::info(static_cast<MatrixUnit>(inst.index)).name == unit) return;
        fail(fmt::format("'{}' is no matrix unit; write fma, simd8 or mma16", unit), last());
      }
      case Op::SimdReduce:
      case Op::SimdScan:
      case Op::GroupReduce:
      case Op::VectorReduce:
      case Op::TileReduce:
        combine(inst);
        inst.exclusive = accept_word("exclusive");
        inst.in = {use()};
        return;
      case Op::Extract:
      case Op::SimdShuffleXor:
      case Op::SimdShuffleUp:
      case Op::SimdShuffleDown:
      case Op::SimdBroadcast:
        inst.in = {use()};
        expect(",");
        inst.index = number<std::int32_t>();
        return;
      default:
        if (info(inst.op).arity != 0) inst.in = uses();
        return;
    }
  }

  std::uint64_t constant(DType t) {
    const std::string s = word("a constant");
    const auto bad = [&]() {
      --at_;
      fail(fmt::format("'{}' is no {} constant", s, name_of(t)));
    };
    const char *begin = s.data(), *end = begin + s.size();
    if (t == DType::Bool) {
      if (s != "true" && s != "false") bad();
      return s == "true";
    }
    if (is_unsigned(t)) {
      std::uint64_t v = 0;
      const auto [rest, failed] = std::from_chars(begin, end, v);
      if (failed != std::errc{} || rest != end || (bits_of(t) < 64 && v >> bits_of(t) != 0)) bad();
      return v;
    }
    if (is_signed(t)) {
      std::int64_t v = 0;
      const auto [rest, failed] = std::from_chars(begin, end, v);
      const int shift = 64 - bits_of(t);
      if (failed != std::errc{} || rest != end ||
          static_cast<std::int64_t>(static_cast<std::uint64_t>(v) << shift) >> shift != v)
        bad();
      return static_cast<std::uint64_t>(v) << shift >> shift;
    }
    if (s == "nan") return nan_bits(t);
    if (s == "inf" || s == "-inf") return bits_of(t, s == "inf" ? HUGE_VAL : -HUGE_VAL);
    const auto v = parse_real<float>(s);
    if (!v || !std::isfinite(*v)) bad();
    return bits_of(t, static_cast<double>(*v));
  }
  std::uint64_t nan_bits(DType t) {
    expect(":");
    const std::string s = word("the bits of the nan as 0x...");
    std::uint64_t v = 0;
    const auto [rest, failed] =
        std::from_chars(s.data() + std::min<std::size_t>(2, s.size()), s.data() + s.size(), v, 16);
    const bool fits = v >> bits_of(t) == 0;
    if (s.compare(0, 2, "0x") != 0 || failed != std::errc{} || rest != s.data() + s.size() || !fits ||
        !std::isnan(value_of(t, v)))
      fail(fmt::format("'{}' are no bits of a {} nan", s, name_of(t)), last());
    return v;
  }

  /// `with (%a: f32 = %init, ...)`: the definitions, and the initial values at the end of `inst.in`.
  std::vector<Definition> carried(Inst& inst) {
    std::vector<Definition> args;
    if (!accept_word("with")) return args;
    expect("(");
    do {
      args.push_back(definition());
      expect("=");
      inst.in.push_back(use());
    } while (accept(","));
    expect(")");
    return args;
  }
  void bind_args(RegionId r, const std::vector<Definition>& args) {
    for (const Definition& d : args) bind(add_arg(k_, r, d.type), d);
  }

  void parse_for(RegionId r, Inst inst, const std::vector<Definition>& results, int line, int depth) {
    std::vector<Definition> args = {definition()};
    expect("=");
    inst.in = {use()};
    expect_word("to");
    inst.in.push_back(use());
    expect_word("step");
    inst.in.push_back(use());
    const std::vector<Definition> more = carried(inst);
    args.insert(args.end(), more.begin(), more.end());
    inst.contiguous = accept_word("contiguous");
    const InstId id = place_inst(r, std::move(inst), results, line);
    const RegionId body = add_region(k_, id);
    bind_args(body, args);
    braces(body, depth);
  }

  void parse_map(RegionId r, Inst inst, const std::vector<Definition>& results, int line, int depth) {
    inst.in = uses();
    std::vector<Definition> args;
    expect("(");
    do {
      args.push_back(definition());
    } while (accept(","));
    expect(")");
    const InstId id = place_inst(r, std::move(inst), results, line);
    const RegionId body = add_region(k_, id);
    bind_args(body, args);
    braces(body, depth);
  }

  void parse_while(RegionId r, Inst inst, const std::vector<Definition>& results, int line, int depth) {
    const std::vector<Definition> args = carried(inst);
    const InstId id = place_inst(r, std::move(inst), results, line);
    const RegionId test = add_region(k_, id), body = add_region(k_, id);
    bind_args(test, args);
    braces(test, depth);
    expect_word("do");
    std::vector<Definition> passed;
    if (accept("(")) {
      do {
        passed.push_back(definition());
      } while (accept(","));
      expect(")");
    }
    bind_args(body, passed);
    braces(body, depth);
  }

  Tokens tokens_;
  std::size_t at_ = 0;
  Kernel k_;
  std::vector<int> lines_;  // of each instruction
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::string, MemoryId> memories_;
  std::unordered_map<std::string, std::int32_t> scalars_;
};

}  // namespace

Result<Kernel> parse(std::string_view text) {
  try {
    return Parser(text).run();
  } catch (const Error& e) {
    return e;
  }
}

}  // namespace mt
