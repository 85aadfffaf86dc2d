// expect-gcc: no match for 'operator[]'
// expect-clang: no viable overloaded operator[]
// A host array cannot be indexed by what only the device knows.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  const std::array<F32, 2> z{a, b};
  y.store(i, z[i]);
#else
  const std::array<F32, 2> z{a, b};
  y.store(i, select(i == 0, z[0], z[1]));
#endif
}
}  // namespace mt
