// Softmax of rows: out = exp(x - max) / sum of exp(x - max).
#include "mt/oracle/softmax.h"
#include "kernels/lib/activations.h"
#include "kernels/lib/row.h"

namespace mt {
namespace {

template <Storage T>
struct Softmax : RowKernel<T> {
  static constexpr int kCached = 4096;  // longest row whose exponentials stay in threadgroup memory

  In<T> x{"x", {"rows", "n"}, Fill::row_shifted(4, 200)};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Tunable cached{"cached", 1, {0, 1}};  // keep the other exponentials of the second pass for the third

  void plan(const Problem& p, TargetTraits traits) {
    RowKernel<T>::plan(p, traits);
    if (!traits.gpu) this->width = 2;  // more would not stay in registers
    cached = p["n"] <= kCached && (this->held == 0 || p["n"] % this->width != 0);
  }
  Launch launch(const Problem& p) const {
    require(!cached || p["n"] <= kCached, "with cached = 1 a row has at most 4096 elements");
    return RowKernel<T>::launch(p);
  }

  void body() const {
    const auto result = out.row(group_id());
    auto row = this->passes(x.row(group_id()), n);

    // Equivalent if first_operand in row.h, other_op of add in row.h: a thread has at most one element of a ragged end.
    // Equivalent if finite in row.h: a row of -inf has no softmax in any case.
    RowAccumulator top(Combine::Max, this->width, -inf, RowAccumulator::Nan::Lost);  // the sum of a row with one is NaN
    row.each([&](const U32&, const Vec<f32>& v, bool) { top.add(v); });
    const F32 highest = group_max(top.total());

    // Each thread reads back only what it wrote itself, so that the cache needs no barrier.
    const auto cache = each(cached, [](int) { return Shared<f32>("exponentials", kCached); });
    RowAccumulator total(Combine::Sum, this->width, 0.f);
    row.map([&](const U32& i, const Vec<f32>& v, bool kept) {
      const Vec<f32> e = exp_for<T>(v - highest);
      if (cached && !kept) cache[0].store(i, e);
      total.add(e);
      return e;
    });
    const F32 scale = recip(group_sum(total.total()));

    row.each([&](const U32& i, const Vec<f32>& v, bool kept) {
      const Vec<f32> e = kept ? v : cached ? cache[0].load(i, v.lanes()) : exp_for<T>(v - highest);
      result.store(i, e * scale);
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::softmax(in["x"], kExpLoss<T>)}}; }
  Problems tests() const {
    // The last: a row too long for the cache, with nearly all of its sum in the ragged end.
    const Problem spiked = Problem{{"rows", 294}, {"n", 4103}}.with_values(Values::Spike);
    return row_tests() + over(Problem{{"rows", 37}}.with_edges(), "n", {6, 300}) +
           Problems{{{"rows", 2}, {"n", 9001}}, spiked};
  }
  Problems benches() const { return row_benches(); }
  Work work(const Problem& p) const { return row_work<T>(p, true, 0, 4); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = kernel<Softmax>("mt_softmax", Floats{});

}  // namespace
}  // namespace mt
