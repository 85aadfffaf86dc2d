// Reductions, scans, arg-reductions and sorts over rows. A row is the last axis.
#pragma once
#include <cstdint>

#include "mt/base/expected.h"
#include "mt/base/host_tensor.h"

namespace mt::oracle {

/// NaN propagates through Max and Min. Over no element: 0, 1, -inf, +inf.
enum class Reduction : std::uint8_t { Sum, Prod, Max, Min };

/// One result a row. The bound of a sum is relative to the sum of magnitudes; intermediate results are taken to stay
/// inside the range of f32, so inputs should keep sums of magnitudes and partial products there.
Expected row_reduce(Reduction op, const HostTensor& x);
/// One result for the whole tensor.
Expected all_reduce(Reduction op, const HostTensor& x);

enum class ScanKind : std::uint8_t { Inclusive, Exclusive };

/// Prefix reductions of each row; Exclusive leaves the own element out and starts from the value over no element.
Expected scan(Reduction op, ScanKind kind, const HostTensor& x);

/// Index in the row of its largest or smallest element, exact: the first of equals; NaN counts as the extreme, so the
/// first NaN wins. Throws mt::Error for rows without elements.
Expected arg_max(const HostTensor& x);
Expected arg_min(const HostTensor& x);
/// The same over the whole tensor, as one row.
Expected arg_max_all(const HostTensor& x);
Expected arg_min_all(const HostTensor& x);

/// Each row in ascending order, stable, NaN last; -0 and +0 are equal.
Expected sort_rows(const HostTensor& x);

}  // namespace mt::oracle
