#include "mt/ir/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "mt/ir/edit.h"
#include "mt/ir/text.h"

namespace mt {
namespace {

const char* const kHeader =
    "kernel @k threads 64 {\ndevice in %x: f32 [n]\ndevice out %y: f32 [n]\nthreadgroup %s: u32 [64]\nthread %a: f32 "
    "[4]\n"
    "scalar %n: u32\n%i: u32 = param %n\n%f: f32 = const 1\n%b: bool = const true\n%h: f16 = const 1\n%lane: u32 = "
    "lane_id\n%sg: u32 = simd_id\n"
    "%v4: f32x4 = splat %f\n";
const char* const kFooter = "\nstore %y[%i], %f\n}";

/// What the verifier says of a body, without the line; empty where it is sound.
std::string said(const std::string& body) {
  const Result<Kernel> k = parse(kHeader + body + kFooter);
  if (k) return "";
  const std::string text = k.error().what();
  const std::size_t at = text.find("[k] ");
  return at == std::string::npos ? text : text.substr(at + 4);
}

TEST(Verify, SoundBodies) {
  EXPECT_EQ(said(""), "");
  EXPECT_EQ(said("%c: f32x4 = select %b, %v4, %v4\n%d: f32x4 = fma %c, %v4, %v4"), "");
  EXPECT_EQ(said("if %b {\nbarrier\n}\nfor %t: u32 = %sg to %i step %i {\n%r: f32 = simd_reduce sum %f\n}"), "");
}

TEST(Verify, TypesAndArity) {
  EXPECT_EQ(said("%c: f32 = add %f, %i"), "add takes operands of one type, not f32 and u32");
  EXPECT_EQ(said("%c: f32 = add %f"), "add takes 2 operands, not 1");
  EXPECT_EQ(said("%c: f32x4 = add %f, %f"), "the result of add must be f32, not f32x4");
  EXPECT_EQ(said("%c: f32 = lt %f, %f"), "the result of lt must be bool, not f32");
  EXPECT_EQ(said("%c: u32 = exp %i"), "exp does not take u32");
  EXPECT_EQ(said("add %f, %f"), "add needs 1 results, not 0");
  EXPECT_EQ(said("%c: u32 = barrier"), "barrier needs 0 results, not 1");
  EXPECT_EQ(said("%c: f32 = select %f, %f, %f"), "select does not take f32");
  EXPECT_EQ(said("%c: f32 = select %b, %f, %i"), "select chooses between f32, not u32");
  EXPECT_EQ(said("%b2: boolx2 = splat %b\n%c: f32x4 = select %b2, %v4, %v4"),
            "the condition of select has 2 lanes, the values 4; it needs 1 or as many");
  EXPECT_EQ(said("%c: f16x4 = cast %f"), "the result of cast must be f16, not f16x4");
  EXPECT_EQ(said("%c: f16 = bitcast %f"), "bitcast from f32 to f16; both need the same size");
  EXPECT_EQ(said("%c: f32x2 = splat %v4"), "splat takes one scalar and gives 2, 4 or 8 lanes");
  EXPECT_EQ(said("%c: f32x4 = pack %f, %f"), "pack of 2 scalars cannot be f32x4");
  EXPECT_EQ(said("%c: f32x2 = pack %f, %i"), "pack puts u32 into f32x2");
  EXPECT_EQ(said("%c: f32 = extract %v4, 4"), "extract 4 is not in 0..3");
  EXPECT_EQ(said("%c: u64 = lane_id"), "the result of lane_id must be u32, not u64");
  EXPECT_EQ(said("%c: u32 = group_id 3"), "group_id 3 is not in 0..2");
  EXPECT_EQ(said("%c: f32 = param %n"), "the result of param must be u32, not f32");
}

TEST(Verify, Dominance) {
  EXPECT_EQ(said("if %b {\n%c: f32 = neg %f\n}\n%d: f32 = neg %c"), "neg uses a value that is not defined there");
  EXPECT_EQ(said("%r: u32 = for %t: u32 = %i to %r step %i with (%p: u32 = %i) {\nyield %p\n}").substr(0, 4), "%r i");
  EXPECT_EQ(said("%r: u32 = if %b {\n%c: u32 = neg %r\nyield %c\n} else {\nyield %i\n}"),
            "neg uses a value that is not defined there");
  EXPECT_EQ(said("for %t: u32 = %i to %i step %i {\n}\n%c: u32 = neg %t"),
            "neg uses a value that is not defined there");
}

TEST(Verify, MemoryAndAlignment) {
  EXPECT_EQ(said("store %x[%i], %f"), "store to 'x', which is an input; declare it out or inout");
  EXPECT_EQ(said("store %y[%f], %f"), "the index of store must be one integer, not f32");
  EXPECT_EQ(said("%c: f16 = load %x[%i]"), "load of f16 in 'x', which holds f32; cast it");
  EXPECT_EQ(said("%c: f32x4 = load %x[%i] align 3"),
            "load of 4 lanes claims an alignment of 3; 1 to its lanes is possible");
  EXPECT_EQ(said("%c: f32x2 = load %x[%i] align 4"),
            "load of 2 lanes claims an alignment of 4; 1 to its lanes is possible");
  EXPECT_EQ(said("%c: f32 = atomic sum %x[%i], %f"), "atomic to 'x', which is an input; declare it out or inout");
  EXPECT_EQ(said("%c: f32 = atomic sum %a[%i], %f"), "atomic on 'a', an array of one thread; use load and store");
  EXPECT_EQ(said("%c: f32x4 = atomic sum %y[%i], %v4"), "atomic takes one scalar and gives its old value");
  EXPECT_EQ(said("%c: f32 = atomic and %y[%i], %f"), "atomic and does not take f32");
}

TEST(Verify, Collectives) {
  EXPECT_EQ(said("%c: f32 = simd_reduce and %f"), "simd_reduce and does not take f32");
  EXPECT_EQ(said("%c: f32 = vector_reduce sum %v4"), "");
  EXPECT_EQ(said("%c: f32 = vector_reduce and %v4"), "vector_reduce and does not take f32x4");
  EXPECT_EQ(said("%c: f32x4 = vector_reduce sum %v4"), "the result of vector_reduce must be f32, not f32x4");
  EXPECT_EQ(said("%c: f32 = group_reduce exchange %f"), "group_reduce exchange does not take f32");
  EXPECT_EQ(said("%c: f32 = simd_shuffle %f, %f"), "the lane of simd_shuffle must be one integer, not f32");
  EXPECT_EQ(said("%c: f32 = simd_shuffle_xor %f, 32"), "simd_shuffle_xor 32 is not in 0..31");
}

TEST(Verify, Variables) {
  EXPECT_EQ(said("%c: f32 = get %f"), "get names no variable");
  EXPECT_EQ(said("%v: f32 = var %f\nset %v, %i"), "set stores u32 in a variable of f32");
  EXPECT_EQ(said("%v: f32 = var %f\n%c: f32 = neg %v"), "neg uses a variable as a value; get it first");
}

TEST(Verify, RegionsAndYields) {
  EXPECT_EQ(said("if %f {\n}"), "the condition of if must be bool, not f32");
  EXPECT_EQ(said("%c: f32 = if %b {\nyield %f\n}"), "if: else yields and results do not agree in number and type");
  EXPECT_EQ(said("if %b {\nyield %f\n}"), "if: then yields and results do not agree in number and type");
  EXPECT_EQ(said("for %t: f32 = %f to %f step %f {\n}"), "the begin of for must be one integer, not f32");
  EXPECT_EQ(said("%z: u32 = const 0\nfor %t: u32 = %i to %i step %z {\n}"), "the step of for must be positive");
  EXPECT_EQ(said("%z: i32 = const -1\nfor %t: i32 = %z to %z step %z {\n}"), "the step of for must be positive");
  EXPECT_EQ(said("%z: u64 = const 1\nfor %t: u32 = %i to %z step %i {\n}"),
            "begin, end and step of for must be of one type");
  EXPECT_EQ(said("for %t: u64 = %i to %i step %i {\n}"), "the index of for must have the type of its begin");
  EXPECT_EQ(said("%r: u32 = for %t: u32 = %i to %i step %i with (%p: f32 = %i) {\nyield %i\n}"),
            "for: carried arguments and initial values do not agree in number and type");
  EXPECT_EQ(said("%r: f32 = for %t: u32 = %i to %i step %i with (%p: f32 = %f) {\nyield %i\n}"),
            "for: yields and results do not agree in number and type");
  EXPECT_EQ(said("while {\nyield %f\n} do {\n}"), "while must first yield its condition, a bool");
  EXPECT_EQ(said("while with (%p: u32 = %i) {\nyield %b\n} do {\n}"),
            "while: yields of the body and initial values do not agree in number and type");
  EXPECT_EQ(said("while {\nyield %b, %f\n} do {\n}"),
            "while: what the condition passes on and results do not agree in number and type");
  EXPECT_EQ(said("while {\nyield %b\n} do (%q: f32) {\n}"),
            "while: arguments of the body and results do not agree in number and type");
}

TEST(Verify, BarriersNeedTheWholeThreadgroup) {
  const std::string group =
      "barrier is reached by a part of the threadgroup; move it out of the if_ or loop whose condition differs between "
      "threads";
  EXPECT_EQ(said("%c: bool = lt %sg, %i\nif %c {\nbarrier\n}"), group);
  EXPECT_EQ(said("for %t: u32 = %sg to %i step %i {\nbarrier\n}"), group);
  EXPECT_EQ(said("%v: u32 = load %s[%sg]\n%c: bool = lt %v, %i\nif %c {\nbarrier\n}"), group);
  EXPECT_EQ(said("%v: u32 = load %s[%i]\n%c: bool = lt %v, %i\nif %c {\nbarrier\n}"), "");
  EXPECT_EQ(said("%c: bool = lt %sg, %i\nif %c {\n%r: f32 = group_reduce sum %f\n}"), "group_reduce" + group.substr(7));
  EXPECT_EQ(said("while {\n%c: bool = lt %sg, %i\nyield %c\n} do {\nbarrier\n}"), group);
}

TEST(Verify, SimdCollectivesNeedTheWholeSimdgroup) {
  const std::string simd =
      " is reached by a part of the simdgroup; move it out of the if_ or loop whose condition differs between lanes";
  EXPECT_EQ(said("%c: bool = lt %lane, %i\nif %c {\n%r: f32 = simd_reduce sum %f\n}"), "simd_reduce" + simd);
  EXPECT_EQ(said("for %t: u32 = %lane to %i step %i {\nsimd_barrier\n}"), "simd_barrier" + simd);
  EXPECT_EQ(said("%c: bool = lt %sg, %i\nif %c {\n%r: f32 = simd_reduce sum %f\nsimd_barrier\n}"), "");
}

/// What the verifier says after `break_it` changed the tables of a sound kernel.
std::string broken(const std::function<void(Kernel&)>& break_it) {
  Kernel k = parse(std::string(kHeader) +
                   "%c: u32 = for %t: u32 = %i to %i step %i with (%p: u32 = %i) {\nyield %p\n}" + kFooter)
                 .take();
  break_it(k);
  return verify(k);
}

TEST(Verify, DeclarationsAndTables) {
  EXPECT_EQ(broken([](Kernel&) {}), "");
  EXPECT_EQ(broken([](Kernel& k) { k.threads = 48; }),
            "[k] 48 threads; a threadgroup has a multiple of 32 threads, 32 to 1024\n");
  EXPECT_EQ(broken([](Kernel& k) { k.memories[1].name = "x"; }),
            "[k] two memories are named 'x'; each has its own name\n");
  EXPECT_EQ(broken([](Kernel& k) { k.memories[2].count = 0; }),
            "[k] array 's' has 0 elements; it needs at least one\n");
  EXPECT_EQ(broken([](Kernel& k) { std::swap(k.memories[1], k.memories[2]); }).substr(0, 68),
            "[k] device memory 'y' stands after other memory; device memories com");
  EXPECT_EQ(broken([](Kernel& k) { k.memories[0].shape = {-1}; }), "[k] 'x' has a negative extent\n");
  EXPECT_EQ(broken([](Kernel& k) { k.scalars.push_back(k.scalars[0]); }),
            "[k] two scalars are named 'n'; each has its own name\n");
  EXPECT_EQ(broken([](Kernel& k) { k.scalars[0].multiple_of = 0; }),
            "[k] scalar 'n' is declared a multiple of 0; only integers are multiples, of 1 or more\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[0].index = 7; }), "[k] param names a scalar that does not exist\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[2].bits = 2; }), "[k] const has bits outside bool\n");
  EXPECT_EQ(broken([](Kernel& k) { k.values[0].type.lanes = 3; }).substr(0, 62),
            "[k] the result of param must be u32, not u32x3\n[k] a value has");
  EXPECT_EQ(broken([](Kernel& k) { k.insts.back().memory = MemoryId{9}; }),
            "[k] store names a memory that does not exist\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts.back().in[0] = ValueId{99}; }),
            "[k] store has an operand that does not exist\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[0].out[0] = ValueId{99}; }), "[k] param has a result that does not exist\n");
  EXPECT_EQ(broken([](Kernel& k) { k.values[0].position = 1; }),
            "[k] a result of param does not name it and its position\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[0].home = RegionId{1}; }),
            "[k] param names another home than the region that lists it\n");
  EXPECT_EQ(broken([](Kernel& k) { k.regions[0].insts.push_back(InstId{0}); }),
            "[k] an instruction stands in two places\n");
  EXPECT_EQ(broken([](Kernel& k) { k.regions[0].insts.push_back(InstId{99}); }),
            "[k] a region lists an instruction that does not exist\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[7].regions[0] = RegionId{9}; }), "[k] names a region that does not exist\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[7].regions.push_back(RegionId{1}); }),
            "[k] a region stands in two places\n");
  EXPECT_EQ(broken([](Kernel& k) { k.regions[1].owner = InstId{0}; }), "[k] a region's owner is another instruction\n");
  EXPECT_EQ(broken([](Kernel& k) { k.regions[1].yields[0] = ValueId{99}; }),
            "[k] yields a value that does not exist\n");
  EXPECT_EQ(broken([](Kernel& k) { k.regions[1].args[0] = ValueId{99}; }), "[k] a region argument does not exist\n");
  EXPECT_EQ(broken([](Kernel& k) { k.values[index_of(k.regions[1].args[0])].position = 5; }),
            "[k] a region argument does not name its region and position\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[0].op = static_cast<Op>(250); }),
            "[k] has an op that is not in the table\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[0].regions.push_back(add_region(k, InstId{0})); }).substr(0, 30),
            "[k] a region stands in two pla");
  EXPECT_EQ(broken([](Kernel& k) { add_region(k, InstId{0}); }), "[k] param has no regions\n");
  EXPECT_EQ(broken([](Kernel& k) { k.insts[7].regions.clear(); }), "[k] for needs 1 regions, not 0\n");
  EXPECT_EQ(broken([](Kernel& k) { k.regions[0].yields = {ValueId{0}}; }).substr(0, 23), "[k] the body yields not");
  EXPECT_EQ(broken([](Kernel& k) { add_arg(k, RegionId::Root, {}); }), "[k] the body takes no arguments\n");
  EXPECT_EQ(broken([](Kernel& k) { k.regions.clear(); }), "[k] the kernel has no root region\n");
}

TEST(Verify, NothingStored) {
  EXPECT_EQ(broken([](Kernel& k) { k.regions[0].insts.pop_back(); }),
            "[k] nothing is stored to an output; a kernel stores to an out or inout memory\n");
}

TEST(Verify, SentencesNameThePlace) {
  EXPECT_EQ(broken([](Kernel& k) {
              k.insts.back().loc = Loc("dir/kernel.cpp", 7);
              k.insts.back().in.pop_back();
            }),
            "kernel.cpp:7: [k] store takes 2 operands, not 1\n");
}

}  // namespace
}  // namespace mt
