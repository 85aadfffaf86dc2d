// expect-gcc: no match for 'operator<'
// expect-clang: invalid operands to binary expression
// Comparisons convert nothing either.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  if_(a < i, [&] { y.store(i, a); });
#else
  if_(a < cast<f32>(i), [&] { y.store(i, a); });
#endif
}
}  // namespace mt
