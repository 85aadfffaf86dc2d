// Every op of tiles against the reference executor.
#include <sys/mman.h>

#include "backends/cpu/compiler.h"
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/testing.h"
#include "backends/cpu/tile_notes.h"
#include "backends/cpu/tile_plan.h"
#include "mt/ir/edit.h"
#include "mt/ir/tile_kernels.h"
#include "mt/ir/verify.h"
#include "mt/passes/pipeline.h"

namespace mt::cpu {
namespace {

HostTensor filled(const Memory& m, std::uint32_t seed) {
  HostTensor t(m.name, m.dtype, {m.shape[0].extent});
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const auto r = (static_cast<std::uint32_t>(i) * 2654435761u + seed * 40503u) >> 8;
    t.set(i, static_cast<double>(r % 2003) / 1001.5 - 1);
  }
  return t;
}

Launch launch_of(const TileCase& c) {
  Launch l{.kernel = c.kernel, .scalars = c.scalars};
  for (const Memory& m : c.kernel.memories)
    if (m.space == Space::Device) l.tensors.push_back(filled(m, static_cast<std::uint32_t>(l.tensors.size())));
  return l;
}

/// Whether cpu and interp leave the same, up to the order of sums: a few parts of what the dtype resolves.
void expect_close(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    const double bound = a[t].dtype == DType::F32 ? 2e-5 : a[t].dtype == DType::F16 ? 1e-3 : 8e-3;
    int wrong = 0;
    for (std::int64_t i = 0; i < a[t].count(); ++i) {
      const double x = a[t].at(i), y = b[t].at(i);
      const bool same = (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= bound * std::max(1.0, std::fabs(y));
      if (!same && ++wrong <= 3) ADD_FAILURE() << a[t].name << "[" << i << "]: cpu " << x << ", interp " << y;
    }
    EXPECT_EQ(wrong, 0) << a[t].name;
  }
}

void same_on_both(const TileCase& c) {
  SCOPED_TRACE(c.kernel.name + " " + testing::PrintToString(c.scalars));
  ASSERT_EQ(verify(c.kernel), "");
  Launch l = launch_of(c);
  const std::vector<HostTensor> want = l.run("interp");
  expect_close(l.run("cpu"), want);
  optimise(l.kernel, find_backend("cpu")->pipeline());
  expect_close(l.run("cpu"), want);
}

constexpr DType kFloats[] = {DType::F32, DType::F16, DType::BF16};

TEST(Tiles, ProductsOfEveryDtypeAndOrder) {
  for (const DType t : kFloats)
    for (int order = 0; order < 8; ++order)
      for (const bool shared : {false, true})
        same_on_both(tile_product({.dtype = t,
                                   .out = t,
                                   .rows = 24,
                                   .cols = 40,
                                   .depth = 16,
                                   .m = 24,
                                   .n = 40,
                                   .k = 16,
                                   .lhs_t = (order & 1) != 0,
                                   .rhs_t = (order & 2) != 0,
                                   .out_t = (order & 4) != 0,
                                   .gap = 3,
                                   .shared = shared,
                                   .index = shared ? "u32" : "u64"}));
}

TEST(Tiles, WhatDoesNotExistIsZeroAndNotWritten) {
  constexpr int kExist[][3] = {{0, 40, 16},  {24, 0, 16}, {24, 40, 0}, {1, 1, 1},
                               {23, 39, 15}, {9, 33, 8},  {100, 7, 99}};
  for (const DType t : kFloats)
    for (const auto& [m, n, k] : kExist)
      for (int order = 0; order < 8; ++order)
        same_on_both(tile_product({.dtype = t,
                                   .rows = 24,
                                   .cols = 40,
                                   .depth = 16,
                                   .m = m,
                                   .n = n,
                                   .k = k,
                                   .lhs_t = (order & 1) != 0,
                                   .rhs_t = (order & 2) != 0,
                                   .out_t = (order & 4) != 0,
                                   .gap = order}));
}

TEST(Tiles, ShapesFromTheSmallestToLarge) {
  constexpr int kShapes[][3] = {{8, 8, 8},    {8, 128, 8},   {128, 8, 24},   {32, 56, 128},
                                {48, 96, 40}, {64, 72, 256}, {120, 104, 16}, {256, 256, 32}};
  for (const auto& [m, n, k] : kShapes)
    for (const bool turned : {false, true})
      same_on_both(tile_product({.dtype = turned ? DType::BF16 : DType::F32,
                                 .rows = m,
                                 .cols = n,
                                 .depth = k,
                                 .m = m,
                                 .n = n,
                                 .k = k,
                                 .lhs_t = turned,
                                 .rhs_t = turned}));
}

TEST(Tiles, SimdgroupsHaveTilesOfTheirOwn) {
  for (const int simds : {2, 4})
    for (const bool shared : {false, true})
      for (const bool turned : {false, true})
        same_on_both(tile_product({.dtype = DType::F16,
                                   .rows = 16,
                                   .cols = 24,
                                   .depth = 32,
                                   .m = 15,
                                   .n = 23,
                                   .k = 31,
                                   .lhs_t = turned,
                                   .rhs_t = !turned,
                                   .gap = 1,
                                   .shared = shared,
                                   .simds = simds}));
}

TEST(Tiles, ElementsReductionsAndControlFlow) {
  for (const auto& [name, body] : tile_bodies())
    for (const int simds : {1, 2, 4})
      for (const std::uint64_t n : {0, 1, 2, 5}) same_on_both(tile_body(name, body, DType::F32, 16, 40, simds, n));
}

TEST(Tiles, BodiesOfEveryDtypeAndShape) {
  constexpr int kShapes[][2] = {{8, 8}, {40, 24}, {64, 64}, {72, 96}, {16, 32}, {8, 64}};
  int next = 0;
  for (const auto& [name, body] : tile_bodies())
    for (const auto& [rows, cols] : kShapes) same_on_both(tile_body(name, body, kFloats[next++ % 3], rows, cols, 1, 3));
}

/// Few rows, and lines of the rhs that are known to be whole: it is read where it lies.
std::vector<TileProduct> products_in_place() {
  std::vector<TileProduct> all;
  int next = 0;
  for (const bool turned : {false, true})
    for (const int rows : {8, 16, 24, 32})
      for (const int used : {1, 2, 3, 4, 5, 7, 8, 13, 24, 32}) {
        if (used > rows || used <= rows - 16) continue;
        for (int again = 0; again < 2; ++again) {
          constexpr int kLines[] = {40, 0, 3, 1, 8, 100, 7};
          const int lines = kLines[next % 7];
          const int most = turned ? 40 : 24, length = next % 3 == 0 ? 16 : next % 3 == 1 ? 48 : 96;
          TileProduct p{.dtype = kFloats[next % 3 == 2 ? 0 : 1 + next / 3 % 2],
                        .rows = rows,
                        .cols = turned ? most : length,
                        .depth = turned ? length : most,
                        .m = used,
                        .n = turned ? lines : length,
                        .k = turned ? length : lines,
                        .rhs_t = turned,
                        .gap = next % 4 * 5,
                        .simds = next % 5 == 0 ? 2 : 1,
                        .index = next % 2 ? "u32" : "u64",
                        .known = true};
          all.push_back(p);
          ++next;
        }
      }
  return all;
}

TEST(Tiles, FewRowsReadTheRightOperandWhereItLies) {
  for (const TileProduct& p : products_in_place()) {
    const TileCase c = tile_product(p);
    const Kernel& k = c.kernel;
    const TileProducts products(k);
    int found = 0;
    walk(k, RegionId::Root, [&](InstId i) {
      if (k.at(i).op != Op::TileMma) return;
      ++found;
      EXPECT_NE(products.in_place(k.at(i)), nullptr) << k.name << ": " << products.why(k.at(i));
      EXPECT_EQ(products.rows(k.at(i)), p.m);
    });
    EXPECT_EQ(found, 1);
    same_on_both(c);
  }
}

/// The operand of each trip lies elsewhere, as the kernel computes and as a table says, and its last lines are missing.
std::vector<TileCase> walks_in_place() {
  std::vector<TileCase> all;
  for (const bool turned : {false, true})
    for (const int cols : {16, 64})
      for (const std::uint64_t n : {0, 1, 2, 5}) {
        const std::string bounds = turned ? "%cols, %left] transposed" : "%left, %cols]";
        all.push_back(tile_body("walk",
                                R"(
  %result: $ACC = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x) {
    %turn: u32 = bit_and %i, %one
    %seen: f32 = load %c[%turn]
    %low: f32 = min %seen, %f1
    %high: f32 = max %low, %f0
    %shift: u32 = cast %high
    %down: u32 = add %turn, %shift
    %from: u32 = mul %down, %cols
    %left: u32 = sub %cols, %down
    %rhs: $RHS = tile_load %b[%from, %cols, )" +
                                    bounds + R"(
    %next: $ACC = tile_mma %acc, %l, %rhs
    yield %next
  })",
                                kFloats[all.size() % 3], 16, cols, 1, n));
      }
  return all;
}

