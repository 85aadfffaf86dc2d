// Rotary embeddings, and attention of few queries over a cache.
#include "cli/reference/mlx.h"

namespace mt::reference {
namespace {

std::vector<Counterpart> rope(const KernelEntry& e, const Problem& p) {
  const std::int64_t dim = p["head_dim"], heads = p["heads"], seq = p["seq"], batch = p["batch"];
  if (heads == 0 || seq == 0 || batch == 0) return {};
  // Strides of (batch and head, position, element); MLX takes four heads to a thread.
  const std::vector<std::int64_t> strides = {p["head_stride"] * dim, p["seq_stride"] * dim, 1};
  // Heads of all batches lie one stride apart only where a batch is one more head.
  if (batch > 1 && p["head_stride"] != seq) return {};
  const float base = static_cast<float>(p.real("base", 13.287712379549449));
  constexpr std::int64_t kHeads = 4;
  Launch launch{.files = {"rope.metal"},
                .function = "rope",
                .arguments = "",
                .host_name = "rope_" + mlx_name(e.dtype),
                .buffers = {{0, "inp"},
                            {1, "out"},
                            {2, bytes_of(static_cast<std::int32_t>(p["offset"]))},
                            {3, bytes_of(1.0f)},
                            {4, bytes_of(strides)},
                            {5, bytes_of(strides)},
                            {6, bytes_of(std::int64_t{0})},
                            {7, bytes_of(static_cast<std::int32_t>(batch * heads))},
                            {10, bytes_of(base)}},
                // forward, traditional, hs_transpose
                .constants = {{1, bytes_of(true)}, {2, bytes_of(false)}, {3, bytes_of(false)}},
                .grid = {count32(dim / 2), count32(seq), count32((batch * heads + kHeads - 1) / kHeads)},
                .threads = {1, 1, 1}};
  std::uint32_t left = 256;
  for (std::size_t k = 0; k < 3; ++k)
    while (launch.threads[k] < launch.grid[k] && left > 1) {
      launch.threads[k] *= 2;
      left /= 2;
    }
  return {{launch.host_name, {launch}, {}, {}, {}, {}}};
}

/// has_mask, query_transposed, do_causal, bool_mask, float_mask, has_sinks
std::vector<std::pair<int, Bytes>> plain() {
  std::vector<std::pair<int, Bytes>> all;
  for (int i = 20; i <= 25; ++i) all.emplace_back(i, bytes_of(false));
  return all;
}

bool takes(const Problem& p) {
  if (p["n_kv"] == 0 || p["n_q_heads"] == 0) return false;
  // A window or a sink has no counterpart without a mask.
  if (p.get("has_sink", 0) != 0) return false;
  if (p.get("window_start", 0) > p.get("sink_end", 0)) return false;
  const std::int64_t d = p["head_dim"];
  return d == 64 || d == 96 || d == 128 || d == 192 || d == 256;
}

/// The first argument struct of MLX's tiled attention.
struct TiledParams {
  std::int32_t batch = 1, heads = 0, dim = 0, queries = 0, keys = 0, shared = 0;  // shared: query heads of a KV head
  float scale = 0;
  std::int32_t query_blocks = 0, key_blocks = 0, whole_query_blocks = 0, whole_key_blocks = 0;
  std::int32_t last_queries = 0, last_keys = 0, first_query = 0;
  std::int64_t q[3] = {}, k[3] = {}, v[3] = {}, out[3] = {};  // strides of batch, head and row
};
static_assert(sizeof(TiledParams) == 152);

/// Tiles of 32 queries, by simdgroup matrices. MLX's host takes it from 9 queries on; it computes fewer just as well.
Counterpart tiled(const KernelEntry& e, const Problem& p) {
  const std::int64_t d = p["head_dim"], queries = p["queries"], keys = p["n_kv"], rows = p["kv_stride"];
  const std::int64_t bq = 32, bk = d < 128 ? 32 : 16;
  const auto i32 = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  TiledParams params;
  params.heads = i32(p["n_q_heads"]);
  params.dim = i32(d);
  params.queries = i32(queries);
  params.keys = i32(keys);
  params.shared = i32(p["n_q_heads"] / p["n_kv_heads"]);
  params.scale = static_cast<float>(p.real("scale", 0.08838834764831845));
  params.query_blocks = i32((queries + bq - 1) / bq);
  params.key_blocks = i32((keys + bk - 1) / bk);
  params.whole_query_blocks = i32(queries / bq);
  params.whole_key_blocks = i32(keys / bk);
  params.last_queries = i32(queries % bq);
  params.last_keys = i32(keys % bk);
  params.first_query = i32(keys - queries);
  for (std::int64_t* q : {params.q, params.out}) {
    q[0] = p["n_q_heads"] * queries * d;
    q[1] = queries * d;
    q[2] = d;
  }
  for (std::int64_t* k : {params.k, params.v}) {
    k[0] = p["n_kv_heads"] * rows * d;
    k[1] = rows * d;
    k[2] = d;
  }
  const std::string block = std::to_string(bk), size = std::to_string(d);
  Launch launch{.files = {"utils.h", "steel/attn/attn.h", "steel/attn/kernels/steel_attention.h"},
                .function = "attention",
                .arguments = mlx_type(e.dtype) + ", 32, " + block + ", " + size + ", " + size + ", 4, 1, bool, float",
                .host_name = "steel_attention_" + mlx_name(e.dtype) + "_bq32_bk" + block + "_bd" + size,
                .buffers = {{0, "q"}, {1, "k"}, {2, "v"}, {3, "out"}, {4, bytes_of(params)}},
                // whole tiles of queries, of keys; has_mask, do_causal, has_sinks, save_lse
                .constants = {{200, bytes_of(queries % bq == 0)},
                              {201, bytes_of(keys % bk == 0)},
                              {300, bytes_of(false)},
                              {301, bytes_of(false)},
                              {302, bytes_of(false)},
                              {303, bytes_of(false)}},
                .grid = {count32(params.query_blocks * 32), count32(p["n_q_heads"] * 4), 1},
                .threads = {32, 4, 1}};
  return {launch.host_name, {launch}, {}, {}, {}, {}};
}

std::vector<Counterpart> vector(const KernelEntry& e, const Problem& p) {
  if (!takes(p)) return {};
  const std::int64_t d = p["head_dim"], heads = p["n_q_heads"];
  const std::string size = std::to_string(d);
  const auto head = std::uint64_t(p["kv_stride"] * d), row = std::uint64_t(d);
  Launch launch{.files = {"utils.h", "sdpa_vector.h"},
                .function = "sdpa_vector",
                .arguments = mlx_type(e.dtype) + ", " + size + ", " + size,
                .host_name = "sdpa_vector_" + mlx_name(e.dtype) + "_" + size + "_" + size,
                .buffers = {{0, "q"},
                            {1, "k"},
                            {2, "v"},
                            {3, "out"},
                            {4, bytes_of(static_cast<std::int32_t>(heads / p["n_kv_heads"]))},
                            {5, bytes_of(static_cast<std::int32_t>(p["n_kv"]))},
                            {6, bytes_of(head)},
                            {7, bytes_of(row)},
                            {8, bytes_of(head)},
                            {9, bytes_of(row)},
                            {10, bytes_of(static_cast<float>(p.real("scale", 0.08838834764831845)))}},
                .constants = plain(),
                .grid = {count32(heads * 1024), count32(p["queries"]), 1},
                .threads = {1024, 1, 1}};
  std::vector<Counterpart> all{{launch.host_name, {launch}, {}, {}, {}, {}}};
  if (p["queries"] > 1 && (d == 64 || d == 128)) all.push_back(tiled(e, p));
  return all;
}

/// Keys in 32 blocks, then a launch that merges them; a threadgroup of the first has a simdgroup for each query of a KV
/// head.
std::vector<Counterpart> two_pass(const KernelEntry& e, const Problem& p) {
  const std::int64_t d = p["head_dim"], heads = p["n_q_heads"], kv = p["n_kv_heads"], queries = p["queries"];
  if (!takes(p) || 32 * heads / kv * queries > 1024) return {};
  constexpr std::int32_t kBlocks = 32;
  const std::string type = mlx_type(e.dtype), size = std::to_string(d);
  const auto head = std::uint64_t(p["kv_stride"] * d), row = std::uint64_t(d);
  auto constants = plain();
  constants.emplace_back(26, bytes_of(kBlocks));
  Counterpart c{"sdpa_vector_2pass_" + mlx_name(e.dtype) + "_" + size, {}, {}, {}, {}, {}};
  if (e.dtype != DType::F32)
    c.allowance = {.storage_arithmetic = true, .why = "MLX keeps the sums of a block in the dtype that it stores"};
  c.scratch.emplace_back("partials", e.dtype, std::vector<std::int64_t>{heads, queries, kBlocks, d});
  c.scratch.emplace_back("sums", DType::F32, std::vector<std::int64_t>{heads, queries, kBlocks});
  c.scratch.emplace_back("maxs", DType::F32, std::vector<std::int64_t>{heads, queries, kBlocks});
  c.launches.push_back({.files = {"utils.h", "sdpa_vector.h"},
                        .function = "sdpa_vector_2pass_1",
                        .arguments = type + ", " + size + ", " + size,
                        .host_name = "sdpa_vector_2pass_1_" + mlx_name(e.dtype) + "_" + size,
                        .buffers = {{0, "q"},
                                    {1, "k"},
                                    {2, "v"},
                                    {3, "partials"},
                                    {4, "sums"},
                                    {5, "maxs"},
                                    {7, bytes_of(static_cast<std::int32_t>(p["n_kv"]))},
                                    {8, bytes_of(head)},
                                    {9, bytes_of(row)},
                                    {10, bytes_of(head)},
                                    {11, bytes_of(row)},
                                    {12, bytes_of(static_cast<float>(p.real("scale", 0.08838834764831845)))}},
                        .constants = constants,
                        .grid = {count32(kv * 32), count32(heads / kv), count32(queries * kBlocks)},
                        .threads = {32, count32(heads / kv), count32(queries)}});
  c.launches.push_back({.files = {"utils.h", "sdpa_vector.h"},
                        .function = "sdpa_vector_2pass_2",
                        .arguments = type + ", " + size,
                        .host_name = "sdpa_vector_2pass_2_" + mlx_name(e.dtype) + "_" + size,
                        .buffers = {{0, "partials"}, {1, "sums"}, {2, "maxs"}, {3, "out"}, {4, bytes_of(kBlocks)}},
                        .constants = constants,
                        .grid = {count32(heads * 1024), count32(queries), 1},
                        .threads = {1024, 1, 1}});
  return {c};
}

}  // namespace

std::vector<Family> attention_families() {
  return {{{"mt_rope"}, false, rope},
          {{"mt_sdpa_vector", "mt_sdpa_vector_d64", "mt_sdpa_vector_d96", "mt_sdpa_vector_d192", "mt_sdpa_vector_d256",
            "ffai_sdpa_decode", "ffai_sdpa_decode_d64", "ffai_sdpa_decode_d96", "ffai_sdpa_decode_d256",
            "sdpa_decode_batched", "sdpa_decode_batched_q2", "sdpa_decode_batched_q4", "sdpa_decode_batched_q8"},
           false,
           vector},
          {{"ffai_sdpa_decode_2pass", "ffai_sdpa_decode_2pass_d64", "ffai_sdpa_decode_2pass_d96",
            "ffai_sdpa_decode_2pass_d256"},
           false,
           two_pass}};
}

}  // namespace mt::reference
