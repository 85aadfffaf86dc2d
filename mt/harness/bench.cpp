#include "mt/harness/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "mt/base/hash.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/memory.h"
#include "mt/harness/result.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/verified.h"

namespace mt {
namespace {

std::uint64_t hash_of(const std::vector<HostTensor>& tensors) {
  std::uint64_t h = 0;
  for (const HostTensor& t : tensors) h = hash64({reinterpret_cast<const char*>(t.data.data()), t.bytes()}, h);
  return h;
}

double cpu_seconds() {
  timespec t = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// How many sets of tensors it takes so that none is in the cache when its turn comes again.
std::size_t copies_for(std::size_t bytes, std::size_t cache, const BenchOptions& options) {
  const std::size_t wanted = options.rotation_bytes ? options.rotation_bytes : 3 * cache;
  if (bytes == 0 || bytes >= wanted) return 1;
  return std::max<std::size_t>(1,
                               std::min({(wanted + bytes - 1) / bytes, options.memory / bytes, options.most_copies}));
}

constexpr double kLeastSample = 200e-6;  // a shorter call is timed several at a time
constexpr double kLeastRecorded = 20, kLeastRecordedSample = 1e-3;
constexpr std::size_t kMostRecorded = 4096;
constexpr double kWarmRecorded = 0.05;  // seconds
constexpr std::size_t kLeastPeerSamples = 7;

/// Runs of the call, one after the other through all sets.
class Rotation {
 public:
  Rotation(Device& device, std::vector<TensorSet>& sets) : device_(device), sets_(sets) {}
  /// Seconds of `count` calls, from the first launch to the end of the last.
  double run(std::size_t count) {
    const Stopwatch watch;
    enqueue(count);
    device_.wait();
    return watch.seconds();
  }
  /// Some calls that the device has recorded, whole rounds through the sets; null where it does not record. Found so
  /// that they take a sample's time and a launch's own cost is spread.
  std::unique_ptr<Recording> record(std::size_t& count) {
    count = sets_.size();
    auto made = device_.record([&] { enqueue(count); });
    if (!made) return nullptr;
    made->run();
    const double one = made->run() / static_cast<double>(count);
    const double wanted = std::max(kLeastRecorded, kLeastRecordedSample / std::max(one, 1e-9));
    const auto rounds = static_cast<std::size_t>(std::ceil(wanted / static_cast<double>(count)));
    if (rounds <= 1) return made;
    count *= std::min(rounds, std::max<std::size_t>(1, kMostRecorded / count));
    return device_.record([&] { enqueue(count); });
  }

 private:
  void enqueue(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      sets_[next_].bound().run();
      next_ = next_ + 1 == sets_.size() ? 0 : next_ + 1;
    }
  }
  Device& device_;
  std::vector<TensorSet>& sets_;
  std::size_t next_ = 0;
};

/// A library may round to the dtype between the operations that make up one kernel, and weigh values with factors so
/// rounded: two units of the dtype, of the element or of the tensor's typical one.
ExpectedOutputs with_rounding_between(ExpectedOutputs expected, const Call& call) {
  for (auto& [name, e] : expected)
    for (const TensorSlot& s : call.tensors()) {
      const DType t = s.param->dtype;
      if (s.param->name != name || !is_float(t) || e.code_bits != 0) continue;
      const double unit = t == DType::BF16 ? 0x1p-8 : t == DType::F16 ? 0x1p-11 : 0x1p-22;
      double squares = 0, finite = 0;
      for (const double v : e.value)
        if (std::isfinite(v)) {
          squares += v * v;
          finite += 1;
        }
      const double typical = finite > 0 ? std::sqrt(squares / finite) : 0;
      for (std::size_t i = 0; i < e.bound.size(); ++i)
        e.bound[i] += 2 * unit * std::max(std::isfinite(e.value[i]) ? std::abs(e.value[i]) : 0, typical);
    }
  return expected;
}

/// The ways of a peer that gave the right outputs, and their samples.
class PeerTrials {
 public:
  /// Whatever goes wrong with the peer stands in its result.
  PeerTrials(const BenchOptions& options, const KernelEntry& entry, const Call& call,
             const std::map<std::string, HostTensor>& inputs, const ExpectedOutputs& expected, std::size_t copies)
      : peer_(options.peer) {
    if (!peer_) return;
    try {
      for (const std::string& way : peer_->prepare(entry, call, inputs, copies)) ways_.push_back({way, {}, ""});
    } catch (const Error& e) {
      error_ = e.what();
    }
    const ExpectedOutputs loosened = with_rounding_between(expected, call);
    for (Way& w : ways_)
      guarded(w, [&] {
        const Verification v = verify_outputs(peer_->outputs(w.name), loosened);
        if (!v.error.empty()) w.error = fmt::format("peer {} disagrees: {}", peer_->name(), v.error);
      });
  }
  void sample() {
    for (Way& w : ways_)
      if (w.error.empty()) guarded(w, [&] { w.samples.push_back(peer_->sample(w.name)); });
  }
  void finish(std::vector<PeerResult>& results) {
    for (std::size_t i = 0; i < kLeastPeerSamples; ++i)
      if (std::any_of(ways_.begin(), ways_.end(), [](const Way& w) { return w.samples.size() < kLeastPeerSamples; }))
        sample();
    if (!error_.empty()) results.push_back({peer_->name(), error_, {}});
    for (Way& w : ways_) results.push_back({peer_->name() + " " + w.name, w.error, summarise(w.samples)});
  }