TEST(Tiles, TheOperandOfTheNextTripIsAskedFor) {
  for (const TileCase& c : walks_in_place()) {
    const std::string text = emit(c.kernel, cpu_info().emit).text;
    EXPECT_NE(text.find("llvm.prefetch"), text.npos);
    same_on_both(c);
  }
  // Where it lies follows from what the loop carries: nobody knows it yet.
  const TileCase carried = tile_body("carried", R"(
  %result: $ACC, %last: u32 = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x, %at: u32 = %zero) {
    %rhs: $RHS = tile_load %b[%at, %cols, %cols, %cols]
    %next: $ACC = tile_mma %acc, %l, %rhs
    %more: u32 = bit_xor %at, %zero
    yield %next, %more
  })",
                                     DType::BF16, 16, 32, 1, 3);
  EXPECT_EQ(emit(carried.kernel, cpu_info().emit).text.find("llvm.prefetch"), std::string::npos);
  same_on_both(carried);
}

/// Whether the first product of the body reads its right operand %r where it lies.
bool lies(const std::string& body, int rows = 16, int cols = 32) {
  const Kernel k = tile_body("k", body, DType::F16, rows, cols, 1, 3).kernel;
  const TileProducts products(k);
  std::optional<bool> first;
  walk(k, RegionId::Root, [&](InstId i) {
    if (k.at(i).op == Op::TileMma && !first) first = products.in_place(k.at(i)) != nullptr;
  });
  return first.value();
}

