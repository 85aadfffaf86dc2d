// Products of a matrix with a vector: out[i] = Σ_k a[i, k] * x[k]. A simdgroup takes `rows` rows at a time, its lanes
// runs of `width` elements of them.
#include "kernels/lib/row.h"
#include "mt/oracle/matmul.h"

namespace mt {
namespace {

template <Storage T>
struct Gemv {
  In<T> a{"a", {"m", "k"}}, x{"x", {"k"}};
  Out<T> out{"out", {"m"}};
  Size m{"m"}, k{"k"};
  Tunable threads{"threads", 128, {32, 64, 128, 256}};
  Tunable rows{"rows", 2, {1, 2, 4, 8}};
  Tunable block{"block", 8, {1, 2, 4, 8, 16, 32, 64, 128}};  // rows of a threadgroup
  Tunable width{"width", 4, {1, 2, 4, 8}};

  void plan(const Problem& p, TargetTraits traits) {
    threads = traits.gpu ? 128 : kLanes;
    rows = traits.gpu ? p["m"] >= 2048 ? 2 : 1 : 4;
    block = traits.gpu ? threads / kLanes * rows : 32;
    width = traits.gpu ? 16 / size_of(dtype_of<T>) : 2;
  }
  Launch launch(const Problem& p) const {
    require(block % rows == 0, "block must be a multiple of rows");
    return {.groups = {ceil_div(p["m"], block)}, .threads = threads};
  }

  void body() const {
    for_simds(block / rows, [&](U32 tile) {
      const U32 first = group_id() * int{block} + tile * int{rows};
      if_(first < m, [&] {
        auto sums = vec_vars<f32>(rows, width, 0.f);
        auto tails = vars<f32>(rows, 0.f);
        const auto line = each(rows, [&](int r) { return a.row(min(first + r, m - 1u)); });
        const bool even = k.multiple_of(width);
        const U32 whole = even ? U32(k) : k - k % static_cast<u32>(width);
        for_(lane_id() * int{width}, whole, kLanes * width, [&](U32 i) {
          const Vec<f32> with = x.load(i, width);
          for (int r : unroll(rows)) sums[r] = fma(line[r].load(i, width), with, sums[r]);
        });
        if (!even) {
          const U32 rest = whole + lane_id();  // fewer than `width`, so fewer than there are lanes
          if_(rest < k, [&] {
            for (int r : unroll(rows)) tails[r] = line[r].load(rest) * x.load(rest);
          });
        }
        for (int r : unroll(rows)) {
          const F32 total = simd_sum(sum(as_value(sums[r])) + tails[r]);
          if_((lane_id() == 0) & (first + r < m), [&] { out.store(first + r, total); });
        }
      });
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    return {
        {"out", oracle::matmul(in["a"], in["x"], {.m = in.size("m"), .n = 1, .k = in.size("k"), .chains = kLanes})}};
  }
  static Problem problem(std::int64_t count, std::int64_t deep) { return {{"m", count}, {"k", deep}}; }
  Problems tests() const {
    Problems all;
    for (const auto& [count, deep] :
         {std::array{1, 1}, {3, 31}, {8, 64}, {17, 100}, {70, 257}, {5, 2048}, {33, 1000}, {0, 5}, {5, 0}})
      all.push_back(problem(count, deep));
    all.push_back(problem(40, 300).with_edges());
    return all;
  }
  Problems benches() const { return {problem(4096, 4096), problem(14336, 4096)}; }
  Work work(const Problem& p) const {
    const double size = size_of(dtype_of<T>), count = static_cast<double>(p["m"]), deep = static_cast<double>(p["k"]);
    return {.read = (count * deep + deep) * size, .written = count * size, .flops = 2 * count * deep};
  }
  std::vector<std::string> batch() const { return {"m"}; }
};

const bool registered = kernel<Gemv>("mt_gemv", Floats{});

}  // namespace
}  // namespace mt
