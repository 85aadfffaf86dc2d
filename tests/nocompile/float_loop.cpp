// expect: a for_ counts in integers: cast the end, or count in an integer and compute the float from it
// A device loop counts in integers.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  for_(a, [&](const F32&) { y.store(i, a); });
#else
  for_(cast<u32>(a), [&](const U32&) { y.store(i, a); });
#endif
}
}  // namespace mt
