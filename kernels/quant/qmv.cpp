// Products of vectors with an affine quantised matrix: out[m, n] = Σ_k (scale * code + bias)[n, k] * x[m, k].
//
// A lane takes `span` words of codes at a time. Codes are masked but not shifted into place: the elements of x carry
// the power of two instead, so that a weight costs an and, a conversion and a multiply-add. Scale and bias apply once a
// lane's run of words: scale * Σ code * x + bias * Σ x. Where x, scale or bias is infinite, or so large that one of
// these sums overflows, the result is not specified: whole weights times x might give another one. A NaN gives NaN.
#include "mt/dsl/dsl.h"
#include "mt/oracle/block.h"
#include "mt/oracle/quantise.h"

namespace mt {
namespace {

template <Storage T>
struct Qmv {
  In<u32> w{"w", {"n", "words"}, Fill::bits()};
  In<T> scales{"scales", {"n", "groups"}, Fill::uniform(0.01, 0.1)}, biases{"biases", {"n", "groups"}};
  In<T> x{"x", {"m", "k"}};
  Out<T> out{"out", {"m", "n"}};
  // Of x, where a first launch prepares it: elements by their place in a word; and the sum over each word.
  Temp<f32> by_place{"x_by_place", {"m", "k"}}, sums{"x_sums", {"m", "words"}};
  Size n{"n"}, words{"words"};
  Tunable threads{"threads", 64, {32, 64, 128, 256}};
  Tunable rows{"rows", 4, {1, 2, 4, 8}};                    // of the matrix that a simdgroup takes at a time
  Tunable block{"block", 8, {4, 8, 16, 32, 64, 128, 256}};  // rows of a threadgroup
  Tunable span{"span", 2, {1, 2, 4}};                       // words of a lane
  int bits = 4;
  int group_words = 0;
  bool prepared = false;

  int codes() const { return 32 / bits; }  // of a word

  void plan(const Problem& p, TargetTraits traits) {
    group_words = static_cast<int>(p["group_size"] * bits / 32);
    prepared = !traits.gpu;
    if (traits.gpu) span = p["words"] >= 4 * kLanes ? 4 : 2;
    if (!traits.gpu) {
      threads = kLanes;
      rows = 1;
      block = 32;
      span = 2;
    }
  }
  Stages<Qmv> stages() const {
    if (!prepared) return {{"", &Qmv::product_launch, &Qmv::product}};
    return {{"prepare", &Qmv::prepare_launch, &Qmv::prepare}, {"product", &Qmv::product_launch, &Qmv::product}};
  }
  Launch prepare_launch(const Problem& p) const {
    return {.groups = {ceil_div(p["words"], kLanes), p["m"]}, .threads = kLanes};
  }
  Launch product_launch(const Problem& p) const {
    const std::int64_t size = p["group_size"];
    require(size > 0 && size % 32 == 0, "group_size must be a multiple of 32");
    require(p["k"] % size == 0, "k must be a multiple of group_size");
    require(p["words"] * 32 == p["k"] * bits, "words must be k * bits / 32");
    require(p["groups"] * size == p["k"], "groups must be k / group_size");
    require(block % rows == 0, "block must be a multiple of rows");
    return {.groups = {ceil_div(p["n"], block), p["m"]}, .threads = threads};
  }

  /// The place of code j within its half of a word, which its element of x makes up for.
  int shift(int j) const { return j * bits % 16; }
  float weight(int j) const { return 1.f / static_cast<float>(1 << shift(j)); }

  /// Where the prepared x has place j of `word`: steps of the product one after another, place by place in each.
  U32 prepared_at(const U32& word, int j) const {
    const U32 own = word % (kLanes * span), first = word - own;
    return first * codes() + min(words - first, U32(kLanes * span)) * j + own;
  }
  void prepare() const {
    const U32 word = group_id() * kLanes + lane_id(), m = group_id(1);
    if_(word < words, [&] {
      const Vec<f32> v = x.row(m).load(word * codes(), codes());
      for (int j : unroll(codes())) by_place.row(m).store(prepared_at(word, j), v[j] * weight(j));
      sums.row(m).store(word, sum(v));
    });
  }

