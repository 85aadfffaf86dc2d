// Products of vectors with a quantised matrix: out[m, n] = Σ_k weight[n, k] * x[m, k], where a weight is scale * code +
// bias, or scale * code with codes and scales that are small floating-point numbers.
//
// A lane takes `span` words of codes at a time. Codes that are integers are masked but not shifted into place: the
// elements of x carry the power of two instead, so that a weight costs an and, a conversion and a multiply-add. Scale
// and bias apply once a lane's run of words: scale * Σ code * x + bias * Σ x. Where x, scale or bias is infinite, or so
// large that one of these sums overflows, the result is not specified: whole weights times x might give another one. A
// NaN gives NaN.
#include "kernels/lib/weights.h"
#include "mt/oracle/block.h"

namespace mt {
namespace {

template <Storage T, class Groups>
struct Qmv {
  static constexpr bool kFloat = std::same_as<Groups, FloatGroups>;
  In<u32> w{"w", {"n", "words"}, Fill::bits()};
  Groups of_groups{{"n", "groups"}};
  In<T> x{"x", {"m", "k"}};
  Out<T> out{"out", {"m", "n"}};
  // Of x, where a first launch prepares it: elements by their place in a word; and the sum over a lane's words.
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
    group_words = static_cast<int>(of_groups.size(p) * bits / 32);
    prepared = !traits.gpu;
    if (traits.gpu) span = p["words"] >= 4 * kLanes && group_words % 4 == 0 && !(kFloat && bits == 8) ? 4 : 2;
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
    return {.groups = {ceil_div(p["words"], kLanes * span), p["m"]}, .threads = kLanes};
  }
  Launch product_launch(const Problem& p) const {
    require_groups(p, of_groups.size(p), bits, kFloat);
    if (group_words % 4 != 0) require(group_words % span == 0, "span must divide the words of a group");
    require(block % rows == 0, "block must be a multiple of rows");
    return {.groups = {ceil_div(p["n"], block), p["m"]}, .threads = threads};
  }

  /// The place of code j within its half of a word, which its element of x makes up for.
  int shift(int j) const { return j * bits % 16; }
  float weight(int j) const { return kFloat ? 1.f : 1.f / static_cast<float>(1 << shift(j)); }

