// Kernels that take a row to a threadgroup: norms, softmax, reductions.
#include "cli/reference/mlx.h"

namespace mt::reference {
namespace {

/// A thread reads `reads` elements; rows beyond `limit` are looped over by 1024 threads.
struct RowWork {
  bool looped = false;
  std::uint32_t threads = 32;
};
RowWork row_work(std::int64_t n, std::int64_t reads, std::int64_t limit) {
  if (n > limit) return {true, 1024};
  return {false, std::max(32u, round_up((n + reads - 1) / reads, 32))};
}

Counterpart row_kernel(Launch launch, const RowWork& work, std::int64_t rows, Allowance allowance = {}) {
  launch.threads = {work.threads, 1, 1};
  launch.grid = {count32(rows * work.threads), 1, 1};
  Counterpart c{launch.host_name, {}, {}, std::move(allowance), {}, {}};
  c.launches.push_back(std::move(launch));
  return c;
}

bool has_rows(const Problem& p) { return p["n"] > 0 && p["rows"] > 0; }

std::vector<Counterpart> softmax(const KernelEntry& e, const Problem& p) {
  if (!has_rows(p)) return {};
  const RowWork work = row_work(p["n"], 4, 4096);
  std::vector<Counterpart> all;
  const std::string type = mlx_type(e.dtype), kind = work.looped ? "looped" : "block";
  Launch launch{.files = {"utils.h", "softmax.h"},
                .function = work.looped ? "softmax_looped" : "softmax_single_row",
                .arguments = type,
                .host_name = kind + "_softmax_" + mlx_name(e.dtype),
                .buffers = {{0, "x"}, {1, "out"}, {2, bytes_of(static_cast<std::int32_t>(p["n"]))}},
                .constants = {}};
  all.push_back(row_kernel(launch, work, p["rows"], in_storage(e.dtype)));
  if (e.dtype != DType::F32) {
    launch.arguments = type + ", float";
    launch.host_name = kind + "_softmax_precise_" + mlx_name(e.dtype);
    all.push_back(row_kernel(launch, work, p["rows"]));
  }
  return all;
}

std::vector<Counterpart> logsumexp(const KernelEntry& e, const Problem& p) {
  if (!has_rows(p)) return {};
  const RowWork work = row_work(p["n"], 4, 4096);
  return {row_kernel({.files = {"utils.h", "logsumexp.h"},
                      .function = work.looped ? "logsumexp_looped" : "logsumexp",
                      .arguments = mlx_type(e.dtype),
                      .host_name = std::string(work.looped ? "looped" : "block") + "_logsumexp_" + mlx_name(e.dtype),
                      .buffers = {{0, "x"}, {1, "out"}, {2, bytes_of(static_cast<std::int32_t>(p["n"]))}},
                      .constants = {}},
                     work, p["rows"])};
}

std::vector<Counterpart> rms_norm(const KernelEntry& e, const Problem& p) {
  if (!has_rows(p)) return {};
  const RowWork work = row_work(p["n"], 4, 4096);
  const float eps = static_cast<float>(p.real("eps", 1e-5));
  return {row_kernel({.files = {"rms_norm.metal"},
                      .function = work.looped ? "rms_looped" : "rms_single_row",
                      .arguments = "",
                      .host_name = (work.looped ? "rms_looped" : "rms") + mlx_name(e.dtype),
                      .buffers = {{0, "x"},
                                  {1, "w"},
                                  {2, "out"},
                                  {3, bytes_of(eps)},
                                  {4, bytes_of(count32(p["n"]))},
                                  {5, bytes_of(std::uint32_t{1})}},
                      // has_w; and has_silu, which only some versions have
                      .constants = {{20, bytes_of(true)}, {21, bytes_of(false)}}},
                     work, p["rows"])};
}

std::vector<Counterpart> layer_norm(const KernelEntry& e, const Problem& p) {
  if (!has_rows(p)) return {};
  const RowWork work = row_work(p["n"], 8, 6656);
  // A thread that begins beyond the row writes in front of its own array: undefined, and an error here.
  if (!work.looped && p["n"] < 8 * (std::int64_t{work.threads} - 1)) return {};
  const float eps = static_cast<float>(p.real("eps", 1e-5));
  return {row_kernel({.files = {"layer_norm.metal"},
                      .function = work.looped ? "layer_norm_looped" : "layer_norm_single_row",
                      .arguments = "",
                      .host_name = (work.looped ? "layer_norm_looped" : "layer_norm") + mlx_name(e.dtype),
                      .buffers = {{0, "x"},
                                  {1, "w"},
                                  {2, "b"},
                                  {3, "out"},
                                  {4, bytes_of(eps)},
                                  {5, bytes_of(count32(p["n"]))},
                                  {6, bytes_of(std::uint32_t{1})},
                                  {7, bytes_of(std::uint32_t{1})}},
                      .constants = {{20, bytes_of(true)}}},
                     work, p["rows"], in_storage(e.dtype))};
}

/// Sum, Prod, Max or Min, as the end of our kernel's name says.
std::string reduction_of(const std::string& name) {
  for (const auto& [end, op] : {std::pair{"_prod", "Prod"}, {"_max", "Max"}, {"_min", "Min"}})
    if (name.ends_with(end)) return op;
  return "Sum";
}

std::vector<Counterpart> row_reduce(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"], rows = p["rows"];
  // A threadgroup writes four rows, the last one the last four.
  if (n == 0 || rows < 4) return {};
  const std::string type = mlx_type(e.dtype), op = reduction_of(e.name);
  const auto threads = n <= 4 * 1024 ? std::max(32u, round_up((n + 3) / 4, 32)) : 1024u;
  Launch launch{.files = {"utils.h", "atomic.h", "reduction/ops.h", "reduce_utils.h", "reduction/reduce_row.h"},
                .function = "row_reduce_simple",
                .arguments = type + ", " + type + ", " + op + "<" + type + ">, int",
                .host_name = "row_reduce_simple_" + op + mlx_name(e.dtype),
                .buffers = {{0, "x"}, {1, "out"}, {2, bytes_of(std::uint64_t(n))}, {3, bytes_of(rows)}},
                .constants = {},
                .grid = {threads, count32((rows + 3) / 4), 1},
                .threads = {threads, 1, 1}};
  return {{launch.host_name, {launch}, {}, in_storage(e.dtype), {}, {}}};
}

/// One threadgroup up to 4096 elements; else 128 rows of partial results, and a simdgroup for those.
std::vector<Counterpart> all_reduce(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"];
  if (n == 0) return {};
  const std::string type = mlx_type(e.dtype), op = reduction_of(e.name);
  Counterpart c{"all_reduce_" + op + mlx_name(e.dtype), {}, {}, in_storage(e.dtype), {}, {}};
  const auto step = [&](const char* in, const char* out, std::int64_t size, std::int64_t row, std::int64_t rows) {
    const auto threads = std::min(1024u, std::max(32u, round_up((row + 3) / 4, 32)));
    c.launches.push_back(
        {.files = {"utils.h", "atomic.h", "reduction/ops.h", "reduce_utils.h", "reduction/reduce_all.h"},
         .function = "all_reduce",
         .arguments = type + ", " + type + ", " + op + "<" + type + ">",
         .host_name = c.name,
         .buffers = {{0, in}, {1, out}, {2, bytes_of(std::uint64_t(size))}, {3, bytes_of(std::uint64_t(row))}},
         .constants = {},
         .grid = {threads, count32(rows), 1},
         .threads = {threads, 1, 1}});
  };
  if (n <= 4 * 1024) {
    step("x", "out", n, n, 1);
    return {c};
  }
  const std::int64_t rows = 128;
  c.name += "_2pass";
  c.scratch.emplace_back("partial", e.dtype, std::vector<std::int64_t>{rows});
  step("x", "partial", n, (n + rows - 1) / rows, rows);
  step("partial", "out", rows, rows, 1);
  return {c};
}

std::vector<Counterpart> arg_reduce(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"];
  const auto threads = n <= 4 * 1024 ? std::max(32u, round_up((n + 3) / 4, 32)) : 1024u;
  Launch launch{.files = {"arg_reduce.metal"},
                .function = "arg_reduce_general",
                .arguments = "",
                .host_name = (e.name == "mt_argmin" ? "argmin_" : "argmax_") + mlx_name(e.dtype),
                // No dimension but the reduced one: shapes and strides are there to be bound.
                .buffers = {{0, "x"},
                            {1, "out"},
                            {2, bytes_of(std::int32_t{0})},
                            {3, bytes_of(std::int64_t{0})},
                            {4, bytes_of(std::int64_t{0})},
                            {5, bytes_of(std::uint64_t{0})},
                            {6, bytes_of(std::int64_t{1})},
                            {7, bytes_of(std::uint64_t(n))}},
                .constants = {},
                .grid = {threads, 1, 1},
                .threads = {threads, 1, 1}};
  return {{launch.host_name, {launch}, {}, {}, {}, {}}};
}

std::vector<std::string> reductions(const std::string& kernel) {
  return {kernel, kernel + "_prod", kernel + "_max", kernel + "_min"};
}

}  // namespace

std::vector<Family> row_families() {
  return {{{"mt_rms_norm"}, false, rms_norm},
          {{"mt_layer_norm"},
           false,
           layer_norm,
           {{{"rows", 3}, {"n", 249}}, {{"rows", 2}, {"n", 512}}, {{"rows", 2}, {"n", 7001}}}},
          {{"mt_softmax"}, false, softmax},
          {{"mt_logsumexp"}, false, logsumexp},
          {{"mt_argmax", "mt_argmin", "ffai_argmax"}, false, arg_reduce},
          {reductions("mt_row_reduce"),
           false,
           row_reduce,
           {{{"rows", 37}, {"n", 1}}, {{"rows", 38}, {"n", 301}}, {{"rows", 4}, {"n", 5003}}}},
          {reductions("mt_all_reduce"), false, all_reduce}};
}

}  // namespace mt::reference
