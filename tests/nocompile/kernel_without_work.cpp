// expect: a kernel needs `Work work(const Problem&) const`: the bytes and operations of a problem
// Without it there is no share of the roofline.
#include "tests/nocompile/case.h"

namespace mt {
template <Storage T>
struct Sample {
  Out<T> out{"out", {"n"}};
  Launch launch(const Problem&) const { return {}; }
  void body() const { out.store(thread_id(), 0.f); }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {}; }
  Problems benches() const { return {}; }
#ifndef MISUSE
  Work work(const Problem&) const { return {}; }
#endif
};
const bool registered = kernel<Sample>("sample", Floats{});
}  // namespace mt
