// Affine quantisation in groups, and products with quantised matrices.
#include <algorithm>
#include <cmath>

#include "cli/reference/mlx.h"
#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"
#include "mt/oracle/quantise.h"

namespace mt::reference {
namespace {

bool group_of_mlx(std::int64_t size) { return size == 32 || size == 64 || size == 128; }

int bits_of_name(const std::string& name) {
  for (const std::string before : {"_int", "_mma_b"})
    if (const std::size_t at = name.find(before); at != std::string::npos) return name[at + before.size()] - '0';
  return 4;
}

/// What an unbatched product has at the indices that only batches use.
void bind_batches(Launch& launch, int first) {
  for (int i = first; i < first + 8; ++i) launch.buffers.emplace_back(i, bytes_of(std::int64_t{0}));
}

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;
};

/// x [m, k] times the matrix, [n, k] where it is transposed, else [k, n]; the bound is that of sums in f32.
Expected product_of(const HostTensor& x, const HostTensor& matrix, const Sizes& s, bool transposed) {
  const double f32 = std::ldexp(1.0, -24);
  const std::vector<double> left = oracle::read(x), right = oracle::read(matrix);
  Expected all = oracle::blank(s.m * s.n);
  oracle::parallel_for(s.m, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t m = begin; m < end; ++m)
      for (std::int64_t n = 0; n < s.n; ++n) {
        double value = 0, magnitude = 0;
        for (std::int64_t k = 0; k < s.k; ++k) {
          const double term = left[static_cast<std::size_t>(m * s.k + k)] *
                              right[static_cast<std::size_t>(transposed ? n * s.k + k : k * s.n + n)];
          value += term;
          magnitude += std::fabs(term);
        }
        const auto at = static_cast<std::size_t>(m * s.n + n);
        all.value[at] = value;
        // Each step rounds once; of the k in one running sum an eighth may go the same way.
        all.bound[at] = f32 * (17 + static_cast<double>(s.k) / 8) * magnitude;
      }
  });
  return all;
}

/// For MLX's products with a matrix that is not quantised: the weights that the codes stand for, rounded to the dtype,
/// and what is right for those.
void add_weights(Counterpart& c, DType t, const Sizes& s, int bits, std::int64_t group, bool transposed) {
  c.scratch.emplace_back("weights", t, std::vector<std::int64_t>{s.n * s.k});
  c.prepare = [=](std::map<std::string, HostTensor>& tensors) {
    const Expected w =
        oracle::affine_dequantise(tensors.at("w"), tensors.at("scales"), tensors.at("biases"), bits, group, s.k);
    HostTensor& weights = tensors.at("weights");
    for (std::int64_t n = 0; n < s.n; ++n)
      for (std::int64_t k = 0; k < s.k; ++k)
        weights.set(transposed ? n * s.k + k : k * s.n + n, w.value[static_cast<std::size_t>(n * s.k + k)]);
  };
  c.oracle = [=](const std::map<std::string, HostTensor>& tensors) {
    return ExpectedOutputs{{"out", product_of(tensors.at("x"), tensors.at("weights"), s, transposed)}};
  };
  c.allowance.why = "weights dequantised and rounded to the dtype beforehand; judged by their product";
}

