// Kernels at the edge: ranges near the ends of their types, no trips at all, deep nesting, vectors at odd places.
#include "backends/cpu/testing.h"
#include "mt/passes/pipeline.h"

namespace mt::cpu {
namespace {

/// As traced and as the pipeline leaves it.
void same_everywhere(const std::string& body, std::uint64_t n = 100, int threads = 64) {
  same_on_both(body, n, threads);
  SCOPED_TRACE("threads " + std::to_string(threads) + ", after the pipeline" + body);
  Launch l = launch_of(body, n, threads);
  const std::vector<HostTensor> want = l.run("interp");
  optimise(l.kernel, find_backend("cpu")->pipeline());
  expect_same(l.run("cpu"), want);
}

/// A loop that adds what `adds` calls %a to x.
std::string loop(const std::string& type, const std::string& range, const std::string& adds) {
  return "%sum: f32 = for %j: " + type + " = " + range + " with (%q: f32 = %xt) {\n" + adds +
         "\n%z: f32 = add %q, %a\nyield %z\n}\nstore %y[%i], %sum";
}
const std::string kCount = "%a: f32 = add %f0, %f1";

TEST(Edge, LoopsWithoutTrips) {
  for (const std::uint64_t n : {0, 2, 3, 4}) same_everywhere(loop("u32", "%c3 to %nn step %c1", kCount), n);
}

TEST(Edge, LoopsNearTheEndsOfTheirTypes) {
  same_everywhere("%b: u32 = const 4294967281\n%e: u32 = const 4294967290\n" +
                  loop("u32", "%b to %e step %c3", kCount));
  same_everywhere("%b: u32 = const 4294967200\n%bl: u32 = add %b, %l\n%e: u32 = const 4294967240\n" +
                  loop("u32", "%bl to %e step %c8", kCount));
  same_everywhere(
      "%b: i32 = const -5\n%li: i32 = cast %l\n%bl: i32 = sub %b, %li\n%e: i32 = const 9\n%s: i32 = const 4\n" +
      loop("i32", "%bl to %e step %s", "%a: f32 = cast %j"));
  same_everywhere("%b: u64 = const 18446744073709551600\n%e: u64 = const 18446744073709551612\n%s: u64 = const 3\n" +
                  loop("u64", "%b to %e step %s", kCount));
}

TEST(Edge, LoopsOf64BitsPass32) {
  const std::string ends = "%b: u64 = const 4294967290\n%e: u64 = const 4294967340\n%s: u64 = const 7\n";
  same_everywhere(ends + loop("u64", "%b to %e step %s", "%low: u32 = cast %j\n%a: f32 = cast %low"));
  same_everywhere(ends + "%wide: u64 = cast %t\n%bt: u64 = add %b, %wide\n" + loop("u64", "%bt to %e step %s", kCount));
}

TEST(Edge, ValuesThatWrapBetweenLanesAreExactOnceTheyAreData) {
  const std::string high = "%c: u64 = const 32\n%hw: u64 = shr %w, %c\n%o: u32 = cast %hw\nstore %u[%i], %o\n";
  for (const std::uint64_t n : {0ull, 1ull, 5ull, 0x7ffffff8ull, 0xfffffff0ull}) {
    same_everywhere("%a: u32 = sub %nn, %t\n%w: u64 = cast %a\n" + high, n);
    same_everywhere("%a: u32 = add %nn, %t\n%w: u64 = cast %a\n" + high, n);
    same_everywhere(
        "%s0: i32 = bitcast %nn\n%st: i32 = cast %t\n%a: i32 = add %s0, %st\n%w0: i64 = cast %a\n%w: u64 = bitcast "
        "%w0\n" +
            high,
        n);
    same_everywhere(
        "%a0: u32 = add %nn, %t\n%a1: u64 = cast %a0\n%five: u64 = const 5\n%w: u64 = add %a1, %five\n" + high, n);
    const std::string least =
        "%c24: u32 = const 24\n%m: u32 = mul %nn, %c24\n%a0: u32 = add %m, %t\n%a: u32 = sub %a0, %c24\n";
    same_everywhere(least + "%o: u32 = div %a, %c8\nstore %u[%i], %o", n);
    same_everywhere(least + "%o: u32 = shr %a, %c3\nstore %u[%i], %o", n);
    same_everywhere(least + "%o: u32 = rem %a, %c24\nstore %u[%i], %o", n);
    same_everywhere(least + "%o: u32 = bit_and %a, %c31\nstore %u[%i], %o", n);
    same_everywhere(
        least + "%w: u64 = cast %a\n%d: u64 = const 8\n%q: u64 = div %w, %d\n%o: u32 = cast %q\nstore %u[%i], %o", n);
  }
}

TEST(Edge, IndicesBelowZeroInLanesThatAreOff) {
  for (const std::string op : {"div %a, %c8", "shr %a, %c3", "rem %a, %c8", "add %a, %c1"})
    for (const std::string wide : {"", "%wide"}) {
      const std::string index = "%a: u32 = sub %t, %c8\n%q: u32 = " + op + "\n%wide: u64 = cast %q\n";
      same_everywhere(index + "%on: bool = ge %t, %c8\nif %on {\n%v: f32 = load %x[" + (wide.empty() ? "%q" : wide) +
                      "]\nstore %y[%i], %v\n}");
    }
}

TEST(Edge, DeepNesting) {
  constexpr int kDepth = 24;
  std::string body, closed;
  for (int d = 0; d < kDepth; ++d) {
    const std::string n = std::to_string(d);
    if (d % 2 == 0)
      body += "%q" + n + ": u32 = const " + n + "\n%k" + n + ": bool = ge %t, %q" + n + "\nif %k" + n + " {\n";
    else
      body += "for %z" + n + ": u32 = %c0 to " + (d % 4 == 1 ? "%c1" : "%c2") + " step %c1 {\n";
    closed += "}\n";
  }
  body += "%old: f32 = load %y[%i]\n%new: f32 = add %old, %f1\nstore %y[%i], %new\n";
  for (const int threads : {32, 1024}) same_everywhere(body + closed, 100, threads);
}

TEST(Edge, ThousandThreadsMeet) {
  same_everywhere(
      "store %s[%t], %xt\nbarrier\n%last: u32 = sub %threads, %c1\n%other: u32 = sub %last, %t\n%v: f32 = load "
      "%s[%other]\n%most: f32 = group_reduce max %v\n%w: f32 = add %v, %most\nstore %y[%i], %w",
      100, 1024);
}

TEST(Edge, VectorsAtOddPlaces) {
  for (const std::string lanes : {"2", "4", "8"})
    for (const char* const offset : {"0", "1", "3", "7"})
      for (const bool some : {false, true}) {
        const std::string wide = "f32x" + lanes;
        const std::string body = "%v: " + wide + " = load %x[%at]\n%hv: f16x" + lanes +
                                 " = load %h[%at]\n%hf: " + wide + " = cast %hv\n%w: " + wide +
                                 " = add %v, %hf\nstore %y[%at], %w\n%cv: u8x" + lanes +
                                 " = load %c[%at]\nstore %c[%at], %cv\n";
        same_everywhere("%len: u32 = const " + lanes + "\n%off: u32 = const " + offset +
                        "\n%at0: u32 = mul %i, %len\n%at: u32 = add %at0, %off\n%few: bool = lt %l, %c8\n" +
                        (some ? "if %few {\n" + body + "}" : body));
      }
}

}  // namespace
}  // namespace mt::cpu
