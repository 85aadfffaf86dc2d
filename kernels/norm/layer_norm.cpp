// Layer normalisation of rows: out = (x - mean) / sqrt(variance + eps) * w + b.
#include "kernels/lib/row.h"
#include "mt/oracle/norms.h"

namespace mt {
namespace {

template <Storage T>
struct LayerNorm : RowKernel<T> {
  In<T> x{"x", {"rows", "n"}, Fill::row_shifted(4, 200).with_flat_rows()}, w{"w", {"n"}}, b{"b", {"n"}};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Scalar<f32> eps{"eps", 1e-5};

  void body() const {
    const auto result = out.row(group_id());
    const auto row = this->passes(x.row(group_id()), n);
    const F32 count = cast<f32>(n);

    // Equivalent if first_operand in row.h, other_op of add in row.h: a thread has at most one element of a ragged end.
    RowAccumulator total(Combine::Sum, this->width, 0.f);
    row.each([&](const U32&, const Vec<f32>& v, bool) { total.add(v); });
    const F32 mean = group_sum(total.total()) / count;

    // The variance is formed from differences to the mean: E[x²] - mean² loses everything where the mean dominates.
    RowAccumulator squares(Combine::Sum, this->width, 0.f);
    row.each([&](const U32&, const Vec<f32>& v, bool) {
      // Equivalent if swap_operands: it is squared.
      const Vec<f32> d = v - mean;
      squares.add(d * d);
    });
    const F32 scale = rsqrt(group_sum(squares.total()) / count + eps);

    row.each([&](const U32& i, const Vec<f32>& v, bool) {
      result.store(i, fma((v - mean) * scale, w.load(i, v.lanes()), b.load(i, v.lanes())));
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::layer_norm(in["x"], in["w"], in["b"], in.real("eps"))}};
  }
  Problems tests() const { return row_tests(); }
  Problems benches() const { return row_benches(); }
  Work work(const Problem& p) const { return row_work<T>(p, true, 2, 7); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = kernel<LayerNorm>("mt_layer_norm", Floats{});

}  // namespace
}  // namespace mt
