// expect-gcc: no matching function for call to
// expect-clang: no matching function for call to
// Functions of <cmath> run on the host.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, std::exp(a));
#else
  y.store(i, exp(a));
#endif
}
}  // namespace mt
