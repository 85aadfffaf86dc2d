// Layer normalisation of rows: out = (x - mean) / sqrt(variance + eps) * w + b.
#include "mt/dsl/dsl.h"
#include "mt/oracle/norms.h"

namespace mt {
namespace {

template <Storage T>
struct LayerNorm {
  In<T> x{"x", {"rows", "n"}, Fill::row_scaled()}, w{"w", {"n"}}, b{"b", {"n"}};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Scalar<f32> eps{"eps", 1e-5};
  Tunable threads{"threads", 256, {64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};

  void plan(const Problem& p, TargetTraits traits) { threads = !traits.gpu ? 32 : p["n"] <= 1024 ? 128 : 256; }
  Launch launch(const Problem& p) const {
    require(p["n"] > 0, "a row must have at least one element");
    return {.groups = {p["rows"]}, .threads = threads};
  }

  void body() const {
    const auto row = x.row(group_id());
    const auto result = out.row(group_id());
    const bool even = n.multiple_of(width);
    const F32 count = cast<f32>(n);

    Var<f32> total(0.f);
    for_row_(n, width, even, [&](U32 i, int lanes) { total += sum(row.load(i, lanes)); });
    const F32 mean = group_sum(total) / count;

    // The variance is formed from differences to the mean: E[x²] - mean² loses everything where the mean dominates.
    Var<f32> squares(0.f);
    for_row_(n, width, even, [&](U32 i, int lanes) {
      const auto d = row.load(i, lanes) - mean;
      squares += dot(d, d);
    });
    const F32 inverse = rsqrt(group_sum(squares) / count + eps);

    for_row_(n, width, even, [&](U32 i, int lanes) {
      result.store(i, fma((row.load(i, lanes) - mean) * inverse, w.load(i, lanes), b.load(i, lanes)));
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::layer_norm(in["x"], in["w"], in["b"], in.real("eps"))}};
  }
  Problems tests() const {
    return over({{"rows", 3}}, "n", {1, 31, 32, 33, 127, 1000, 1024, 4097}) + Problems{{{"rows", 0}, {"n", 64}}};
  }
  Problems benches() const { return over({{"rows", 4096}}, "n", {4096, 1024}); }
  Work work(const Problem& p) const {
    const double elements = static_cast<double>(p["rows"] * p["n"]), size = size_of(dtype_of<T>);
    return {
        .read = (elements + 2 * static_cast<double>(p["n"])) * size, .written = elements * size, .flops = 7 * elements};
  }
};

const bool registered = kernel<LayerNorm>("mt_layer_norm", Floats{});

}  // namespace
}  // namespace mt
