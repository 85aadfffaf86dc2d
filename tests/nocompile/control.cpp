// No misuse: a kernel that uses most of the DSL compiles, so a case that is refused is refused for its own reason.
#include "tests/nocompile/case.h"

namespace mt {
template <Storage T>
struct Control {
  In<T> x{"x", {"rows", "n"}};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Scalar<f32> scale{"scale", 1.5};
  Tunable width{"width", 4, {1, 2, 4, 8}};

  Launch launch(const Problem& p) const {
    require(p["n"] > 0, "a row must have at least one element");
    return {.groups = {p["rows"]}, .threads = 64};
  }
  void body() const {
    const auto row = x.row(group_id());
    const Shared<f32> part("part", simd_count());
    Var<f32> total(0.f);
    for_row_(n, width, n.multiple_of(width), [&](const U32& i, int lanes) { total += sum(row.load(i, lanes)); });
    for (int step : unroll(2)) total = total * (scale + step);
    if_(lane_id() == 0, [&] { part[simd_id()] = simd_sum(total); }).else_([&] { total = 0.f; });
    barrier();
    while_([&] { return (total > 1.f) & !isnan(total); }, [&] { total = total / 2.f; });
    for_(simd_count(), [&](const U32& s) { total = select(s == 0, total, max(total, part[s])); });
    out.row(group_id()).store(thread_id(), exp(total) + group_sum(total));
  }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {{{"rows", 1}, {"n", 64}}}; }
  Problems benches() const { return tests(); }
  Work work(const Problem&) const { return {}; }
};
const bool registered = kernel<Control>("control", Floats{});
}  // namespace mt
