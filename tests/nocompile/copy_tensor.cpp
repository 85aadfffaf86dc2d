// expect-gcc: use of deleted function
// expect-clang: call to deleted constructor
// A tensor is one parameter of the kernel, not a value.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const In<f32>& x, const Out<f32>& y) {
#ifdef MISUSE
  auto t = x;
  y.store(i, t.load(i));
#else
  const auto& t = x;
  y.store(i, t.load(i));
#endif
}
}  // namespace mt
