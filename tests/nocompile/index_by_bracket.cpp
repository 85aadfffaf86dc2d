// expect-gcc: no match for 'operator[]'
// expect-clang: does not provide a subscript operator
// A tensor is read with load and written with store, where the width shows.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const In<f32>& x, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, x[i]);
#else
  y.store(i, x.load(i));
#endif
}
}  // namespace mt
