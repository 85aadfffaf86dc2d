// expect-gcc: use of deleted function
// expect-clang: call to deleted constructor
// A size is one parameter of the kernel.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const Out<f32>& y, const Size& size) {
#ifdef MISUSE
  auto m = size;
  y.store(m, a);
#else
  const U32 m = size;
  y.store(m, a);
#endif
}
}  // namespace mt
