// expect: a kernel needs `void body() const`, or `Stages<K> stages() const`
// A kernel is its body.
#include "tests/nocompile/case.h"

namespace mt {
template <Storage T>
struct Sample {
  Out<T> out{"out", {"n"}};
  Launch launch(const Problem&) const { return {}; }
#ifndef MISUSE
  void body() const { out.store(thread_id(), 0.f); }
#endif
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
};
const bool registered = kernel<Sample>("sample", Floats{});
}  // namespace mt