  /// What the words from `word` on multiply: for each place in a word, one element of x for each of `span` words.
  struct Slice {
    std::vector<Vec<f32>> by_place;
    F32 sum;
  };
  Slice slice(const U32& m, const U32& word) const {
    if (prepared)
      return {each(codes(), [&](int j) { return by_place.row(m).load(prepared_at(word, j), span); }),
              sum(sums.row(m).load(word, span))};
    const auto v = each(span, [&](int i) { return x.row(m).load((word + i) * codes(), codes()); });
    Var<f32> total(sum(v[0]));
    for (int i = 1; i < span; ++i) total += sum(v[i]);
    return {each(codes(), [&](int j) { return pack(span, [&](int i) { return v[i][j]; }) * weight(j); }), total};
  }

  void product() const {
    const U32 m = group_id(1);
    // Equivalent if constant_above: the first rows of the next threadgroup are computed twice, alike.
    for_simds(block / rows, [&](U32 tile) {
      const U32 first = group_id() * int{block} + tile * int{rows};
      // Equivalent if always, or_equal: rows past the end are not stored, they only cost time.
      if_(first < n, [&] {
        auto results = vars<f32>(rows, 0.f);
        const auto row = each(rows, [&](int r) { return min(first + r, n - 1u); });  // rows past the end do one twice
        for_(lane_id() * int{span}, words, kLanes * span, [&](U32 word) {
          const Slice with = slice(m, word);
          const U32 group = word / group_words;
          for (int r : unroll(rows)) {
            const Vec<u32> low = w.row(row[r]).load(word, span), high = low >> 16;
            VecVar<f32> product(span, 0.f);
            for (int j : unroll(codes())) {
              const Vec<u32> code = (j < codes() / 2 ? low : high) & (((1u << bits) - 1) << shift(j));
              // Equivalent if other_sign: no code reaches the sign.
              product = fma(cast<f32>(cast<i32>(code)), with.by_place[j], product);
            }
            results[r] +=
                fma(scales.row(row[r]).load(group), sum(as_value(product)), biases.row(row[r]).load(group) * with.sum);
          }
        });
        for (int r : unroll(rows)) {
          const F32 total = simd_sum(results[r]);
          // Equivalent if constant_above of const: every lane has the total.
          if_((lane_id() == 0) & (first + r < n), [&] { out.at(m, first + r).store(0, total); });
        }
      });
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    if (in.size("k") == 0) return {{"out", oracle::blank(in.size("m") * in.size("n"))}};
    return {
        {"out", oracle::quantised_matmul(in["x"], in["w"], in["scales"], in["biases"], bits, in.size("group_size"))}};
  }

  Problem problem(std::int64_t m, std::int64_t n_rows, std::int64_t k, std::int64_t group_size) const {
    return {{"m", m},
            {"n", n_rows},
            {"k", k},
            {"group_size", group_size},
            {"words", k * bits / 32},
            {"groups", k / group_size}};
  }
  Problems tests() const {
    Problems all;
    for (const int group_size : {32, 64, 128})
      for (const int groups : {1, 3, 16, 35}) all.push_back(problem(1, 9, group_size * groups, group_size));
    for (const int count : {1, 4, 7, 8, 31, 33, 65}) all.push_back(problem(1, count, 320, 64));
    all.push_back(problem(1, 5, 192, 96));
    all.push_back(problem(3, 17, 1024, 64));
    all.push_back(problem(5, 8, 128, 32));
    all.push_back(problem(0, 8, 128, 32));
    all.push_back(problem(1, 0, 128, 32));
    all.push_back(problem(2, 3, 0, 64));
    all.push_back(problem(2, 12, 256, 64).with_edges());
    all.push_back(problem(40, 5, 192, 96).with_edges());
    return all;
  }
  Problems benches() const { return {problem(1, 4096, 4096, 64), problem(1, 14336, 4096, 64)}; }
  Work work(const Problem& p) const {
    const double size = size_of(dtype_of<T>), n_rows = static_cast<double>(p["n"]);
    const double weights = n_rows * (static_cast<double>(p["words"]) * 4 + 2 * static_cast<double>(p["groups"]) * size);
    const double vectors = static_cast<double>(p["m"]);
    return {.read = weights + vectors * static_cast<double>(p["k"]) * size,
            .written = vectors * n_rows * size,
            .flops = 2 * vectors * n_rows * static_cast<double>(p["k"])};
  }
  std::vector<std::string> batch() const { return {"m"}; }
};

const bool registered = [] {
  kernel<Qmv>("mt_qmv", Floats{}, [](auto& k) { k.bits = 4; });
  kernel<Qmv>("mt_qmv_int8_fast", Floats{}, [](auto& k) { k.bits = 8; });
  return true;
}();

}  // namespace
}  // namespace mt
