// expect-gcc: as 'this' argument discards qualifiers
// expect-clang: expects an rvalue for object argument
// else_ follows its if_ at once.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const F32& b, const U32& i, const Bool& c, const Out<f32>& y) {
#ifdef MISUSE
  auto branch = if_(c, [&] { y.store(i, a); });
  branch.else_([&] { y.store(i, b); });
#else
  if_(c, [&] { y.store(i, a); }).else_([&] { y.store(i, b); });
#endif
}
}  // namespace mt
