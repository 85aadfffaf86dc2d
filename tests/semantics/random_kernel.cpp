#include "tests/semantics/random_kernel.h"

#include <array>
#include <random>
#include <vector>

namespace mt {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string run() {
    text_ =
        "kernel @random threads 64 {\n  device in %x: f32 [256]\n  device in %i: u32 [256]\n  device inout %y: f32 "
        "[512]\n"
        "  device out %o: u32 [512]\n  threadgroup %s: f32 [64]\n  scalar %n: u32 multiple 4\n  scalar %m: u32\n"
        "%n: u32 = param %n\n%m: u32 = param %m\n%thread: u32 = thread_id\n%lane: u32 = lane_id\n%sg: u32 = simd_id\n"
        "%eight: u32 = const 8\n%own: u32 = mul %thread, %eight\n%zero: u32 = const 0\n%one: u32 = const 1\n%two: u32 "
        "= const 2\n"
        "%fzero: f32 = const 0.0\n%small: u32 = const 7\n%mask: u32 = const 255\n";
    u_ = {"%n", "%m", "%thread", "%lane", "%sg", "%own", "%one"};
    uniform_ = {"%n", "%m", "%one", "%two"};
    f_ = {"%fzero"};
    for (int v = 0; v < 3; ++v) {
      const std::string n = std::to_string(v);
      line("%vu" + n + ": u32 = var " + pick(u_));
      line("%vf" + n + ": f32 = var " + pick(f_));
    }
    block(2 + below(3), 0, Level::Group);
    for (int v = 0; v < 3; ++v) {
      const std::string n = std::to_string(v);
      store("o", get("u32", "%vu" + n), v);
      store("y", get("f32", "%vf" + n), v);
    }
    for (int v = 3; v < 8; ++v) {
      store("o", pick(u_), v);
      if (one_in(2)) store("y", pick(f_), v);
    }
    return text_ + "}\n";
  }

 private:
  /// Who is sure to be here together.
  enum class Level { Group, Simd, Thread };
  using Names = std::vector<std::string>;

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
  void line(const std::string& s) { text_ += s + "\n"; }
  std::string fresh() { return "%t" + std::to_string(next_++); }
  std::string value(const std::string& type, const std::string& expression) {
    const std::string name = fresh();
    line(name + ": " + type + " = " + expression);
    return name;
  }
  std::string get(const std::string& type, const std::string& variable) { return value(type, "get " + variable); }

  std::string u_constant() {
    return value("u32", std::string("const ") + any({"0", "1", "2", "3", "4", "8", "12", "31", "32", "255",
                                                     "4294967295", "2147483648", "7"}));
  }
  std::string f_constant() {
    return value("f32", std::string("const ") +
                            any({"0.0", "-0.0", "1.0", "2.0", "0.5", "-1.0", "3.25", "1e-40", "inf", "-8.0", "1e+20"}));
  }
  std::string u_operand() {
    return one_in(4) ? u_constant() : one_in(4) ? get("u32", "%vu" + std::to_string(below(3))) : pick(u_);
  }
  std::string f_operand() {
    return one_in(4) ? f_constant() : one_in(4) ? get("f32", "%vf" + std::to_string(below(3))) : pick(f_);
  }
  std::string condition() {
    if (one_in(3))
      return value("bool",
                   std::string(any({"lt", "le", "eq", "ne", "gt", "ge"})) + " " + f_operand() + ", " + f_operand());
    if (one_in(8)) return value("bool", std::string("const ") + any({"true", "false"}));
    return value("bool",
                 std::string(any({"lt", "le", "eq", "ne", "gt", "ge"})) + " " + u_operand() + ", " + u_operand());
  }