TEST(Tiles, WhatIsReadAgainOrMayChangeIsPacked) {
  const std::string one = "%result: $ACC = tile_mma %x, %l, %r";
  EXPECT_TRUE(lies(one));
  EXPECT_FALSE(lies(one, 40));
  EXPECT_FALSE(lies(one, 16, 24)) << "lines that are no whole vectors";
  EXPECT_TRUE(lies("%s1: $ACC = tile_mma %x, %l, %r\n%result: $ACC = tile_mma %s1, %l, %r"));
  EXPECT_FALSE(
      lies("%s1: $ACC = tile_mma %x, %l, %r\n%s2: $ACC = tile_mma %s1, %l, %r\n%result: $ACC = tile_mma "
           "%s2, %l, %r"))
      << "three times 16 rows";
  EXPECT_FALSE(lies("barrier\n" + one)) << "the group waits in between";
  EXPECT_FALSE(lies(R"(
  %result: $ACC = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %x) {
    %next: $ACC = tile_mma %acc, %l, %r
    yield %next
  })"))
      << "the loop takes it again and again";
  EXPECT_FALSE(lies(R"(
  %mine: $RHS = tile_load %side[%beside, %cols, %cols, %cols]
  %result: $ACC = tile_mma %x, %l, %mine)"))
      << "memory that is written";
  EXPECT_FALSE(lies(R"(
  %ll: $LHS = tile_load %b[%part, %rows, %rows, %cols] transposed
  %result: $ACC = tile_mma %x, %ll, %r)"))
      << "a left operand by columns";
}

TEST(Tiles, RowsThatNobodyAsksForAreLeftOut) {
  const TileCase c = tile_body("few", R"(
  %three_rows: u32 = const 3
  %s1: $ACC = tile_mma %x, %l, %r
  %low: $LHS = tile_cast %s1
  %s2: $ACC = for %i: u32 = %zero to %n step %one with (%acc: $ACC = %y) {
    %rr: $RHS = tile_load %b[%zero, %cols, %cols, %cols]
    %next: $ACC = tile_mma %acc, %low, %rr
    yield %next
  }
  %sum: $ROWS = tile_reduce sum %s2
  %big: $ACC = tile_map %s2, %sum (%e: f32, %g: f32, %a: u32, %d: u32) {
    %w: f32 = add %e, %g
    yield %w
  }
  tile_store %out[%part, %cols, %three_rows, %cols], %big
  %result: $ACC = tile_fill %f1)",
                               DType::F32, 16, 32, 1, 2);
  // The body's own store puts %result over all rows; without it the three rows are what is asked for.
  Kernel k = c.kernel;
  std::vector<InstId>& insts = k.regions[0].insts;
  ASSERT_EQ(k.at(insts.back()).op, Op::TileStore);
  insts.pop_back();
  const TileProducts products(k);
  int found = 0;
  walk(k, RegionId::Root, [&](InstId i) {
    if (k.at(i).op != Op::TileMma) return;
    ++found;
    EXPECT_EQ(products.rows(k.at(i)), 3);
  });
  EXPECT_EQ(found, 2);
  same_on_both({std::move(k), c.scalars});
}

TEST(Tiles, NotesSayHowProductsAreMade) {
  const auto notes = [](const TileProduct& p, bool avx512) {
    std::string text;
    for (const std::string& line : tile_notes(tile_product(p).kernel, {.avx512 = avx512})) text += line + "\n";
    return text;
  };
  const TileProduct few{
      .dtype = DType::BF16, .rows = 8, .cols = 64, .depth = 128, .m = 4, .n = 64, .k = 128, .known = true};
  EXPECT_EQ(notes(few, true), R"(tile_load bf16.lhs.8x128: 4096 bytes of f32
tile_load bf16.rhs.128x64: no buffer
tile_load f32.acc.8x64: 2048 bytes of f32
tile_mma f32.acc.8x64: 4 of 8 rows, blocks of 4 x 64; the right operand is read where it lies: for 4 rows packing does not pay
6400 bytes for the tiles of a simdgroup
)");
  TileProduct turned = few;
  turned.rhs_t = true;
  EXPECT_NE(notes(turned, true).find("4 x 4 dot products at a time along 128;"), std::string::npos);
  EXPECT_NE(notes(turned, false).find("4 x 2 dot products at a time along 128;"), std::string::npos);
  TileProduct many = turned;
  many.rows = many.m = 64;
  const std::string packed = notes(many, true);
  EXPECT_NE(packed.find("tile_load bf16.rhs.128x64: 32768 bytes of f32, turned by blocks of 8 x 8"), std::string::npos);
  EXPECT_NE(packed.find("blocks of 8 x 32; the right operand is packed: 64 rows use it again"), std::string::npos);
  EXPECT_NE(notes(many, false).find("blocks of 4 x 16; the right operand is packed"), std::string::npos);
}

/// Memory that ends where a page begins that nothing may touch.
class Fenced {
 public:
  explicit Fenced(std::size_t bytes) : bytes_(bytes), mapped_((bytes + kPage - 1) / kPage * kPage + kPage) {
    void* m = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED || mprotect(static_cast<std::byte*>(m) + mapped_ - kPage, kPage, PROT_NONE) != 0)
      throw Error("no fenced memory");
    base_ = static_cast<std::byte*>(m);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(base_, mapped_); }
  std::byte* data() { return base_ + mapped_ - kPage - bytes_; }

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t bytes_, mapped_;
  std::byte* base_ = nullptr;
};

