// The object cache and the ELF loader: what is damaged, foreign, read-only or shared.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/cpu/compiler.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/testing.h"
#include "backends/elf_loader.h"
#include "backends/object_cache.h"
#include "mt/base/hash.h"

namespace mt::cpu {
namespace {
namespace fs = std::filesystem;

std::string fresh_folder() {
  char name[] = "/tmp/mt_cache_test_XXXXXX";
  return mkdtemp(name);
}
/// The tests of this room leave the user's cache alone.
const bool kOwnCache = setenv("MT_CACHE_DIR", fresh_folder().c_str(), 1) == 0;
struct RemoveOwnCache : ::testing::Environment {
  void TearDown() override {
    if (const char* folder = std::getenv("MT_CACHE_DIR"); kOwnCache && folder) fs::remove_all(folder);
  }
};
[[maybe_unused]] const auto* const kRemove = ::testing::AddGlobalTestEnvironment(new RemoveOwnCache);

struct Folder {
  std::string path = fresh_folder();
  ~Folder() {
    fs::permissions(path, fs::perms::owner_all);
    fs::remove_all(path);
  }
};

std::string text_of_some_kernel() {
  return emit(parsed(with_body("%r: f32 = add %xt, %f1\n store %y[%i], %r")), {}).text;
}

TEST(ObjectCache, FindsWhatItStored) {
  const Folder f;
  ObjectCache cache(f.path + "/deep/er");
  const std::string key = hash_hex("one");
  EXPECT_FALSE(cache.find(key));
  EXPECT_TRUE(cache.store(key, "object"));
  EXPECT_EQ(cache.find(key), "object");
  EXPECT_FALSE(cache.find(hash_hex("two")));
}

TEST(ObjectCache, WhatIsNoFileCountsAsAbsent) {
  const Folder f;
  ObjectCache cache(f.path);
  const std::string pipe = hash_hex("pipe"), folder = hash_hex("folder");
  ASSERT_EQ(mkfifo((f.path + "/" + pipe + ".o").c_str(), 0600), 0);
  fs::create_directory(f.path + "/" + folder + ".o");
  EXPECT_FALSE(cache.find(pipe)) << "and does not wait for a writer";
  EXPECT_FALSE(cache.find(folder));
  EXPECT_TRUE(cache.store(pipe, "object"));
  EXPECT_EQ(cache.find(pipe), "object");
}

TEST(ObjectCache, DamagedAndForeignFilesCountAsAbsent) {
  const Folder f;
  ObjectCache cache(f.path);
  const std::string key = hash_hex("k"), object(1000, 'x');
  ASSERT_TRUE(cache.store(key, object));
  const auto size = fs::file_size(cache.path(key));
  for (const std::uintmax_t cut : {std::uintmax_t{0}, std::uintmax_t{7}, std::uintmax_t{60}, size - 1}) {
    ASSERT_TRUE(cache.store(key, object));
    fs::resize_file(cache.path(key), cut);
    EXPECT_FALSE(cache.find(key)) << cut;
  }
  ASSERT_TRUE(cache.store(key, object));
  std::fstream(cache.path(key), std::ios::in | std::ios::out | std::ios::binary).seekp(500).put('y');
  EXPECT_FALSE(cache.find(key));
  std::ofstream(cache.path(key)) << "something else entirely, long enough to hold a header of the cache's own kind";
  EXPECT_FALSE(cache.find(key));
  ASSERT_TRUE(cache.store(key, object));
  fs::copy(cache.path(key), cache.path(hash_hex("other")));
  EXPECT_FALSE(cache.find(hash_hex("other")));
}

TEST(ObjectCache, TheOldestGoWhenItIsFull) {
  const Folder f;
  ObjectCache cache(f.path, 10000);
  const std::string object(1000, 'x');
  for (int i = 0; i < 30; ++i) {
    const std::string key = hash_hex(std::to_string(i));
    ASSERT_TRUE(cache.store(key, object));
    fs::last_write_time(cache.path(key), fs::file_time_type::clock::now() - std::chrono::hours(30 - i));
  }
  EXPECT_TRUE(cache.find(hash_hex("29")));
  EXPECT_FALSE(cache.find(hash_hex("0")));
  std::uintmax_t total = 0;
  for (const auto& e : fs::directory_iterator(f.path)) total += e.file_size();
  EXPECT_LE(total, 11100u);
}

TEST(ObjectCache, GoesOnWithoutAFolderItMayWrite) {
  const Folder f;
  std::ofstream(f.path + "/file") << "in the way";
  ObjectCache cache(f.path + "/file/cpu");
  EXPECT_FALSE(cache.store(hash_hex("k"), "object"));
  const CompiledText made = compile_text(text_of_some_kernel(), "k", cache);
  EXPECT_FALSE(made.from_cache);
  EXPECT_TRUE(made.code);
}

TEST(ObjectCache, TwoProcessesFillItAtOnce) {
  const Folder f;
  const auto work = [&] {
    ObjectCache cache(f.path, 50000);
    for (int i = 0; i < 200; ++i) {
      const std::string key = hash_hex(std::to_string(i % 20)), object(1000, static_cast<char>('a' + i % 20));
      if (!cache.store(key, object)) return 1;
      const auto found = cache.find(key);
      if (found && *found != object) return 2;
    }
    return 0;
  };
  const pid_t child = fork();
  if (child == 0) _exit(work());
  const int mine = work();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(mine, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (const auto& e : fs::directory_iterator(f.path)) EXPECT_EQ(e.path().extension(), ".o");
}

TEST(Compiler, SecondTimeComesFromTheCacheAndDamageIsMadeGood) {
  const Folder f;
  ObjectCache cache(f.path);
  const std::string text = text_of_some_kernel(), path = cache.path(object_key(text));
  EXPECT_FALSE(compile_text(text, "k", cache).from_cache);
  EXPECT_TRUE(compile_text(text, "k", cache).from_cache);
  fs::resize_file(path, 200);
  EXPECT_FALSE(compile_text(text, "k", cache).from_cache);
  EXPECT_TRUE(compile_text(text, "k", cache).from_cache);
  // Sound as a cache entry, but no object.
  ASSERT_TRUE(cache.store(object_key(text), "not an object"));
  EXPECT_FALSE(compile_text(text, "k", cache).from_cache);
}

TEST(Compiler, RefusedTextIsAnError) {
  const Folder f;
  ObjectCache cache(f.path);
  try {
    compile_text("define void @mt_kernel() { ret i32 0 }", "broken", cache);
    FAIL() << "no Error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("kernel broken"), std::string::npos) << e.what();
  }
}

TEST(ElfLoader, RefusesWhatItDoesNotKnow) {
  const Folder f;
  ObjectCache cache(f.path);
  const std::string text = text_of_some_kernel();
  ASSERT_TRUE(compile_text(text, "k", cache).code);
  const std::string good = *cache.find(object_key(text));
  EXPECT_TRUE(load_object(good, kEntry));
  EXPECT_FALSE(load_object(good, "no_such_function"));
  EXPECT_FALSE(load_object("", kEntry));
  for (std::size_t cut = 1; cut < good.size(); cut += good.size() / 61)
    EXPECT_FALSE(load_object(good.substr(0, cut), kEntry)) << cut;
  // Any byte may be wrong: an Error or another object, never a crash of the loader.
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    (void)load_object(bad, kEntry);
  }
  std::string other = good;
  other[18] = 0x28;  // e_machine
  EXPECT_FALSE(load_object(other, kEntry));
}

}  // namespace
}  // namespace mt::cpu
