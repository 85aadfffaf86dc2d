// Scans and sorts.
#include <algorithm>

#include "cli/reference/mlx.h"

namespace mt::reference {
namespace {

std::string operation(const std::string& name) {
  for (const auto& [part, op] : {std::pair{"_prod", "Prod"}, {"_max", "Max"}, {"_min", "Min"}})
    if (name.find(part) != std::string::npos) return op;
  return "Sum";
}

std::vector<Counterpart> scan(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"], rows = p["rows"];
  if (n == 0 || rows == 0) return {};
  const std::string type = mlx_type(e.dtype), op = "Cum" + operation(e.name);
  const bool exclusive = e.name.ends_with("_exclusive");
  const auto threads = n <= 4 * 1024 ? std::max(32u, round_up((n + 3) / 4, 32)) : 1024u;
  const bool extreme = op == "CumMax" || op == "CumMin";
  Launch launch{
      .files = {"utils.h", "binary_ops.h", "scan.h"},
      .function = "contiguous_scan",
      .arguments = type + ", " + type + ", " + op + "<" + type + ">, 4, " + (exclusive ? "false" : "true") + ", false",
      .host_name = std::string("contig_scan_") + (exclusive ? "exclusive_" : "inclusive_") + op + mlx_name(e.dtype),
      .buffers = {{0, "x"}, {1, "out"}, {2, bytes_of(std::uint64_t(n))}},
      .constants = {},
      .grid = {threads, count32(rows), 1},
      .threads = {threads, 1, 1}};
  return {{launch.host_name, {launch}, {}, extreme ? Allowance{} : in_storage(e.dtype), {}, {}}};
}

Bytes i32(std::int64_t v) { return bytes_of(static_cast<std::int32_t>(v)); }

constexpr std::int64_t kAtOnce = 4;  // elements of a thread

/// Rows that fit a threadgroup's block.
Counterpart block_sort(const KernelEntry& e, std::int64_t n, std::int64_t rows, std::int64_t threads) {
  const std::string type = mlx_type(e.dtype);
  Launch launch{.files = {"utils.h", "sort.h"},
                .function = "block_sort",
                .arguments = type + ", " + type + ", false, " + std::to_string(threads) + ", 4",
                .host_name = "c_block_sort_" + mlx_name(e.dtype) + "_bn" + std::to_string(threads) + "_tn4",
                .buffers = {{0, "x"}, {1, "out"}, {2, i32(n)}, {3, i32(1)}, {4, i32(1)}, {5, i32(n)}, {6, i32(n)}},
                .constants = {},
                .grid = {count32(threads), count32(rows), 1},
                .threads = {count32(threads), 1, 1}};
  return {launch.host_name, {launch}, {}, {}, {}, {}};
}

/// Longer rows: blocks that are sorted one by one, then merged in pairs, each time after a launch that finds where the
/// pairs are cut. MLX copies the last merge's values to the result; here that merge writes them there.
Counterpart multi_block_sort(const KernelEntry& e, std::int64_t n, std::int64_t rows, std::int64_t threads) {
  const std::int64_t blocks = (n + threads * kAtOnce - 1) / (threads * kAtOnce);
  const std::string suffix = "_mbsort_" + mlx_name(e.dtype) + "_uint32_bn" + std::to_string(threads) + "_tn4";
  Counterpart c{"sort" + suffix, {}, {}, {}, {}, {}};
  for (const char* values : {"values_0", "values_1"})
    c.scratch.emplace_back(values, e.dtype, std::vector<std::int64_t>{rows, n});
  for (const char* places : {"places_0", "places_1"})
    c.scratch.emplace_back(places, DType::U32, std::vector<std::int64_t>{rows, n});
  c.scratch.emplace_back("cuts", DType::U32, std::vector<std::int64_t>{rows, blocks + 1});
  const auto step = [&](const std::string& kind, const std::string& function, std::vector<Bound> buffers,
                        std::int64_t groups, std::int64_t width) {
    c.launches.push_back({.files = {"utils.h", "sort.h"},
                          .function = function,
                          .arguments = mlx_type(e.dtype) + ", uint, true, " + std::to_string(threads) + ", 4",
                          .host_name = kind + suffix,
                          .buffers = std::move(buffers),
                          .constants = {},
                          .grid = {count32(groups * width), count32(rows), 1},
                          .threads = {count32(width), 1, 1}});
  };
  step("sort", "mb_block_sort",
       {{0, "x"},
        {1, "values_0"},
        {2, "places_0"},
        {3, i32(n)},
        {4, i32(1)},
        // the other dimensions: one, of rows
        {5, i32(1)},
        {6, i32(rows)},
        {7, bytes_of(n)}},
       blocks, threads);
  int from = 0;
  for (std::int64_t tiles = 2; tiles / 2 < blocks; tiles *= 2, from = 1 - from) {
    const std::string in = std::to_string(from), to = std::to_string(1 - from);
    step("partition", "mb_block_partition",
         {{0, "cuts"}, {1, "values_" + in}, {2, "places_" + in}, {3, i32(n)}, {4, i32(tiles)}, {5, i32(blocks)}}, 1,
         std::min<std::int64_t>(blocks + 1, 1024));
    const bool last = tiles >= blocks;
    step("merge", "mb_block_merge",
         {{0, "cuts"},
          {1, "values_" + in},
          {2, "places_" + in},
          {3, last ? "out" : "values_" + to},
          {4, "places_" + to},
          {5, i32(n)},
          {6, i32(tiles)},
          {7, i32(blocks)}},
         blocks, threads);
  }
  return c;
}

std::vector<Counterpart> sort(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"], rows = p["rows"];
  if (n == 0 || rows == 0) return {};
  std::int64_t threads = 32;
  while (threads < 512 && threads * kAtOnce < n) threads *= 2;
  if (threads * kAtOnce < n) return {multi_block_sort(e, n, rows, threads)};
  return {block_sort(e, n, rows, threads)};
}

std::vector<std::string> scans() {
  std::vector<std::string> all;
  for (const char* op : {"", "_prod", "_max", "_min"})
    for (const char* end : {"", "_exclusive"}) all.push_back(std::string("mt_scan") + op + end);
  return all;
}

}  // namespace

std::vector<Family> order_families() {
  return {{scans(), false, scan}, {{"mt_sort"}, true, sort, {{{"rows", 2}, {"n", 2049}}, {{"rows", 3}, {"n", 3000}}}}};
}

}  // namespace mt::reference
