// Sum, product, maximum or minimum of each row.
#include "kernels/lib/reductions.h"
#include "kernels/lib/row.h"

namespace mt {
namespace {

template <Storage T>
struct RowReduce {
  In<T> x{"x", {"rows", "n"}};
  Out<T> out{"out", {"rows"}};
  Size n{"n"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};  // elements a thread takes at a time
  Combine combine = Combine::Sum;
  oracle::Reduction meaning = oracle::Reduction::Sum;

  void plan(const Problem& p, TargetTraits traits) {
    threads = row_threads(p["n"], traits);
    width = traits.gpu ? 16 / size_of(dtype_of<T>) : 4;
  }
  Launch launch(const Problem& p) const { return {.groups = {p["rows"]}, .threads = threads}; }

  void body() const {
    const auto row = x.row(group_id());
    // Equivalent if loses_second_nan in row.h: a ragged end begins without one.
    // Equivalent if first_operand in row.h, other_op of add in row.h: a thread has at most one element of a ragged end.
    RowAccumulator part(combine, width, identity_f32(combine));
    for_row_(n, width, n.multiple_of(width), [&](U32 i, int lanes) { part.add(row.load(i, lanes)); });
    const F32 result = group_reduce(combine, part.total());
    // Equivalent if constant_above: every thread has it.
    if_(thread_id() == 0, [&] { out.store(group_id(), result); });
  }

  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::row_reduce(meaning, in["x"])}}; }
  Problems tests() const {
    const bool extreme = combine == Combine::Max || combine == Combine::Min;
    return row_tests() + Problems{{{"rows", 2}, {"n", 0}}} +
           (extreme ? over(Problem{{"rows", 37}}.with_edges(), "n", {6, 300, 2100}) +
                          Problems{Problem{{"rows", 334}, {"n", 155}}.with_edges()}
                    : Problems{});
  }
  Problems benches() const { return row_benches(); }
  Work work(const Problem& p) const { return row_work<T>(p, false, 0, 1); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = [] {
  for (const ReductionRow& row : kReductions)
    kernel<RowReduce>(std::string("mt_row_reduce") + row.suffix, Floats{}, [row](auto& k) { set_reduction(k, row); });
  return true;
}();

}  // namespace
}  // namespace mt
