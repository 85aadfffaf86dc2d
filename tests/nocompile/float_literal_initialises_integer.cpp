// expect-gcc: conversion from
// expect-clang: no viable conversion
// An integer value does not start from a fraction.
#include "tests/nocompile/case.h"

namespace mt {
void body(const F32& a, const Out<f32>& y) {
#ifdef MISUSE
  const U32 k = 1.5f;
  y.store(k, a);
#else
  const U32 k = 1;
  y.store(k, a);
#endif
}
}  // namespace mt
