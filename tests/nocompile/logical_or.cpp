// expect: || does not short-circuit on the device: write | or nest if_
// Both sides of | are evaluated.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const U32& n, const Bool& c, const Out<f32>& y) {
#ifdef MISUSE
  if_(c || i < n, [&] { y.store(i, a); });
#else
  if_(c | (i < n), [&] { y.store(i, a); });
#endif
}
}  // namespace mt
