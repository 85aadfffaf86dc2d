#include "mt/harness/equivalents.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "mt/base/error.h"
#include "mt/harness/file.h"

namespace mt {
namespace {

constexpr const char* kSource = R"(void body() const {
  // Equivalent if drop_barrier: each thread reads back only what it wrote.
  barrier();
  // Equivalent if or_equal of lt, always: rows at the end are
  // padded.
  if_(row < rows &
          live,
      [&] {
        out.store(row, 1);  // Equivalent if next_element: there are two of everything
      });
}
)";

TEST(Equivalents, DeclarationsAreAboutTheStatementBelow) {
  const auto all = declared_equivalents("k.cpp", kSource);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].fault, "drop_barrier");
  EXPECT_EQ(all[0].first, 3);
  EXPECT_EQ(all[0].last, 3);
  EXPECT_EQ(all[0].reason, "each thread reads back only what it wrote.");
  EXPECT_EQ(all[1].fault, "or_equal");
  EXPECT_EQ(all[1].op, "lt");
  EXPECT_EQ(all[1].first, 6);
  EXPECT_EQ(all[1].last, 8);
  EXPECT_EQ(all[2].fault, "always");
  EXPECT_EQ(all[3].first, 9);
  EXPECT_EQ(all[3].last, 9);
}

TEST(Equivalents, DeclarationsMayBeAboutAnotherFile) {
  const auto all =
      declared_equivalents("k.cpp", "// Equivalent if loses_nan of max in row.h, always in row.h: so it is");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].fault, "loses_nan");
  EXPECT_EQ(all[0].op, "max");
  EXPECT_EQ(all[0].in, "row.h");
  EXPECT_EQ(all[1].fault, "always");
  EXPECT_EQ(all[1].op, "");
  EXPECT_EQ(all[1].in, "row.h");
}

TEST(Equivalents, FoundByPlaceFaultAndOpAndStaleOtherwise) {
  const std::string folder = testing::TempDir() + "equivalents/kernels/some";
  std::filesystem::create_directories(folder);
  write_file(
      folder + "/k.cpp",
      "// Equivalent if negated of lt: a\nf();\ng();  // Equivalent if always: b\n"
      "// Equivalent if never in lib.h: c\n// Equivalent if drop_set of set in other, drop_store in k: d\ni();\n");
  write_file(folder + "/lib.h", "h();\n");
  Equivalents equivalents(testing::TempDir() + "equivalents");
  KernelEntry entry{"k", DType::F32, {"/anywhere/kernels/some/k.cpp", 9}, {}};
  const auto reason = [&](const char* file, int line, const char* fault, Op op) -> std::string {
    const Mutant m{.kernel = &entry, .fault = find_fault(fault), .op = op, .loc = {file, line}};
    const DeclaredEquivalent* e = equivalents.find(m);
    return e ? e->reason : "";
  };
  const char *k = "/anywhere/kernels/some/k.cpp", *lib = "/anywhere/kernels/some/lib.h";
  EXPECT_EQ(reason(k, 2, "negated", Op::Lt), "a");
  EXPECT_EQ(reason(k, 2, "negated", Op::Eq), "");
  EXPECT_EQ(reason(k, 3, "negated", Op::Lt), "");
  EXPECT_EQ(reason(lib, 1, "never", Op::If), "c");
  EXPECT_EQ(reason(k, 1, "never", Op::If), "");
  EXPECT_EQ(reason(k, 6, "drop_set", Op::Set), "");
  EXPECT_EQ(reason(k, 6, "drop_store", Op::Store), "d");
  ASSERT_EQ(equivalents.stale().size(), 2u);
  EXPECT_EQ(equivalents.stale()[0], "kernels/some/k.cpp:3: no mutant survives always here; take the declaration out");
  EXPECT_EQ(reason(k, 3, "always", Op::If), "b");
  ASSERT_EQ(equivalents.stale().size(), 1u);
  EXPECT_NE(equivalents.stale()[0].find("drop_set of set"), std::string::npos);
}

TEST(Equivalents, WrongDeclarationsAreErrors) {
  const auto says = [](const std::string& text) -> std::string {
    try {
      declared_equivalents("k.cpp", text);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(says("// Equivalent if drop_barier: x\nf();\n"),
            "k.cpp:1: there is no fault 'drop_barier'; `tile mutate --faults` lists them");
  EXPECT_EQ(says("// Equivalent if always of sum: x\nf();\n"), "k.cpp:1: there is no op 'sum'");
  EXPECT_EQ(says("// Equivalent if always\nf();\n"), "k.cpp:1: write `// Equivalent if FAULT: reason`");
  EXPECT_EQ(says("// Equivalent if always: x"),
            "k.cpp:1: nothing stands below this declaration; put it above the line it is about");
}

}  // namespace
}  // namespace mt
