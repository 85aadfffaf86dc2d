// Softmax and log-sum-exp over rows. A row is the last axis.
#pragma once
#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// exp(x - max) / sum of exp(x - max). A row that holds NaN or +inf, or nothing but -inf, has no softmax: all NaN.
/// `exp_loss`: what an exponential may be off by beyond its usual error, relative to it.
Expected softmax(const HostTensor& x, double exp_loss = 0);

/// max + log(sum of exp(x - max)), one a row: -inf for a row of -inf or without elements, +inf for one with +inf.
/// `exp_loss` as for softmax.
Expected logsumexp(const HostTensor& x, double exp_loss = 0);

}  // namespace mt::oracle
