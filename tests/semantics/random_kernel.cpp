#include "tests/semantics/random_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <string_view>
#include <vector>

#include "mt/ir/type.h"

namespace mt {
namespace {

using Names = std::vector<std::string>;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string run() {
    const std::size_t threads = one_in(4) ? 32 : one_in(6) ? 128 : 64;
    const std::size_t groups = one_in(8) ? 2 : 1;
    const std::size_t own = 8 * threads * groups;
    shared_ = any({"f32", "u32", "f16", "i8", "u64", "i32", "bf16", "u16"});
    text_ = fmt::format("kernel @random threads {} {{\n", threads);
    for (const char* in : {"x: f32", "i: u32", "h: f16", "b: bf16", "c: i8", "d: u16", "l: i64"})
      line(fmt::format("device in %{} [256]", in));
    for (const char* out : {"y: f32", "o: u32", "q: f16", "r: i8", "w: u64"})
      line(fmt::format("device inout %{} [{}]", out, own));
    for (const char* cells : {"au: u32", "ai: i32", "af: f32"}) line(fmt::format("device inout %{} [16]", cells));
    line(fmt::format("threadgroup %s: {} [{}]", shared_, threads));
    line("threadgroup %cells: u32 [16]");
    line("thread %p: f32 [8]");
    line("scalar %n: u32 multiple 4\nscalar %m: u32\nscalar %k: i32");
    line("%n: u32 = param %n\n%m: u32 = param %m\n%k: i32 = param %k\n%thread: u32 = thread_id\n%lane: u32 = lane_id");
    line("%sg: u32 = simd_id\n%group: u32 = group_id 0");
    line(fmt::format("%threads: u32 = const {}\n%eight: u32 = const 8", threads));
    line("%first: u32 = mul %group, %threads\n%global: u32 = add %first, %thread\n%own: u32 = mul %global, %eight");
    line(
        "%zero: u32 = const 0\n%one: u32 = const 1\n%two: u32 = const 2\n%small: u32 = const 7\n%mask: u32 = const "
        "255");
    pools_["u32"] = {"%n", "%m", "%thread", "%lane", "%sg", "%own", "%one"};
    pools_["i32"] = {"%k"};
    uniform_ = {"%n", "%m", "%one", "%two"};
    threads_ = threads;
    for (const std::string t : {"u32", "f32", one_in(2) ? "i64" : "u8", one_in(2) ? "f16" : "i32"})
      for (int v = 0; v < 2; ++v) {
        const std::string name = fresh();
        line(name + ": " + t + " = var " + operand(t));
        variables_[t].push_back(name);
      }
    if (one_in(3)) {
      has_private_ = true;
      for (int e = 0; e < 8; ++e) line("store %p[" + constant_index(e) + "], " + operand("f32"));
    }
    block(2 + below(3), 0, Level::Group);
    for (const auto& [type, list] : variables_)
      for (const std::string& v : list) write(type, value(type, "get " + v));
    for (int v = 0; v < 5; ++v) {
      const std::string t = scalar_type();
      write(t, operand(t));
    }
    return text_ + "}\n";
  }

 private:
  /// Who is sure to be here together.
  enum class Level { Group, Simd, Thread };

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <std::size_t N>
  const char* any(const char* const (&list)[N]) {
    return list[below(N)];
  }
  /// Newer values more often.
  const std::string& pick(const Names& list) {
    const std::size_t back = std::min(below(list.size()), below(list.size()));
    return list[list.size() - 1 - back];
  }
  void line(const std::string& s) { (text_ += s) += "\n"; }
  std::string fresh() { return "%t" + std::to_string(next_++); }
  std::string value(const std::string& type, const std::string& expression) {
    const std::string name = fresh();
    line(name + ": " + type + " = " + expression);
    return name;
  }
  void keep(const std::string& type, const std::string& name) { pools_[type].push_back(name); }
  std::string constant_index(std::size_t n) { return value("u32", "const " + std::to_string(n)); }

  static DType dtype(const std::string& type) { return *dtype_from(type.substr(0, type.find('x'))); }
  static std::string base(const std::string& type) { return type.substr(0, type.find('x')); }
  static std::string lanes(const std::string& type) {
    const std::size_t x = type.find('x');
    return x == std::string::npos ? "" : type.substr(x);
  }

