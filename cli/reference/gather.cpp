// Rows of a table by index.
#include <algorithm>

#include "cli/reference/mlx.h"

namespace mt::reference {
namespace {

/// MLX reads whatever lies at an index outside the table, and ours gives zeros there: MLX gets a table with a row of
/// zeros more, and such indices point at that.
void add_tables(Counterpart& c, const KernelEntry& e, const Problem& p) {
  c.scratch.emplace_back("longer_table", e.dtype, std::vector<std::int64_t>{p["vocab"] + 1, p["n"]});
  c.scratch.emplace_back("places", DType::U32, std::vector<std::int64_t>{p["rows"]});
  c.prepare = [vocab = p["vocab"]](std::map<std::string, HostTensor>& tensors) {
    HostTensor& longer = tensors.at("longer_table");
    const HostTensor &table = tensors.at("table"), &indices = tensors.at("indices");
    std::fill(longer.data.begin(), longer.data.end(), std::byte{0});
    std::copy(table.data.begin(), table.data.end(), longer.data.begin());
    HostTensor& places = tensors.at("places");
    for (std::int64_t i = 0; i < places.count(); ++i)
      places.set_int(i, std::min<std::int64_t>(indices.int_at(i), vocab));
  };
}

Counterpart whole_rows(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"], at_once = n > 8 && e.dtype != DType::F32 ? 2 : 1;
  const std::string work = std::to_string(at_once);
  Launch launch{.files = {"utils.h", "indexing/gather_front.h"},
                .function = "gather_front",
                .arguments = mlx_type(e.dtype) + ", uint32_t, int, " + work,
                .host_name = "gather_front_" + mlx_name(e.dtype) + "_uint32_int_" + work,
                .buffers = {{0, "longer_table"},
                            {1, "places"},
                            {2, "out"},
                            {3, bytes_of(n)},
                            {4, bytes_of(static_cast<std::int32_t>(p["vocab"] + 1))}},
                .constants = {},
                .grid = {count32((n + at_once - 1) / at_once), count32(p["rows"]), 1}};
  launch.threads = block_of(launch.grid);
  return {launch.host_name, {launch}, {}, {}, {}, {}};
}

/// An index for each element of the result: here the same one along a row, by a stride of zero.
Counterpart along_axis(const KernelEntry& e, const Problem& p) {
  const std::int64_t n = p["n"];
  const auto i32 = [](std::int64_t v) { return bytes_of(static_cast<std::int32_t>(v)); };
  Launch launch{.files = {"utils.h", "indexing/gather_axis.h"},
                .function = "gather_axis",
                .arguments = mlx_type(e.dtype) + ", uint32_t, int, true, false",
                .host_name = "gather_axis_" + mlx_name(e.dtype) + "_uint32_int_true_false",
                .buffers = {{0, "longer_table"},
                            {1, "places"},
                            {2, "out"},
                            // without the axis: shape, strides of the table and of the indices
                            {3, i32(n)},
                            {4, bytes_of(std::int64_t{1})},
                            {5, bytes_of(std::int64_t{0})},
                            {6, bytes_of(std::uint64_t{1})},
                            // the axis, its length, and the strides along it
                            {7, i32(0)},
                            {8, i32(p["vocab"] + 1)},
                            {9, bytes_of(std::uint64_t(n))},
                            {10, bytes_of(std::uint64_t{1})}},
                .constants = {},
                .grid = {count32(n), count32(p["rows"]), 1}};
  launch.threads = block_of(launch.grid);
  return {launch.host_name, {launch}, {}, {}, {}, {}};
}

std::vector<Counterpart> gather(const KernelEntry& e, const Problem& p) {
  if (p["rows"] == 0 || p["n"] == 0) return {};
  std::vector<Counterpart> all{whole_rows(e, p), along_axis(e, p)};
  for (Counterpart& c : all) add_tables(c, e, p);
  return all;
}

}  // namespace

std::vector<Family> gather_families() { return {{{"ffai_gather"}, true, gather}}; }

}  // namespace mt::reference
