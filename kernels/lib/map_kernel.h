// What every elementwise kernel shares: geometry, problems and traffic.
#pragma once
#include "mt/dsl/dsl.h"

namespace mt {

/// Geometry over the n elements of the problem; kernels derive from it.
template <class T>
struct MapKernel {
  static constexpr int kThreads = 256;
  static constexpr int kWidest = 16 / size_of(dtype_of<T>) > 8 ? 8 : 16 / size_of(dtype_of<T>);  // 16 bytes of T
  Tunable width{"width", kWidest, {1, 2, 4, 8}};  // elements a thread takes at a time

  void plan(const Problem&, TargetTraits traits) { width = traits.gpu ? kWidest : 2; }
  Launch launch(const Problem& p) const {
    return {.groups = {map_groups(p["n"], width, kThreads)}, .threads = kThreads};
  }
};

/// Sizes around a vector, a simdgroup and a threadgroup; nothing at all; and edge values, also in ragged ends.
inline Problems map_tests() {
  return over(Problem{}, "n", {1, 7, 31, 32, 33, 1023, 1024, 1025, 2047, 2049, 10007, 0}) +
         over(Problem{}.with_edges(), "n", {1024, 1025, 1026, 1027, 1029, 1030, 1031});
}
inline Problems map_benches() { return over(Problem{}, "n", {16 << 20, 64 << 20}); }
/// `inputs` tensors of T in, `outputs` of them out.
template <class T>
Work map_work(const Problem& p, int inputs, int outputs = 1) {
  const double bytes = static_cast<double>(p["n"]) * size_of(dtype_of<T>);
  return {.read = bytes * inputs, .written = bytes * outputs};
}

}  // namespace mt
