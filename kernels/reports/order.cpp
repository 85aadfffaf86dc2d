// Reports about softmax, sorts, scans and indices of extremes: infinities, NaN, ties, lengths.
#include "mt/dsl/reports.h"

namespace mt {
namespace {

Problem rows(std::int64_t count, std::int64_t n) { return {{"rows", count}, {"n", n}}; }
Problem flat(std::int64_t n) { return {{"n", n}}; }

const bool softmaxes = report({
    {"O-01", "mt_softmax", rows(3, 127).with_values(Values::MinusInf)},
    {"O-01", "mt_softmax", rows(3, 128).with_values(Values::MinusInf)},
    {"O-01", "mt_softmax", rows(3, 129).with_values(Values::MinusInf)},
    {"O-01", "mt_softmax", rows(2, 5000).with_values(Values::MinusInf)},
    {"O-02", "mt_logsumexp", rows(1, 5000).with_values(Values::MinusInf)},
    {"O-02", "mt_logsumexp", rows(3, 31).with_values(Values::MinusInf)},
    {"M-22", "mt_softmax", rows(3, 257).with_values(Values::HeadMinusInf)},
    {"M-22", "mt_logsumexp", rows(3, 257).with_values(Values::HeadMinusInf)},
    {"M-23", "mt_softmax", rows(2, 2).with_values(Values::HeadMinusInf)},
    {"M-23", "mt_exp", flat(64).with_values(Values::MinusInf)},
    {"O-03", "mt_softmax", rows(7, 2042)},
    {"O-03", "mt_layer_norm", rows(7, 2340)},
    {"O-03", "mt_scan", rows(1, 262147)},
});

const bool scans = report({
    {"R-01", "mt_scan", rows(1, 5000).with_values(Values::Ones)},
    {"R-01", "mt_scan_exclusive", rows(1, 5000).with_values(Values::Ones)},
    {"O-07", "mt_scan_max", rows(6, 100).with_edges()},
    {"O-07", "mt_scan_min", rows(6, 100).with_edges()},
    {"O-07", "mt_scan_max_exclusive", rows(6, 100).with_edges()},
    {"O-07", "mt_scan_min_exclusive", rows(6, 100).with_edges()},
    {"S-06", "mt_scan", rows(70, 1)},
    {"T-23", "mt_scan", rows(3, 3 * 1024 + 1)},
});

const bool extremes = report({
    {"O-10", "mt_argmax", flat(777).with_edges()},
    {"O-10", "mt_argmin", flat(777).with_edges()},
    {"O-10", "mt_argmax", flat(4097).with_values(Values::Equal)},
    {"O-10", "mt_argmin", flat(4097).with_values(Values::Zeros)},
    {"O-10", "ffai_argmax", flat(100000).with_values(Values::Equal)},
    {"O-10", "mt_argmax", flat(300).with_values(Values::MinusInf)},
    {"I-06", "mt_row_reduce_max", rows(70000, 3)},
    {"R-09", "mt_row_reduce_max", rows(9, 100).with_edges()},
    {"R-09", "mt_row_reduce_min", rows(9, 100).with_edges()},
    {"R-09", "mt_all_reduce_max", flat(1000).with_edges()},
    {"R-09", "mt_max_elem", flat(333).with_edges()},
    {"R-09", "mt_min_elem", flat(333).with_edges()},
});

const bool sorts = report({
    {"O-05", "mt_sort", rows(5, 257).with_edges()},
    {"O-05", "mt_sort", rows(3, 1000).with_values(Values::Equal)},
    {"O-06", "mt_sort", rows(2, 4095)},
    {"O-19", "mt_sort", rows(3, 512)},
    {"O-23", "mt_sort", rows(9, 40).with_edges()},
    {"S-02", "mt_sort", rows(3, 4)},
    {"T-33", "mt_sort", rows(24, 1025)},
    {"T-42", "mt_sort", rows(1, 2048)},
});

}  // namespace
}  // namespace mt
