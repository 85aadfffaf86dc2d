#include "mt/harness/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "mt/base/hash.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/memory.h"
#include "mt/harness/result.h"
#include "mt/harness/rotation.h"
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

constexpr double kWarm = 0.05;  // seconds
constexpr std::size_t kLeastPeerSamples = 7;

/// A library may round to the dtype between the operations that make up one kernel, and weigh values with factors so
/// rounded: three units of the dtype, of the element or of the tensor's typical one.
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
        e.bound[i] += 3 * unit * std::max(std::isfinite(e.value[i]) ? std::abs(e.value[i]) : 0, typical);
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

void measure(BenchResult& r, Sampler& calls, const BenchOptions& options, CeilingSource* ceiling, PeerTrials& peers) {
  std::vector<double> samples;
  std::vector<Ceiling> ceilings;
  double spent = 0, since = 1e9, cpu = 0;
  while (!options.stop.enough(samples, spent)) {
    check_interrupt();
    if ((ceiling || options.peer) && since >= options.ceiling_every) {
      if (ceiling) ceilings.push_back(ceiling->sample());
      peers.sample();
      since = 0;
      calls.touch();  // not counted
    }
    const double cpu_before = cpu_seconds();
    const double seconds = calls.run();
    cpu += cpu_seconds() - cpu_before;
    samples.push_back(seconds / static_cast<double>(calls.batch()));
    spent += seconds;
    since += seconds;
  }
  if (ceiling) ceilings.push_back(ceiling->sample());
  peers.finish(r.peers);
  r.time = summarise(samples);
  r.iterations = static_cast<std::int64_t>(samples.size() * calls.batch());
  r.cpu_seconds = cpu / static_cast<double>(r.iterations);
  if (!ceilings.empty()) {
    r.has_roof = true;
    r.ceiling = median_of(ceilings);
    if (r.on_matrix_unit && r.ceiling.matrix_flops > 0) r.ceiling.flops = r.ceiling.matrix_flops;
    r.roof = roof_of(r.work.read, r.work.written, r.work.flops, r.ceiling);
  }
}

void run(BenchResult& r, Runner& runner, const KernelEntry& entry, const Problem& problem, const BenchOptions& options,
         CeilingSource* ceiling) {
  const Call call = runner.prepare(entry, problem, options.overrides);
  Device& device = runner.device();
  r.compile_ms = call.compile_ms();
  r.chosen = options.overrides;
  r.tuned = call.tuned();
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
  r.on_matrix_unit = call.has_matrix_products();
  const bool exact = !call.has_atomics();
  check_interrupt();

  const std::vector<TensorSlot>& slots = call.tensors();
  const bool in_place = std::any_of(slots.begin(), slots.end(), [](const TensorSlot& s) {
    return s.param->access == Access::InOut && !s.param->temporary;
  });
  const std::size_t cache = cache_bytes(device);
  r.copies = sets_for(r.tensor_bytes, options.rotation_bytes ? options.rotation_bytes : 3 * cache, options.memory,
                      options.most_copies);
  r.cached = r.copies * r.tensor_bytes < cache;
  PeerTrials peers(options, entry, call, inputs, expected, r.copies);
  if (exact) expected.clear();
  for (std::size_t i = 1; i < r.copies; ++i) {
    sets.emplace_back(device, call);
    sets.back().reset(inputs);
  }
  std::vector<const BoundCall*> bound;
  for (const TensorSet& set : sets) bound.push_back(&set.bound());
  Sampler calls(device, bound, kWarm);
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
