// Rotary embeddings.
#include "cli/reference/mlx.h"

namespace mt::reference {
namespace {

std::vector<Counterpart> rope(const KernelEntry& e, const Problem& p) {
  const std::int64_t dim = p["head_dim"], heads = p["heads"], seq = p["seq"], batch = p["batch"];
  if (heads == 0 || seq == 0 || batch == 0) return {};
  // Heads of all batches lie one stride apart where a batch is more heads, and a batch apart where positions come
  // first.
  const bool heads_first = p["head_stride"] == seq && p["seq_stride"] == 1;
  // Strides of (head, position, element) in and out; MLX takes four heads to a thread.
  const std::vector<std::int64_t> in = {p["head_stride"] * dim, p["seq_stride"] * dim, 1};
  const auto i32 = [](std::int64_t n) { return bytes_of(static_cast<std::int32_t>(n)); };
  const Bytes base = bytes_of(static_cast<float>(p.real("base", 13.287712379549449)));
  // forward, traditional, hs_transpose
  const std::vector<std::pair<int, Bytes>> constants = {
      {1, bytes_of(true)}, {2, bytes_of(false)}, {3, bytes_of(!heads_first)}};
  std::vector<Counterpart> all;
  // MLX's host writes [heads, positions] always; in place of that, its kernel takes any strides where all are one
  // batch.
  if (!heads_first && batch > 1) return all;
  constexpr std::int64_t kHeads = 4;
  for (const bool large : {false, true}) {
    Launch launch{.files = {"rope.metal"},
                  .function = "rope",
                  .arguments = "",
                  .host_name = (large ? "rope_large_" : "rope_") + mlx_name(e.dtype),
                  .buffers = {{0, "inp"},
                              {1, "out"},
                              {2, i32(p["offset"])},
                              {3, bytes_of(1.0f)},
                              {4, bytes_of(in)},
                              {5, bytes_of(in)},
                              {6, bytes_of(std::int64_t{0})},
                              {7, i32(heads)},
                              {10, base}},
                  .constants = constants,
                  .grid = {count32(dim / 2), count32(seq), count32(batch * ((heads + kHeads - 1) / kHeads))}};
    launch.threads = block_of(launch.grid);
    all.push_back({launch.host_name, {launch}, {}, {}, {}, {}});
  }
  if (batch == 1 && seq == 1) {
    Launch launch{
        .files = {"rope.metal"},
        .function = "rope_single",
        .arguments = "",
        .host_name = "rope_single_" + mlx_name(e.dtype),
        .buffers =
            {{0, "inp"}, {1, "out"}, {2, i32(p["offset"])}, {3, bytes_of(1.0f)}, {4, bytes_of(in[0])}, {10, base}},
        .constants = constants,
        .grid = {count32(dim / 2), count32(heads), 1}};
    launch.threads = block_of(launch.grid);
    all.push_back({launch.host_name, {launch}, {}, {}, {}, {}});
  }
  return all;
}

}  // namespace

std::vector<Family> rotary_families() { return {{{"mt_rope"}, false, rope}}; }

}  // namespace mt::reference