  void u_value() {
    switch (below(9)) {
      case 0:
        u_.push_back(value("u32", "select " + condition() + ", " + u_operand() + ", " + u_operand()));
        return;
      case 1: {
        const char* type = any({"u64", "i32", "u8", "f32", "i64", "u16"});
        u_.push_back(value("u32", "cast " + value(type, "cast " + u_operand())));
        return;
      }
      case 2: {
        const std::string a = value("i32", "bitcast " + u_operand()), b = value("i32", "bitcast " + u_operand());
        u_.push_back(value("u32", "bitcast " + value("i32", std::string(any({"div", "rem", "shr", "min", "sub"})) +
                                                                " " + a + ", " + b)));
        return;
      }
      case 3:
        u_.push_back(value("u32", "load %i[" + masked() + "]"));
        return;
      case 4:
        u_.push_back(value("u32", std::string(any({"neg", "bit_not", "popcount", "clz"})) + " " + u_operand()));
        return;
      default:
        u_.push_back(value("u32", std::string(any({"add", "sub", "mul", "div", "rem", "min", "max", "bit_and", "bit_or",
                                                   "bit_xor", "shl", "shr", "add", "mul"})) +
                                      " " + u_operand() + ", " + u_operand()));
    }
  }
  void f_value() {
    switch (below(10)) {
      case 0:
        f_.push_back(value("f32", "select " + condition() + ", " + f_operand() + ", " + f_operand()));
        return;
      case 1:
        f_.push_back(value("f32", "fma " + f_operand() + ", " + f_operand() + ", " + f_operand()));
        return;
      case 2:
        f_.push_back(value("f32", "load %x[" + masked() + "]"));
        return;
      case 3: {
        const std::string p = value("f32x2", "pack " + f_operand() + ", " + f_operand());
        const std::string q = value("f32x2", "splat " + f_operand());
        const std::string r = value("f32x2", "max " + p + ", " + q);
        f_.push_back(value("f32", "extract " + (one_in(2) ? p : r) + ", " + std::to_string(below(2))));
        return;
      }
      case 4:
        f_.push_back(value("f32", "cast " + (one_in(2) ? value("f16", "cast " + f_operand()) : u_operand())));
        return;
      case 5:
        f_.push_back(value("f32", std::string(any({"neg", "abs", "floor", "sign"})) + " " + f_operand()));
        return;
      case 6:
        return copy();
      default:
        f_.push_back(value("f32", std::string(any({"add", "sub", "mul", "div", "min", "max"})) + " " + f_operand() +
                                      ", " + f_operand()));
    }
  }
  /// An index below 256 that no wrapped sum leads to.
  std::string masked() {
    const std::string base = one_in(3) ? "%own" : one_in(2) ? "%n" : "%thread";
    const std::string sum = value("u32", "add " + base + ", " + value("u32", "const " + std::to_string(below(6))));
    return value("u32", "bit_and " + sum + ", %mask");
  }
  /// Index of one of the thread's own elements.
  std::string own(std::size_t offset) {
    const std::string sum = value("u32", "add %own, " + value("u32", "const " + std::to_string(offset)));
    return one_in(2) ? sum : value("u64", "cast " + sum);
  }
  void store(const std::string& memory, const std::string& v, std::size_t offset) {
    line("store %" + memory + "[" + own(offset) + "], " + v);
  }
  /// Neighbouring loads, then stores of what was loaded and of other values.
  void copy() {
    const std::size_t begin = 2 * below(3), count = 2 + below(3);
    Names loaded;
    for (std::size_t n = 0; n < count; ++n) loaded.push_back(value("f32", "load %y[" + own(begin + n) + "]"));
    for (std::size_t n = 0; n < count; ++n) store("y", one_in(3) ? f_operand() : loaded[below(count)], begin + n);
    f_.push_back(loaded[0]);
  }

  void collective(Level level) {
    if (level == Level::Group && one_in(2)) {
      const std::string a = f_operand(), b = f_operand();
      line("store %s[%thread], " + a);
      line("barrier");
      const std::string other =
          value("u32", "bit_xor %thread, " + value("u32", std::string("const ") + any({"1", "32", "33", "63"})));
      f_.push_back(value("f32", "load %s[" + other + "]"));
      line("barrier");
      return;
    }
    if (level == Level::Group) {
      u_.push_back(value("u32", std::string("group_reduce ") + any({"sum", "min", "max", "xor"}) + " " + u_operand()));
      uniform_.push_back(u_.back());
      if (one_in(2)) f_.push_back(value("f32", std::string("group_reduce ") + any({"min", "max"}) + " " + f_operand()));
      return;
    }
    u_.push_back(
        value("u32", std::string("simd_reduce ") + any({"sum", "min", "max", "and", "or"}) + " " + u_operand()));
    f_.push_back(value("f32", "simd_shuffle_xor " + f_operand() + ", " + std::to_string(below(32))));
    u_.push_back(value("u32", "simd_scan sum exclusive " + u_operand()));
  }

