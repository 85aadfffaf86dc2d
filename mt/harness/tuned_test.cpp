// Choices on disk, and runs that use them.
#include "mt/harness/tuned.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "mt/dsl/dsl.h"
#include "mt/harness/fake_backend.h"
#include "mt/harness/file.h"
#include "mt/harness/runner.h"

namespace mt {
namespace {
namespace fs = std::filesystem;

struct Sized {
  In<f32> x{"x", {"n"}};
  Out<f32> y{"y", {"n"}};
  Tunable threads{"threads", 32, {32, 64, 128, 256}};
  Launch launch(const Problem& p) const {
    require(threads < 256, "at most 128 threads");
    return {.groups = {ceil_div(p["n"], threads)}, .threads = threads};
  }
  void body() const { y.store(thread_id(), x.load(thread_id())); }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {{{"n", 64}}}; }
  Problems benches() const { return {{{"n", 64}}}; }
  Work work(const Problem&) const { return {}; }
};
struct OtherBody : Sized {
  void body() const { y.store(thread_id(), x.load(thread_id()) + 1.f); }
};
template <class K>
KernelEntry entry_of() {
  return {"sized", DType::F32, {}, [] { return std::make_unique<detail::Erased<K>>("sized", detail::AsDeclared{}); }};
}

class Choices : public ::testing::Test {
 protected:
  Choices() {
    std::string name = (fs::temp_directory_path() / "mt-tuned-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~Choices() override { fs::remove_all(folder); }
  TunedChoice choice(int threads, std::int64_t n = 64) {
    TunedChoice c;
    c.key = {"fake", "host", "sized/f32", problem_key({{"n", n}}), planned_code(entry, {{"n", n}}, backend.traits())};
    c.chosen = {{"threads", threads}};
    c.planned_seconds = 2e-6;
    c.tuned_seconds = 1e-6;
    c.date = "2026-01-31";
    return c;
  }
  int threads_of(const Problem& problem, const Overrides& overrides = {}) {
    const TunedStore store({folder});
    Runner runner(backend, *device);
    runner.use(&store);
    const Call call = runner.prepare(entry, problem, overrides);
    notes = store.notes();
    tuned = call.tuned();
    return call.stages().at(0).compiled.kernel.threads;
  }
  std::string folder;
  KernelEntry entry = entry_of<Sized>();
  FakeBackend backend{[](const Arguments&, const Groups&) {}};
  std::unique_ptr<Device> device = backend.open().take();
  std::vector<std::string> notes;
  Overrides tuned;
};

TEST_F(Choices, AreReadAsTheyWereStored) {
  const TunedChoice c = choice(64);
  const std::string file = TunedStore::store(folder, c);
  const TunedStore store({folder});
  ASSERT_EQ(store.all().size(), 1u);
  const TunedChoice& read = store.all()[0];
  EXPECT_EQ(read.key, c.key);
  EXPECT_EQ(read.chosen, c.chosen);
  EXPECT_DOUBLE_EQ(read.planned_seconds, 2e-6);
  EXPECT_DOUBLE_EQ(read.tuned_seconds, 1e-6);
  EXPECT_EQ(read.date, "2026-01-31");
  EXPECT_EQ(read.file, file);
  EXPECT_TRUE(store.notes().empty());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);  // no temporary file is left
  EXPECT_TRUE(TunedStore::forget(folder, c.key));
  EXPECT_FALSE(TunedStore::forget(folder, c.key));
  EXPECT_TRUE(TunedStore({folder}).all().empty());
}

TEST_F(Choices, AreUsedForTheirProblemAndForNoOther) {
  TunedStore::store(folder, choice(64));
  EXPECT_EQ(threads_of({{"n", 64}}), 64);
  EXPECT_EQ(tuned, (Overrides{{"threads", 64}}));
  EXPECT_EQ(threads_of(Problem{{"n", 64}}.with_edges()), 64);  // other values, the same problem
  EXPECT_EQ(threads_of({{"n", 65}}), 32);
  EXPECT_TRUE(tuned.empty());
}

TEST_F(Choices, GiveWayToTheCallersAndToTheProblems) {
  TunedStore::store(folder, choice(64));
  EXPECT_EQ(threads_of({{"n", 64}}, {{"threads", 128}}), 128);
  EXPECT_TRUE(tuned.empty());
  EXPECT_EQ(threads_of(Problem{{"n", 64}}.with_tunable("threads", 128)), 128);
}

TEST_F(Choices, OfAnotherDeviceOrOfOtherCodeAreNotUsed) {
  TunedChoice c = choice(64);
  c.key.device = "another";
  TunedStore::store(folder, c);
  EXPECT_EQ(threads_of({{"n", 64}}), 32);
  TunedStore::store(folder, choice(64));
  entry = entry_of<OtherBody>();
  EXPECT_EQ(threads_of({{"n", 64}}), 32);
  entry = entry_of<Sized>();
  EXPECT_EQ(threads_of({{"n", 64}}), 64);
}

TEST_F(Choices, ThatBreakTheContractNowAreNotedAndThePlanIsUsed) {
  for (const int threads : {256, 96}) {  // refused by the kernel; no choice of the tunable
    TunedStore::store(folder, choice(threads));
    EXPECT_EQ(threads_of({{"n", 64}}), 32);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("threads=" + std::to_string(threads)), std::string::npos) << notes[0];
    EXPECT_NE(notes[0].find("tune again or remove the file"), std::string::npos) << notes[0];
  }
}

TEST_F(Choices, DamagedFilesAreNotedOneByOneAndTheOthersHold) {
  const std::string good = TunedStore::store(folder, choice(64));
  const std::string whole = read_file(good);
  const auto put = [&](const char* name, const std::string& text) { std::ofstream(folder + "/" + name) << text; };
  put("half.json", whole.substr(0, whole.size() / 2));
  put("empty.json", "");
  put("list.json", "[]");
  put("renamed.json", whole);
  put("newer.json", R"({"form": 2})");
  put("letters.json", R"({"form": 1, "backend": "fake", "device": "host", "kernel": "sized/f32", "problem": "n:64",
                          "code": "0", "chosen": {"threads": "many"}, "planned_ns": 1, "tuned_ns": 1, "date": ""})");
  put("note.txt", "not looked at");
  EXPECT_EQ(threads_of({{"n", 64}}), 64);
  EXPECT_EQ(notes.size(), 6u);
  for (const std::string& note : notes) EXPECT_NE(note.find("is passed by"), std::string::npos) << note;
}

