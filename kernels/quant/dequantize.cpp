// Dequantisation of groups of packed codes: out = scale * code + bias for integers of 2, 3, 4, 5, 6 or 8 bits, and
// out = scale * code where codes and scales are small floating-point numbers.
#include "kernels/lib/weights.h"

namespace mt {
namespace {

template <Storage T, class Groups>
struct Dequantize {
  static constexpr bool kFloat = std::same_as<Groups, FloatGroups>;
  In<u32> w{"w", {"n_groups", "words"}, Fill::bits()};
  Groups of_groups{{"n_groups"}};
  Out<T> out{"out", {"n_groups", "group_size"}};
  Size n_groups{"n_groups"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512}};
  static constexpr int kRun = 16 / size_of(dtype_of<T>);  // codes of one thread, so that it writes 16 bytes
  Tunable turns{"turns", 1, {1, 2, 4}};                   // runs of a thread, read together
  int bits = 4;
  int runs = 0;  // of a group

  void choose(const FloatFormat& f) {
    bits = f.bits;
    of_groups.choose(f);
    of_groups.scales.fill_with(Fill::iota());
  }
  void plan(const Problem& p, TargetTraits traits) {
    runs = static_cast<int>(p["group_size"] / kRun);
    turns = traits.gpu ? 2 : 1;
  }
  Launch launch(const Problem& p) const {
    if constexpr (kFloat) {
      require(p["group_size"] == of_groups.format.group, "group_size must be the one of the format");
      require(p["words"] * 32 == p["group_size"] * bits, "words must be group_size * bits / 32");
    } else {
      require_whole_groups(p, bits);
    }
    return {.groups = {ceil_div(p["n_groups"] * runs, threads * turns)}, .threads = threads};
  }

  /// The words that hold a run of codes from their first bit on.
  std::vector<U32> words_of(const U64& run) const {
    const int length = bits * kRun;  // in bits; a run of up to 64 touches at most two words
    const U64 start = run * length;
    const U32 first = w.load(start / 32), shift = cast<u32>(start % 32);
    if (length == 32) return {first};
    if (32 % length == 0) return {first >> shift};
    // Equivalent if constant_below of const: runs start at multiples of 4 bits.
    const U32 next = w.load((start + (length - 1)) / 32);  // the same word where one holds the run
    if (length == 64) return {first, next};
    const U64 both = (cast<u64>(next) << 32 | cast<u64>(first)) >> cast<u64>(shift);
    return length <= 32 ? std::vector<U32>{cast<u32>(both)} : std::vector<U32>{cast<u32>(both), cast<u32>(both >> 32)};
  }
  /// What a run takes from memory.
  struct Read {
    U64 run;
    std::vector<U32> words;
    typename Groups::Factors factors;
  };
  Read read(const U64& run) const {
    const auto whole = [](const auto& tensor) -> const auto& { return tensor; };
    // Equivalent if other_sign of cast: only the 8 bits of a scale are looked at.
    return {run, words_of(run), of_groups.with_global(of_groups.factors(whole, run / runs))};
  }
  void write(const Read& r) const {
    // Equivalent if through_bf16 of store in mt_dequantize_mx: these have fewer bits than bf16.
    out.store(r.run * kRun, of_groups.weight(unpack_codes(r.words, bits, kRun, !kFloat), r.factors));
  }
  void body() const {
    const u64 block = static_cast<u64>(mt::threads());
    const U64 first = U64(group_id()) * (block * static_cast<u64>(turns)) + U64(thread_id()),
              end = U64(n_groups) * runs;
    // Equivalent if constant_above: then the last run that there is goes the other way.
    const auto run_of = [&](int turn) { return first + block * static_cast<u64>(turn); };
    const auto one_by_one = [&](int count) {
      for (int turn : unroll(count)) if_(run_of(turn) < end, [&] { write(read(run_of(turn))); });
    };
    if (turns == 1) return one_by_one(1);
    if_(run_of(turns - 1) < end, [&] {
      for (const Read& r : each(turns, [&](int turn) { return read(run_of(turn)); })) write(r);
    }).else_([&] { one_by_one(turns - 1); });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    const std::int64_t size = in.size("group_size");
    if constexpr (kFloat)
      return {{"out", oracle::float_dequantise(in["w"], in["scales"], of_groups.of_oracle(in), size)}};
    else
      return {{"out", oracle::affine_dequantise(in["w"], in["scales"], in["biases"], bits, size, size)}};
  }
  Problems tests() const {
    Problems all;
    if constexpr (kFloat) {
      const std::int64_t size = of_groups.format.group;
      // Scales count up, codes are random: from 256 groups on every scale appears, and many times over every code.
      for (const int groups : {0, 1, 33, 257, 4096}) all.push_back(affine_groups(groups, size, bits));
      // Among the last runs, which threads may do one by one.
      for (const int scale : {0, of_groups.format.e8m0 ? 255 : 0xff, 1})
        all.push_back(
            affine_groups(70, size, bits).with_element("scales", -2, scale).with_element("scales", 20, scale));
      if (of_groups.format.global) all.push_back(affine_groups(70, size, bits).with_real("global_scale", -0.3));
      return all;
    }
    for (const int size : {32, 64, 96, 128, 160})
      for (const int groups : {1, 33}) all.push_back(affine_groups(groups, size, bits));
    if (bits % 2 == 0) all.push_back(affine_groups(67, 16, bits));
    if (bits % 4 == 0) all.push_back(affine_groups(67, 24, bits));
    all.push_back(affine_groups(0, 64, bits));
    all.push_back(affine_groups(40, 64, bits).with_edges());
    return all;
  }
  Problems benches() const {
    if constexpr (kFloat)
      return {affine_groups(4096 * 4096 / of_groups.format.group, of_groups.format.group, bits)};
    else
      return {affine_groups(4096 * 4096 / 64, 64, bits)};
  }
  Work work(const Problem& p) const {
    const double groups = static_cast<double>(p["n_groups"]), size = size_of(dtype_of<T>);
    return {.read = groups * (static_cast<double>(p["words"]) * 4 + Groups::kBytes),
            .written = groups * static_cast<double>(p["group_size"]) * size};
  }
  std::vector<std::string> batch() const { return {"n_groups"}; }
};

template <class T>
using AffineDequantize = Dequantize<T, AffineGroups<T>>;
template <class T>
using FloatDequantize = Dequantize<T, FloatGroups>;

const bool registered = [] {
  for (const int b : {2, 3, 4, 5, 6, 8})
    kernel<AffineDequantize>("mt_affine_dequantize_int" + std::to_string(b), Floats{}, [b](auto& k) { k.bits = b; });
  for (const FloatFormat& f : kFloatFormats)
    kernel<FloatDequantize>(std::string("mt_dequantize_") + f.name, Floats{}, [f](auto& k) { k.choose(f); });
  return true;
}();

}  // namespace
}  // namespace mt
