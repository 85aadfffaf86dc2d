// expect-gcc: continue statement not within a loop
// expect-clang: 'continue' statement not in loop statement
// `continue` does not skip a round of a device loop.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const U32& n, const Out<f32>& y) {
#ifdef MISUSE
  for_(n, [&](const U32& k) {
    if_(k == i, [&] { continue; });
    y.store(k, a);
  });
#else
  for_(n, [&](const U32& k) { if_(k != i, [&] { y.store(k, a); }); });
#endif
}
}  // namespace mt