  std::string scalar_type() {
    switch (below(8)) {
      case 0:
      case 1:
        return "f32";
      case 2:
      case 3:
        return "u32";
      case 4:
        return "i32";
      case 5:
        return any({"f16", "bf16"});
      default:
        return any({"i8", "u8", "i16", "u16", "i64", "u64", "bool", "i64", "u8"});
    }
  }

  std::string constant(const std::string& type) {
    const DType t = dtype(type);
    if (t == DType::Bool) return value(type, std::string("const ") + any({"true", "false"}));
    if (is_float(t))
      return value(
          type, std::string("const ") + any({"0.0", "-0.0", "1.0", "2.0", "0.5", "-1.0", "3.25", "1e-40", "inf", "-inf",
                                             "-8.0", "1e+20", "65504.0", "6e-8", "2147483648.0"}));
    const int bits = bits_of(t);
    if (one_in(2)) return value(type, "const " + std::to_string(below(is_signed(t) ? 70 : 80)));
    if (is_signed(t)) {
      const std::int64_t low = -(std::int64_t{1} << (bits - 2)) * 2;
      const std::int64_t edges[] = {low, low + 1, -(low + 1), -(low + 2), -1, -2, bits - 1, 0};
      return value(type, "const " + std::to_string(edges[below(8)]));
    }
    const std::uint64_t high = bits == 64 ? ~0ull : (1ull << bits) - 1;
    const std::uint64_t edges[] = {
        high, high - 1, high / 2, high / 2 + 1, static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits - 1),
        0,    3};
    return value(type, "const " + std::to_string(edges[below(8)]));
  }

  /// Some value of that type; made where there is none yet.
  std::string operand(const std::string& type) {
    const bool vector = !lanes(type).empty();
    if (!vector && one_in(4)) return constant(type);
    if (const auto v = variables_.find(type); v != variables_.end() && !v->second.empty() && one_in(4))
      return value(type, "get " + v->second[below(v->second.size())]);
    const Names& list = pools_[type];
    if (!list.empty() && !one_in(6)) return pick(list);
    if (vector) return one_in(2) ? value(type, "splat " + operand(base(type))) : packed(type);
    if (dtype(type) == DType::Bool) return condition("");
    std::string from = one_in(2) ? "u32" : "f32";
    if (from == type) from = "i32";
    if (pools_[from].empty()) return constant(type);
    return value(type, "cast " + pick(pools_[from]));
  }
  std::string packed(const std::string& type) {
    std::string list;
    const int count = lanes(type)[1] - '0';
    for (int n = 0; n < count; ++n) list += (n ? ", " : "") + operand(base(type));
    return value(type, "pack " + list);
  }
  /// A bool, or a vector of them.
  std::string condition(const std::string& width) {
    const std::string t = scalar_type();
    if (t == "bool" && width.empty())
      return value("bool", std::string(any({"bit_and", "bit_or", "bit_xor", "eq", "ne"})) + " " + operand("bool") +
                               ", " + operand("bool"));
    const std::string number = (t == "bool" ? "i32" : t) + width;
    return value("bool" + width, std::string(any({"lt", "le", "eq", "ne", "gt", "ge"})) + " " + operand(number) + ", " +
                                     operand(number));
  }

