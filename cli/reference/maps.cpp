// Elementwise kernels and copies. MLX gives a thread one element of tensors below 65536, and 8 bytes of larger ones.
#include <cmath>

#include "cli/reference/mlx.h"

namespace mt::reference {
namespace {

constexpr std::uint32_t kMostThreads = 1024;

struct Work1 {
  int each = 1;  // elements of a thread
  Extent grid, threads;
};
Work1 work_of(std::int64_t n, DType t) {
  Work1 w;
  w.each = n < 65536 ? 1 : std::max(1, 8 / size_of(t));
  w.grid = {count32((n + w.each - 1) / w.each), 1, 1};
  w.threads = {std::min(kMostThreads, w.grid[0]), 1, 1};
  return w;
}

struct Op {
  const char *kernel, *mlx;
  bool f32_inside = false;  // for every dtype
};

/// ln 2 less what MLX's expm1f takes for it when it reduces its argument: the error of an octave.
constexpr double kOctave = 1.4287e-6;

Allowance allowance_of(const Op& op, DType t) {
  Allowance a = op.f32_inside ? Allowance{} : in_storage(t);
  const std::string name = op.mlx;
  const auto octaves = [](double power) { return kOctave * power * (std::fabs(std::log2(power)) + 1); };
  if (name == "Expm1") {
    a.more = [octaves](double value) { return octaves(std::max(value + 1, 1e-30)); };
    a.why = "MLX's expm1f reduces its argument by the upper part of ln 2 alone, which is off 1.43e-6 an octave";
  } else if (name == "Erf") {
    a.more = [octaves](double value) { return octaves(std::max(1 - std::fabs(value), 1e-30)); };
    a.why = "MLX's erf goes through its expm1f, which is off 1.43e-6 an octave";
  } else if (name == "Sigmoid" && t == DType::F16) {
    a.more = [](double) { return 1.0 / 65504; };
    a.why += ", and exp(|x|) overflows beyond 11.09";
  }
  return a;
}

const std::vector<Op>& unary_ops() {
  static const std::vector<Op> ops = {
      {"mt_abs", "Abs"},       {"mt_acos", "ArcCos"},       {"mt_acosh", "ArcCosh"},   {"mt_asin", "ArcSin"},
      {"mt_asinh", "ArcSinh"}, {"mt_atan", "ArcTan"},       {"mt_atanh", "ArcTanh"},   {"mt_ceil", "Ceil"},
      {"mt_cos", "Cos"},       {"mt_cosh", "Cosh"},         {"mt_erf", "Erf", true},   {"mt_erfinv", "ErfInv", true},
      {"mt_exp", "Exp"},       {"mt_expm1", "Expm1", true}, {"mt_floor", "Floor"},     {"mt_log", "Log"},
      {"mt_log10", "Log10"},   {"mt_log1p", "Log1p"},       {"mt_log2", "Log2"},       {"mt_neg", "Negative"},
      {"mt_round", "Round"},   {"mt_rsqrt", "Rsqrt"},       {"mt_sigmoid", "Sigmoid"}, {"mt_sign", "Sign"},
      {"mt_sin", "Sin"},       {"mt_sinh", "Sinh"},         {"mt_sqrt", "Sqrt"},       {"mt_square", "Square"},
      {"mt_tan", "Tan"},       {"mt_tanh_op", "Tanh"},
  };
  return ops;
}
const std::vector<Op>& binary_ops() {
  static const std::vector<Op> ops = {
      {"vector_add", "Add"}, {"mt_sub", "Subtract"},     {"mt_mul", "Multiply"},
      {"mt_div", "Divide"},  {"mt_max_elem", "Maximum"}, {"mt_min_elem", "Minimum"},
      {"mt_pow", "Power"},   {"mt_atan2", "ArcTan2"},    {"mt_logaddexp", "LogAddExp"},
  };
  return ops;
}

const Op* op_named(const std::vector<Op>& ops, const std::string& kernel) {
  for (const Op& op : ops)
    if (kernel == op.kernel) return &op;
  return nullptr;
}
std::vector<std::string> names_of(const std::vector<Op>& ops) {
  std::vector<std::string> all;
  for (const Op& op : ops) all.emplace_back(op.kernel);
  return all;
}

std::vector<Counterpart> unary(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"];
  const Op* op = op_named(unary_ops(), e.name);
  if (n == 0 || !op) return {};
  const Work1 w = work_of(n, e.dtype);
  const std::string type = mlx_type(e.dtype);
  Launch launch{.files = {"utils.h", "unary_ops.h", "unary.h"},
                .function = "unary_v",
                .arguments = type + ", " + type + ", " + op->mlx + ", " + std::to_string(w.each),
                .host_name = std::string(w.each > 1 ? "vn_" : "v_") + op->mlx + mlx_name(e.dtype),
                .buffers = {{0, "a"}, {1, "out"}, {2, bytes_of(count32(n))}},
                .constants = {},
                .grid = w.grid,
                .threads = w.threads};
  return {{launch.host_name, {launch}, {}, allowance_of(*op, e.dtype), {}, {}}};
}

std::vector<Counterpart> binary(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"];
  const Op* op = op_named(binary_ops(), e.name);
  if (n == 0 || !op) return {};
  const Work1 w = work_of(n, e.dtype);
  const std::string type = mlx_type(e.dtype);
  Launch launch{.files = {"utils.h", "unary_ops.h", "binary_ops.h", "binary.h"},
                .function = "binary_vv",
                .arguments = type + ", " + type + ", " + op->mlx + ", " + std::to_string(w.each),
                .host_name = std::string(w.each > 1 ? "vvn_" : "vv_") + op->mlx + mlx_name(e.dtype),
                .buffers = {{0, "a"}, {1, "b"}, {2, "out"}, {3, bytes_of(count32(n))}},
                .constants = {},
                .grid = w.grid,
                .threads = w.threads};
  return {{launch.host_name, {launch}, {}, allowance_of(*op, e.dtype), {}, {}}};
}

/// MLX reads conditions as bool, which are 0 or 1; ours are any byte.
std::vector<Counterpart> select(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"];
  if (n == 0) return {};
  const Work1 w = work_of(n, e.dtype);
  Launch launch{
      .files = {"utils.h", "ternary_ops.h", "ternary.h"},
      .function = "ternary_v",
      .arguments = mlx_type(e.dtype) + ", Select, false, false, " + std::to_string(w.each),
      .host_name = std::string(w.each > 1 ? "vn_" : "v_") + "Select" + mlx_name(e.dtype),
      .buffers = {{0, "cond as bool"}, {1, "on_true"}, {2, "on_false"}, {3, "out"}, {4, bytes_of(count32(n))}},
      .constants = {},
      .grid = w.grid,
      .threads = w.threads};
  Counterpart c{launch.host_name, {launch}, {}, {}, {}, {}};
  c.scratch.emplace_back("cond as bool", DType::U8, std::vector<std::int64_t>{n});
  c.prepare = [](std::map<std::string, HostTensor>& tensors) {
    const HostTensor& any = tensors.at("cond");
    HostTensor& as_bool = tensors.at("cond as bool");
    for (std::int64_t i = 0; i < any.count(); ++i) as_bool.set_int(i, any.int_at(i) != 0);
  };
  return {c};
}

std::vector<Counterpart> copy(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"];
  if (n == 0) return {};
  const bool cast = e.name == "mt_cast_to_f32";
  const DType to = cast ? DType::F32 : e.dtype;
  const Work1 w = work_of(n, to);
  Launch launch{.files = {"utils.h", "copy.h"},
                .function = "copy_v",
                .arguments = mlx_type(e.dtype) + ", " + mlx_type(to) + ", " + std::to_string(w.each),
                .host_name = std::string(w.each > 1 ? "vn_copy" : "v_copy") + mlx_name(e.dtype) + mlx_name(to),
                .buffers = {{0, cast ? "input" : "a"}, {1, "out"}, {2, bytes_of(count32(n))}},
                .constants = {},
                .grid = w.grid,
                .threads = w.threads};
  return {{launch.host_name, {launch}, {}, {}, {}, {}}};
}

/// `value` as the storage dtype holds it.
Bytes stored(DType t, double value) {
  HostTensor one("", t, {1});
  one.set(0, value);
  return one.data;
}

std::vector<Counterpart> arange(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"];
  if (n == 0) return {};
  const double start = p.real("start", 0), step = p.real("step", 1);
  // MLX's numbers are rounded to the dtype before they are bound: other ones would be another sequence.
  if (round_to(e.dtype, start) != start || round_to(e.dtype, step) != step) return {};
  // The index itself is rounded to the dtype.
  if (e.dtype != DType::F32 && n > (e.dtype == DType::F16 ? 2048 : 256)) return {};
  Launch launch{.files = {"utils.h", "arange.h"},
                .function = "arange",
                .arguments = mlx_type(e.dtype),
                .host_name = "arange" + mlx_name(e.dtype),
                .buffers = {{0, stored(e.dtype, start)}, {1, stored(e.dtype, step)}, {2, "out"}},
                .constants = {},
                .grid = {count32(n), 1, 1},
                .threads = {std::min(kMostThreads, count32(n)), 1, 1}};
  return {{launch.host_name, {launch}, {}, in_storage(e.dtype), {}, {}}};
}

/// Up to three dimensions have a kernel each; more take the general one, a thread for each pair of the last dimension.
std::vector<Counterpart> strided_copy(const KernelEntry& e, const Problem& p) {
  const auto rank = static_cast<std::size_t>(p["rank"]);
  std::vector<std::int64_t> shape, strides;
  for (std::size_t d = 0; d < rank; ++d) {
    shape.push_back(p["d" + std::to_string(d)]);
    strides.push_back(p["s" + std::to_string(d)]);
  }
  if (rank == 0 || p["n"] == 0 || p.get("offset", 0) != 0) return {};
  const auto each = rank > 3 ? 2 : 1;
  const std::string type = mlx_type(e.dtype);
  std::int64_t rest = 1;
  for (std::size_t d = 0; d + 2 < rank; ++d) rest *= shape[d];
  Launch launch{
      .files = {"utils.h", "copy.h"},
      .function = rank > 3 ? "copy_g" : "copy_g_nd" + std::to_string(rank),
      .arguments = type + ", " + type + (rank > 3 ? ", 2, int" : ", int"),
      .host_name = (rank > 3 ? "gn2_copy" : "g" + std::to_string(rank) + "_copy") + mlx_name(e.dtype),
      .buffers = {{0, "src"}, {1, "out"}, {3, bytes_of(strides)}},
      .constants = {},
      .grid = {count32((shape[rank - 1] + each - 1) / each), rank > 1 ? count32(shape[rank - 2]) : 1, count32(rest)},
      .threads = {1, 1, 1}};
  if (rank > 3) {
    std::vector<std::int32_t> ints;
    for (const std::int64_t d : shape) ints.push_back(static_cast<std::int32_t>(d));
    launch.buffers.emplace_back(2, bytes_of(ints));
    launch.buffers.emplace_back(5, bytes_of(static_cast<std::int32_t>(rank)));
  }
  // Powers of two that hold the grid, 1024 threads at most.
  std::uint32_t left = 1024;
  for (std::size_t k = 0; k < 3; ++k)
    while (launch.threads[k] < launch.grid[k] && left > 1) {
      launch.threads[k] *= 2;
      left /= 2;
    }
  return {{launch.host_name, {launch}, {}, {}, {}, {}}};
}

}  // namespace

std::vector<Family> map_families() {
  const Problems wide{Problem{{"n", 70001}}};  // a thread does several elements, and the last one fewer
  return {{names_of(unary_ops()), false, unary, wide},
          {names_of(binary_ops()), false, binary, wide},
          {{"mt_select"}, true, select, wide},
          {{"mt_copy", "mt_cast_to_f32"}, true, copy, wide},
          {{"mt_arange"}, false, arange},
          {{"mt_strided_copy_nd"}, true, strided_copy}};
}

}  // namespace mt::reference
