#include "mt/harness/test_case.h"

#include <fmt/format.h>

#include "mt/harness/batch.h"
#include "mt/harness/memory.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/verified.h"

namespace mt {
namespace {

void add_sentence(std::string& all, const std::string& one) {
  if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
}

std::string compare_bits(const std::vector<HostTensor>& first, const std::vector<HostTensor>& second) {
  for (std::size_t t = 0; t < first.size(); ++t) {
    const auto size = static_cast<std::size_t>(size_of(first[t].dtype));
    for (std::size_t b = 0; b < first[t].bytes(); ++b)
      if (first[t].data[b] != second[t].data[b])
        return fmt::format("{}: element {} differs between two runs on the same inputs", first[t].name, b / size);
  }
  return "";
}

void run(Runner& runner, const KernelEntry& entry, const Problem& problem, const CaseOptions& options, CaseResult& r) {
  const Call call = runner.prepare(entry, problem, options.overrides);
  check_memory(call.tensors());
  Device& device = runner.device();
  const std::map<std::string, HostTensor> inputs = make_inputs(call.tensors(), problem);
  TensorSet set(device, call);
  r.empty = call.empty();
  set.reset(inputs);
  set.bound().run();
  device.wait();
  add_sentence(r.error, set.damage(inputs));
  if (r.empty) return;
  const std::vector<HostTensor> outputs = set.outputs();
  const ExpectedOutputs expected = call.instance().oracle(Inputs(inputs, problem, call.signature()));
  const Verification v = verify_outputs(outputs, expected);
  r.compared = v.compared;
  r.max_error = v.worst.worst_error;
  r.bound = v.worst.worst_bound;
  r.ratio = v.worst.max_error;
  add_sentence(r.error, v.error);
  if (r.compared == 0 && r.error.empty()) r.error = "nothing was compared";
  if (options.repeat && r.error.empty() && !call.has_atomics()) {
    set.reset(inputs);
    set.bound().run();
    device.wait();
    add_sentence(r.error, compare_bits(outputs, set.outputs()));
  }
  if (options.alone && r.error.empty())
    add_sentence(r.error, compare_alone(runner, entry, call, inputs, outputs, options.overrides));
}

}  // namespace

CaseResult run_case(Runner& runner, const KernelEntry& entry, const Problem& problem, const CaseOptions& options) {
  CaseResult r;
  r.kernel = entry.name;
  r.dtype = std::string(name_of(entry.dtype));
  r.problem = problem.text();
  r.device = runner.device().info().backend;
  const Stopwatch watch;
  try {
    run(runner, entry, problem, options, r);
  } catch (const Error& e) {
    add_sentence(r.error, e.what());
  } catch (const std::bad_alloc&) {
    add_sentence(r.error, "not enough memory for this case");
  }
  r.seconds = watch.seconds();
  r.passed = r.error.empty();
  return r;
}

}  // namespace mt
