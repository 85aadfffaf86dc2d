// expect: a device value has no host truth value: use if_(cond, [&]{...}), select(cond, a, b), & or |
// no-place-clang: it reports the comparison inside std::max
// std::max asks for a host truth value; max is found without a namespace.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Out<f32>& y) {
#ifdef MISUSE
  y.store(i, std::max(a, b));
#else
  y.store(i, max(a, b));
#endif
}
}  // namespace mt
