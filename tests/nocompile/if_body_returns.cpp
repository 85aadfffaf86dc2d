// expect: an if_ body returns nothing: assign to a Var declared outside, or use select
// A value cannot leave a branch by return.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const Bool& c) {
#ifdef MISUSE
  if_(c, [&] { return a; });
#else
  Var<f32> z(0.f);
  if_(c, [&] { z = a; });
#endif
}
}  // namespace mt
