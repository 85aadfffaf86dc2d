// Products with whole matrices: of a vector, and of a matrix by tiles.
#include <algorithm>

#include "cli/reference/mlx.h"

namespace mt::reference {
namespace {

std::string flag(bool b) { return b ? "true" : "false"; }
Bytes i32(std::int64_t n) { return bytes_of(static_cast<std::int32_t>(n)); }

/// `batches` vectors of `k` elements times one matrix of `n` rows, or of `n` columns.
struct VectorProduct {
  std::string matrix, vectors, out;
  std::int64_t n = 0, k = 0, batches = 1;
};

/// `bm` by `bn` simdgroups of `sm` by `sn` threads, each with `tm` by `tn` elements.
struct VectorShape {
  int bm = 1, bn = 1, sm = 1, sn = 32, tm = 4, tn = 4;
};

Counterpart vector_product(const std::string& kernel, DType t, const VectorProduct& p, const VectorShape& s) {
  const bool columns = kernel == "gemv_t";
  const std::int64_t outputs = columns ? s.bn * s.sn * s.tn : s.bm * s.sm * s.tm;
  std::string shape, name = kernel + "_" + mlx_name(t);
  const std::pair<const char*, int> parts[] = {{"_bm", s.bm}, {"_bn", s.bn}, {"_sm", s.sm},
                                               {"_sn", s.sn}, {"_tm", s.tm}, {"_tn", s.tn}};
  for (const auto& [part, value] : parts) {
    shape += ", " + std::to_string(value);
    name += part + std::to_string(value);
  }
  Launch launch{.files = {"utils.h", "steel/utils.h", "gemv.h"},
                .function = kernel,
                .arguments = mlx_type(t) + shape + ", false, false",
                .host_name = name + "_nc0_axpby0",
                .buffers = {{0, p.matrix},
                            {1, p.vectors},
                            {3, p.out},
                            {4, i32(p.k)},
                            {5, i32(p.n)},
                            {6, i32(columns ? p.n : p.k)},
                            // one dimension of batches: vectors one after another, one matrix for all
                            {9, i32(1)},
                            {10, i32(p.batches)},
                            {11, bytes_of(p.k)},
                            {12, bytes_of(std::int64_t{0})},
                            // what only a sum with another vector reads
                            {2, bytes_of(0.0f)},
                            {7, bytes_of(1.0f)},
                            {8, bytes_of(0.0f)},
                            {13, bytes_of(std::int64_t{0})},
                            {14, i32(0)}},
                .constants = {},
                .grid = {count32((p.n + outputs - 1) / outputs * 32), count32(s.bn), count32(s.bm * p.batches)},
                .threads = {32, count32(s.bn), count32(s.bm)}};
  return {name, {launch}, {}, {}, {}, {}};
}

/// Of the matrix's rows.
std::vector<Counterpart> gemv(DType t, const VectorProduct& p) {
  VectorShape s;
  if (p.k <= 64) {
    s.sm = 8;
    s.sn = 4;
  } else if (p.k >= 16 * p.n) {
    // Eight simdgroups share a row, and only their first lanes come to a barrier: undefined, and an error here.
    return {};
  } else {
    s.bm = p.n >= 4096 ? 8 : 4;
  }
  if (p.n < 4) s.tm = 1;
  return {vector_product("gemv", t, p, s)};
}

/// Of its columns.
std::vector<Counterpart> gemv_t(DType t, const VectorProduct& p) {
  VectorShape s;
  const bool tall = p.k >= 8192 && p.n >= 2048;
  s.sm = tall ? 4 : 8;
  s.sn = tall ? 8 : 4;
  s.bn = p.n >= 2048 ? 16 : p.n >= 512 ? 4 : 2;
  // Lanes beyond the last column leave out a barrier of the others: undefined too.
  if (p.n % (s.bn * s.sn * s.tn) != 0) return {};
  return {vector_product("gemv_t", t, p, s)};
}

class Tiles {
 public:
  explicit Tiles(const Product& p) : p_(p) {}

  /// Tiles of 64 x 64, all of k in one threadgroup.
  Counterpart fused() const {
    constexpr std::int64_t kTile = 64, kDepth = 16;
    const std::int64_t tiles_n = (p_.n + kTile - 1) / kTile, tiles_m = (p_.m + kTile - 1) / kTile;
    Bytes params = ints({p_.m, p_.n, p_.k, lda(), ldb(), p_.n, tiles_n, tiles_m});
    const auto add = [&](const Bytes& b) { params.insert(params.end(), b.begin(), b.end()); };
    add(bytes_of(std::vector<std::int64_t>{0, 0, 0}));  // strides of a batch
    add(ints({0, p_.k / kDepth, 0, 0}));                // the last one fills the struct up
    Launch launch{.files = {"utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_fused.h"},
                  .function = "gemm",
                  .arguments = mlx_type(p_.dtype) + ", 64, 64, 16, 2, 2, " + transposes(),
                  .host_name = "steel_gemm_fused_" + letters() + "_" + mlx_name(p_.dtype) + "_bm64_bn64_bk16_wm2_wn2",
                  .buffers = {{0, p_.a}, {1, p_.b}, {3, p_.out}, {4, params}},
                  // batches, a matrix to add, its factors; whole tiles along m, n and k
                  .constants = {{10, bytes_of(false)},
                                {100, bytes_of(false)},
                                {110, bytes_of(false)},
                                {200, bytes_of(p_.m % kTile == 0)},
                                {201, bytes_of(p_.n % kTile == 0)},
                                {202, bytes_of(p_.k % kDepth == 0)}},
                  .grid = {count32(tiles_n * 32), count32(tiles_m * 2), 2},
                  .threads = {32, 2, 2}};
    return {launch.host_name, {launch}, {}, {}, {}, {}};
  }

