#include "mt/harness/test_case.h"

#include <fmt/format.h>

#include "mt/harness/batch.h"
#include "mt/harness/memory.h"
#include "mt/harness/result.h"
#include "mt/harness/stopwatch.h"
#include "mt/harness/verified.h"

namespace mt {
namespace {

void run(Runner& runner, const KernelEntry& entry, const Problem& problem, const CaseOptions& options, CaseResult& r) {
  const Call call = runner.prepare(entry, problem, options.overrides);
  for (const PreparedStage& s : call.stages())
    if (!s.compiled.reused)
      r.compiled.push_back(
          {entry.id() + (s.name.empty() ? "" : "/" + s.name), s.compiled.compile_ms, s.compiled.program->from_cache});
  check_memory(call.tensors());
  const std::map<std::string, HostTensor> inputs = make_inputs(call.tensors(), problem);
  TensorSet set(runner.device(), call);
  r.empty = call.empty();
  r.tuned = overrides_text(call.tuned());
  set.run(inputs);
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
  if (r.compared == 0 && v.unspecified == 0 && r.error.empty()) r.error = "nothing was compared";
  if (options.repeat && r.error.empty() && !call.has_atomics()) {
    set.run(inputs);
    const std::vector<HostTensor> again = set.outputs();
    for (std::size_t t = 0; t < outputs.size() && r.error.empty(); ++t)
      if (const auto at = different_element(outputs[t], again[t]))
        r.error = fmt::format("{}: element {} differs between two runs on the same inputs", outputs[t].name, *at);
  }
  if (options.alone && r.error.empty())
    add_sentence(r.error, compare_alone(runner, entry, call, inputs, outputs,
                                        call.tuned().empty() ? options.overrides : call.tuned()));
}

}  // namespace

CaseResult run_case(Runner& runner, const KernelEntry& entry, const Problem& problem, const CaseOptions& options) {
  return timed_case(runner, entry, problem, [&](CaseResult& r) { run(runner, entry, problem, options, r); });
}

CaseResult timed_case(const Runner& runner, const KernelEntry& entry, const Problem& problem,
                      const std::function<void(CaseResult&)>& run) {
  auto r = result_of<CaseResult>(entry, problem);
  r.device = runner.device().info().backend;
  const Stopwatch watch;
  note_failure(r, [&] { run(r); });
  r.seconds = watch.seconds();
  r.passed = r.error.empty();
  return r;
}

}  // namespace mt
