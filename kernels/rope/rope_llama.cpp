// Rotary embedding of one position with the frequency scaling of Llama 3: slow pairs are stretched by scale_factor,
// fast ones stay, those between are blended.
#include <numbers>

#include "kernels/lib/rotary.h"
#include "mt/oracle/rope.h"

namespace mt {
namespace {

template <Storage T>
struct RopeLlama {
  In<T> qk{"qk", {"n_heads", "head_dim"}};
  Out<T> out{"out", {"n_heads", "head_dim"}};
  Size n_heads{"n_heads"}, position{"position"};
  Scalar<f32> theta_base{"theta_base", 500000}, scale_factor{"scale_factor", 8};
  Scalar<f32> low_freq_factor{"low_freq_factor", 1}, high_freq_factor{"high_freq_factor", 4};
  Scalar<f32> original_max_position{"original_max_position", 8192};
  Tunable heads_at_once{"heads_at_once", 4};  // that share the sines
  int half = 0;

  void plan(const Problem& p, TargetTraits traits) {
    half = static_cast<int>(p["head_dim"] / 2);
    if (!traits.gpu) heads_at_once = 32;
  }
  Launch launch(const Problem& p) const {
    require(p["head_dim"] > 0 && p["head_dim"] % 2 == 0, "head_dim must be even");
    require_exact_position(p["position"]);
    return {.groups = {ceil_div(p["n_heads"], heads_at_once)}, .threads = kLanes};
  }

  void body() const {
    const U32 first = group_id() * int{heads_at_once};
    const U32 end = min(first + int{heads_at_once}, n_heads);
    rotate_(
        half, [&](const Vec<f32>& pair) { return cast<f32>(position) * frequency(pair); }, first, end,
        [&](const U32& h) { return qk.row(h); }, [&](const U32& h) { return out.row(h); });
  }
  Vec<f32> frequency(const Vec<f32>& pair) const {
    const Vec<f32> plain = exp2(pair / -float(half) * log2(theta_base)), slow = plain / scale_factor;
    const Vec<f32> wave = float(2 * std::numbers::pi) / plain;
    const Vec<f32> share = (original_max_position / wave - low_freq_factor) / (high_freq_factor - low_freq_factor);
    // Equivalent if loses_nan: no problem makes one.
    const Vec<f32> blend = min(max(share, 0.f), 1.f);
    return (1.f - blend) * slow + blend * plain;
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::rope_llama(in["qk"], in.size("head_dim"), in.size("position"),
                                       {.theta_base = in.real("theta_base"),
                                        .scale_factor = in.real("scale_factor"),
                                        .low_freq_factor = in.real("low_freq_factor"),
                                        .high_freq_factor = in.real("high_freq_factor"),
                                        .original_max_position = in.real("original_max_position")})}};
  }
  Problems tests() const {
    Problems all = over({{"n_heads", 5}, {"position", 77}}, "head_dim", {2, 30, 64, 66, 80, 96, 128, 256, 260});
    all = all + over({{"n_heads", 37}, {"head_dim", 128}}, "position", {0, 1, 8191, 100000});
    const Problem blended = Problem{{"n_heads", 3}, {"position", 91}}
                                .with_real("theta_base", 40)
                                .with_real("low_freq_factor", 2)
                                .with_real("high_freq_factor", 5)
                                .with_real("original_max_position", 600);
    all = all + over(blended, "head_dim", {30, 66, 80, 96, 260});
    all = all + over(blended.with_real("theta_base", 2), "head_dim", {30, 260});
    all.push_back(Problem{{"n_heads", 0}, {"position", 3}, {"head_dim", 64}});
    all.push_back(Problem{{"n_heads", 3}, {"position", 900}, {"head_dim", 64}}.with_real("scale_factor", 1));
    all.push_back(Problem{{"n_heads", 3}, {"position", 9000}, {"head_dim", 128}}
                      .with_real("scale_factor", 32)
                      .with_real("theta_base", 10000)
                      .with_real("original_max_position", 4096));
    return all;
  }
  Problems benches() const { return {{{"n_heads", 32}, {"position", 4000}, {"head_dim", 128}}}; }
  Work work(const Problem& p) const {
    const double n = static_cast<double>(p["n_heads"] * p["head_dim"]), size = size_of(dtype_of<T>);
    return {.read = n * size, .written = n * size, .flops = 3 * n};
  }
  std::vector<std::string> batch() const { return {"n_heads"}; }
};

const bool registered = kernel<RopeLlama>("ffai_rope_llama", Floats{});

}  // namespace
}  // namespace mt
