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
  Tunable width{"width", 4, {1, 2, 4, 8}};   // elements a thread takes at a time
  Tunable held{"held", 0, {0, 1, 2, 3, 4}};  // of those runs in registers
  bool streams = true;                       // a row has more runs than that

  void plan(const Problem& p, TargetTraits traits) {
    const RowShape shape = row_shape<T>(p["n"], traits);
    threads = shape.threads;
    width = shape.width;
    held = shape.held;
    streams = p["n"] > std::int64_t{threads} * width * held;
  }
  Launch launch(const Problem& p) const { return row_launch(p, threads); }

  void body() const {
    const auto result = out.row(group_id());
    const RowPasses row(x.row(group_id()), n, width, held, streams);

    // Equivalent if first_operand in row.h, other_op of add in row.h: a thread has at most one element of a ragged end.
    RowAccumulator squares(Combine::Sum, width, 0.f);
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
