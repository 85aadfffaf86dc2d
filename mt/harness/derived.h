// Test cases that follow from a kernel's own, so that no author has to think of them.
#pragma once
#include "mt/dsl/kernel.h"

namespace mt {

/// Cases that are not among the kernel's own: sizes just below, at and just above every count that its plan chose (and
/// twice it), as far as its contract takes them, and patterns of values in a problem of moderate size.
Problems derived_cases(KernelInstance& instance, TargetTraits traits, const Overrides& overrides = {});

}  // namespace mt
