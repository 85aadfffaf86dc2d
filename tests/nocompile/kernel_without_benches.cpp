// expect: a kernel needs `Problems benches() const`: the problems on which it is measured
// Unmeasured kernels are not registered.
#include "tests/nocompile/case.h"

namespace mt {
template <Storage T>
struct Sample {
  Out<T> out{"out", {"n"}};
  Launch launch(const Problem&) const { return {}; }
  void body() const { out.store(thread_id(), 0.f); }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {}; }
#ifndef MISUSE
  Problems benches() const { return {}; }
#endif
  Work work(const Problem&) const { return {}; }
};
const bool registered = kernel<Sample>("sample", Floats{});
}  // namespace mt