  void compute() {
    if (one_in(5)) return compute_vector();
    const std::string type = scalar_type();
    keep(type, computed(type));
  }
  std::string computed(const std::string& type) {
    const DType t = dtype(type);
    if (t == DType::Bool) {
      if (one_in(4)) return value(type, "bit_not " + operand(type));
      if (one_in(6)) return value(type, "cast " + operand(any({"u32", "f32", "i8", "f16"})));
      return condition("");
    }
    switch (below(9)) {
      case 0:
        return value(type, "select " + operand("bool") + ", " + operand(type) + ", " + operand(type));
      case 1:
      case 2: {
        std::string from = scalar_type();
        if (from == type) from = type == "u8" ? "i64" : "u8";
        return value(type, "cast " + operand(from));
      }
      case 3:
        if (const char* same = twin(type)) return value(type, "bitcast " + number(same));
        [[fallthrough]];
      case 4:
        if (const char* memory = input(type)) return value(type, "load %" + std::string(memory) + "[" + masked() + "]");
        [[fallthrough]];
      case 5:
        return value(type, unary(t) + " " + operand(type));
      case 6:
        if (is_float(t)) return value(type, "fma " + operand(type) + ", " + operand(type) + ", " + operand(type));
        [[fallthrough]];
      default:
        return value(type, binary(t) + " " + operand(type) + ", " + operand(type));
    }
  }
  /// An operand that is no NaN: targets differ in their bits.
  std::string number(const std::string& type) {
    const std::string v = operand(type);
    if (!is_float(dtype(type))) return v;
    return value(type, "select " + value("bool", "eq " + v + ", " + v) + ", " + v + ", " + value(type, "const 1.0"));
  }
  std::string unary(DType t) {
    if (is_float(t)) return any({"neg", "abs", "floor", "ceil", "round", "trunc", "sign"});
    if (t == DType::U32 && one_in(2)) return any({"popcount", "clz", "ctz"});
    return any({"neg", "abs", "bit_not"});
  }
  std::string binary(DType t) {
    if (is_float(t)) return any({"add", "sub", "mul", "div", "min", "max", "add", "mul", "rem"});
    return any({"add", "sub", "mul", "div", "rem", "min", "max", "bit_and", "bit_or", "bit_xor", "shl", "shr"});
  }
  static const char* twin(std::string_view type) {
    static constexpr const char* pairs[][2] = {{"u32", "f32"},  {"f32", "i32"},  {"i32", "u32"}, {"f16", "u16"},
                                               {"u16", "bf16"}, {"bf16", "i16"}, {"i16", "f16"}, {"u8", "i8"},
                                               {"i8", "u8"},    {"i64", "u64"},  {"u64", "i64"}};
    for (const auto& p : pairs)
      if (type == p[0]) return p[1];
    return nullptr;
  }
  static const char* input(std::string_view type) {
    static constexpr const char* inputs[][2] = {{"f32", "x"}, {"u32", "i"}, {"f16", "h"}, {"bf16", "b"},
                                                {"i8", "c"},  {"u16", "d"}, {"i64", "l"}};
    for (const auto& p : inputs)
      if (type == p[0]) return p[1];
    return nullptr;
  }

  void compute_vector() {
    const std::string width = any({"x2", "x4", "x8"}), element = one_in(2) ? "f32" : scalar_type();
    const std::string type = element + width;
    const DType t = dtype(type);
    std::string v;
    switch (below(6)) {
      case 0:
        v = packed(type);
        break;
      case 1:
        v = value(type, "select " + (one_in(2) ? operand("bool") : condition(width)) + ", " + operand(type) + ", " +
                            operand(type));
        break;
      case 2: {
        std::string from = scalar_type();
        if (from == element) from = element == "u8" ? "f32" : "u8";
        v = value(type, "cast " + operand(from + width));
        break;
      }
      case 3:
        if (const char* memory = input(element)) {
          const std::string at = value("u32", "bit_and %own, %mask");
          v = value(type, fmt::format("load %{}[{}]{}", memory, at, one_in(2) ? " align " + width.substr(1) : ""));
          break;
        }
        [[fallthrough]];
      default:
        v = t == DType::Bool ? condition(width) : value(type, binary(t) + " " + operand(type) + ", " + operand(type));
    }
    keep(type, v);
    if (one_in(3)) {
      const std::string how = t == DType::Bool ? any({"and", "or", "xor"})
                              : is_float(t)    ? any({"min", "max"})
                                               : any({"sum", "min", "max", "and", "or", "xor", "prod"});
      keep(element, value(element, "vector_reduce " + how + " " + v));
    } else {
      keep(element, value(element, fmt::format("extract {}, {}", v, below(static_cast<std::size_t>(width[1] - '0')))));
    }
  }

