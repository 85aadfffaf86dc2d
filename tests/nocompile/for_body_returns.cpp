// expect: a for_ body returns nothing: assign to a Var declared outside
// A value cannot leave a loop by return.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& n, const In<f32>& x) {
#ifdef MISUSE
  for_(n, [&](const U32& k) { return x.load(k); });
#else
  Var<f32> last(0.f);
  for_(n, [&](const U32& k) { last = x.load(k); });
#endif
}
}  // namespace mt
