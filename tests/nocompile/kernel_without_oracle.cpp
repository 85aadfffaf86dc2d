// expect: a kernel needs `ExpectedOutputs oracle(const Inputs&) const`: what is right, in double precision
// Nobody can judge a kernel without a reference.
#include "tests/nocompile/case.h"

namespace mt {
template <Storage T>
struct Sample {
  Out<T> out{"out", {"n"}};
  Launch launch(const Problem&) const { return {}; }
  void body() const { out.store(thread_id(), 0.f); }
#ifndef MISUSE
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
#endif
  Problems tests() const { return {}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
};
const bool registered = kernel<Sample>("sample", Floats{});
}  // namespace mt
