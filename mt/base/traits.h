// What a kernel's plan may know of the machine it will run on. Deliberately little.
#pragma once

namespace mt {

struct TargetTraits {
  /// true: thousands of threads hide latency, simdgroups of a threadgroup run side by side.
  /// false: a threadgroup runs on one core, one simdgroup after another; fewer and longer threadgroups are better.
  bool gpu = true;
  /// Threadgroup memory that a threadgroup may have, in KiB. Kernels that stage tiles choose their sizes by it.
  int threadgroup_kib = 32;
  /// Four simdgroups, a team, multiply together by one operand of 16-bit elements that lies in panels of threadgroup
  /// memory, while they do other work.
  bool teams = false;
  bool operator==(const TargetTraits&) const = default;
};

}  // namespace mt