 private:
  struct Way {
    std::string name;
    std::vector<double> samples;
    std::string error;
  };
  template <class F>
  void guarded(Way& w, F&& f) {
    try {
      f();
    } catch (const Error& e) {
      w.error = e.what();
      w.samples.clear();
    }
  }
  Peer* peer_;
  std::vector<Way> ways_;
  std::string error_;  // of all ways
};

void measure(BenchResult& r, Rotation& calls, const BenchOptions& options, CeilingSource* ceiling, PeerTrials& peers) {
  // Every set once, so that all pages are there; then until the clock has had time to rise.
  calls.run(r.copies);
  const Stopwatch warming;
  double one = calls.run(1);
  for (int i = 0; i < 1000 && warming.seconds() < 0.02; ++i) one = std::min(one, calls.run(1));
  auto batch = static_cast<std::size_t>(std::clamp(std::ceil(kLeastSample / std::max(one, 1e-9)), 1.0, 4096.0));
  const std::unique_ptr<Recording> recorded = calls.record(batch);
  if (recorded)
    for (const Stopwatch more; more.seconds() < kWarmRecorded;) recorded->run();
  std::vector<double> samples;
  std::vector<Ceiling> ceilings;
  double spent = 0, since = 1e9, cpu = 0;
  while (!options.stop.enough(samples, spent)) {
    check_interrupt();
    if ((ceiling || options.peer) && since >= options.ceiling_every) {
      if (ceiling) ceilings.push_back(ceiling->sample());
      peers.sample();
      since = 0;
      recorded ? recorded->run() : calls.run(1);  // brings code and page tables back; not counted
    }
    const double cpu_before = cpu_seconds();
    const double seconds = recorded ? recorded->run() : calls.run(batch);
    cpu += cpu_seconds() - cpu_before;
    samples.push_back(seconds / static_cast<double>(batch));
    spent += seconds;
    since += seconds;
  }
  if (ceiling) ceilings.push_back(ceiling->sample());
  peers.finish(r.peers);
  r.time = summarise(samples);
  r.iterations = static_cast<std::int64_t>(samples.size() * batch);
  r.cpu_seconds = cpu / static_cast<double>(r.iterations);
  if (!ceilings.empty()) {
    r.has_roof = true;
    r.ceiling = median_of(ceilings);
    r.roof = roof_of(r.work.read, r.work.written, r.work.flops, r.ceiling);
  }
}

void run(BenchResult& r, Runner& runner, const KernelEntry& entry, const Problem& problem, const BenchOptions& options,
         CeilingSource* ceiling) {
  const Call call = runner.prepare(entry, problem, options.overrides);
  Device& device = runner.device();
  r.compile_ms = call.compile_ms();
  if (call.empty()) throw Error(contextual(entry.id(), problem, "no output has elements; nothing can be measured"));
  r.work = call.instance().work(problem);
  for (const TensorSlot& s : call.tensors()) r.tensor_bytes += s.bytes;
  check_memory(call.tensors());
  const std::map<std::string, HostTensor> inputs = make_inputs(call.tensors(), problem);

  std::vector<TensorSet> sets;
  sets.emplace_back(device, call);
  sets[0].run(inputs);
  const auto verify = [&](const TensorSet& set, const ExpectedOutputs& expected) {
    std::string wrong = set.damage(inputs);
    const std::vector<HostTensor> outputs = set.outputs();
    const Verification v = verify_outputs(outputs, expected);
    r.compared = v.compared;
    add_sentence(wrong, v.error);
    if (wrong.empty() && v.compared == 0) wrong = "nothing was compared";
    if (!wrong.empty()) throw Error(wrong);
    return hash_of(outputs);
  };
  ExpectedOutputs expected = call.instance().oracle(Inputs(inputs, problem, call.signature()));
  const std::uint64_t right = verify(sets[0], expected);
  const bool exact = !call.has_atomics();
  check_interrupt();

  const std::vector<TensorSlot>& slots = call.tensors();
  const bool in_place = std::any_of(slots.begin(), slots.end(), [](const TensorSlot& s) {
    return s.param->access == Access::InOut && !s.param->temporary;
  });
  const std::size_t cache = cache_bytes(device);
  r.copies = copies_for(r.tensor_bytes, cache, options);
  r.cached = r.copies * r.tensor_bytes < cache;
  PeerTrials peers(options, entry, call, inputs, expected, r.copies);
  if (exact) expected.clear();
  for (std::size_t i = 1; i < r.copies; ++i) {
    sets.emplace_back(device, call);
    sets.back().reset(inputs);
  }
  Rotation calls(device, sets);
  measure(r, calls, options, ceiling, peers);

  // What the timed calls left must be what was verified; a call that changes its inputs is run once more from the
  // start.
  for (TensorSet& set : sets) {
    if (in_place) set.run(inputs);
    if (!exact)
      verify(set, expected);
    else if (hash_of(set.outputs()) != right)
      throw Error("the outputs after timing differ from those that were verified");
  }
  r.verified = true;
}

}  // namespace

BenchResult run_bench(Runner& runner, const KernelEntry& entry, const Problem& problem, const BenchOptions& options,
                      CeilingSource* ceiling) {
  auto r = result_of<BenchResult>(entry, problem);
  r.device = runner.device().info().backend;
  note_failure(r, [&] { run(r, runner, entry, problem, options, ceiling); });
  return r;
}

}  // namespace mt
