#include "mt/ir/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "mt/ir/edit.h"

namespace mt {
namespace {

/// Every construct of the text form, as the printer writes it.
const char* const kEverything = R"(kernel @everything threads 64 {
  device in %x: f32 [rows, 128]
  device inout %y: f32 [rows, 128]
  device out temporary %"odd name": u32 []
  threadgroup %tile: f16 [256]
  thread %mine: f32 [4]
  scalar %n: u32 multiple 4
  scalar %"a b": f32

  %0: u32 = group_id 1
  %1: u32 = thread_id
  %sg: u32 = simd_id
  %lane: u32 = lane_id
  %count: u32 = param %n
  %5: f32 = param %"a b"
  %6: u32 = const 0
  %7: i64 = const -5
  %8: bool = const true
  %9: f32x4 = const 0.1
  %10: f32 = const nan:0x7fc00001
  %11: f16 = const -inf
  %12: f32 = const 1e-45
  %13: f32 = const -0.0
  %14: f32x4 = load %x[%0] align 4
  %15: f32 = extract %14, 3
  %16: f32x4 = fma %14, %14, %9
  %17: f32x4 = select %8, %14, %16
  %18: f32x2 = pack %15, %13
  %19: u32 = bitcast %15
  %20: f16 = cast %15
  %21: bool = lt %5, %15
  store %y[%0], %17 align 4
  store %tile[%1], %20
  store %mine[%6], %15
  barrier
  simd_barrier
  %22: u32 = atomic exchange %"odd name"[%6], %19
  %23: f32 = simd_reduce max %15
  %24: f32 = simd_scan sum exclusive %23
  %25: f32 = simd_shuffle %24, %lane
  %26: f32 = simd_shuffle_xor %25, 16
  %27: f32 = simd_shuffle_up %26, 1
  %28: f32 = simd_broadcast %27, 31
  %29: f32 = group_reduce sum %28
  %var: f32 = var %29
  %31: f32 = get %var
  set %var, %31
  %best: f32, %33: u32 = if %21 {
    yield %31, %1
  } else {
    %34: f32 = neg %31
    yield %34, %0
  }
  if %21 {
    store %y[%0], %best
  }
  %35: f32 = for %t: u32 = %sg to %count step %count with (%acc: f32 = %33f) contiguous {
    %38: f32 = add %acc, %best
    yield %38
  }
  for %39: u32 = %6 to %count step %count {
  }
  %40: u32, %41: f32 = while with (%42: u32 = %6) {
    %43: bool = lt %42, %count
    yield %43, %42, %35
  } do (%44: u32, %45: f32) {
    %46: u32 = add %44, %40
    yield %46
  }
}
)";

std::string everything() {
  std::string s = kEverything;
  const auto swap = [&](const char* from, const char* to) { s.replace(s.find(from), std::strlen(from), to); };
  swap("%33f", "%best");
  swap("add %44, %40", "add %44, %count");
  return s;
}

Kernel parsed(const std::string& text) {
  Result<Kernel> k = parse(text);
  EXPECT_TRUE(k) << k.error().what();
  return k.take();
}

TEST(Text, PrintOfParseIsTheSameText) {
  const std::string once = print(parsed(everything()));
  EXPECT_EQ(print(parsed(once)), once);
  // The text above is as printed, but for the numbers of unnamed values.
  EXPECT_NE(once.find("device out temporary %\"odd name\": u32 []\n"), std::string::npos);
  EXPECT_NE(once.find("  %10: f32 = const nan:0x7fc00001\n"), std::string::npos);
  EXPECT_NE(once.find("  %12: f32 = const 1e-45\n"), std::string::npos);
  EXPECT_NE(once.find("  store %y[%0], %17 align 4\n"), std::string::npos);
  EXPECT_NE(once.find("with (%acc: f32 = %best) contiguous {\n"), std::string::npos);
  EXPECT_EQ(std::count(once.begin(), once.end(), '\n'),
            std::count(kEverything, kEverything + std::strlen(kEverything), '\n'));
}