  /// Where the prepared x has place j of `word`: steps of the product one after another, place by place in each.
  U32 prepared_at(const U32& word, int j) const {
    const U32 own = word % (kLanes * span), first = word - own;
    return first * codes() + min(words - first, U32(kLanes * span)) * j + own;
  }
  void prepare() const {
    const U32 run = group_id() * kLanes + lane_id(), m = group_id(1);
    if_(run * int{span} < words, [&] {
      Var<f32> total(0.f);
      for (int i : unroll(span)) {
        const U32 word = run * int{span} + i;
        const Vec<f32> v = x.row(m).load(word * codes(), codes());
        for (int j : unroll(codes())) by_place.row(m).store(prepared_at(word, j), v[j] * weight(j));
        total += sum(v);
      }
      sums.row(m).store(run, total);
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
              sums.row(m).load(word / int{span})};
    const auto v = each(span, [&](int i) { return x.row(m).load((word + i) * codes(), codes()); });
    Var<f32> total(sum(v[0]));
    for (int i = 1; i < span; ++i) total += sum(v[i]);
    return {each(codes(), [&](int j) { return pack(span, [&](int i) { return v[i][j]; }) * weight(j); }), total};
  }

  F32 finished(const F32& sum) const {
    if constexpr (kFloat)
      if (of_groups.global) return sum * *of_groups.global;
    return sum;
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
              if constexpr (kFloat) {
                const FloatCode& form = of_groups.format.code;
                const Vec<f32> weight = prepared ? decode_at(low, (j + 1) * bits, form) : decode(low >> j * bits, form);
                product = fma(weight, with.by_place[j], product);
              } else {
                const Vec<u32> code = (j < codes() / 2 ? low : high) & (((1u << bits) - 1) << shift(j));
                // Equivalent if other_sign: no code reaches the sign.
                product = fma(cast<f32>(cast<i32>(code)), with.by_place[j], product);
              }
            }
            // Equivalent if other_sign of cast: only the 8 bits of a scale are looked at.
            const auto factors = of_groups.factors([&](const auto& t) { return t.row(row[r]); }, group);
            if constexpr (kFloat)
              results[r] = fma(factors.scale, sum(as_value(product)), results[r]);
            else
              results[r] += fma(factors.scale, sum(as_value(product)), factors.bias * with.sum);
          }
        });
        for (int r : unroll(rows)) {
          const F32 total = finished(simd_sum(results[r]));
          // Equivalent if constant_above of const: every lane has the total.
          if_((lane_id() == 0) & (first + r < n), [&] { out.at(m, first + r).store(0, total); });
        }
      });
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    if (in.size("k") == 0) return {{"out", oracle::blank(in.size("m") * in.size("n"))}};
    if constexpr (kFloat)
      return {{"out", oracle::float_quantised_matmul(in["x"], in["w"], in["scales"], of_groups.of_oracle(in))}};
    else
      return {
          {"out", oracle::quantised_matmul(in["x"], in["w"], in["scales"], in["biases"], bits, in.size("group_size"))}};
  }

  Problem problem(std::int64_t m, std::int64_t n_rows, std::int64_t k, std::int64_t group_size) const {
    if constexpr (kFloat) group_size = of_groups.format.group;
    const Problem p{{"m", m}, {"n", n_rows}, {"k", k}, {"words", k * bits / 32}, {"groups", k / group_size}};
    return kFloat ? p : p.with("group_size", group_size);
  }
  Problems tests() const {
    Problems all;
    if constexpr (kFloat) {
      const std::int64_t size = of_groups.format.group;
      for (const std::int64_t k : {size, 3 * size, std::int64_t{1024}, 67 * size}) all.push_back(problem(1, 9, k, 0));
      for (const int count : {1, 4, 7, 31, 33, 65}) all.push_back(problem(count % 3 + 1, count, 320, 0));
      all.push_back(problem(0, 8, 128, 0));
      all.push_back(problem(1, 0, 128, 0));
      all.push_back(problem(2, 3, 0, 0));
      all.push_back(problem(2, 12, 256, 0).with_edges());
      // The largest numbers and the least ones; NaN among codes and scales.
      const Problem p = problem(2, 9, 160, 0);
      all.push_back(p.with_element("w", 1, bits == 8 ? 0x7e017efe : 0x7f81ffff).with_element("scales", 2, 1));
      if (bits == 8) all.push_back(p.with_element("w", 21, 0x01ff0203));
      all.push_back(of_groups.with_nan_scale(p, 6).with_element("scales", 11, 0));
      if (of_groups.format.global) all.push_back(p.with_real("global_scale", -3e4).with_element("scales", 3, 0xc1));
      return all;
    }
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
    const double weights =
        n_rows * (static_cast<double>(p["words"]) * 4 + static_cast<double>(p["groups"]) * Groups::kBytes);
    const double vectors = static_cast<double>(p["m"]);
    return {.read = weights + vectors * static_cast<double>(p["k"]) * size,
            .written = vectors * n_rows * size,
            .flops = 2 * vectors * n_rows * static_cast<double>(p["k"])};
  }
  std::vector<std::string> batch() const { return {"m"}; }
};

template <class T>
using AffineQmv = Qmv<T, AffineGroups<T>>;
template <class T>
using FloatQmv = Qmv<T, FloatGroups>;

const bool registered = [] {
  kernel<AffineQmv>("mt_qmv", Floats{}, [](auto& k) { k.bits = 4; });
  kernel<AffineQmv>("mt_qmv_int8_fast", Floats{}, [](auto& k) { k.bits = 8; });
  for (const FloatFormat& f : kFloatFormats)
    kernel<FloatQmv>(std::string("mt_qmv_") + f.name, Floats{}, [f](auto& k) { set_format(k, f); });
  return true;
}();

}  // namespace
}  // namespace mt