  /// An index below 256 that no wrapped sum leads to.
  std::string masked() {
    const std::string from = one_in(3) ? "%own" : one_in(2) ? "%n" : "%thread";
    const std::string sum = value("u32", "add " + from + ", " + constant_index(below(6)));
    return value("u32", "bit_and " + sum + ", %mask");
  }
  /// Index of one of the thread's own elements.
  std::string own(std::size_t offset) {
    const std::string sum = value("u32", "add %own, " + constant_index(offset));
    return one_in(2) ? sum : value(one_in(2) ? "u64" : "i64", "cast " + sum);
  }
  void store(const std::string& memory, const std::string& v, std::size_t offset) {
    line("store %" + memory + "[" + own(offset) + "], " + v);
  }
  /// The value to an output that holds it whole.
  void write(const std::string& type, const std::string& v) {
    static const std::map<std::string, std::pair<const char*, const char*>> outputs = {
        {"f32", {"y", "f32"}},  {"u32", {"o", "u32"}}, {"f16", {"q", "f16"}}, {"bf16", {"y", "f32"}},
        {"i8", {"r", "i8"}},    {"u64", {"w", "u64"}}, {"i64", {"w", "u64"}}, {"i32", {"w", "u64"}},
        {"bool", {"o", "u32"}}, {"u8", {"o", "u32"}},  {"u16", {"o", "u32"}}, {"i16", {"w", "u64"}}};
    const auto& [memory, as] = outputs.at(type);
    store(memory, type == as ? v : value(as, "cast " + v), below(8));
  }
  /// Neighbouring loads, then stores of what was loaded and of other values.
  void copy() {
    const bool floats = one_in(2);
    const std::string memory = floats ? "y" : "r", type = floats ? "f32" : "i8";
    const std::size_t begin = 2 * below(3), count = 2 + below(3);
    Names loaded;
    for (std::size_t n = 0; n < count; ++n)
      loaded.push_back(value(type, "load %" + memory + "[" + own(begin + n) + "]"));
    for (std::size_t n = 0; n < count; ++n) store(memory, one_in(3) ? operand(type) : loaded[below(count)], begin + n);
    keep(type, loaded[0]);
  }
  void private_memory() {
    const std::string at = value("u32", "bit_and " + operand("u32") + ", %small");
    if (one_in(2)) line("store %p[" + at + "], " + operand("f32"));
    keep("f32", value("f32", "load %p[" + at + "]"));
  }
  /// Threads combine into cells; what each finds there depends on the order and is not looked at.
  void atomic() {
    const std::string cell = value("u32", "bit_and " + operand("u32") + ", " + constant_index(15));
    const std::size_t kind = below(3);
    if (kind == 0)
      value("u32", "atomic sum %au[" + cell + "], " + operand("u32"));
    else if (kind == 1)
      value("i32", "atomic max %ai[" + cell + "], " + operand("i32"));
    else
      value("f32", "atomic min %af[" + cell + "], " + operand("f32"));
  }
  void shared_cells() {
    const std::string sixteen = constant_index(16);
    line("if " + value("bool", "lt %thread, " + sixteen) + " {");
    line("store %cells[%thread], " + operand("u32"));
    line("}");
    line("barrier");
    const std::string cell = value("u32", "bit_and " + operand("u32") + ", " + constant_index(15));
    value("u32", std::string("atomic ") + any({"sum", "xor", "max"}) + " %cells[" + cell + "], " + operand("u32"));
    line("barrier");
    keep("u32", value("u32", "load %cells[" + value("u32", "bit_and %thread, " + constant_index(15)) + "]"));
    line("barrier");
  }
  void exchange(bool simd) {
    line("store %s[%thread], " + operand(shared_));
    line(simd ? "simd_barrier" : "barrier");
    const std::size_t by = simd ? 1 + below(31) : 1 + below(threads_ - 1);
    const std::string other = value("u32", "bit_xor %thread, " + constant_index(by));
    keep(shared_, value(shared_, "load %s[" + other + "]"));
    line(simd ? "simd_barrier" : "barrier");
  }
  /// A combination that gives the same in any order.
  std::string combination(DType t) {
    if (t == DType::Bool) return any({"and", "or", "xor"});
    if (is_float(t)) return any({"min", "max"});
    return any({"sum", "prod", "min", "max", "and", "or", "xor"});
  }
  void collective(Level level) {
    if (level == Level::Group && one_in(8)) return shared_cells();
    if (one_in(3)) return exchange(level != Level::Group);
    const std::string t = scalar_type();
    if (level == Level::Group && one_in(2)) {
      const std::string v = value(t, "group_reduce " + combination(dtype(t)) + " " + operand(t));
      keep(t, v);
      if (t == "u32") uniform_.push_back(v);
      return;
    }
    switch (below(4)) {
      case 0:
        return keep(t, value(t, "simd_reduce " + combination(dtype(t)) + " " + operand(t)));
      case 1:
        return keep(t, value(t, "simd_scan " + combination(dtype(t)) + (one_in(2) ? " exclusive " : " ") + operand(t)));
      case 2:
        return keep(t, value(t, "simd_shuffle " + operand(t) + ", " + operand("u32")));
      default:
        keep(t, value(t, std::string(
                             any({"simd_shuffle_xor ", "simd_shuffle_up ", "simd_shuffle_down ", "simd_broadcast "})) +
                             operand(t) + ", " + std::to_string(below(32))));
    }
  }

