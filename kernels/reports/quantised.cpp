// Reports about quantised formats and products: empty, constant and tiny groups; few rows, odd counts.
#include <string>

#include "mt/dsl/reports.h"

namespace mt {
namespace {

Problem groups(int bits, std::int64_t count, std::int64_t size) {
  return {{"n_groups", count}, {"group_size", size}, {"words", size * bits / 32}};
}
std::string quantise(int bits) { return "mt_affine_quantize_int" + std::to_string(bits); }
std::string dequantise(int bits) { return "mt_affine_dequantize_int" + std::to_string(bits); }

const bool groups_of_all_kinds = [] {
  for (const int bits : {2, 4, 8})
    for (const int size : {32, 64, 128}) {
      report({{"Q-01", quantise(bits), groups(bits, 5, size).with_values(Values::Zeros)},
              {"Q-02", quantise(bits), groups(bits, 5, size).with_values(Values::Equal)},
              {"Q-03", quantise(bits), groups(bits, 5, size).with_values(Values::Tiny)}});
    }
  for (const int bits : {3, 5, 6})
    report({{"Q-11", quantise(bits), groups(bits, 3, 64).with_values(Values::Ramp)},
            {"Q-11", dequantise(bits), groups(bits, 3, 192)}});
  for (const int bits : {2, 3, 4, 5, 6, 8})
    report({{"R-17", quantise(bits), groups(bits, 7, 64).with_values(Values::Alternating)},
            {"Q-14", quantise(bits), groups(bits, 7, 64).with_values(Values::Spike)}});
  return true;
}();

Problem product(int bits, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t group_size) {
  return {
      {"m", m}, {"n", n}, {"k", k}, {"group_size", group_size}, {"words", k * bits / 32}, {"groups", k / group_size}};
}

const bool products = report({
    {"T-01", "mt_qmv", product(4, 1, 4, 4096, 64)},
    {"T-01", "mt_qmv", product(4, 1, 33, 4096, 64)},
    {"T-02", "mt_qmv", product(4, 1, 5, 512, 64)},
    {"T-02", "mt_qmv", product(4, 1, 7, 512, 64)},
    {"T-02", "mt_qmv", product(4, 1, 67, 512, 64)},
    {"T-03", "mt_qmv", product(4, 1, 3, 32, 32)},
    {"T-03", "mt_qmv", product(4, 2, 10, 32, 32)},
    {"T-03", "mt_qmv", product(4, 1, 5, 32, 32)},
    {"T-03", "mt_qmv", product(4, 4, 7, 32, 32)},
    {"T-05", "mt_qmv", product(4, 1, 99, 256, 64)},
    {"T-05", "mt_qmv", product(4, 1, 129, 256, 64)},
    {"T-06", "mt_qmv", product(4, 1, 32, 1024, 64)},
    {"T-06", "mt_qmv", product(4, 1, 96, 1024, 64)},
    {"T-07", "mt_qmv", product(4, 2, 9, 512, 64)},
    {"T-07", "mt_qmv", product(4, 31, 9, 512, 64)},
    {"T-07", "mt_qmv", product(4, 33, 9, 512, 64)},
    {"T-07", "mt_qmv", product(4, 64, 9, 512, 64)},
    {"T-07", "mt_qmv", product(4, 65, 9, 512, 64)},
    {"T-09", "mt_qmv_int8_fast", product(8, 1, 2048, 64, 32)},
    {"T-11", "mt_qmv", product(4, 1, 9, 544, 32)},
    {"T-11", "mt_qmv", product(4, 1, 9, 608, 32)},
    {"T-17", "mt_qmv", product(4, 3, 1, 256, 64)},
    {"T-17", "mt_qmv", product(4, 3, 4, 256, 64)},
    {"I-03", "mt_qmv", product(4, 1, 32840, 128, 64)},
    {"I-03", "mt_qmv", product(4, 16, 3284, 128, 64)},
    {"P-02", "mt_qmv", product(4, 8, 12, 256, 64)},
    {"P-05", "mt_qmv", product(4, 6, 40, 1024, 64)},
    {"P-05", "mt_qmv_int8_fast", product(8, 6, 40, 512, 64)},
    {"Q-14", "mt_qmv", product(4, 2, 9, 512, 64).with_values(Values::Zeros)},
    {"Q-14", "mt_qmv", product(4, 2, 9, 512, 64).with_values(Values::Spike)},
});

}  // namespace
}  // namespace mt
