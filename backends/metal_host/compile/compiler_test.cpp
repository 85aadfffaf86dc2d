#include "backends/metal_host/compiler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/elf_loader.h"
#include "backends/metal_host/compile/diagnostics.h"
#include "backends/metal_host/compile/object_info.h"

namespace mt::metal_host {
namespace {

namespace fs = std::filesystem;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";
const std::string kScale =
    kHead +
    "constant bool twice [[function_constant(3)]];\n"
    "[[kernel, max_total_threads_per_threadgroup(64)]] void scale(device half4* x [[buffer(2)]],\n"
    "    constant float& by [[buffer(0)]], uint3 at [[thread_position_in_grid]]) {\n"
    "  x[at.x] *= half(twice ? by * 2 : by);\n}\n";

class MslCompiler : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!msl_unavailable().empty()) GTEST_SKIP() << msl_unavailable();
  }
};

TEST_F(MslCompiler, SaysWhatTheKernelTakes) {
  MslOptions options;
  options.use_cache = false;
  const auto o = compile_msl(kScale, "scale.metal", options);
  ASSERT_TRUE(o) << o.error().what();
  EXPECT_FALSE(o->from_cache);
  ASSERT_EQ(o->kernels.size(), 1u);
  const MslKernel& k = o->kernels[0];
  EXPECT_EQ(k.name, "scale");
  EXPECT_EQ(k.max_threads, 64);
  ASSERT_EQ(k.parameters.size(), 3u);
  const MslParameter &x = k.parameters[0], &by = k.parameters[1], &at = k.parameters[2];
  EXPECT_EQ(x.index, 2);
  EXPECT_EQ(x.space, MslSpace::Device);
  EXPECT_TRUE(x.pointer && !x.read_only);
  EXPECT_EQ(x.element_bytes, 8u);
  EXPECT_EQ(x.components, 4);
  EXPECT_EQ(x.scalar, MslScalar::Float);
  EXPECT_EQ(by.space, MslSpace::Constant);
  EXPECT_TRUE(!by.pointer && by.read_only);
  EXPECT_EQ(by.element_bytes, 4u);
  EXPECT_EQ(at.kind, MslKind::Builtin);
  EXPECT_EQ(at.components, 3);
  ASSERT_EQ(o->constants.size(), 1u);
  EXPECT_EQ(o->constants[0].index, 3);
  EXPECT_EQ(o->constants[0].scalar, MslScalar::Bool);
  EXPECT_EQ(o->constants[0].bytes, 1u);
}

TEST_F(MslCompiler, TheObjectLoadsAndAsksForItsConstants) {
  const auto o = compile_msl(kScale, "scale.metal", {});
  ASSERT_TRUE(o) << o.error().what();
  static const bool twice = true;
  static const auto narrow = +[](float) { return 0; };
  std::vector<std::string> asked;
  const auto loaded = load_object(o->object, [&](std::string_view name) -> void* {
    asked.emplace_back(name);
    if (name == "msl_fc_3") return const_cast<bool*>(&twice);
    return reinterpret_cast<void*>(narrow);
  });
  ASSERT_TRUE(loaded) << loaded.error().what();
  EXPECT_NE(loaded->find(o->kernels[0].entry), nullptr);
  EXPECT_NE(std::find(asked.begin(), asked.end(), "msl_fc_3"), asked.end());
}

TEST_F(MslCompiler, MistakesNameTheirLine) {
  MslOptions options;
  options.use_cache = false;
  const auto o = compile_msl(kHead + "kernel void k(device float* x [[buffer(0)]]) {\n  x[0] = y;\n\n  x[1] = z;\n}\n",
                             "wrong.metal", options);
  ASSERT_FALSE(o);
  const std::string what = o.error().what();
  EXPECT_NE(what.find("wrong.metal:4: error: use of undeclared identifier 'y'"), std::string::npos) << what;
  EXPECT_NE(what.find("wrong.metal:6: error: use of undeclared identifier 'z'"), std::string::npos) << what;
  // A mistake inside the library's templates is one of the line that led there.
  const auto inside =
      compile_msl(kHead + "kernel void k(device uint* x [[buffer(0)]]) {\n  x[0] = as_type<uint>(1ul);\n}\n",
                  "wrong.metal", options);
  ASSERT_FALSE(inside);
  EXPECT_NE(std::string(inside.error().what()).find("wrong.metal:4: error: "), std::string::npos)
      << inside.error().what();
}

