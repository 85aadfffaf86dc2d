// RMS normalisation of rows: out = x / sqrt(mean(x²) + eps) * w.
#include "mt/dsl/dsl.h"
#include "mt/oracle/norms.h"

namespace mt {
namespace {

template <Storage T>
struct RmsNorm {
  In<T> x{"x", {"rows", "n"}, Fill::row_scaled()};
  In<T> w{"w", {"n"}};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Scalar<f32> eps{"eps", 1e-5};
  Tunable threads{"threads", 256, {64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};  // elements a thread takes at a time

  void plan(const Problem& p, TargetTraits traits) {
    if (!traits.gpu)
      threads = 32;
    else
      threads = p["n"] <= 1024 ? 128 : 256;
  }

  Launch launch(const Problem& p) const {
    require(p["n"] > 0, "a row must have at least one element");
    return {.groups = {p["rows"]}, .threads = threads};
  }

  void body() const {
    const auto row = x.row(group_id());
    const auto result = out.row(group_id());
    Var<f32> squares(0.f);
    for_row_(n, width, n.multiple_of(width), [&](U32 i, int lanes) {
      const auto v = row.load(i, lanes);
      squares += dot(v, v);
    });
    const F32 inverse = rsqrt(group_sum(squares) / cast<f32>(n) + eps);
    for_row_(n, width, n.multiple_of(width),
             [&](U32 i, int lanes) { result.store(i, row.load(i, lanes) * inverse * w.load(i, lanes)); });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::rms_norm(in["x"], in["w"], in.real("eps"))}};
  }

  Problems tests() const {
    return over({{"rows", 3}}, "n", {1, 31, 32, 33, 127, 128, 1000, 1024, 4097}) + Problems{{{"rows", 0}, {"n", 64}}};
  }
  Problems benches() const { return over({{"rows", 4096}}, "n", {4096, 1024}); }
  Work work(const Problem& p) const {
    const double elements = static_cast<double>(p["rows"] * p["n"]), size = size_of(dtype_of<T>);
    return {.read = (elements + static_cast<double>(p["n"])) * size, .written = elements * size, .flops = 4 * elements};
  }
};

const bool registered = kernel<RmsNorm>("mt_rms_norm", Floats{});

}  // namespace
}  // namespace mt
