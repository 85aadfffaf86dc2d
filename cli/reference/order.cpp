// Scans and sorts.
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

/// Rows that fit a threadgroup's block; longer ones take MLX's merge sort of many launches, which is not bound here.
std::vector<Counterpart> sort(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"], rows = p["rows"];
  if (n == 0 || rows == 0) return {};
  std::int64_t threads = 32;
  while (threads < 512 && threads * 4 < n) threads *= 2;
  if (threads * 4 < n) return {};
  const std::string type = mlx_type(e.dtype);
  const auto i32 = [](std::int64_t v) { return bytes_of(static_cast<std::int32_t>(v)); };
  Launch launch{.files = {"utils.h", "sort.h"},
                .function = "block_sort",
                .arguments = type + ", " + type + ", false, " + std::to_string(threads) + ", 4",
                .host_name = "c_block_sort_" + mlx_name(e.dtype) + "_bn" + std::to_string(threads) + "_tn4",
                .buffers = {{0, "x"}, {1, "out"}, {2, i32(n)}, {3, i32(1)}, {4, i32(1)}, {5, i32(n)}, {6, i32(n)}},
                .constants = {},
                .grid = {count32(threads), count32(rows), 1},
                .threads = {count32(threads), 1, 1}};
  return {{launch.host_name, {launch}, {}, {}, {}, {}}};
}

std::vector<std::string> scans() {
  std::vector<std::string> all;
  for (const char* op : {"", "_prod", "_max", "_min"})
    for (const char* end : {"", "_exclusive"}) all.push_back(std::string("mt_scan") + op + end);
  return all;
}

}  // namespace

std::vector<Family> order_families() { return {{scans(), false, scan}, {{"mt_sort"}, true, sort}}; }

}  // namespace mt::reference