TEST(Text, FieldsSurvive) {
  const Kernel k = parsed(everything());
  EXPECT_EQ(k.name, "everything");
  EXPECT_EQ(k.threads, 64);
  ASSERT_EQ(k.memories.size(), 5u);
  EXPECT_EQ(k.memories[0].access, Access::In);
  EXPECT_EQ(k.memories[0].shape, (std::vector<Dim>{"rows", 128}));
  EXPECT_TRUE(k.memories[2].temporary);
  EXPECT_EQ(k.memories[2].name, "odd name");
  EXPECT_EQ(k.memories[3].space, Space::Threadgroup);
  EXPECT_EQ(k.memories[3].count, 256);
  EXPECT_EQ(k.memories[4].space, Space::Thread);
  EXPECT_EQ(k.scalars[0], (ScalarParam{"n", DType::U32, 4}));
  EXPECT_EQ(k.values[index_of(k.at(k.at(RegionId::Root).insts[2]).out[0])].name, "sg");
}

TEST(Text, ConstantsKeepTheirBits) {
  const DType dtypes[] = {DType::F32, DType::F16, DType::BF16, DType::I8, DType::U8,
                          DType::I32, DType::U32, DType::I64,  DType::U64};
  std::mt19937_64 random(7);
  for (const DType t : dtypes)
    for (int n = 0; n < 300; ++n) {
      Kernel k;
      k.name = "c";
      k.memories.push_back({.name = "y", .dtype = t, .access = Access::Out, .shape = {1}});
      Builder b(k);
      const int width = bits_of(t);
      const std::uint64_t bits = n == 0 ? 0 : n == 1 ? ~0ull >> (64 - width) : random() >> (64 - width);
      const ValueId index = b.constant_int(DType::U32, 0);
      b.store(MemoryId{0}, index, b.constant({t}, bits));
      const Kernel back = parsed(print(k));
      EXPECT_EQ(back.insts[1].bits, bits) << print(k);
    }
}

TEST(Text, EqualNamesAreToldApart) {
  Kernel k;
  k.name = "k";
  k.memories.push_back({.name = "y", .access = Access::Out, .shape = {1}});
  Builder b(k);
  const ValueId zero = b.constant_int(DType::U32, 0), a = b.constant_f32(1), c = b.constant_f32(2);
  k.at(a).name = k.at(c).name = "a";
  k.at(zero).name = "no name";
  b.store(MemoryId{0}, zero, b.binary(Op::Sub, a, c));
  const std::string text = print(k);
  EXPECT_NE(text.find("%3: f32 = sub %a, %a.2\n"), std::string::npos) << text;
  EXPECT_EQ(print(parsed(text)), text);
}

TEST(Text, LocationsAreOptionalAndParsedBack) {
  Kernel k = parsed(
      "kernel @k threads 32 { ; k.cpp:3\n device out %y: f32 [1]\n %0: u32 = const 0 ; dir/k.cpp:12\n"
      " %1: f32 = const 0 ; no place\n store %y[%0], %1 ; k.cpp:13\n}");
  EXPECT_EQ(k.loc.line, 3);
  EXPECT_EQ(to_string(k.insts[0].loc), "k.cpp:12");
  EXPECT_FALSE(k.insts[1].loc.known());
  const std::string text = print(k, {.locations = true});
  EXPECT_NE(text.find("%0: u32 = const 0 ; k.cpp:12\n"), std::string::npos) << text;
  EXPECT_EQ(print(parsed(text), {.locations = true}), text);
  EXPECT_EQ(print(k).find(';'), std::string::npos);
}

std::string error_of(const std::string& body) {
  const Result<Kernel> k = parse("kernel @k threads 32 {\ndevice out %y: f32 [n]\nscalar %n: u32\n" + body);
  return k ? "parsed" : k.error().what();
}

