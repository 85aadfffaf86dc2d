#include "backends/metal_host/lower/lower.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mt::metal_host {
namespace {

Lowered lowered(const std::string& text, int language = 310) { return lower(lex(text, "t.metal"), {}, language); }

bool has(const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; }

std::string body(const std::string& statements, const std::string& before = "") {
  const Lowered l = lowered(before + "kernel void k(device float* out [[buffer(0)]]) {\n" + statements + "\n}\n");
  EXPECT_TRUE(l.errors.empty()) << l.errors[0];
  return l.text;
}

TEST(Lexer, TokensKeepTheirPlaces) {
  const Tokens t = lex("int a; /* one\n two */ float b;\n# 40 \"other.h\"\nhalf c;\n", "t.metal");
  ASSERT_EQ(t.files.size(), 2u);
  for (const Token& k : t.all) {
    if (k.text == "a") {
      EXPECT_EQ(t.place(k), "t.metal:1");
    }
    if (k.text == "b") {
      EXPECT_EQ(t.place(k), "t.metal:2");
    }
    if (k.text == "c") {
      EXPECT_EQ(t.place(k), "other.h:40");
    }
  }
}

TEST(Lexer, NumbersAndOperatorsAreWhole) {
  std::vector<std::string> texts;
  for (const Token& k : lex("1.5e-3f 0x1p+4 0x1e+2 a<<=b 2.0bf .5h x->*y", "t").all)
    if (k.kind != TokenKind::Space) texts.push_back(k.text);
  const std::vector<std::string> want = {
      "1.5e-3f", "0x1p+4", "0x1e", "+", "2", "a", "<<=", "b", "2.0bf", ".5h", "x", "->*", "y"};
  EXPECT_EQ(texts, want);
}

TEST(Lexer, UnfinishedTextEnds) {
  for (const char* text : {"/* never", "\"never", "'", "\\", "#", "0x", "[[", "a.b", "\\\n"}) lowered(text);
}

TEST(Lexer, OnlyMetalsOwnHeadersNeedNoPreprocessor) {
  EXPECT_TRUE(needs_no_preprocessor(lex("#include <metal_stdlib>\n#pragma METAL fp contract(off)\nint a;\n", "t")));
  EXPECT_FALSE(needs_no_preprocessor(lex("#include \"mine.h\"\n", "t")));
  EXPECT_FALSE(needs_no_preprocessor(lex("  # define A 1\n", "t")));
}

TEST(Lowering, LinesStay) {
  const Lowered l = lowered(
      "#include <metal_stdlib>\n\nkernel void k(device float* out [[buffer(0)]],\n    uint i "
      "[[thread_position_in_grid]]) {\n  threadgroup float s[4];\n  out[i] = wrong;\n}\n");
  // What is on line 6 stands so many line ends behind the last marker.
  const std::size_t at = l.text.find("wrong"), marker = l.text.rfind("# ", at);
  ASSERT_NE(marker, std::string::npos) << l.text;
  const auto ends =
      std::count(l.text.begin() + static_cast<long>(marker), l.text.begin() + static_cast<long>(at), '\n');
  EXPECT_EQ(std::stoi(l.text.substr(marker + 2)) + ends - 1, 6) << l.text;
  const std::string rest = l.text.substr(l.text.find('\n') + 1);
  EXPECT_EQ(std::count(rest.begin(), rest.begin() + static_cast<long>(rest.find("wrong")), '\n'), 5) << l.text;
}

TEST(Lowering, SpacesBecomeOpenCls) {
  const std::string t = body("thread float* p = 0; threadgroup float* q = 0; constant float* r = 0; (void)p, (void)q;");
  EXPECT_TRUE(has(t, "__global float* out"));
  EXPECT_TRUE(has(t, "__private float* p"));
  EXPECT_TRUE(has(t, "__local float* q"));
  EXPECT_TRUE(has(t, "const __constant float* r"));
}

TEST(Lowering, SwizzlesAreReadOrAssigned) {
  const std::string t = body("float4 v = 1; v.xy = v.wz; v.zyx += v.rgb; float s = v.x; Pair q; s = q.xy;",
                             "struct Pair { float xy; };\n");
  EXPECT_FALSE(has(t, "q.template"));  // a member of that name is no swizzle
  const std::string u = body("float4 v = 1; v.xy = v.wz; v.zyx += v.rgb; bool b = v.xy.x == 1;");
  EXPECT_TRUE(has(u, "v.template swizzle_of<0, 1>() = v.template swizzle<3, 2>()")) << u;
  EXPECT_TRUE(has(u, "v.template swizzle_of<2, 1, 0>() += v.template swizzle<0, 1, 2>()")) << u;
  EXPECT_TRUE(has(u, "v.template swizzle<0, 1>().x == 1")) << u;
}

TEST(Lowering, ConditionalsAreValues) {
  EXPECT_TRUE(has(body("float a = out[0] > 1 ? f<int, 2>(3) : g(1, 2) + 1;"),
                  "? msl_value( f<int, 2>(3) ): msl_value( g(1, 2) + 1);"));
  EXPECT_TRUE(
      has(body("float a = b ? c ? 1 : 2 : 3;"), "? msl_value( c ? msl_value( 1 ): msl_value( 2 )): msl_value( 3);"));
  EXPECT_TRUE(has(body("vec<float, wide ? 4 : 2> v;"), "wide ? 4 : 2>"));
}

TEST(Lowering, ThreadgroupArraysAreAskedFor) {
  const std::string t = body("threadgroup alignas(16) float a[4][N], b;");
  EXPECT_TRUE(has(t,
                  "float __local (&a)[ 4 ][ N ] = *(float __local (*)[ 4 ][ N ])msl_rt_threadgroup(0, "
                  "sizeof(float [ 4 ][ N ]), 16, \"a\");"))
      << t;
  EXPECT_TRUE(has(t, "msl_rt_threadgroup(1, ")) << t;
}

TEST(Lowering, KernelsGetEntriesWithTheirBindings) {
  const Lowered l = lowered(
      "template <typename T> [[kernel]] void f(device T* x, constant int& n [[buffer(3)]], threadgroup T* s "
      "[[threadgroup(1)]], uint i [[thread_index_in_simdgroup]]) {}\n"
      "template [[host_name(\"f.half\")]] [[kernel]] decltype(f<half>) f<half>;\n");
  ASSERT_TRUE(l.errors.empty()) << l.errors[0];
  ASSERT_EQ(l.kernels.size(), 1u);
  EXPECT_EQ(l.kernels[0].name, "f.half");
  EXPECT_EQ(l.kernels[0].entry, "msl_entry_f_half");
  ASSERT_EQ(l.kernels[0].parameters.size(), 4u);
  EXPECT_EQ(l.kernels[0].parameters[0].index, 0);
  EXPECT_EQ(l.kernels[0].parameters[1].index, 3);
  EXPECT_EQ(l.kernels[0].parameters[2].kind, MslKind::Threadgroup);
  EXPECT_EQ(l.kernels[0].parameters[3].attribute, "thread_index_in_simdgroup");
  EXPECT_TRUE(has(l.text,
                  "msl_call<msl_at<msl_k_buffer, 0>, msl_at<msl_k_buffer, 3>, msl_at<msl_k_threadgroup, 1>, "
                  "msl_at<msl_k_thread_index_in_simdgroup, 0>>(f < half >, *c)"))
      << l.text;
}

TEST(Lowering, OnlyTheKernelsThatAreWantedGetEntries) {
  const std::string text = "kernel void a(device float* x) {}\nkernel void b(device float* x) {}\n";
  const std::vector<std::string> wanted = {"b"};
  const Lowered l = lower(lex(text, "t.metal"), wanted, 310);
  EXPECT_EQ(l.known, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(l.kernels.size(), 1u);
  EXPECT_EQ(l.kernels[0].name, "b");
  EXPECT_FALSE(has(l.text, "msl_entry_a"));
}

TEST(Lowering, FunctionConstantsAreExternal) {
  const Lowered l = lowered(
      "constant bool flag [[function_constant(7)]];\nconstant int n [[function_constant(8)]];\n"
      "constant bool both = flag && n > 1;\n"
      "kernel void k(device float* x [[buffer(0), function_constant(flag)]]) { if (both) x[0] = n; }\n");
  ASSERT_TRUE(l.errors.empty()) << l.errors[0];
  ASSERT_EQ(l.constants.size(), 2u);
  EXPECT_EQ(l.constants[0].symbol, "msl_fc_7");
  EXPECT_EQ(l.kernels[0].parameters[0].function_constant, 7);
  EXPECT_TRUE(has(l.text, "extern const __constant bool flag __asm__(\"msl_fc_7\")")) << l.text;
  EXPECT_TRUE(has(l.text, "if (((bool)( flag && n > 1)))")) << l.text;
}

TEST(Lowering, WhatIsLeftOfMetalIsAnError) {
  EXPECT_FALSE(lowered("int kernel;\n").errors.empty());
  EXPECT_FALSE(lowered("int a = 1 @ 2;\n").errors.empty());
}

}  // namespace
}  // namespace mt::metal_host
