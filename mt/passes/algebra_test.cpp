#include "mt/passes/algebra.h"

#include "mt/passes/dce.h"
#include "mt/passes/testing.h"

namespace mt {
namespace {

bool algebra_and_clean(Kernel& k, const PipelineOptions& o) {
  const bool changed = algebra(k, o);
  return dce(k, o) || changed;
}

using PassFunction = bool (*)(Kernel&, const PipelineOptions&);

/// A kernel that stores %r as u32, after the pass; %x and %w are u32 loads, %f is f32, %s i32.
std::string text_with(PassFunction pass, const std::string& expression) {
  Kernel k = parsed(with_body(
      "%z: u32 = param %n\n%x: u32 = load %i[%z]\n%w: u32 = load %o[%z]\n%f: f32 = load %x[%z]\n%s: i32 = cast %x\n" +
      expression + "\n%out: u32 = cast %r\nstore %o[%z], %out"));
  pass(k, {});
  EXPECT_EQ(verify(k), "");
  compact(k);
  return nameless(k);
}
/// `to` must be what the pass leaves, but for dead code.
void expect(const std::string& from, const std::string& to) {
  EXPECT_EQ(text_with(algebra_and_clean, from), text_with(dce, to)) << from;
}

TEST(Algebra, NeutralAndAbsorbingOperands) {
  const std::string x = "%r: u32 = bit_and %x, %w\n%k: u32 = const 1";  // a form that stays
  const auto with = [&](const char* op, const char* c) {
    return std::string("%q: u32 = bit_and %x, %w\n%c: u32 = const ") + c + "\n%r: u32 = " + op + " %q, %c";
  };
  for (const char* op : {"add", "sub", "bit_or", "bit_xor", "shl", "shr"}) expect(with(op, "0"), x);
  expect(with("mul", "1"), x);
  expect(with("div", "1"), x);
  expect(with("bit_and", "4294967295"), x);
  expect(with("max", "0"), x);
  expect(with("min", "0"), "%r: u32 = const 0");
  expect(with("mul", "0"), "%r: u32 = const 0");
  expect(with("bit_and", "0"), "%r: u32 = const 0");
  expect(with("rem", "1"), "%r: u32 = const 0");
  expect(with("bit_or", "4294967295"), "%r: u32 = const 4294967295");
}

TEST(Algebra, EqualOperands) {
  expect("%r: u32 = sub %x, %x", "%r: u32 = const 0");
  expect("%r: u32 = bit_xor %x, %x", "%r: u32 = const 0");
  expect("%q: u32 = neg %w\n%r: u32 = min %q, %q", "%r: u32 = neg %w");
  expect("%c: bool = lt %x, %x\n%r: u32 = cast %c", "%c: bool = const false\n%r: u32 = cast %c");
  expect("%c: bool = ge %x, %x\n%r: u32 = cast %c", "%c: bool = const true\n%r: u32 = cast %c");
  expect("%r: f32 = sub %f, %f", "%r: f32 = sub %f, %f");
  expect("%c: bool = eq %f, %f\n%r: f32 = cast %c", "%c: bool = eq %f, %f\n%r: f32 = cast %c");
}

TEST(Algebra, UnsignedDivisionByPowersOfTwo) {
  expect("%c: u32 = const 8\n%r: u32 = div %x, %c", "%c: u32 = const 3\n%r: u32 = shr %x, %c");
  expect("%c: u32 = const 8\n%r: u32 = rem %x, %c", "%c: u32 = const 7\n%r: u32 = bit_and %x, %c");
  expect("%c: u32 = const 6\n%r: u32 = rem %x, %c", "%c: u32 = const 6\n%r: u32 = rem %x, %c");
  expect("%c: i32 = const 8\n%q: i32 = div %s, %c\n%r: u32 = cast %q",
         "%c: i32 = const 8\n%q: i32 = div %s, %c\n%r: u32 = cast %q");
}

TEST(Algebra, ConstantsGatherOutside) {
  expect("%a: u32 = const 3\n%b: u32 = const 4\n%p: u32 = add %x, %a\n%r: u32 = add %p, %b",
         "%c: u32 = const 7\n%r: u32 = add %x, %c");
  expect("%a: u32 = const 3\n%p: u32 = add %x, %a\n%r: u32 = add %w, %p",
         "%a: u32 = const 3\n%p: u32 = add %w, %x\n%c: u32 = const 3\n%r: u32 = add %p, %c");
  expect("%a: u32 = const 3\n%b: u32 = const 4\n%p: u32 = add %x, %a\n%q: u32 = add %w, %b\n%r: u32 = add %p, %q",
         "%p: u32 = add %x, %w\n%c: u32 = const 7\n%r: u32 = add %p, %c");
  expect("%a: u32 = const 3\n%b: u32 = const 4\n%p: u32 = add %x, %a\n%r: u32 = mul %b, %p",
         "%b: u32 = const 4\n%p: u32 = mul %x, %b\n%c: u32 = const 12\n%r: u32 = add %p, %c");
  expect("%a: u32 = const 3\n%r: u32 = add %a, %x", "%a: u32 = const 3\n%r: u32 = add %x, %a");
}

TEST(Algebra, FloatsOnlyWhereEveryValueStays) {
  const std::string f = "%r: f32 = exp %f";
  const auto with = [&](const char* op, const char* c) {
    return std::string("%q: f32 = exp %f\n%c: f32 = const ") + c + "\n%r: f32 = " + op + " %q, %c";
  };
  expect(with("mul", "1"), f);
  expect(with("div", "1"), f);
  expect(with("sub", "0"), f);
  expect(with("add", "-0.0"), f);
  for (const auto& [op, c] :
       {std::pair{"add", "0"}, {"sub", "-0.0"}, {"mul", "0"}, {"div", "3"}, {"div", "0"}, {"div", "1e-45"}})
    expect(with(op, c), with(op, c));
  expect(with("div", "8"), with("mul", "0.125"));
  expect(with("div", "-0.5"), with("mul", "-2"));
}

TEST(Algebra, SelectsOfBools) {
  expect(
      "%c: bool = lt %x, %w\n%t: bool = const true\n%u: bool = const false\n%b: bool = select %c, %t, %u\n%r: u32 = "
      "cast %b",
      "%c: bool = lt %x, %w\n%r: u32 = cast %c");
}

}  // namespace
}  // namespace mt