TEST_F(Choices, InAnEarlierFolderHideThoseInALater) {
  const std::string later = folder + "/later";
  TunedStore::store(later, choice(128));  // makes the folder
  TunedStore::store(later, choice(128, 100));
  TunedStore::store(folder, choice(64));
  const TunedStore store({folder, later, folder + "/absent"});
  EXPECT_TRUE(store.notes().empty());
  EXPECT_EQ(store.find(backend, device->info(), entry, {{"n", 64}})->chosen.at("threads"), 64);
  EXPECT_EQ(store.find(backend, device->info(), entry, {{"n", 100}})->chosen.at("threads"), 128);
}

TEST_F(Choices, ThatCantBeWrittenLeaveNothing) {
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  const std::string inside = folder + "/file";
  if (std::ofstream(inside).good()) {  // who may write everywhere needs another obstacle
    EXPECT_THROW(TunedStore::store(inside, choice(64)), Error);
  } else {
    EXPECT_THROW(TunedStore::store(folder, choice(64)), Error);
  }
  fs::permissions(folder, fs::perms::owner_all);
}

TEST(TunedCode, FollowsBodyPlanAndLimits) {
  const KernelEntry a = entry_of<Sized>(), b = entry_of<OtherBody>();
  const Problem p{{"n", 64}};
  EXPECT_EQ(planned_code(a, p, {}), planned_code(a, p, {}));
  EXPECT_NE(planned_code(a, p, {}), planned_code(b, p, {}));
  EXPECT_NE(planned_code(a, p, {}), planned_code(a, p, {}, {{"threads", 64}}));
  EXPECT_EQ(planned_code(a, p, {}), planned_code(a, p, {}, {{"threads", 32}}));
  const Limits few{.max_threads = 32};
  EXPECT_NO_THROW(planned_code(a, p, {}, {}, &few));
  EXPECT_THROW(planned_code(a, p, {}, {{"threads", 64}}, &few), Error);
}

}  // namespace
}  // namespace mt
