// Building libraries, with a stand-in for Xcode's xcrun.
#include "backends/metal/library.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "mt/base/error.h"

namespace mt::metal {
namespace {
namespace fs = std::filesystem;

/// $PATH and the folder of temporary files are this test's own.
class MetalLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("metal_library_" + std::to_string(getpid()));
    fs::create_directories(folder_ / "bin");
    fs::create_directories(folder_ / "tmp");
    set("PATH", (folder_ / "bin").string() + ":/usr/bin:/bin");
    set("TMPDIR", (folder_ / "tmp").string());
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    fs::remove_all(folder_);
  }
  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    before_.emplace_back(name, old ? std::make_unique<std::string>(old) : nullptr);
    setenv(name.c_str(), value.c_str(), 1);
  }
  void xcrun(const std::string& script) {
    const std::string path = (folder_ / "bin/xcrun").string();
    std::ofstream(path) << "#!/bin/sh\n" << script;
    chmod(path.c_str(), 0755);
  }
  std::string refused(const std::vector<std::pair<std::string, std::string>>& texts) {
    try {
      metal_library(texts);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  }
  bool clean() const { return fs::is_empty(folder_ / "tmp"); }
  fs::path folder_;
  std::vector<std::pair<std::string, std::unique_ptr<std::string>>> before_;
};

/// Notes its words; `metal` gives the text's words in capitals and `metallib` joins what it is given.
constexpr const char* kGood = R"(
echo "$@" >> "$(dirname "$0")/calls"
[ "$1 $2" = "-sdk macosx" ] || exit 9
shift 2
tool=$1
shift
for last; do :; done
if [ "$tool" = metal ]; then
  [ "$1 $2 $3" = "-std=metal3.1 -fno-fast-math -c" ] || exit 8
  tr a-z A-Z < "$4" > "$last"
else
  for object; do
    [ "$object" = -o ] && break
    cat "$object"
  done > "$last"
fi
)";

TEST_F(MetalLibrary, CompilesEachTextAndLinksAll) {
  xcrun(kGood);
  std::vector<std::string> heard;
  const std::string made =
      metal_library({{"metal/one.metal", "one\n"}, {"b/one.metal", "another\n"}, {"c.metal", "c\n"}},
                    [&](const std::string& what) { heard.push_back(what); });
  EXPECT_EQ(made, "ONE\nANOTHER\nC\n");
  EXPECT_EQ(heard, (std::vector<std::string>{"metal/one.metal", "b/one.metal", "c.metal", "all of them, linked"}));
  std::ifstream calls(folder_ / "bin/calls");
  int lines = 0;
  for (std::string line; std::getline(calls, line);) ++lines;
  EXPECT_EQ(lines, 4);
  EXPECT_TRUE(clean());
}

TEST_F(MetalLibrary, SaysWhatIsMissing) {
  set("PATH", (folder_ / "bin").string());
  const std::string none = refused({{"a.metal", "a"}});
  EXPECT_TRUE(none.starts_with("metallib: there is no xcrun here; a metallib is built on a Mac with Xcode")) << none;
  set("PATH", (folder_ / "bin").string() + ":/usr/bin:/bin");
  xcrun("echo 'xcrun: error: unable to find utility \"metal\", not a developer tool or in PATH' >&2; exit 72\n");
  const std::string no_compiler = refused({{"a.metal", "a"}});
  EXPECT_TRUE(no_compiler.starts_with("metallib: xcrun: error: unable to find utility \"metal\"")) << no_compiler;
  EXPECT_NE(no_compiler.find("MetalToolchain"), std::string::npos);
  EXPECT_EQ(refused({}), "metallib: there is no text to make a library of");
  EXPECT_TRUE(clean());
}

TEST_F(MetalLibrary, PassesOnWhatTheCompilerSays) {
  xcrun("echo 'a.metal:1:1: error: no' >&2; exit 1\n");
  EXPECT_EQ(refused({{"metal/a.metal", "a"}}), "metallib: metal/a.metal: a.metal:1:1: error: no");
  xcrun("exit 3\n");
  EXPECT_EQ(refused({{"a.metal", "a"}}), "metallib: a.metal: xcrun ended with 3");
  xcrun("kill -9 $$\n");
  EXPECT_EQ(refused({{"a.metal", "a"}}), "metallib: a.metal: xcrun was ended by signal 9");
  xcrun("[ $3 = metal ] && exit 0\necho 'linker: no' >&2\nexit 1\n");
  EXPECT_EQ(refused({{"a.metal", "a"}}), "metallib: linking: linker: no");
  xcrun("exit 0\n");
  EXPECT_EQ(refused({{"a.metal", "a"}}), "metallib: xcrun wrote no library and gave no reason");
  EXPECT_TRUE(clean());
}

TEST_F(MetalLibrary, EndsWithWhoeverHearsOfItsProgress) {
  xcrun("exec sleep 60\n");
  int heard = 0;
  EXPECT_THROW(metal_library({{"a.metal", "a"}, {"b.metal", "b"}},
                             [&](const std::string&) {
                               if (++heard == 2) throw Error("stop");
                             }),
               Error);
  EXPECT_TRUE(clean());
}

}  // namespace
}  // namespace mt::metal
