// Reports about views that are not contiguous: transposed, sliced, repeated, padded, of many dimensions.
#include <algorithm>
#include <string>
#include <vector>

#include "mt/dsl/reports.h"

namespace mt {
namespace {

/// Sizes and strides in elements over a source that just holds the view.
Problem view(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& step, std::int64_t offset = 0) {
  std::int64_t count = 1, last = offset;
  Problem p{{"rank", static_cast<std::int64_t>(shape.size())}, {"offset", offset}};
  for (std::size_t d = 0; d < 8; ++d) {
    const bool used = d < shape.size();
    p = p.with("d" + std::to_string(d), used ? shape[d] : 1).with("s" + std::to_string(d), used ? step[d] : 0);
    if (!used) continue;
    count *= shape[d];
    last += (shape[d] - 1) * step[d];
  }
  return p.with("n", count).with("src_size", std::max<std::int64_t>(last + 1, 1));
}

const bool views = report({
    {"S-03", "mt_strided_copy_nd", view({9, 33}, {40, 1}, 3)},
    {"S-05", "mt_strided_copy_nd", view({7, 65}, {1, 7})},
    {"S-05", "mt_strided_copy_nd", view({3, 4097}, {4099, 1}, 1)},
    {"S-05", "mt_strided_copy_nd", view({129}, {3}, 2)},
    {"S-07", "mt_strided_copy_nd", view({5, 32}, {40, 1})},
    {"S-09", "mt_strided_copy_nd", view({2, 3, 16}, {96, 16, 1}, 5)},
    {"S-10", "mt_strided_copy_nd", view({8, 4, 6}, {1, 48, 8})},
    {"S-10", "mt_strided_copy_nd", view({0, 64}, {64, 1})},
    {"S-11", "mt_strided_copy_nd", view({6, 50}, {101, 2}, 7)},
    {"T-27", "mt_strided_copy_nd", view({11, 7}, {0, 1})},
    {"T-27", "mt_strided_copy_nd", view({6, 5, 4}, {4, 0, 1})},
    {"I-14", "mt_strided_copy_nd", view({70000, 3}, {4, 1})},
});

Problem gather(std::int64_t rows, std::int64_t vocab, std::int64_t n) {
  return {{"rows", rows}, {"vocab", vocab}, {"n", n}};
}
const bool lookups = report({
    {"O-13", "ffai_gather", gather(50, 32, 24)},
    {"M-45", "ffai_gather", gather(40, 3, 65)},
    {"M-51", "ffai_gather", gather(3, 5, 1)},
});

const bool nothing = report({
    {"M-51", "mt_softmax", Problem{{"rows", 0}, {"n", 33}}},
    {"M-51", "mt_copy", Problem{{"n", 0}}},
    {"M-51", "mt_all_reduce", Problem{{"n", 0}}},
    {"M-51", "mt_qmv", Problem{{"m", 0}, {"n", 9}, {"k", 64}, {"group_size", 64}, {"words", 8}, {"groups", 1}}},
    {"M-51", "mt_row_reduce_max", Problem{{"rows", 3}, {"n", 0}}},
});

}  // namespace
}  // namespace mt