TEST_F(MslCompiler, UnknownKernelsAndLanguagesAreNamed) {
  MslOptions options;
  options.kernels = {"scal"};
  const auto o = compile_msl(kScale, "scale.metal", options);
  ASSERT_FALSE(o);
  EXPECT_NE(std::string(o.error().what()).find("there is no kernel 'scal'; its kernels are scale"), std::string::npos)
      << o.error().what();
  options = {};
  options.language = 200;
  EXPECT_FALSE(compile_msl(kScale, "scale.metal", options));
  EXPECT_FALSE(compile_msl(std::string("a\0b", 3), "zero.metal", {}));
}

TEST_F(MslCompiler, IncludesAreFoundBesideTheFileAndNamed) {
  const fs::path folder = fs::temp_directory_path() / ("mt_msl_include_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "half.h") << "#pragma once\ninline float halved(float x) { return x * kHalf; }\n";
  MslOptions options;
  options.use_cache = false;
  const std::string text =
      "#include <metal_stdlib>\nusing namespace metal;\n#include \"half.h\"\n"
      "kernel void k(device float* x [[buffer(0)]]) { x[0] = halved(x[0]); }\n";
  const auto missing = compile_msl(text, (folder / "k.metal").string(), options);
  ASSERT_FALSE(missing);
  const std::string want = (folder / "half.h").string() + ":2: error: use of undeclared identifier 'kHalf'";
  EXPECT_NE(std::string(missing.error().what()).find(want), std::string::npos) << missing.error().what();
  options.defines = {"kHalf=0.5f"};
  const auto defined = compile_msl(text, (folder / "k.metal").string(), options);
  EXPECT_TRUE(defined) << defined.error().what();
  EXPECT_FALSE(compile_msl(text, "elsewhere/k.metal", options));
  options.include_dirs = {folder.string()};
  EXPECT_TRUE(compile_msl(text, "elsewhere/k.metal", options));
  fs::remove_all(folder);
}

TEST_F(MslCompiler, AnyBytesAreRefusedWithoutAnObject) {
  for (const char* text :
       {"", "}", "kernel", "kernel void", "kernel void k(", "[[", "template [[kernel]] void f<", "\xff\xfe", "#include",
        "kernel void k(device float* x [[buffer(0)]]) { threadgroup float a[", "constant float x [[function_constant(",
        "struct A {", "a ? b", "((((((((((", "#if 1", "\"", "/*"}) {
    MslOptions options;
    options.use_cache = false;
    const auto o = compile_msl(text, "odd.metal", options);
    if (o) {
      EXPECT_TRUE(o->kernels.empty()) << text;
    } else {
      EXPECT_NE(std::string(o.error().what()), "") << text;
    }
  }
}

TEST_F(MslCompiler, TwoProcessesStartAnEmptyCacheAtOnce) {
  // Each child is a fresh process: the folder of the headers is found once in a process.
  const fs::path folder = fs::temp_directory_path() / ("mt_msl_cache_" + std::to_string(getpid()));
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("MT_CACHE_DIR", folder.c_str(), 1);
      execl(self.c_str(), self.c_str(), "--gtest_filter=MslCompiler.SaysWhatTheKernelTakes", "--gtest_brief=1",
            static_cast<char*>(nullptr));
      _exit(127);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  std::size_t folders = 0, left_over = 0, precompiled = 0;
  for (const auto& e : fs::recursive_directory_iterator(folder)) {
    folders += e.is_directory() && e.path().parent_path().filename() == "metal-host-shim";
    left_over += e.path().extension() == ".tmp";
    precompiled += e.path().extension() == ".pch";
  }
  EXPECT_EQ(folders, 1u);
  EXPECT_EQ(left_over, 0u);
  EXPECT_EQ(precompiled, 1u);
  fs::remove_all(folder);
}

TEST_F(MslCompiler, ACacheThatCannotBeMadeIsNotedAndNotNeeded) {
  const fs::path folder = fs::temp_directory_path() / ("mt_msl_cacheless_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string self = fs::read_symlink("/proc/self/exe").string(), said = folder / "said";
  std::ofstream(folder / "file") << "no folder";
  const pid_t child = fork();
  if (child == 0) {
    setenv("MT_CACHE_DIR", (folder / "file/cache").c_str(), 1);
    setenv("TMPDIR", folder.c_str(), 1);
    if (!std::freopen(said.c_str(), "w", stderr)) _exit(126);
    execl(self.c_str(), self.c_str(), "--gtest_filter=MslCompiler.SaysWhatTheKernelTakes", "--gtest_brief=1",
          static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::ifstream file(said);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(all.find("note: precompiled headers are not kept: cannot make"), std::string::npos) << all;
  // What stood in for the cache is gone with the process.
  std::size_t left = 0;
  for (const auto& e : fs::directory_iterator(folder)) left += e.is_directory();
  EXPECT_EQ(left, 0u);
  fs::remove_all(folder);
}

TEST_F(MslCompiler, TheSecondTimeComesFromTheCache) {
  const std::string text = kScale + "// " + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
  const auto first = compile_msl(text, "scale.metal", {}), second = compile_msl(text, "scale.metal", {});
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(first->from_cache);
  EXPECT_TRUE(second->from_cache);
  EXPECT_EQ(first->object, second->object);
  EXPECT_EQ(pack(*first), pack(*second));
  // What changes the object is part of its key.
  MslOptions options;
  options.check = true;
  const auto checked = compile_msl(text, "scale.metal", options);
  ASSERT_TRUE(checked);
  EXPECT_FALSE(checked->from_cache);
  EXPECT_NE(checked->object, first->object);
  EXPECT_NE(checked->object.find("__tsan_read"), std::string::npos);
  const auto renamed = compile_msl(text, "other.metal", {});
  ASSERT_TRUE(renamed);
  EXPECT_FALSE(renamed->from_cache);
}

TEST_F(MslCompiler, StepsAreCounted) {
  MslOptions options;
  options.steps = true;
  const auto o = compile_msl(kScale, "scale.metal", options);
  ASSERT_TRUE(o) << o.error().what();
  EXPECT_NE(o->object.find("__sanitizer_cov_trace_pc"), std::string::npos);
}

TEST(MslDiagnostics, AreMovedToTheMetalText) {
  const Diagnostics d = read_diagnostics(
      "/shim/msl_vec.h:7:3: error: bad '__global vec'\n/shim/msl_math.h:9:1: note: in instantiation\n"
      "k.metal:12:5: note: in instantiation\nk.metal:3:1: warning: odd\n1 error generated.\n",
      "/shim");
  ASSERT_EQ(d.errors.size(), 1u);
  EXPECT_EQ(d.errors[0], "k.metal:12: error: bad 'device vec'");
  ASSERT_EQ(d.warnings.size(), 1u);
  EXPECT_EQ(d.warnings[0], "k.metal:3: warning: odd");
}

TEST(MslObjectInfo, DamagedBytesAreNoObject) {
  MslObject o;
  o.object = "bytes";
  o.kernels.resize(1);
  o.kernels[0].parameters.resize(2);
  o.constants.resize(1);
  const std::string all = pack(o);
  ASSERT_TRUE(unpack(all));
  EXPECT_EQ(unpack(all)->object, "bytes");
  for (std::size_t n = 0; n < all.size(); ++n) EXPECT_FALSE(unpack(all.substr(0, n))) << n;
  EXPECT_FALSE(unpack(all + "x"));
  EXPECT_EQ(variable_bytes("no object", "name"), "");
}

}  // namespace
}  // namespace mt::metal_host
