// expect-gcc: break statement not within loop or switch
// expect-clang: 'break' statement not in loop or switch statement
// Nor does it leave the host loop around.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  for (int k : unroll(4)) {
    if_(i == k, [&] {
      if (k == 2) break;
    });
  }
#else
  for (int k : unroll(4)) {
    if (k == 2) break;
    if_(i == k, [&] { y.store(i, a); });
  }
#endif
}
}  // namespace mt
