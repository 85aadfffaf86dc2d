// expect-gcc: no match for 'operator+'
// expect-clang: invalid operands to binary expression
// No silent conversion between signed and unsigned.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const U32& i, const I32& s, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i + s, a);
#else
  y.store(i + cast<u32>(s), a);
#endif
}
}  // namespace mt
