// expect: a kernel needs `void body() const`
// A body may be traced many times, so it changes nothing of the kernel.
#include "tests/nocompile/case.h"

namespace mt {
template <Storage T>
struct Sample {
  Out<T> out{"out", {"n"}};
  Launch launch(const Problem&) const { return {}; }
#ifdef MISUSE
  void body() { out.store(thread_id(), 0.f); }
#else
  void body() const { out.store(thread_id(), 0.f); }
#endif
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {}; }
  Problems benches() const { return {}; }
  Work work(const Problem&) const { return {}; }
};
const bool registered = kernel<Sample>("sample", Floats{});
}  // namespace mt