std::vector<Counterpart> products(const KernelEntry& e, const Problem& p) {
  const std::int64_t m = p["m"], n = p["n"], k = p["k"], size = p["group_size"];
  const int bits = bits_of_name(e.name);
  if (m == 0 || n == 0 || k == 0 || !group_of_mlx(size)) return {};
  const auto i32 = [](std::int64_t v) { return bytes_of(static_cast<std::int32_t>(v)); };
  const std::string type = mlx_type(e.dtype), kind = std::to_string(size) + ", " + std::to_string(bits),
                    suffix = mlx_name(e.dtype) + "_gs_" + std::to_string(size) + "_b_" + std::to_string(bits);
  std::vector<Counterpart> all;
  const bool fast = n % 8 == 0 && k % 512 == 0;
  Launch vector{.files = {"utils.h", "steel/gemm/gemm.h", "quantized_utils.h", "quantized.h"},
                .function = fast ? "affine_qmv_fast" : "affine_qmv",
                .arguments = type + ", " + kind + ", false",
                .host_name = (fast ? "affine_qmv_fast_" : "affine_qmv_") + suffix,
                .buffers = {{0, "w"}, {1, "scales"}, {2, "biases"}, {3, "x"}, {4, "out"}, {5, i32(k)}, {6, i32(n)}},
                .constants = {},
                .grid = {count32(m * 32), count32((n + 7) / 8 * 2), 1},
                .threads = {32, 2, 1}};
  bind_batches(vector, 7);
  all.push_back({vector.host_name, {vector}, {}, {}, {}, {}});
  // Products of many rows, in tiles of 32 x 32 x 32.
  if (m >= 2 && k % 32 == 0) {
    const bool aligned = n % 32 == 0;
    Launch tiles{
        .files = vector.files,
        .function = "affine_qmm_t",
        .arguments = type + ", " + kind + (aligned ? ", true, false" : ", false, false"),
        .host_name = "affine_qmm_t_" + suffix + (aligned ? "_alN_true" : "_alN_false"),
        .buffers =
            {{0, "w"}, {1, "scales"}, {2, "biases"}, {3, "x"}, {4, "out"}, {5, i32(k)}, {6, i32(n)}, {7, i32(m)}},
        .constants = {},
        .grid = {count32((n + 31) / 32 * 32), count32((m + 31) / 32 * 2), 2},
        .threads = {32, 2, 2}};
    bind_batches(tiles, 8);
    Allowance rounded;
    if (e.dtype != DType::F32)
      rounded = {.storage_arithmetic = true, .why = "MLX rounds each weight to the dtype before it multiplies"};
    all.push_back({tiles.host_name, {tiles}, {}, rounded, {}, {}});
  }
  for (const bool transposed : {true, false})
    for (Counterpart& c : dense_products({.dtype = e.dtype,
                          .m = m,
                          .n = n,
                          .k = k,
                          .a = "x",
                          .b = "weights",
                          .out = "out",
                          .b_transposed = transposed})) {
      add_weights(c, e.dtype, {m, n, k}, bits, size, transposed);
      all.push_back(std::move(c));
    }
  return all;
}

std::vector<Counterpart> dequantise(const KernelEntry& e, const Problem& p) {
  const std::int64_t size = p["group_size"], groups = p["n_groups"];
  const int bits = bits_of_name(e.name);
  if (groups == 0 || !group_of_mlx(size)) return {};
  const int codes = bits == 3 || bits == 5 ? 8 : bits == 6 ? 4 : 8 / bits;  // of a thread
  const auto threads = count32(groups * size / codes);
  const std::string suffix = mlx_name(e.dtype) + "_gs_" + std::to_string(size) + "_b_" + std::to_string(bits);
  Launch launch{.files = {"utils.h", "steel/gemm/gemm.h", "quantized_utils.h", "quantized.h"},
                .function = "affine_dequantize",
                .arguments = mlx_type(e.dtype) + ", " + std::to_string(size) + ", " + std::to_string(bits),
                .host_name = "affine_dequantize_" + suffix,
                .buffers = {{0, "w"}, {1, "scales"}, {2, "biases"}, {3, "out"}},
                .constants = {},
                .grid = {threads, 1, 1},
                .threads = {std::min(1024u, threads), 1, 1}};
  return {{launch.host_name, {launch}, {}, in_storage(e.dtype), {}, {}}};
}

