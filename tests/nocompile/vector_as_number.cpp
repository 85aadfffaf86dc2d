// expect-gcc: conversion from
// expect-clang: no viable conversion
// Many lanes are not one number.
#include "tests/nocompile/case.h"

namespace mt {
void body(const U32& i, const In<f32>& x, const Out<f32>& y) {
#ifdef MISUSE
  const F32 z = x.load(i, 4);
  y.store(i, z);
#else
  const F32 z = sum(x.load(i, 4));
  y.store(i, z);
#endif
}
}  // namespace mt
