// expect: an else_ body returns nothing: assign to a Var declared outside
// Nor the other branch.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Bool& c, const Out<f32>& y) {
#ifdef MISUSE
  if_(c, [&] { y.store(i, a); }).else_([&] { return b; });
#else
  if_(c, [&] { y.store(i, a); }).else_([&] { y.store(i, b); });
#endif
}
}  // namespace mt
