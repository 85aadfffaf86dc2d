#include <algorithm>
#include <cmath>

#include "tests/seed_mutants/wrong_kernels.h"

namespace mt {
namespace {

/// Code `i` of a row of packed codes.
std::int64_t code_at(const HostTensor& words, std::int64_t first_word, std::int64_t i, int bits) {
  std::int64_t code = 0;
  for (int b = 0; b < bits; ++b) {
    const std::int64_t bit = i * bits + b;
    code |= (words.int_at(first_word + bit / 32) >> (bit % 32) & 1) << b;
  }
  return code;
}

/// Where a term of a product comes from.
struct Term {
  std::int64_t row, vector, k, group;  // of the matrix, of x; the place in both; of scales and biases
  double bias = 1;                     // factor of the bias
  bool counts = true;
};
struct ProductFault {
  std::function<void(const Inputs&, Term&)> term;
  std::function<double(double)> code;
  double factor = 1;
};

void product(const Inputs& in, Outputs& out, const ProductFault& fault) {
  const std::int64_t m = in.size("m"), n = in.size("n"), k = in.size("k");
  for (std::int64_t v = 0; v < m; ++v)
    for (std::int64_t r = 0; r < n; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        Term t{.row = r, .vector = v, .k = i, .group = i / in.size("group_size")};
        if (fault.term) fault.term(in, t);
        double code = static_cast<double>(code_at(in["w"], t.row * in.size("words"), t.k, 4));
        if (fault.code) code = fault.code(code);
        const std::int64_t g = r * in.size("groups") + t.group;
        if (t.counts) sum += (in["scales"].at(g) * code + t.bias * in["biases"].at(g)) * in["x"].at(t.vector * k + t.k);
      }
      out.at("out").set(v * n + r, sum * fault.factor);
    }
}

struct Quantiser {
  double scale_factor = 1, bias_off = 0, rounding = 0.5;
  std::int64_t code_mask = ~std::int64_t{0};
};

void quantise(const Inputs& in, Outputs& out, const Quantiser& f) {
  const std::int64_t groups = in.size("n_groups"), size = in.size("group_size"), words = in.size("words");
  for (std::int64_t g = 0; g < groups; ++g) {
    float low = INFINITY, high = -INFINITY;
    for (std::int64_t i = 0; i < size; ++i) {
      low = std::min(low, static_cast<float>(in["w"].at(g * size + i)));
      high = std::max(high, static_cast<float>(in["w"].at(g * size + i)));
    }
    const float span = (high - low) / 255, scale = span < 1e-7f ? 1 : span;
    out.at("scales").set(g, scale * f.scale_factor);
    out.at("biases").set(g, low + f.bias_off);
    for (std::int64_t w = 0; w < words; ++w) {
      std::int64_t word = 0;
      for (int b = 0; b < 4; ++b) {
        const double level = (static_cast<float>(in["w"].at(g * size + 4 * w + b)) - low) / scale + f.rounding;
        word |= (std::min<std::int64_t>(static_cast<std::int64_t>(level), 255) & f.code_mask) << (8 * b);
      }
      out.at("out").set_int(g * words + w, word);
    }
  }
}

struct Dequantiser {
  bool bias = true, high_first = false, next_scale = false;
};

void dequantise(const Inputs& in, Outputs& out, const Dequantiser& f) {
  const std::int64_t groups = in.size("n_groups"), size = in.size("group_size"), words = in.size("words");
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t place = f.high_first ? i / 8 * 8 + 7 - i % 8 : i, s = f.next_scale ? (g + 1) % groups : g;
      const double code = static_cast<double>(code_at(in["w"], g * words, place, 4));
      out.at("out").set(g * size + i, in["scales"].at(s) * code + (f.bias ? in["biases"].at(g) : 0));
    }
}

}  // namespace

std::vector<WrongKernel> wrong_quantised() {
  std::vector<WrongKernel> all;
  const auto qmv = [&](const char* name, ProductFault f) {
    all.push_back({"mt_qmv", name, [=](const Inputs& in, Outputs& out) { product(in, out, f); }});
  };
  const auto term = [](auto change) {
    return ProductFault{[=](const Inputs& in, Term& t) { change(in, t); }, nullptr};
  };
  qmv("", {});
  qmv("result doubled", {.factor = 2});
  qmv("second half of k ignored", term([](const Inputs& in, Term& t) { t.counts = t.k < (in.size("k") + 1) / 2; }));
  qmv("codes inverted", {.code = [](double code) { return 15 - code; }});
  qmv("signed codes", {.code = [](double code) { return code < 8 ? code : code - 16; }});
  qmv("scales and biases of the next group",
      term([](const Inputs& in, Term& t) { t.group = (t.group + 1) % in.size("groups"); }));
  qmv("scales and biases of group 0", term([](const Inputs&, Term& t) { t.group = 0; }));
  qmv("biases missing", term([](const Inputs&, Term& t) { t.bias = 0; }));
  qmv("codes of row 0", term([](const Inputs&, Term& t) { t.row = 0; }));
  qmv("the first vector for all", term([](const Inputs&, Term& t) { t.vector = 0; }));
  const auto quant = [&](const char* name, Quantiser f) {
    all.push_back({"mt_affine_quantize_int8", name, [=](const Inputs& in, Outputs& out) { quantise(in, out, f); }});
  };
  quant("", {});
  quant("precision of 4 bits", {.code_mask = 0xf0});
  quant("bias off by 0.049", {.bias_off = 0.049});
  quant("scale 20 % high", {.scale_factor = 1.2});
  quant("codes cut, not rounded", {.rounding = 0});
  const auto dequant = [&](const char* name, Dequantiser f) {
    all.push_back({"mt_affine_dequantize_int4", name, [=](const Inputs& in, Outputs& out) { dequantise(in, out, f); }});
  };
  dequant("", {});
  dequant("biases missing", {.bias = false});
  dequant("high nibble first", {.high_first = true});
  dequant("scale of the next group", {.next_scale = true});
  return all;
}

}  // namespace mt
