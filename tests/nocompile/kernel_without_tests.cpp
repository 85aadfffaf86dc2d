// expect: a kernel needs `Problems tests() const`: the problems on which it is compared with its oracle
// Untested kernels are not registered.
#include "tests/nocompile/case.h"

namespace mt {
template <Storage T>
struct Sample {
  Out<T> out{"out", {"n"}};
  Launch launch(const Problem&) const { return {}; }
  void body() const { out.store(thread_id(), 0.f); }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
#ifndef MISUSE
  Problems tests() const { return {}; }
#endif
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
};
const bool registered = kernel<Sample>("sample", Floats{});
}  // namespace mt
