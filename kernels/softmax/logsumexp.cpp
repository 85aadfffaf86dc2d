// log(sum of exp(x)) of each row, without overflow.
#include "kernels/lib/activations.h"
#include "kernels/lib/row.h"
#include "mt/oracle/softmax.h"

namespace mt {
namespace {

template <Storage T>
struct LogSumExp : RowKernel<T> {
  In<T> x{"x", {"rows", "n"}, Fill::row_shifted(4, 2000)};
  Out<T> out{"out", {"rows"}};
  Size n{"n"};

  void body() const {
    const auto row = this->passes(x.row(group_id()), n);

    // Equivalent if first_operand in row.h, other_op of add in row.h: a thread has at most one element of a ragged end.
    // Equivalent if finite in row.h: a row of -inf is summed as it is in any case.
    RowAccumulator top(Combine::Max, this->width, -inf, RowAccumulator::Nan::Lost);  // the sum of a row with one is NaN
    row.each([&](const U32&, const Vec<f32>& v, bool) { top.add(v); });
    const F32 highest = group_max(top.total());

    // Rows of -inf and rows with +inf are summed as they are: 0 and infinity, whose logarithms are what is right.
    // Equivalent if zero_is_one: of 0 and infinity that changes nothing.
    const F32 shift = select(abs(highest) == inf, 0.f, highest);
    RowAccumulator total(Combine::Sum, this->width, 0.f);
    row.each([&](const U32&, const Vec<f32>& v, bool) { total.add(exp_for<T>(v - shift)); });
    const F32 result = shift + log(group_sum(total.total()));
    // Equivalent if constant_above: every thread has it.
    if_(thread_id() == 0, [&] { out.store(group_id(), result); });
  }

  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::logsumexp(in["x"], kExpLoss<T>)}}; }
  Problems tests() const {
    // The largest element in a ragged end, where its neighbours in bf16 are too far away to take off in its place.
    const Problem far = Problem{{"rows", 3}, {"n", 130}}.with_element("x", -1, 65150);
    return row_tests() + over(Problem{{"rows", 37}}.with_edges(), "n", {6, 300}) + Problems{far};
  }
  Problems benches() const { return row_benches(); }
  Work work(const Problem& p) const { return row_work<T>(p, false, 0, 3); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = kernel<LogSumExp>("mt_logsumexp", Floats{});

}  // namespace
}  // namespace mt