  /// A range dealt to simdgroups: what they find is summed up, whoever gets which position.
  void dealt() {
    const std::string sum = fresh(), bound = value("u32", "bit_and " + pick(uniform_) + ", %small");
    const std::string begin = one_in(2) ? "%sg" : value("u32", "add %sg, " + constant_index(3));
    line(sum + ": u32 = var %zero");
    const std::string t = fresh(), simds = constant_index(threads_ / 32);
    line("for " + t + ": u32 = " + begin + " to " + bound + " step " + simds + " contiguous {");
    const std::string old = value("u32", "get " + sum);
    line("set " + sum + ", " + value("u32", "add " + old + ", " + value("u32", "mul " + t + ", " + t)));
    line("}");
    keep("u32", value("u32", "group_reduce sum " + value("u32", "get " + sum)));
  }

  void control(int depth, Level level) {
    const Level inner = level == Level::Thread || one_in(2)  ? Level::Thread
                        : level == Level::Group && one_in(3) ? Level::Simd
                                                             : level;
    // Bounds and conditions that keep the level come from values that are the same for all of it.
    const std::string decides = inner == Level::Thread              ? operand("u32")
                                : inner == Level::Simd && one_in(2) ? "%sg"
                                                                    : pick(uniform_);
    switch (below(6)) {
      case 0:
      case 1:
        return branch(depth, inner, decides);
      case 2:
        return carried_loop(depth, inner, decides);
      case 3:
        return while_loop(depth, inner, decides);
      default:
        return loop(depth, inner, decides);
    }
  }
  void branch(int depth, Level inner, const std::string& decides) {
    const std::string c = inner == Level::Thread && one_in(3)
                              ? operand("bool")
                              : value("bool", std::string(any({"lt", "eq", "ne", "ge"})) + " " + decides + ", " +
                                                  (one_in(2) ? "%n" : "%two"));
    const std::string type = scalar_type();
    const bool gives = one_in(4);
    const std::string result = fresh();
    line((gives ? result + ": " + type + " = " : "") + "if " + c + " {");
    scope(depth, inner, [&] {
      if (gives) line("yield " + operand(type));
    });
    if (gives || one_in(2)) {
      line("} else {");
      scope(depth, inner, [&] {
        if (gives) line("yield " + operand(type));
      });
    }
    line("}");
    if (gives) keep(type, result);
  }
  struct Range {
    std::string type, begin, end, step;
  };
  /// At most a few trips, from zero or from near an end of the type.
  Range range(Level inner, const std::string& decides) {
    Range r{any({"u32", "u32", "u32", "i32", "u64", "i64"}), "", "", ""};
    const bool plain = r.type == "u32";
    const auto as = [&](const std::string& u) { return plain ? u : value(r.type, "cast " + u); };
    const std::string bound = one_in(3) ? constant_index(below(9)) : value("u32", "bit_and " + decides + ", %small");
    r.step = as(one_in(4) ? constant_index(3) : any({"%one", "%two", "%eight"}));
    if (inner == Level::Thread && one_in(3)) {
      r.begin = as(value("u32", "bit_and %lane, %one"));
    } else if (one_in(4)) {
      const std::string near = r.type == "u32"   ? "2147483640"
                               : r.type == "i32" ? "-5"
                               : r.type == "u64" ? "4294967290"
                                                 : "-3";
      r.begin = value(r.type, "const " + near);
      r.end = value(r.type, "add " + r.begin + ", " + as(bound));
      return r;
    } else {
      r.begin = as(one_in(2) ? "%zero" : constant_index(below(3)));
    }
    r.end = as(bound);
    return r;
  }
  void loop(int depth, Level inner, const std::string& decides) {
    const Range r = range(inner, decides);
    const std::string t = fresh();
    line("for " + t + ": " + r.type + " = " + r.begin + " to " + r.end + " step " + r.step + " {");
    scope(
        depth, inner, [] {}, r.type, t);
    line("}");
  }
  void carried_loop(int depth, Level inner, const std::string& decides) {
    const Range r = range(inner, decides);
    const std::string t = fresh(), a = fresh(), b = fresh(), out_a = fresh(), out_b = fresh();
    const std::string type_a = scalar_type(), type_b = scalar_type();
    const std::string first_a = operand(type_a), first_b = operand(type_b);
    line(fmt::format("{}: {}, {}: {} = for {}: {} = {} to {} step {} with ({}: {} = {}, {}: {} = {}) {{", out_a, type_a,
                     out_b, type_b, t, r.type, r.begin, r.end, r.step, a, type_a, first_a, b, type_b, first_b));
    scope(depth, inner,
          [&] {
            const bool trade = type_a == type_b && one_in(2);  // places
            const std::string to_a = trade ? b : operand(type_a);
            line("yield " + to_a + ", " + (trade ? a : operand(type_b)));
          },
          r.type, t, {{type_a, a}, {type_b, b}});
    line("}");
    keep(type_a, out_a);
    keep(type_b, out_b);
  }
  void while_loop(int depth, Level inner, const std::string& decides) {
    const std::string trips = fresh(), bound = value("u32", "bit_and " + decides + ", %small");
    const bool breaks = inner == Level::Thread && one_in(2);
    const std::string go = fresh();
    line(trips + ": u32 = var %zero");
    if (breaks) line(go + ": bool = var " + value("bool", "const true"));
    line("while {");
    const auto pools = pools_;
    const std::string now = value("u32", "get " + trips);
    if (one_in(2)) assign();
    std::string again = value("bool", "lt " + now + ", " + bound);
    if (breaks) again = value("bool", "bit_and " + again + ", " + value("bool", "get " + go));
    line("yield " + again);
    line("} do {");
    pools_ = pools;
    const std::string more = value("u32", "get " + trips);
    line("set " + trips + ", " + value("u32", "add " + more + ", %one"));
    scope(depth, inner, [&] {
      if (!breaks) return;
      line("if " + operand("bool") + " {");
      line("set " + go + ", " + value("bool", "const false"));
      line("} else {");
      const auto before = pools_;
      if (one_in(2)) compute();
      assign();
      pools_ = before;
      line("}");
    });
    line("}");
  }

