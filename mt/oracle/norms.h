// Normalisations over rows.
#pragma once
#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// x / sqrt(mean(x^2) + eps) * w for each row of x; w has the length of a row. `eps` as the kernel holds it.
Expected rms_norm(const HostTensor& x, const HostTensor& w, double eps);

/// (x - mean) / sqrt(variance + eps) * w + b for each row of x, with the variance of the row (divided by n). The bound
/// asks for a variance formed from differences to the mean: E[x^2] - mean^2 fails it where the mean dominates.
Expected layer_norm(const HostTensor& x, const HostTensor& w, const HostTensor& b, double eps);

}  // namespace mt::oracle