/// What the launch leaves when its code is written for a processor of that kind, in fenced memory.
std::vector<HostTensor> run_for(const EmitOptions& options, const Launch& l) {
  const Emitted e = emit(l.kernel, options);
  const CompiledText made = compile_text(e.text, l.kernel.name, object_cache());
  std::vector<std::unique_ptr<Fenced>> memory;
  std::vector<void*> buffers;
  for (const HostTensor& t : l.tensors) {
    memory.push_back(std::make_unique<Fenced>(t.bytes()));
    buffers.push_back(memory.back()->data());
    std::memcpy(buffers.back(), t.data.data(), t.bytes());
  }
  Fenced scratch((e.scratch_bytes + 63) / 64 * 64);
  made.code->entry<EntryPoint>()(buffers.data(), l.scalars.data(), 0, l.groups[0], l.groups[0], 1, 1, scratch.data(),
                                 0);
  std::vector<HostTensor> after = l.tensors;
  for (std::size_t t = 0; t < after.size(); ++t) std::memcpy(after[t].data.data(), buffers[t], after[t].bytes());
  return after;
}

TEST(Tiles, TouchNothingBeyondWhatExistsOnAnyProcessor) {
  const auto check = [](const TileCase& c) {
    SCOPED_TRACE(c.kernel.name + " " + testing::PrintToString(c.scalars));
    const Launch l = launch_of(c);
    const std::vector<HostTensor> want = l.run("interp");
    expect_close(run_for({}, l), want);
    expect_close(run_for(cpu_info().emit, l), want);
  };
  constexpr int kExist[][3] = {{24, 40, 16}, {0, 40, 16}, {23, 39, 15}, {9, 33, 8}, {100, 7, 99}};
  int next = 0;
  for (const auto& [m, n, k] : kExist)
    for (int order = 0; order < 8; ++order) {
      const DType t = kFloats[next++ % 3];
      check(tile_product({.dtype = t,
                          .out = t,
                          .rows = 24,
                          .cols = 40,
                          .depth = 16,
                          .m = m,
                          .n = n,
                          .k = k,
                          .lhs_t = (order & 1) != 0,
                          .rhs_t = (order & 2) != 0,
                          .out_t = (order & 4) != 0,
                          .gap = 1}));
    }
  for (const auto& [name, body] : tile_bodies()) check(tile_body(name, body, kFloats[next++ % 3], 40, 24, 1, 3));
  for (const TileProduct& p : products_in_place())
    if (next++ % 4 == 0 && p.simds == 1) check(tile_product(p));
  for (const TileCase& c : walks_in_place()) check(c);
}

