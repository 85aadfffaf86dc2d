// Peers that answer well, wrongly, or not at all.
#include "mt/harness/peer.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "mt/dsl/dsl.h"
#include "mt/harness/bench.h"
#include "mt/harness/bench_report.h"
#include "mt/harness/fake_backend.h"

namespace mt {
namespace {

struct Triple {
  In<f32> x{"x", {"n"}};
  Out<f32> y{"y", {"n"}};
  Launch launch(const Problem& p) const { return {.groups = {p["n"]}, .threads = 32}; }
  void body() const { y.store(group_id(), x.load(group_id()) * 3.f); }
  ExpectedOutputs oracle(const Inputs& in) const {
    Expected e;
    for (std::int64_t i = 0; i < in.size("n"); ++i) e.value.push_back(3 * in["x"].at(i));
    e.bound.resize(e.value.size(), 1e-6);
    return {{"y", e}};
  }
  Problems tests() const { return {{{"n", 4}}}; }
  Problems benches() const { return {{{"n", 64}}}; }
  Work work(const Problem&) const { return {}; }
};

constexpr const char* kScript = R"(
import array, json, os, sys
problem = None
for line in sys.stdin:
    m, reply = json.loads(line), {"ok": True}
    if m["op"] == "hello":
        reply["version"] = "a script"
    elif m["op"] == "prepare":
        problem = m
        assert m["kernel"] == "triple" and m["dtype"] == "f32" and m["sizes"] == {"n": 64} and m["copies"] >= 1
        reply = {"ok": False, "error": "nothing like that here"} if "refuse" in sys.argv else {**reply, "ways": sys.argv[1:]}
    elif m["op"] == "run":
        x, y = (next(t for t in problem["tensors"] if t["name"] == n) for n in "xy")
        assert x["shape"] == [64] and (x["access"], y["access"]) == ("in", "out")
        values = array.array("f")
        values.frombytes(open(x["file"], "rb").read())
        values = array.array("f", [(3 if m["way"] != "wrong" else 3.01) * v for v in values])
        if m["way"] == "short":
            values.pop()
        open(y["file"], "wb").write(values.tobytes())
    elif m["way"] == "dies":
        print("out of luck", file=sys.stderr, flush=True)
        os._exit(3)
    elif m["way"] == "babbles":
        print("well, hm")
        sys.stdout.flush()
        continue
    else:
        reply["seconds"] = 0.25
    print(json.dumps(reply), flush=True)
)";

class PeerTest : public ::testing::Test {
 protected:
  PeerTest() {
    char name[] = "/tmp/mt_peer_test_XXXXXX";
    folder_ = mkdtemp(name);
    std::ofstream(peer_script(folder_, "script")) << kScript;
  }
  ~PeerTest() override { std::filesystem::remove_all(folder_); }
  std::vector<std::string> command(std::vector<std::string> ways) {
    ways.insert(ways.begin(), {"python3", peer_script(folder_, "script")});
    return ways;
  }
  BenchResult bench(Peer& peer) {
    const FakeBackend backend([](const Arguments& args, const Groups&) {
      const auto* x = fake_data<const float>(args.buffers[0]);
      auto* y = fake_data<float>(args.buffers[1]);
      for (std::size_t i = 0; i < args.buffers[1].bytes / 4; ++i) y[i] = x[i] * 3;
    });
    const auto device = backend.open().take();
    Runner runner(backend, *device);
    const KernelEntry entry{"triple", DType::F32, {}, [] {
                              return std::make_unique<detail::Erased<Triple>>("triple", detail::AsDeclared{});
                            }};
    BenchOptions options;
    options.stop = {.least = 10, .most = 20, .seconds = 0.01, .uncertainty = 0.01};
    options.rotation_bytes = 1;
    options.peer = &peer;
    return run_bench(runner, entry, {{"n", 64}}, options, nullptr);
  }
  std::string folder_;
};

TEST_F(PeerTest, IsCheckedAndTimedBesideTheKernel) {
  Peer peer("script", command({"right", "wrong", "short"}));
  EXPECT_EQ(peer.version(), "a script");
  const BenchResult r = bench(peer);
  EXPECT_TRUE(r.verified) << r.error;
  ASSERT_EQ(r.peers.size(), 3u);
  EXPECT_EQ(r.peers[0].name, "script right");
  EXPECT_EQ(r.peers[0].error, "");
  EXPECT_GE(r.peers[0].time.count, 7u);
  EXPECT_EQ(r.peers[0].time.median, 0.25);
  EXPECT_NE(r.peers[1].error.find("peer script disagrees: y: "), std::string::npos) << r.peers[1].error;
  EXPECT_EQ(r.peers[1].time.count, 0u);
  EXPECT_NE(r.peers[2].error.find("output y has not its 256 bytes"), std::string::npos) << r.peers[2].error;
  const auto json = nlohmann::json::parse(bench_json({r}, {}))["benchmarks"][0]["peers"];
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["real_time"], 0.25e9);
  EXPECT_GT(json[0]["times_ours"], 1);
  EXPECT_TRUE(json[1].contains("error") && !json[1].contains("real_time"));
  EXPECT_NE(bench_line(r, 20, false).find("script right: 250 ms"), std::string::npos) << bench_line(r, 20, false);
}

TEST_F(PeerTest, ItsDeathIsASentenceAndTheNextProblemStartsItAnew) {
  Peer peer("script", command({"dies"}));
  for (int round = 0; round < 2; ++round) {
    const BenchResult r = bench(peer);
    EXPECT_TRUE(r.verified) << r.error;
    ASSERT_EQ(r.peers.size(), 1u);
    EXPECT_NE(r.peers[0].error.find("its process has ended; its last words: out of luck"), std::string::npos)
        << r.peers[0].error;
  }
}

TEST_F(PeerTest, WhatIsNoAnswerIsASentence) {
  Peer peer("script", command({"babbles"}));
  const BenchResult r = bench(peer);
  EXPECT_TRUE(r.verified);
  ASSERT_EQ(r.peers.size(), 1u);
  EXPECT_NE(r.peers[0].error.find("no answer: well, hm"), std::string::npos) << r.peers[0].error;
}

TEST_F(PeerTest, MayRefuseAProblem) {
  Peer peer("script", command({"refuse"}));
  const BenchResult r = bench(peer);
  EXPECT_TRUE(r.verified);
  ASSERT_EQ(r.peers.size(), 1u);
  EXPECT_EQ(r.peers[0].error, "peer script: nothing like that here");
}

TEST_F(PeerTest, ThatDoesNotStartSaysSo) {
  EXPECT_THROW(Peer("ghost", {"/nonexistent/program"}), Error);
  EXPECT_THROW(Peer("mute", {"true"}), Error);
}

TEST_F(PeerTest, NamesComeFromTheFolder) {
  std::ofstream(folder_ + "/other_peer.py") << "";
  std::ofstream(folder_ + "/notes.txt") << "";
  EXPECT_EQ(peer_names(folder_), (std::vector<std::string>{"other", "script"}));
  EXPECT_TRUE(peer_names(folder_ + "/absent").empty());
}

}  // namespace
}  // namespace mt