TEST(Text, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("%0: f33 = const 1\n}"),
            "line 4: [k] 'f33' is no type; write a dtype, a dtype and x2, x4 or x8, or a tile as dtype.role.RxC");
  EXPECT_EQ(error_of("%0: f32x3 = const 1\n}"),
            "line 4: [k] 'f32x3' is no type; write a dtype, a dtype and x2, x4 or x8, or a tile as dtype.role.RxC");
  EXPECT_EQ(error_of("\n%0: f32 = quux\n}"), "line 5: [k] 'quux' is no op");
  EXPECT_EQ(error_of("%0: u8 = const 256\n}"), "line 4: [k] '256' is no u8 constant");
  EXPECT_EQ(error_of("%0: i8 = const -129\n}"), "line 4: [k] '-129' is no i8 constant");
  EXPECT_EQ(error_of("%0: f32 = const nan:0x7f800000\n}"), "line 4: [k] '0x7f800000' are no bits of a f32 nan");
  EXPECT_EQ(error_of("%0: f32 = neg %1\n}"), "line 4: [k] %1 is used but not defined before");
  EXPECT_EQ(error_of("%a: u32 = param %n\n%a: u32 = param %n\n}"), "line 5: [k] %a is defined twice");
  EXPECT_EQ(error_of("%a: u32 = param %m\n}"), "line 4: [k] no scalar is named %m");
  EXPECT_EQ(error_of("%a: u32 = param %n\nstore %z[%a], %a\n}"), "line 5: [k] no memory is named %z");
  EXPECT_EQ(error_of("barrier"), "line 4: [k] the text ends inside a region; close it with }");
  EXPECT_EQ(error_of("}\n}"), "line 5: [k] text after the kernel; one text holds one kernel");
  EXPECT_EQ(error_of("$"), "line 4: a character (code 36) that no instruction has");
  EXPECT_EQ(error_of("\"abc\n"), "line 4: a string has no end; close it with \"");
  EXPECT_EQ(error_of("%0: u32 = group_id 99999999999\n}"), "line 4: [k] '99999999999' is no number that fits here");
  EXPECT_EQ(error_of("device out %y: f32 [n]\n}"), "line 4: [k] a second memory named %y");
  EXPECT_EQ(error_of("%a: u32 = param %n\n%b: f32 = load %y[%a], %a\n}"),
            "line 5: [k] expected an instruction before ','")
      << "an operand too many";
}

TEST(Text, TheParsedKernelIsVerified) {
  EXPECT_EQ(error_of("%a: u32 = param %n\nstore %y[%a], %a\n}"),
            "line 5: [k] store of u32 in 'y', which holds f32; cast it");
}

TEST(Text, NestingIsLimited) {
  std::string body = "%c: bool = const true\n";
  for (int i = 0; i < 100000; ++i) body += "if %c {\n";
  EXPECT_EQ(error_of(body), "line 69: [k] regions are nested deeper than 64");
}

TEST(Text, MutatedTextIsParsedOrRefused) {
  const std::string base = everything();
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::string alphabet = "%@{}[](),:=;\n\" \\x0123456789abfikmux-+.";
  int accepted = 0, refused = 0;
  for (int n = 0; n < 12000; ++n) {
    std::string s = base;
    const std::size_t edits = 1 + below(4);
    for (std::size_t e = 0; e < edits && !s.empty(); ++e) {
      const std::size_t at = below(s.size()), length = std::min(s.size() - at, 1 + below(12));
      switch (below(4)) {
        case 0:
          s[at] = alphabet[below(alphabet.size())];
          break;
        case 1:
          s.erase(at, length);
          break;
        case 2:
          s.insert(at, s.substr(below(s.size()), length));
          break;
        default:
          s[at] = static_cast<char>(below(256));
      }
    }
    const Result<Kernel> k = parse(s);
    if (!k) {
      ++refused;
      EXPECT_EQ(std::string(k.error().what()).rfind("line ", 0), 0u);
      continue;
    }
    ++accepted;
    const std::string text = print(*k, {.locations = true});
    const Result<Kernel> again = parse(text);
    ASSERT_TRUE(again) << again.error().what() << "\n" << text;
    ASSERT_EQ(print(*again, {.locations = true}), text);
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace mt