/// Copies of four elements a thread, of which `exist` exist, to places `apart` from thread to thread.
void copies_agree(const std::string& exist, const std::string& apart, std::uint64_t n) {
  for (const int threads : {32, 64}) {
    const std::string body = "%apart: u32 = const " + apart + "\n%at: u32 = mul %t, %apart\n" + exist + R"(
  %wide: u64 = cast %at
  %start: u64 = cast %nn
  %from: u64 = add %wide, %start
  copy_async %s[%at], %x[%from], %e of 4 align 1
  copy_commit
  copy_wait 0
  barrier
  %last: u32 = sub %threads, %c1
  %other: u32 = sub %last, %t
  %at2: u32 = mul %other, %apart
  %v: f32x4 = load %s[%at2]
  %i4: u32 = mul %i, %c4
  store %y[%i4], %v)";
    Launch l = cpu::launch_of(body, n, threads);
    const std::vector<HostTensor> want = l.run("interp");
    expect_same(l.run("cpu"), want);
    optimise(l.kernel, find_backend("cpu")->pipeline());
    expect_same(l.run("cpu"), want);
  }
}

TEST(Copies, OneStretchOrOneALane) {
  for (const char* const apart : {"4", "5", "12"})
    for (const std::uint64_t n : {0, 3, 100}) {
      copies_agree("%e: u32 = add %c4, %c0", apart, n);
      copies_agree("%e: u32 = bit_and %t, %c3", apart, n);
      copies_agree("%e: u32 = rem %t, %c8", apart, n);
      copies_agree("%big: bool = gt %t, %c8\n%e: u32 = select %big, %c4, %c0", apart, n);
    }
}

}  // namespace
}  // namespace mt::cpu
