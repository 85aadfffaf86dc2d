// expect-gcc: conversion from
// expect-clang: no viable conversion
// A 64-bit index is not cut to 32 bits in silence.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const Out<f32>& y) {
#ifdef MISUSE
  const U32 k = global_id();
  y.store(k, a);
#else
  const U64 k = global_id();
  y.store(k, a);
#endif
}
}  // namespace mt
