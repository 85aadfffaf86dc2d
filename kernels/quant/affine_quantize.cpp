// Affine quantisation of groups: bias = min, scale = (max - min) / (2^bits - 1), code = (v - bias) / scale to nearest.
#include "kernels/lib/affine.h"
#include "mt/oracle/quantise.h"

namespace mt {
namespace {

template <Storage T>
struct AffineQuantize {
  In<T> w{"w", {"n_groups", "group_size"}, Fill::row_scaled().with_flat_rows()};
  Out<u32> out{"out", {"n_groups", "words"}};
  Out<T> scales{"scales", {"n_groups"}}, biases{"biases", {"n_groups"}};
  Size n_groups{"n_groups"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512}};
  int bits = 4;
  int packs = 0;      // of a group: whole words of codes, which one lane makes
  int lanes = 0;      // that share a group
  bool wide = false;  // packs of 32 codes
  bool hold = false;  // a lane's only pack in registers, rather than read it twice

  void plan(const Problem& p, TargetTraits traits) {
    // 32 codes are whole words for any number of bits, and enough work for a thread of a GPU.
    wide = traits.gpu && p["group_size"] % 32 == 0;
    packs = static_cast<int>(p["group_size"] / unit().codes);
    lanes = kLanes;
    while (packs % lanes != 0) lanes /= 2;
    hold = traits.gpu && packs == lanes;
  }
  CodePack unit() const {
    CodePack pack(bits);
    if (wide) {
      pack.codes = 32;
      pack.words = bits;
    }
    return pack;
  }
  Launch launch(const Problem& p) const {
    require_whole_groups(p, bits);
    return {.groups = {ceil_div(p["n_groups"] * lanes, threads)}, .threads = threads};
  }

  void body() const {
    const CodePack unit = this->unit();
    const int width = std::min(unit.codes, 8), turns = packs / lanes;
    const U64 thread = global_id(), group = thread / lanes, lane = thread % lanes;
    const Bool live = group < n_groups;
    const auto each_turn = [&](auto&& body) {
      if (turns == 1)
        body(U32(0));
      else
        for_(turns, body);
    };
    // A lane's pack of turn `i`, and its values: zeros past the last group, so that all lanes compute alike.
    // Equivalent if stride_above: the only turn is number 0.
    const auto pack_of = [&](const U32& i) { return group * packs + (U64(i) * lanes + lane); };
    const auto values = [&](const U64& pack) {
      // Equivalent if zero_is_one: lanes past the last group store nothing.
      auto v = vec_vars<f32>(unit.codes / width, width, 0.f);
      if_(live, [&] {
        for (std::size_t c = 0; c < v.size(); ++c)
          v[c] = w.load(pack * unit.codes + static_cast<int>(c) * width, width);
      });
      return each(unit.codes / width, [&](int c) { return as_value(v[c]); });
    };

    const auto held = hold ? values(pack_of(U32(0))) : std::vector<Vec<f32>>{};
    const auto values_of = [&](const U32& i) { return hold ? held : values(pack_of(i)); };
    // Equivalent if finite: values are finite.
    VecVar<f32> least(width, inf), most(width, -inf);
    each_turn([&](U32 i) {
      for (const Vec<f32>& v : values_of(i)) {
        // Equivalent if loses_nan, loses_second_nan: values are finite.
        least = min(least, v);
        // Equivalent if loses_nan, loses_second_nan: values are finite.
        most = max(most, v);
      }
    });
    Var<f32> low(min_of(as_value(least))), high(max_of(as_value(most)));
    for (int d = 1; d < lanes; d *= 2) {
      // Equivalent if loses_nan, loses_second_nan: values are finite.
      low = min(low, simd_shuffle_xor(low, d));
      // Equivalent if loses_nan, loses_second_nan: values are finite.
      high = max(high, simd_shuffle_xor(high, d));
    }
    // Equivalent if or_equal of lt, nan_side of lt, constant_near of const: no span is that number, or just beside it.
    const F32 bias = low, span = (high - low) / float((1 << bits) - 1), scale = select(span < 1e-7f, 1.f, span);
    const F32 steps = recip(scale);  // in a unit: a quotient for each value would take most of the time
    each_turn([&](U32 i) {
      const U64 pack = pack_of(i);
      std::vector<Vec<u32>> codes;
      for (const Vec<f32>& v : values_of(i)) {
        const Vec<i32> level = cast<i32>(fma(v - bias, splat(steps, width), 0.5f));
        // Equivalent if first_operand of min, constant_above: no finite value passes the highest code.
        codes.push_back(cast<u32>(min(level, (1 << bits) - 1)));
      }
      const auto words = each(unit.words, [&](int n) { return pack_codes(codes, bits, n); });
      if_(live, [&] {
        for (int n : unroll(unit.words)) out.store(pack * unit.words + n, words[n]);
      });
    });
    if_(live & (lane == 0), [&] {
      scales.store(group, scale);
      biases.store(group, bias);
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    const oracle::QuantisedExpected e = oracle::affine_quantise(in["w"], bits, in.size("group_size"));
    return {{"out", e.words}, {"scales", e.scales}, {"biases", e.biases}};
  }
  Problems tests() const {
    Problems all;
    for (const int size : {32, 64, 96, 128, 160})
      for (const int groups : {1, 33}) all.push_back(affine_groups(groups, size, bits));
    if (bits % 2 == 0) all.push_back(affine_groups(67, 16, bits));
    if (bits % 4 == 0) all.push_back(affine_groups(67, 24, bits));
    all.push_back(affine_groups(3, 4096, bits));
    all.push_back(affine_groups(0, 64, bits));
    return all;
  }
  Problems benches() const { return {affine_groups(4096 * 4096 / 64, 64, bits)}; }
  Work work(const Problem& p) const {
    const double groups = static_cast<double>(p["n_groups"]), size = size_of(dtype_of<T>);
    return {.read = groups * static_cast<double>(p["group_size"]) * size,
            .written = groups * (static_cast<double>(p["words"]) * 4 + 2 * size)};
  }
  std::vector<std::string> batch() const { return {"n_groups"}; }
};

const bool registered = [] {
  for (const int b : {2, 3, 4, 5, 6, 8})
    kernel<AffineQuantize>("mt_affine_quantize_int" + std::to_string(b), Floats{}, [b](auto& k) { k.bits = b; });
  return true;
}();

}  // namespace
}  // namespace mt
