// Affine quantisation of groups: bias = min, scale = (max - min) / (2^bits - 1), code = (v - bias) / scale to nearest.
#include "kernels/lib/affine.h"
#include "mt/oracle/quantise.h"

namespace mt {
namespace {

template <Storage T>
struct AffineQuantize {
  In<T> w{"w", {"n_groups", "group_size"}, Fill::row_scaled()};
  Out<u32> out{"out", {"n_groups", "words"}};
  Out<T> scales{"scales", {"n_groups"}}, biases{"biases", {"n_groups"}};
  Size n_groups{"n_groups"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512}};
  int bits = 4;
  int packs = 0;  // of a group: whole words of codes, which one lane makes
  int lanes = 0;  // that share a group

  void plan(const Problem& p, TargetTraits) {
    packs = static_cast<int>(p["group_size"] / CodePack(bits).codes);
    lanes = kLanes;
    while (packs % lanes != 0) lanes /= 2;
  }
  Launch launch(const Problem& p) const {
    require_whole_groups(p, bits);
    return {.groups = {ceil_div(p["n_groups"] * lanes, threads)}, .threads = threads};
  }

  void body() const {
    const CodePack unit(bits);
    const int width = std::min(unit.codes, 8);
    const U64 thread = global_id(), group = thread / lanes, lane = thread % lanes;
    const Bool live = group < n_groups;
    const auto value = [&](const U64& pack, int at) { return w.load(pack * unit.codes + at, width); };
    const auto each_pack = [&](auto&& body) {
      if_(live, [&] {
        if (packs == lanes)
          body(group * packs + lane);
        else
          for_(group * packs + lane, (group + 1) * packs, lanes, [&](U64 pack) { body(pack); });
      });
    };

    VecVar<f32> least(width, inf), most(width, -inf);
    each_pack([&](const U64& pack) {
      for (int at = 0; at < unit.codes; at += width) {
        const Vec<f32> v = value(pack, at);
        least = min(least, v);
        most = max(most, v);
      }
    });
    Var<f32> low(min_of(as_value(least))), high(max_of(as_value(most)));
    for (int d = 1; d < lanes; d *= 2) {
      low = min(low, simd_shuffle_xor(low, d));
      high = max(high, simd_shuffle_xor(high, d));
    }
    const F32 bias = low, span = (high - low) / float((1 << bits) - 1), scale = select(span < 1e-7f, 1.f, span);
    each_pack([&](const U64& pack) {
      std::vector<Vec<u32>> codes;
      for (int at = 0; at < unit.codes; at += width) {
        const Vec<f32> level = (value(pack, at) - bias) / scale + 0.5f;
        codes.push_back(cast<u32>(min(max(cast<i32>(level), 0), (1 << bits) - 1)));
      }
      for (int i : unroll(unit.words)) out.store(pack * unit.words + i, pack_codes(codes, bits, i));
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
};

const bool registered = [] {
  for (const int b : {2, 3, 4, 5, 6, 8})
    kernel<AffineQuantize>("mt_affine_quantize_int" + std::to_string(b), Floats{}, [b](auto& k) { k.bits = b; });
  return true;
}();

}  // namespace
}  // namespace mt
