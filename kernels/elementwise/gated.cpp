// Gated activations of feed-forward layers: out[i] = f(gate[i]) combined with up[i].
#include "kernels/lib/activations.h"
#include "kernels/lib/map_kernel.h"
#include "mt/oracle/binary.h"

namespace mt {
namespace {

using Function = Vec<f32> (*)(const Vec<f32>& gate, const Vec<f32>& up);
using Reference = Expected (*)(const HostTensor& gate, const HostTensor& up, double exp_loss);

template <Storage T>
struct GatedMap : MapKernel<T> {
  using Element = T;
  // Where f32 has no number as small as f(gate), an infinite `up` makes NaN of its 0: no edge values there.
  In<T> gate{"gate", {"n"}, Fill::normal(0, 4)}, up{"up", {"n"}, Fill::normal(0, 4).without_edges()};
  Out<T> out{"out", {"n"}};
  LargeSize n{"n"};
  Function f = nullptr;
  Reference reference = nullptr;

  void body() const {
    map_(n, this->width, [&](U64 i, int lanes) { out.store(i, f(gate.load(i, lanes), up.load(i, lanes))); });
  }
  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", reference(in["gate"], in["up"], kExpLoss<T>)}}; }
  Problems tests() const {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Problem ragged{{"n", 1023}};
    return map_tests() + Problems{ragged.with_element("gate", -1, nan), ragged.with_element("up", -1, nan)};
  }
  Problems benches() const { return map_benches(); }
  Work work(const Problem& p) const { return map_work<T>(p, 2); }
  std::vector<std::string> batch() const { return {"n"}; }
};

template <class T>
Vec<f32> swiglu(const Vec<f32>& gate, const Vec<f32>& up) {
  return silu<T>(gate) * up;
}
Vec<f32> gate_gelu(const Vec<f32>& gate, const Vec<f32>& up) { return gelu(gate) * up; }
/// Both clamped to ±7, the gate's sigmoid sharpened by 1.702, the linear part shifted by 1.
template <class T>
Vec<f32> clipped_swiglu(const Vec<f32>& gate, const Vec<f32>& up) {
  const Vec<f32> g = min(max(gate, -7.f), 7.f), u = min(max(up, -7.f), 7.f);
  return g * sigmoid<T>(1.702f * g) * (u + 1.f);
}

template <class K>
using ElementOf = typename std::remove_reference_t<K>::Element;

const bool registered =
    kernel<GatedMap>("mt_swiglu", Floats{},
                     [](auto& k) {
                       k.f = swiglu<ElementOf<decltype(k)>>;
                       k.reference = oracle::swiglu;
                     }) &&
    kernel<GatedMap>("mt_fused_gate_gelu", Floats{},
                     [](auto& k) {
                       k.f = gate_gelu;
                       k.reference = [](auto& gate, auto& up, double) { return oracle::gate_gelu(gate, up); };
                     }) &&
    kernel<GatedMap>("mt_fused_gate_clipped_swiglu", Floats{}, [](auto& k) {
      k.f = clipped_swiglu<ElementOf<decltype(k)>>;
      k.reference = [](auto& gate, auto& up, double loss) { return oracle::clipped_swiglu(gate, up, loss); };
      k.up.fill_with(Fill::normal(0, 4));  // infinities are clipped before they meet anything
    });

}  // namespace
}  // namespace mt
