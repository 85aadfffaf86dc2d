// Rotary position embedding: pair p at position t turns by t * 2^(-p / (head_dim / 2) * base), base = log2(theta).
#include "mt/oracle/rope.h"
#include "kernels/lib/rotary.h"

namespace mt {
namespace {

template <Storage T>
struct Rope {
  static constexpr int kMostTogether = 16;  // heads that registers hold at a time

  // A row is one head at one position: row h * head_stride + t * seq_stride of its batch, so that [heads, seq] and
  // [seq, heads] both serve.
  In<T> inp{"inp", {"batch", "rows", "head_dim"}};
  Out<T> out{"out", {"batch", "rows", "head_dim"}};
  Size heads{"heads"}, seq{"seq"}, head_stride{"head_stride"}, seq_stride{"seq_stride"};
  Size offset{"offset"};  // position of the first row
  Scalar<f32> base{"base", 13.287712379549449};
  Tunable heads_at_once{"heads_at_once", 4};  // that share the sines of a position
  Tunable positions{"positions", 4, {1, 2, 4, 8, 16}};
  int half = 0;
  bool whole = false;  // every threadgroup has heads_at_once heads

  void plan(const Problem& p, TargetTraits traits) {
    half = static_cast<int>(p["head_dim"] / 2);
    if (!traits.gpu) {
      heads_at_once = static_cast<int>(std::min<std::int64_t>(std::max<std::int64_t>(p["heads"], 1), 1 << 20));
      positions = 1;
    }
    whole = traits.gpu && p["heads"] % heads_at_once == 0 && heads_at_once <= kMostTogether;
  }
  Launch launch(const Problem& p) const {
    require(p["head_dim"] > 0 && p["head_dim"] % 2 == 0, "head_dim must be even");
    require(p["rows"] == p["heads"] * p["seq"], "rows must be heads * seq");
    const bool heads_first = p["head_stride"] == p["seq"] && p["seq_stride"] == 1;
    const bool seq_first = p["head_stride"] == 1 && p["seq_stride"] == p["heads"];
    require(heads_first || seq_first,
            "the strides, in rows, must be (seq, 1) for [heads, seq] or (1, heads) for "
            "[seq, heads]");
    require_exact_position(p["offset"] + p["seq"]);
    return {.groups = {ceil_div(p["seq"], positions), ceil_div(p["heads"], heads_at_once), p["batch"]},
            .threads = kLanes * positions};
  }

  void body() const {
    const U32 t = group_id() * int{positions} + simd_id(), b = group_id(2);
    const U32 first = group_id(1) * int{heads_at_once};
    // Equivalent if other_op of add: the first threadgroup does all heads then.
    const U32 end = min(first + int{heads_at_once}, heads);
    const F32 position = cast<f32>(offset + t);
    if_(t < seq, [&] {
      rotate_(
          half, [&](const Vec<f32>& pair) { return position * exp2(pair / -float(half) * base); }, first, end,
          [&](const U32& h) { return inp.at(b, h * head_stride + t * seq_stride); },
          [&](const U32& h) { return out.at(b, h * head_stride + t * seq_stride); }, whole ? int{heads_at_once} : 0);
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    // Batches of [heads, seq] are more heads; batches of [seq, heads] are taken one position apart each.
    const std::int64_t d = in.size("head_dim"), rows = in.size("rows"), batch = in.size("batch");
    Expected all;
    for (std::int64_t b = 0; b < batch; ++b) {
      HostTensor part("inp", dtype_of<T>, {rows, d});
      std::copy_n(in["inp"].data.begin() + static_cast<std::ptrdiff_t>(b * static_cast<std::int64_t>(part.bytes())),
                  part.bytes(), part.data.begin());
      const Expected e = oracle::rope(part,
                                      {.heads = in.size("heads"),
                                       .seq = in.size("seq"),
                                       .dim = d,
                                       .head_stride = in.size("head_stride") * d,
                                       .seq_stride = in.size("seq_stride") * d,
                                       .first_position = in.size("offset")},
                                      in.real("base"));
      all.value.insert(all.value.end(), e.value.begin(), e.value.end());
      all.bound.insert(all.bound.end(), e.bound.begin(), e.bound.end());
    }
    return {{"out", all}};
  }

  static Problem heads_first(std::int64_t batch, std::int64_t heads, std::int64_t seq, std::int64_t dim) {
    return {{"batch", batch},  {"heads", heads},     {"seq", seq},      {"rows", heads * seq},
            {"head_dim", dim}, {"head_stride", seq}, {"seq_stride", 1}, {"offset", 0}};
  }
  static Problem seq_first(std::int64_t batch, std::int64_t heads, std::int64_t seq, std::int64_t dim) {
    return heads_first(batch, heads, seq, dim).with("head_stride", 1).with("seq_stride", heads);
  }
  Problems tests() const {
    Problems all = over(heads_first(2, 3, 5, 0), "head_dim", {2, 6, 30, 62, 64, 66, 80, 96, 128, 192, 256, 260, 512});
    for (const Problem& p : {heads_first(1, 5, 33, 64), seq_first(2, 3, 7, 128), seq_first(1, 9, 31, 66),
                             heads_first(1, 1, 1, 128), heads_first(0, 2, 4, 64), heads_first(1, 2, 0, 64)})
      all.push_back(p);
    // Heads that fill every threadgroup.
    for (const Problem& p : {heads_first(2, 8, 9, 64), seq_first(1, 8, 5, 128)}) all.push_back(p);
    for (const Problem& p : {heads_first(2, 8, 3, 260), seq_first(1, 8, 3, 260)}) all.push_back(p.with("offset", 5000));
    all.push_back(heads_first(1, 2, 40, 128).with("offset", 5000).with_real("base", 19.93156856932417));
    all.push_back(seq_first(1, 2, 3, 64).with("offset", 131072));
    all.push_back(heads_first(1, 6, 9, 64).with_edges());
    return all;
  }
  Problems benches() const { return {heads_first(1, 32, 512, 128), seq_first(1, 32, 4096, 128)}; }
  Work work(const Problem& p) const {
    const double n = static_cast<double>(p["batch"] * p["rows"] * p["head_dim"]), size = size_of(dtype_of<T>);
    return {.read = n * size, .written = n * size, .flops = 3 * n};
  }
  std::vector<std::string> batch() const { return {"batch"}; }
};

const bool registered = kernel<Rope>("mt_rope", Floats{});

}  // namespace
}  // namespace mt
