// expect-gcc: no match for 'operator&'
// expect-clang: invalid operands to binary expression
// Bit operations take integers.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, a & b);
#else
  y.store(i, bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b)));
#endif
}
}  // namespace mt
