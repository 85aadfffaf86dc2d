// What a kernel's plan may know of the machine it will run on. Deliberately little.
#pragma once

namespace mt {

struct TargetTraits {
  /// true: thousands of threads hide latency, simdgroups of a threadgroup run side by side.
  /// false: a threadgroup runs on one core, one simdgroup after another; fewer and longer threadgroups are better.
  bool gpu = true;
  /// Threadgroup memory that a threadgroup may have, in KiB. Kernels that stage tiles choose their sizes by it.
  int threadgroup_kib = 32;
  bool operator==(const TargetTraits&) const = default;
};

}  // namespace mt