/// What MLX's own rule gives, in double precision: the end of the range that is farther from zero is exact, zero is a
/// code, and the scale is negative where that end is the largest value.
ExpectedOutputs quantised_by_mlx(const HostTensor& w, const HostTensor& scales, int bits) {
  const std::int64_t groups = w.shape[0], size = w.shape[1];
  const double top = (1 << bits) - 1, f32 = std::ldexp(1.0, -24);
  Expected code, scale, bias;
  code.code_bits = bits;
  code.codes_per_row = size;
  for (std::int64_t g = 0; g < groups; ++g) {
    double least = INFINITY, most = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      least = std::min(least, w.at(g * size + i));
      most = std::max(most, w.at(g * size + i));
    }
    const bool low_end = std::fabs(least) > std::fabs(most);
    const double width = std::max((most - least) / top, 1e-7), edge = low_end ? least : most;
    const double steps = edge / (low_end ? width : -width), whole = std::round(steps);
    // Where the quotient is next to a half, f32 may round it to either neighbour.
    const double slack = 4 * f32 * std::fabs(steps);
    const auto at = [&](double q) { return q == 0 ? (low_end ? width : -width) : edge / q; };
    const double other = std::round(steps + (whole > steps ? -slack : slack));
    const double a = at(whole), b = at(other);
    scale.value.push_back(a);
    scale.low.push_back(std::min(a, b));
    scale.high.push_back(std::max(a, b));
    scale.bound.push_back(4 * f32 * std::fabs(a));
    const double offset = whole == 0 ? 0 : edge;
    bias.value.push_back(offset);
    bias.bound.push_back(0);
    // Codes follow from the scale before its rounding; the stored one is off by half an ulp of the dtype.
    const double stored_scale = scales.at(g);
    const double used = std::fabs(stored_scale - a) <= std::fabs(stored_scale - b) ? a : b;
    for (std::int64_t i = 0; i < size; ++i) {
      const double q = (w.at(g * size + i) - offset) / used,
                   error = 4 * f32 * (std::fabs(q) + std::fabs(offset / used));
      const double low = std::clamp(std::round(q - error), 0.0, top),
                   high = std::clamp(std::round(q + error), 0.0, top);
      code.value.push_back(std::clamp(std::round(q), 0.0, top));
      code.low.push_back(low);
      code.high.push_back(high);
      code.bound.push_back(0);
    }
  }
  return {{"out", code}, {"scales", scale}, {"biases", bias}};
}

std::vector<Counterpart> quantise(const KernelEntry& e, const Problem& p) {
  const std::int64_t size = p["group_size"], groups = p["n_groups"];
  const int bits = bits_of_name(e.name);
  if (groups == 0 || !group_of_mlx(size)) return {};
  const auto threads = count32(groups * 32);
  const std::string suffix = mlx_name(e.dtype) + "_gs_" + std::to_string(size) + "_b_" + std::to_string(bits);
  Launch launch{.files = {"utils.h", "steel/gemm/gemm.h", "quantized_utils.h", "quantized.h"},
                .function = "affine_quantize",
                .arguments = mlx_type(e.dtype) + ", " + std::to_string(size) + ", " + std::to_string(bits),
                .host_name = "affine_quantize_" + suffix,
                .buffers = {{0, "w"}, {1, "out"}, {2, "scales"}, {3, "biases"}},
                .constants = {},
                .grid = {threads, 1, 1},
                .threads = {std::min(1024u, threads), 1, 1}};
  Counterpart c{launch.host_name, {launch}, {}, {}, {}, {}};
  c.oracle = [bits](const std::map<std::string, HostTensor>& t) {
    return quantised_by_mlx(t.at("w"), t.at("scales"), bits);
  };
  c.differs = "MLX makes zero and the end farther from it exact; ours spans least to most";
  return {c};
}

std::vector<std::string> with_bits(const std::string& name) {
  std::vector<std::string> all;
  for (const int b : {2, 3, 4, 5, 6, 8}) all.push_back(name + std::to_string(b));
  return all;
}

}  // namespace

std::vector<Family> quantised_families() {
  return {{{"mt_qmv", "mt_qmv_int8_fast"}, false, products},
          {with_bits("mt_qmm_mma_b"), false, products},
          {with_bits("mt_affine_dequantize_int"), false, dequantise},
          {with_bits("mt_affine_quantize_int"), false, quantise}};
}

}  // namespace mt::reference
