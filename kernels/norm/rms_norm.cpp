// RMS normalisation of rows: out = x / sqrt(mean(x²) + eps) * w.
#include "kernels/lib/row.h"
#include "mt/oracle/norms.h"

namespace mt {
namespace {

template <Storage T>
struct RmsNorm {
  In<T> x{"x", {"rows", "n"}, Fill::row_scaled()}, w{"w", {"n"}};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Scalar<f32> eps{"eps", 1e-5};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};  // elements a thread takes at a time

  void plan(const Problem& p, TargetTraits traits) { threads = row_threads(p["n"], traits); }
  Launch launch(const Problem& p) const { return row_launch(p, threads); }

  void body() const {
    const auto row = x.row(group_id());
    const auto result = out.row(group_id());
    const bool even = n.multiple_of(width);

    RowAccumulator squares(Combine::Sum, width, 0.f);
    for_row_(n, width, even, [&](U32 i, int lanes) {
      const auto v = row.load(i, lanes);
      squares.add(v * v);
    });
    const F32 scale = rsqrt(group_sum(squares.total()) / cast<f32>(n) + eps);

    for_row_(n, width, even, [&](U32 i, int lanes) { result.store(i, row.load(i, lanes) * scale * w.load(i, lanes)); });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::rms_norm(in["x"], in["w"], in.real("eps"))}};
  }
  Problems tests() const { return row_tests(); }
  Problems benches() const { return row_benches(); }
  Work work(const Problem& p) const { return row_work<T>(p, true, 1, 4); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = kernel<RmsNorm>("mt_rms_norm", Floats{});

}  // namespace
}  // namespace mt
