// expect-gcc: constraint
// expect-clang: constraint
// A template over float storage is not made for integers.
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
  Work work(const Problem&) const { return {}; }
};
#ifdef MISUSE
const bool registered = kernel<Sample>("sample", dtypes<f32, i32>{});
#else
const bool registered = kernel<Sample>("sample", Floats{});
#endif
}  // namespace mt
