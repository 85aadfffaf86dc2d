// RMS normalisation of rows: out = x / sqrt(mean(x²) + eps) * w.
#include "kernels/lib/row.h"
#include "mt/oracle/norms.h"

namespace mt {
namespace {

template <Storage T>
struct RmsNorm : RowKernel<T> {
  In<T> x{"x", {"rows", "n"}, Fill::row_scaled()}, w{"w", {"n"}};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Scalar<f32> eps{"eps", 1e-5};

  void body() const {
    const auto result = out.row(group_id());
    const auto row = this->passes(x.row(group_id()), n);

    // Equivalent if first_operand in row.h, other_op of add in row.h: a thread has at most one element of a ragged end.
    RowAccumulator squares(Combine::Sum, this->width, 0.f);
    row.each([&](const U32&, const Vec<f32>& v, bool) { squares.add(v * v); });
    const F32 scale = rsqrt(group_sum(squares.total()) / cast<f32>(n) + eps);

    row.each([&](const U32& i, const Vec<f32>& v, bool) { result.store(i, v * scale * w.load(i, v.lanes())); });
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