  bool fits_split() const { return p_.m / 16 * (p_.n / 16) <= 32 && p_.k / 16 >= 8; }
  /// Parts of k in threadgroups of their own, and a launch that adds them.
  Counterpart split() const {
    const std::int64_t bm = p_.m < 40 ? 16 : 32, bn = p_.n < 40 ? 16 : 32, deep = p_.k / 16;
    const std::int64_t parts = deep < 16 ? 2 : deep < 32 ? 4 : deep < 64 ? 8 : 16, steps = deep / parts;
    const std::int64_t tiles_n = (p_.n + bn - 1) / bn, tiles_m = (p_.m + bm - 1) / bm, all = p_.m * p_.n;
    const Bytes params =
        ints({p_.m, p_.n, p_.k, lda(), ldb(), p_.n, tiles_n, tiles_m, parts, all, steps * 16, 0, steps});
    const std::string tile = "_bm" + std::to_string(bm) + "_bn" + std::to_string(bn),
                      aligned = flag(p_.m % bm == 0 && p_.n % bn == 0) + ", " + flag(p_.k % 16 == 0);
    const std::vector<std::string> files = {"utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_splitk.h"};
    Counterpart c{"steel_gemm_splitk_" + letters() + "_" + mlx_name(p_.dtype) + tile, {}, {}, {}, {}, {}};
    c.scratch.emplace_back("parts", DType::F32, std::vector<std::int64_t>{parts, p_.m, p_.n});
    c.launches.push_back({.files = files,
                          .function = "gemm_splitk",
                          .arguments = mlx_type(p_.dtype) + ", float, " + std::to_string(bm) + ", " +
                                       std::to_string(bn) + ", 16, 2, 2, " + transposes() + ", " + aligned,
                          .host_name = c.name,
                          .buffers = {{0, p_.a}, {1, p_.b}, {2, "parts"}, {3, params}},
                          .constants = {},
                          .grid = {count32(tiles_n * 32), count32(tiles_m * 2), count32(parts * 2)},
                          .threads = {32, 2, 2}});
    Launch sum{.files = files,
               .function = "gemm_splitk_accum",
               .arguments = "float, " + mlx_type(p_.dtype),
               .host_name = "steel_gemm_splitk_accum_" + mlx_name(p_.dtype),
               .buffers = {{0, "parts"}, {1, p_.out}, {2, i32(parts)}, {3, i32(all)}, {4, i32(p_.n)}},
               .constants = {},
               .grid = {count32(p_.n), count32(p_.m), 1}};
    sum.threads = block_of(sum.grid);
    c.launches.push_back(std::move(sum));
    return c;
  }

 private:
  static Bytes ints(const std::vector<std::int64_t>& values) {
    std::vector<std::int32_t> all;
    for (const std::int64_t v : values) all.push_back(static_cast<std::int32_t>(v));
    return bytes_of(all);
  }
  // Elements from row to row in memory.
  std::int64_t lda() const { return p_.a_transposed ? p_.m : p_.k; }
  std::int64_t ldb() const { return p_.b_transposed ? p_.k : p_.n; }
  std::string transposes() const { return flag(p_.a_transposed) + ", " + flag(p_.b_transposed); }
  std::string letters() const { return std::string(p_.a_transposed ? "t" : "n") + (p_.b_transposed ? "t" : "n"); }

  Product p_;
};

}  // namespace

std::vector<Counterpart> dense_products(const Product& p) {
  if (p.m == 0 || p.n == 0 || p.k == 0) return {};
  std::vector<Counterpart> all;
  const auto add = [&](std::vector<Counterpart> some) {
    for (Counterpart& c : some) all.push_back(std::move(c));
  };
  const auto vectors = [&](const VectorProduct& v, bool rows) { add(rows ? gemv(p.dtype, v) : gemv_t(p.dtype, v)); };
  if (p.m == 1 || !p.a_transposed)
    vectors({.matrix = p.b, .vectors = p.a, .out = p.out, .n = p.n, .k = p.k, .batches = p.m}, p.b_transposed);
  else if (p.n == 1)
    vectors({.matrix = p.a, .vectors = p.b, .out = p.out, .n = p.m, .k = p.k}, !p.a_transposed);
  if (p.m > 1 && p.n > 1) {
    const Tiles tiles(p);
    all.push_back(tiles.fused());
    if (tiles.fits_split()) all.push_back(tiles.split());
  }
  return all;
}

namespace {

std::vector<Counterpart> gemm(const KernelEntry& e, const Problem& p) {
  const std::string layout = e.name.substr(std::string("mt_steel_gemm").size());  // empty, _nt, _tn or _tt
  return dense_products({.dtype = e.dtype,
                         .m = p["m"],
                         .n = p["n"],
                         .k = p["k"],
                         .a = "a",
                         .b = "b",
                         .out = "out",
                         .a_transposed = layout.starts_with("_t"),
                         .b_transposed = layout.ends_with("t")});
}

}  // namespace

std::vector<Family> product_families() {
  return {{{"mt_steel_gemm", "mt_steel_gemm_nt", "mt_steel_gemm_tn", "mt_steel_gemm_tt"}, false, gemm}};
}

}  // namespace mt::reference