  /// A range dealt to simdgroups: what they find is summed up, whoever gets which position.
  void dealt() {
    const std::string sum = fresh(), bound = value("u32", "bit_and " + pick(uniform_) + ", %small");
    const std::string begin = one_in(2) ? "%sg" : value("u32", "add %sg, " + value("u32", "const 3"));
    line(sum + ": u32 = var %zero");
    const std::string t = fresh();
    line("for " + t + ": u32 = " + begin + " to " + bound + " step %two contiguous {");
    const std::string old = get("u32", sum);
    const std::string square = value("u32", "mul " + t + ", " + t);
    line("set " + sum + ", " + value("u32", "add " + old + ", " + square));
    line("}");
    u_.push_back(value("u32", "group_reduce sum " + get("u32", sum)));
  }

  void control(int depth, Level level) {
    const std::size_t kind = below(4);
    const Level inner = level == Level::Thread || one_in(2) ? Level::Thread : level;
    // Bounds and conditions that keep the level come from values that are the same for the threadgroup.
    const std::string decides = inner == Level::Thread ? u_operand() : pick(uniform_);
    if (kind == 0) {
      const std::string c =
          value("bool", std::string(any({"lt", "eq", "ne"})) + " " + decides + ", " + (one_in(2) ? "%n" : "%two"));
      line("if " + c + " {");
      scope(depth, inner);
      if (one_in(2)) {
        line("} else {");
        scope(depth, inner);
      }
      line("}");
    } else if (kind < 3) {
      const std::string bound = one_in(3) ? value("u32", "const " + std::to_string(below(4)))
                                          : value("u32", "bit_and " + decides + ", %small");
      const std::string begin = one_in(3) ? value("u32", "const " + std::to_string(below(3)))
                                : one_in(2) && inner == Level::Thread ? value("u32", "bit_and %lane, %one")
                                                                      : "%zero";
      const std::string t = fresh();
      line("for " + t + ": u32 = " + begin + " to " + bound + " step " + any({"%one", "%two", "%eight"}) + " {");
      const Names u = u_;
      u_.push_back(t);
      scope(depth, inner);
      u_ = u;
      line("}");
    } else {
      const std::string trips = fresh(), bound = value("u32", "bit_and " + decides + ", %small");
      line(trips + ": u32 = var %zero");
      line("while {");
      const Names u = u_, f = f_;
      const std::string now = get("u32", trips);
      if (one_in(2)) line("set %vu0, " + u_operand());
      line("yield " + value("bool", "lt " + now + ", " + bound));
      line("} do {");
      u_ = u;
      f_ = f;
      const std::string more = get("u32", trips);
      line("set " + trips + ", " + value("u32", "add " + more + ", %one"));
      scope(depth, inner);
      line("}");
    }
  }

  /// A block whose values end with it.
  void scope(int depth, Level level) {
    const Names u = u_, f = f_, uniform = uniform_;
    block(1 + below(3), depth + 1, level);
    u_ = u;
    f_ = f;
    uniform_ = uniform;
  }
  void block(std::size_t size, int depth, Level level) {
    for (std::size_t n = 0; n < size; ++n) {
      for (std::size_t v = below(4); v-- > 0;) one_in(2) ? u_value() : f_value();
      if (one_in(2)) line("set %vu" + std::to_string(below(3)) + ", " + u_operand());
      if (one_in(2)) line("set %vf" + std::to_string(below(3)) + ", " + f_operand());
      if (one_in(4)) store("o", u_operand(), below(8));
      if (level != Level::Thread && one_in(3)) collective(level);
      if (level == Level::Group && one_in(6)) dealt();
      if (depth < 3 && !one_in(3)) control(depth, level);
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  int next_ = 0;
  Names u_, f_, uniform_;  // values in scope
};

}  // namespace

std::string random_kernel(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace mt