  void assign() {
    auto it = variables_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(below(variables_.size())));
    if (!it->second.empty()) line("set " + it->second[below(it->second.size())] + ", " + operand(it->first));
  }
  /// A block whose values end with it.
  template <class End>
  void scope(int depth, Level level, const End& end, const std::string& type = "", const std::string& index = "",
             const std::vector<std::pair<std::string, std::string>>& more = {}) {
    const auto pools = pools_;
    const Names uniform = uniform_;
    if (!index.empty()) keep(type, index);
    for (const auto& [t, name] : more) keep(t, name);
    block(1 + below(3), depth + 1, level);
    end();
    pools_ = pools;
    uniform_ = uniform;
  }
  void block(std::size_t size, int depth, Level level) {
    for (std::size_t n = 0; n < size; ++n) {
      for (std::size_t v = below(4); v-- > 0;) compute();
      if (one_in(2)) assign();
      if (one_in(2)) assign();
      if (one_in(4)) {
        const std::string t = scalar_type();
        write(t, operand(t));
      }
      if (one_in(8)) copy();
      if (one_in(10)) atomic();
      if (has_private_ && one_in(4)) private_memory();
      if (level != Level::Thread && one_in(3)) collective(level);
      if (level == Level::Group && one_in(6)) dealt();
      if (depth < 3 && !one_in(3)) control(depth, level);
    }
  }

  std::mt19937_64 random_;
  std::string text_, shared_;
  int next_ = 0;
  std::size_t threads_ = 64;
  bool has_private_ = false;
  std::map<std::string, Names> pools_, variables_;  // by type: values in scope, variables
  Names uniform_;                                   // values that are the same in the whole threadgroup
};

}  // namespace

std::string random_kernel(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace mt
