// Attention of few queries over a cache.
#include <limits>

#include "cli/reference/mlx.h"

namespace mt::reference {
namespace {

/// What MLX is told beside q, k and v: a window is a mask there, and a sink has a number for each head.
struct Extras {
  enum class Mask { None, Bools, Numbers } mask = Mask::None;
  bool sinks = false;

  std::string suffix() const {
    return std::string(mask == Mask::Bools     ? "_bool_mask"
                       : mask == Mask::Numbers ? "_float_mask"
                                               : "") +
           (sinks ? "_sinks" : "");
  }
  /// has_mask, query_transposed, do_causal, bool_mask, float_mask, has_sinks
  std::vector<std::pair<int, Bytes>> constants() const {
    return {{20, bytes_of(mask != Mask::None)},
            {21, bytes_of(false)},
            {22, bytes_of(false)},
            {23, bytes_of(mask == Mask::Bools)},
            {24, bytes_of(mask == Mask::Numbers)},
            {25, bytes_of(sinks)}};
  }
};

/// Whether the problem sees a key.
bool sees(const Problem& p, std::int64_t key) { return key < p.get("sink_end", 0) || key >= p.get("window_start", 0); }
std::int64_t seen(const Problem& p) {
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < p["n_kv"]; ++i) n += sees(p, i);
  return n;
}
double sink_logit(const Problem& p) { return p.real("sink_logit", 0); }

/// How the problem can be told to MLX; none where it cannot.
std::vector<Extras> ways(const Problem& p, DType t) {
  const std::int64_t d = p["head_dim"];
  if (p["n_kv"] == 0 || p["n_q_heads"] == 0) return {};
  if (d != 64 && d != 96 && d != 128 && d != 192 && d != 256) return {};
  const bool sinks = p.get("has_sink", 0) != 0;
  // MLX has it in the dtype of the queries.
  if (sinks && round_to(t, sink_logit(p)) != sink_logit(p)) return {};
  if (seen(p) == p["n_kv"]) return {{Extras::Mask::None, sinks}};
  return {{Extras::Mask::Bools, sinks}, {Extras::Mask::Numbers, sinks}};
}

/// Gives the counterpart the mask and the sinks, as tensors of these names.
void add_tensors(Counterpart& c, const Extras& extras, const Problem& p, DType t) {
  c.name += extras.suffix();
  if (extras.mask != Extras::Mask::None) c.launches[0].words.emplace_back("has_mask");
  if (extras.sinks) c.launches[0].words.emplace_back("has_sinks");
  if (extras.mask != Extras::Mask::None)
    c.scratch.emplace_back("mask", extras.mask == Extras::Mask::Bools ? DType::Bool : t,
                           std::vector<std::int64_t>{p["n_kv"]});
  if (extras.sinks) c.scratch.emplace_back("sinks", t, std::vector<std::int64_t>{p["n_q_heads"]});
  c.prepare = [p, extras](std::map<std::string, HostTensor>& tensors) {
    if (extras.mask != Extras::Mask::None) {
      HostTensor& mask = tensors.at("mask");
      for (std::int64_t i = 0; i < mask.count(); ++i) {
        if (mask.dtype == DType::Bool)
          mask.set_int(i, sees(p, i));
        else
          mask.set(i, sees(p, i) ? 0 : -std::numeric_limits<double>::infinity());
      }
    }
    if (extras.sinks)
      for (std::int64_t i = 0; i < p["n_q_heads"]; ++i) tensors.at("sinks").set(i, sink_logit(p));
  };
}

/// As the sdpa_vector kernels take them: bools at `first`, numbers after them, then the strides from key to key, query
/// to query (one mask for all) and head to head, then the sinks.
void bind(Launch& launch, const Extras& extras, int first) {
  if (extras.mask != Extras::Mask::None) {
    launch.buffers.emplace_back(extras.mask == Extras::Mask::Bools ? first : first + 1, "mask");
    for (int i = 0; i < 3; ++i) launch.buffers.emplace_back(first + 2 + i, bytes_of(std::int32_t{i == 0}));
  }
  if (extras.sinks) launch.buffers.emplace_back(first + 5, "sinks");
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

/// What MLX's tiled attention is asked for.
struct Sequences {
  std::int64_t batch = 1, heads = 0, kv_heads = 0, queries = 0, keys = 0, cache = 0,
               dim = 0;  // cache: rows of a KV head
  float scale = 0;
  bool causal = false;  // the queries are the last of the sequence
};

/// Tiles of 32 queries, by simdgroup matrices. MLX's host takes it from 9 queries on; it computes fewer just as well.
Counterpart tiled(DType t, const Sequences& s, const Extras& extras) {
  const std::int64_t d = s.dim, queries = s.queries, keys = s.keys;
  const std::int64_t bq = 32, bk = d < 128 ? 32 : 16;
  const auto i32 = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  TiledParams params;
  params.batch = i32(s.batch);
  params.heads = i32(s.heads);
  params.dim = i32(d);
  params.queries = i32(queries);
  params.keys = i32(keys);
  params.shared = i32(s.heads / s.kv_heads);
  params.scale = s.scale;
  params.query_blocks = i32((queries + bq - 1) / bq);
  params.key_blocks = i32((keys + bk - 1) / bk);
  params.whole_query_blocks = i32(queries / bq);
  params.whole_key_blocks = i32(keys / bk);
  params.last_queries = i32(queries % bq);
  params.last_keys = i32(keys % bk);
  params.first_query = i32(keys - queries);
  for (std::int64_t* q : {params.q, params.out}) {
    q[0] = s.heads * queries * d;
    q[1] = queries * d;
    q[2] = d;
  }
  for (std::int64_t* k : {params.k, params.v}) {
    k[0] = s.kv_heads * s.cache * d;
    k[1] = s.cache * d;
    k[2] = d;
  }
  const std::string block = std::to_string(bk), size = std::to_string(d);
  Launch launch{.files = {"utils.h", "steel/attn/attn.h", "steel/attn/kernels/steel_attention.h"},
                .function = "attention",
                .arguments = mlx_type(t) + ", 32, " + block + ", " + size + ", " + size + ", 4, 1, " +
                             (extras.mask == Extras::Mask::Numbers ? mlx_type(t) : "bool") + ", float",
                .host_name = "steel_attention_" + mlx_name(t) + "_bq32_bk" + block + "_bd" + size +
                             (extras.mask == Extras::Mask::Numbers ? "_numbers" : ""),
                .buffers = {{0, "q"}, {1, "k"}, {2, "v"}, {3, "out"}, {4, bytes_of(params)}},
                // whole tiles of queries, of keys; has_mask, do_causal, has_sinks, save_lse
                .constants = {{200, bytes_of(queries % bq == 0)},
                              {201, bytes_of(keys % bk == 0)},
                              {300, bytes_of(extras.mask != Extras::Mask::None)},
                              {301, bytes_of(s.causal)},
                              {302, bytes_of(extras.sinks)},
                              {303, bytes_of(false)}},
                .grid = {count32(params.query_blocks * 32), count32(s.heads * 4), count32(s.batch)},
                .threads = {32, 4, 1}};
  Counterpart c{
      "steel_attention_" + mlx_name(t) + "_bd" + size + (s.causal ? "_causal" : ""), {launch}, {}, {}, {}, {}};
  if (extras.mask != Extras::Mask::None) {
    // Strides of batch, head and query: one mask for all.
    c.launches[0].buffers.emplace_back(5, bytes_of(std::vector<std::int64_t>{0, 0, 0}));
    c.launches[0].buffers.emplace_back(6, "mask");
  }
  if (extras.sinks) c.launches[0].buffers.emplace_back(7, "sinks");
  return c;
}

Counterpart one_pass(const KernelEntry& e, const Problem& p, const Extras& extras) {
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
                .constants = extras.constants(),
                .grid = {count32(heads * 1024), count32(p["queries"]), 1},
                .threads = {1024, 1, 1}};
  if (extras.sinks) launch.buffers.emplace_back(17, bytes_of(static_cast<std::int32_t>(heads)));
  bind(launch, extras, 11);
  Counterpart c{launch.host_name, {launch}, {}, {}, {}, {}};
  add_tensors(c, extras, p, e.dtype);
  return c;
}

/// Keys in 32 blocks, then a launch that merges them; a threadgroup of the first has a simdgroup for each query of a KV
/// head.
Counterpart two_pass(const KernelEntry& e, const Problem& p, const Extras& extras) {
  const std::int64_t d = p["head_dim"], heads = p["n_q_heads"], kv = p["n_kv_heads"], queries = p["queries"];
  constexpr std::int32_t kBlocks = 32;
  const std::string type = mlx_type(e.dtype), size = std::to_string(d);
  const auto head = std::uint64_t(p["kv_stride"] * d), row = std::uint64_t(d);
  auto constants = extras.constants();
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
  bind(c.launches[0], extras, 13);
  add_tensors(c, extras, p, e.dtype);
  return c;
}

bool fits_two_pass(const Problem& p) { return 32 * p["n_q_heads"] / p["n_kv_heads"] * p["queries"] <= 1024; }
bool fits_tiles(const Problem& p) { return p["head_dim"] == 64 || p["head_dim"] == 128; }

std::vector<Counterpart> decode(const KernelEntry& e, const Problem& p) {
  std::vector<Counterpart> all;
  for (const Extras& extras : ways(p, e.dtype)) {
    all.push_back(one_pass(e, p, extras));
    const bool plain = extras.mask == Extras::Mask::None && !extras.sinks;
    if (!plain && fits_two_pass(p)) all.push_back(two_pass(e, p, extras));
    // Its softmax of no key at all is not a number.
    if (fits_tiles(p) && (plain ? p["queries"] > 1 : extras.sinks || seen(p) > 0)) {
      Counterpart c = tiled(e.dtype,
                            {.heads = p["n_q_heads"],
                             .kv_heads = p["n_kv_heads"],
                             .queries = p["queries"],
                             .keys = p["n_kv"],
                             .cache = p["kv_stride"],
                             .dim = p["head_dim"],
                             .scale = static_cast<float>(p.real("scale", 0.08838834764831845))},
                            extras);
      add_tensors(c, extras, p, e.dtype);
      all.push_back(std::move(c));
    }
  }
  return all;
}

/// Whole sequences, and the last part of some.
std::vector<Counterpart> prefill(const KernelEntry& e, const Problem& p) {
  const bool causal = e.name == "mt_sdpa_prefill";
  const std::int64_t queries = p["q_len"], keys = p["k_len"];
  if (p["batch"] == 0 || p["n_q_heads"] == 0 || queries == 0 || keys == 0 || !fits_tiles(p)) return {};
  if (causal && queries > keys) return {};  // its softmax of no key at all is not a number
  return {tiled(e.dtype,
                {.batch = p["batch"],
                 .heads = p["n_q_heads"],
                 .kv_heads = p["n_kv_heads"],
                 .queries = queries,
                 .keys = keys,
                 .cache = keys,
                 .dim = p["head_dim"],
                 .scale = static_cast<float>(p.real("scale", 0.08838834764831845)),
                 .causal = causal},
                {})};
}

std::vector<Counterpart> decode_two_pass(const KernelEntry& e, const Problem& p) {
  std::vector<Counterpart> all;
  if (fits_two_pass(p))
    for (const Extras& extras : ways(p, e.dtype)) all.push_back(two_pass(e, p, extras));
  return all;
}

}  // namespace

std::vector<Family> attention_families() {
  return {{{"mt_sdpa_vector", "mt_sdpa_vector_d64", "mt_sdpa_vector_d96", "mt_sdpa_vector_d192", "mt_sdpa_vector_d256",
            "ffai_sdpa_decode", "ffai_sdpa_decode_d64", "ffai_sdpa_decode_d96", "ffai_sdpa_decode_d256",
            "sdpa_decode_batched", "sdpa_decode_batched_q2", "sdpa_decode_batched_q4", "sdpa_decode_batched_q8"},
           false,
           decode},
          {{"ffai_sdpa_decode_2pass", "ffai_sdpa_decode_2pass_d64", "ffai_sdpa_decode_2pass_d96",
            "ffai_sdpa_decode_2pass_d256"},
           false,
           decode_two_pass},
          {{"mt_sdpa_prefill", "mt_sdpa_full"}, false, prefill}};
}

}  // namespace mt::reference
