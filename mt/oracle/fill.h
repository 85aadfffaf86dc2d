// Generates the numbers that a Fill describes.
#pragma once
#include <cstdint>

#include "mt/base/fill.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// Fills `t`; the numbers depend only on `seed`, the tensor's name, its row length (RowScaled, edges) and the index, on
/// every machine. `below` is the exclusive upper limit of a Fill::index. Values go to the tensor's dtype rounded to
/// nearest even; an Integers fill gives whole numbers whatever the dtype.
///
/// With `edges`, float tensors whose fill allows it get, at fixed places: ±0, subnormals, ties of rounding, ±1 and
/// repeats of the element before; and the largest finite values, ±inf and NaN. Where there are three rows or more the
/// latter stand in every third row only, one a row, so that most rows stay finite.
///
/// Throws mt::Error for a range that holds no number, or an index below 0.
void fill(HostTensor& t, const Fill& how, std::uint64_t seed, std::int64_t below = 0, bool edges = false);

}  // namespace mt::oracle
