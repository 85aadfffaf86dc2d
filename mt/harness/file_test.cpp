#include "mt/harness/file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "mt/base/error.h"

namespace mt {
namespace {
namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "mt_file_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::size_t entries() const {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& e : fs::recursive_directory_iterator(folder_)) ++n;
    return n;
  }
  fs::path folder_;
};

TEST_F(FileTest, WritesReplaceWholeFiles) {
  const std::string path = folder_ / "a.txt";
  write_file(path, "one");
  write_file(path, "two");
  EXPECT_EQ(read_file(path), "two");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, LinksStayAndLeadToTheFile) {
  fs::create_directory(folder_ / "deep");
  fs::create_symlink("deep/b.txt", folder_ / "b");
  fs::create_symlink(folder_ / "b", folder_ / "a");
  for (const char* const text : {"made", "replaced"}) {
    write_file(folder_ / "a", text);
    EXPECT_TRUE(fs::is_symlink(folder_ / "a"));
    EXPECT_TRUE(fs::is_symlink(folder_ / "b"));
    EXPECT_FALSE(fs::is_symlink(folder_ / "deep" / "b.txt"));
    EXPECT_EQ(read_file(folder_ / "deep" / "b.txt"), text);
  }
  fs::create_symlink("loop", folder_ / "loop");
  try {
    write_file(folder_ / "loop", "x");
    FAIL() << "written";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find((folder_ / "loop").string() + ": Too many levels"), std::string::npos)
        << e.what();
  }
  EXPECT_EQ(entries(), 5u);
}

TEST_F(FileTest, WhatCantBeWrittenIsASentenceAndLeavesNothing) {
  const auto message = [](const std::string& path) {
    try {
      write_file(path, "x");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("written");
  };
  EXPECT_NE(message(folder_ / "missing" / "a.txt").find("No such file or directory"), std::string::npos);
  fs::create_directory(folder_ / "dir");
  EXPECT_NE(message(folder_ / "dir").find("can't write"), std::string::npos);
  EXPECT_NE(message("/dev/full").find("No space left on device"), std::string::npos);
  EXPECT_EQ(message("/dev/null"), "written");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(entries(), 1u);
  EXPECT_THROW(read_file(folder_ / "nothing"), Error);
  EXPECT_THROW(read_file(folder_), Error);
}

TEST_F(FileTest, ASetAppearsTogetherOrNotAtAll) {
  {
    FileSet set((folder_ / "out").string());
    set.add("sub/a.txt", "a");
    set.add("b.txt", "b");
  }
  EXPECT_EQ(entries(), 0u) << "dropped without commit";
  {
    FileSet set((folder_ / "out").string());
    set.add("sub/a.txt", "a");
    set.add("b.txt", "b");
    set.commit();
  }
  EXPECT_EQ(read_file(folder_ / "out" / "sub" / "a.txt"), "a");
  EXPECT_EQ(entries(), 4u);
  fs::create_directory(folder_ / "out" / "taken");
  FileSet set((folder_ / "out").string());
  set.add("b.txt", "new");
  set.add("taken", "x");
  EXPECT_THROW(set.commit(), Error);
  EXPECT_EQ(read_file(folder_ / "out" / "b.txt"), "b");
}

}  // namespace
}  // namespace mt
