#include "mt/passes/vectorize_memory.h"

#include "mt/passes/algebra.h"
#include "mt/passes/cse.h"
#include "mt/passes/dce.h"
#include "mt/passes/fold.h"
#include "mt/passes/testing.h"

namespace mt {
namespace {

bool vectorize_and_clean(Kernel& k, const PipelineOptions& o) {
  const bool changed = vectorize_memory(k, o);
  fold(k, o);
  cse(k, o);
  dce(k, o);
  return changed;
}

const std::string kHead = R"(
    %1: u32 = const 1
    %2: u32 = const 2
    %3: u32 = const 3
    %4: u32 = const 4
    %z: u32 = param %n
    %w: u32 = param %m
    %z1: u32 = add %z, %1
    %z2: u32 = add %z, %2
    %z3: u32 = add %z, %3
    %w1: u32 = add %w, %1
    )";
std::string run(const std::string& body, const PipelineOptions& options = {}) {
  Kernel k = parsed(with_body(kHead + body));
  vectorize_and_clean(k, options);
  EXPECT_EQ(verify(k), "") << print(k);
  compact(k);
  return nameless(k);
}
/// The text without the pass, but cleaned alike.
std::string plain(const std::string& body) {
  Kernel k = parsed(with_body(kHead + body));
  fold(k, {});
  cse(k, {});
  dce(k, {});
  compact(k);
  return nameless(k);
}

TEST(VectorizeMemory, CopiesBecomeOneLoadAndOneStore) {
  EXPECT_EQ(run(R"(
    %c: f32 = load %x[%z2]
    %a: f32 = load %x[%z]
    %d: f32 = load %x[%z3]
    %b: f32 = load %x[%z1]
    store %y[%z3], %d
    store %y[%z], %a
    store %y[%z1], %b
    store %y[%z2], %c)"),
            text_of("%z: u32 = param %n\n%v: f32x4 = load %x[%z] align 4\nstore %y[%z], %v align 4"));
}

TEST(VectorizeMemory, WidthsThatTheTargetAndTheAlignmentAllow) {
  const std::string four =
      "%a: f32 = load %x[%z]\n%b: f32 = load %x[%z1]\n%c: f32 = load %x[%z2]\n%d: f32 = load %x[%z3]\n"
      "%e: f32 = add %a, %b\n%f: f32 = add %c, %d\n%g: f32 = add %e, %f\nstore %y[%w], %g";
  EXPECT_NE(run(four).find("f32x4 = load"), std::string::npos);
  const std::string narrow = run(four, {.max_vector_bytes = 8});
  EXPECT_EQ(narrow.find("f32x4"), std::string::npos);
  EXPECT_NE(narrow.find("f32x2 = load %x[%1] align 2"), narrow.rfind("f32x2 = load")) << narrow;
  EXPECT_EQ(run(four, {.max_vector_bytes = 4}), plain(four));
  const std::string unknown = "%a: f32 = load %x[%w]\n%b: f32 = load %x[%w1]\n%e: f32 = add %a, %b\nstore %y[%w], %e";
  EXPECT_EQ(run(unknown), plain(unknown)) << "m may be odd";
  const std::string odd = "%a: f32 = load %x[%z1]\n%b: f32 = load %x[%z2]\n%e: f32 = add %a, %b\nstore %y[%w], %e";
  EXPECT_EQ(run(odd), plain(odd)) << "n + 1 is odd";
}

TEST(VectorizeMemory, VectorsJoinToo) {
  EXPECT_EQ(run("%a: f32x2 = load %x[%z]\n%b: f32x2 = load %x[%z2]\nstore %y[%z], %a\nstore %y[%z2], %b"),
            text_of("%z: u32 = param %n\n%v: f32x4 = load %x[%z] align 4\nstore %y[%z], %v align 4"));
}

TEST(VectorizeMemory, ConstantIndices) {
  EXPECT_EQ(run("%a: f32 = load %s[%2]\n%b: f32 = load %s[%3]\n%e: f32 = add %a, %b\nstore %y[%w], %e"), text_of(R"(
    %2: u32 = const 2
    %w: u32 = param %m
    %v: f32x2 = load %s[%2] align 2
    %a: f32 = extract %v, 0
    %b: f32 = extract %v, 1
    %e: f32 = add %a, %b
    store %y[%w], %e)"));
}

TEST(VectorizeMemory, NothingMovesAcrossWhatMayTouchTheElements) {
  const std::string between[] = {"store %y[%w], %a", "barrier", "%old: f32 = atomic sum %y[%w], %a",
                                 "%c: bool = lt %z, %w\nif %c {\nstore %y[%w], %a\n}"};
  for (const std::string& what : between) {
    const std::string loads =
        "%a: f32 = load %y[%z]\n" + what + "\n%b: f32 = load %y[%z1]\n%e: f32 = add %a, %b\nstore %y[%w1], %e";
    EXPECT_EQ(run(loads), plain(loads)) << what;
  }
  const std::string between_stores[] = {"%b: f32 = load %y[%w]\nstore %y[%w], %b", "barrier",
                                        "%old: u32 = atomic sum %o[%w], %z", "%b: f32 = load %y[%w]\nstore %s[%w], %b",
                                        "%c: bool = lt %z, %w\nif %c {\n%q: f32 = load %y[%w]\nstore %s[%w], %q\n}"};
  for (const std::string& what : between_stores) {
    const std::string stores = "%a: f32 = load %x[%z]\nstore %y[%z], %a\n" + what + "\nstore %y[%z1], %a";
    const std::string text = run(stores);
    EXPECT_EQ(text, plain(stores)) << what;
  }
}

TEST(VectorizeMemory, AnElementThatIsStoredTwiceKeepsTheOrder) {
  EXPECT_EQ(run("%a: f32 = load %x[%w]\n%b: f32 = neg %a\nstore %y[%z], %b\nstore %y[%z], %a\nstore %y[%z1], %a"),
            text_of(R"(
    %z: u32 = param %n
    %w: u32 = param %m
    %a: f32 = load %x[%w]
    %b: f32 = neg %a
    store %y[%z], %b
    %p: f32x2 = splat %a
    store %y[%z], %p align 2)"));
}

TEST(VectorizeMemory, TheLastStoreOfAnElementWins) {
  EXPECT_EQ(run("%a: f32 = load %x[%w]\n%b: f32 = neg %a\n%c: f32 = exp %a\nstore %y[%z1], %b\nstore %y[%z1], "
                "%c\nstore %y[%z], %a"),
            text_of(R"(
    %1: u32 = const 1
    %z: u32 = param %n
    %w: u32 = param %m
    %z1: u32 = add %z, %1
    %a: f32 = load %x[%w]
    %b: f32 = neg %a
    %c: f32 = exp %a
    store %y[%z1], %b
    %p: f32x2 = pack %a, %c
    store %y[%z], %p align 2)"));
}

TEST(VectorizeMemory, OtherMemoriesDoNotMatter) {
  const std::string text =
      run("%a: f32 = load %y[%z]\nstore %s[%w], %a\n%b: f32 = load %y[%z1]\nstore %s[%w1], %b\nstore %o[%w], %w");
  EXPECT_NE(text.find("f32x2 = load %y"), std::string::npos) << text;
}

}  // namespace
}  // namespace mt
