#include "backends/metal/device/error_text.h"

#include <gtest/gtest.h>

#include "backends/metal/device/queue.h"

namespace mt::metal {
namespace {

TEST(MetalErrors, SayWhatWentWrongAndWhatToDo) {
  EXPECT_EQ(
      failure_text({2, "MTLCommandBufferErrorDomain", "Caused GPU Timeout Error", "", {}}),
      "a launch failed, timeout: a launch took longer than the system allows, mostly a loop that never ends; launch "
      "less at once (Caused GPU Timeout Error)");
  EXPECT_EQ(
      failure_text({3, "MTLCommandBufferErrorDomain", "", "faulted", {"k:7: out of bounds", "k:9: again"}}),
      "a launch failed, page fault: a kernel touched memory that is not bound; `tile check` names the access; the "
      "launches are faulted; shader validation says: k:7: out of bounds; k:9: again");
  EXPECT_EQ(failure_text({77, "MTLCommandBufferErrorDomain", "odd", "", {}}),
            "a launch failed with error 77 of MTLCommandBufferErrorDomain (odd)");
  // A number of another domain is not taken for one of these.
  EXPECT_EQ(failure_text({2, "NSPOSIXErrorDomain", "", "", {}}), "a launch failed with error 2 of NSPOSIXErrorDomain");
}

TEST(MetalErrors, TheCompilersWordsNameTheFile) {
  EXPECT_EQ(
      compiler_text("program_source:4:8: error: use of undeclared identifier 'y'\n  x[0] = y;\n         ^\n1 error "
                    "generated.\n",
                    "k.metal"),
      "k.metal:4:8: error: use of undeclared identifier 'y'\n  x[0] = y;");
  EXPECT_EQ(compiler_text("Compilation failed:\n\nprogram_source:1:1: error: a\nprogram_source:2:1: error: b\n2 errors "
                          "generated.",
                          "k.metal"),
            "k.metal:1:1: error: a\nk.metal:2:1: error: b");
  EXPECT_EQ(compiler_text("", "k.metal"), "the compiler refused the text and gave no reason");
}

TEST(MetalErrors, SuspectsAreTheLastFewOnceEach) {
  EXPECT_EQ(suspects({}), "");
  EXPECT_EQ(suspects({"[a]", "[a]", "[a]"}), "; launched was [a]");
  EXPECT_EQ(suspects({"[a]", "[b]", "[c]", "[d]", "[e]", "[d]"}),
            "; launched were, the last of them: [b], [c], [e], [d]");
}

}  // namespace
}  // namespace mt::metal
