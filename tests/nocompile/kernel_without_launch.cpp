// expect: a kernel needs `Launch launch(const Problem&) const`: its contract and geometry
// Geometry follows from the problem; no caller passes it.
#include "tests/nocompile/case.h"

namespace mt {
template <Storage T>
struct Sample {
  Out<T> out{"out", {"n"}};
#ifndef MISUSE
  Launch launch(const Problem&) const { return {}; }
#endif
  void body() const { out.store(thread_id(), 0.f); }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
};
const bool registered = kernel<Sample>("sample", Floats{});
}  // namespace mt
