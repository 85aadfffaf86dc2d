// Divides every row by its largest magnitude: the kernel that docs/authoring.md builds up.
#include "mt/dsl/dsl.h"

namespace mt {
namespace {

template <Storage T>
struct ScaleRows {
  In<T> x{"x", {"rows", "n"}, Fill::row_scaled()};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Tunable threads{"threads", 128, {32, 64, 128, 256}};

  Launch launch(const Problem& p) const {
    require(p["n"] > 0, "a row must have at least one element: n > 0");
    return {.groups = {p["rows"]}, .threads = threads};
  }

  void body() const {
    const auto row = x.row(group_id());
    const auto result = out.row(group_id());

    Var<f32> largest(0.f);
    for_row_(n, 4, n.multiple_of(4),
             [&](U32 i, int lanes) { largest = max(largest, max_of(abs(row.load(i, lanes)))); });
    const F32 top = group_max(largest);
    const F32 divisor = select(top == 0.f, 1.f, top);  // a row of zeros stays one

    for_row_(n, 4, n.multiple_of(4), [&](U32 i, int lanes) { result.store(i, row.load(i, lanes) / divisor); });
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    const HostTensor& values = in["x"];
    const std::int64_t columns = in.size("n");
    Expected scaled{.value = {}, .bound = {}};
    for (std::int64_t r = 0; r < in.size("rows"); ++r) {
      double top = 0;
      for (std::int64_t i = 0; i < columns; ++i) {
        const double size = std::fabs(values.at(r * columns + i));
        if (size > top || std::isnan(size)) top = size;
      }
      for (std::int64_t i = 0; i < columns; ++i) {
        const double right = top == 0 ? 0 : values.at(r * columns + i) / top;
        scaled.value.push_back(right);
        scaled.bound.push_back(std::isfinite(right) ? std::fabs(right) * 0x1p-23 : 0);  // one quotient, within an ulp
      }
    }
    return {{"out", scaled}};
  }

  Problems tests() const {
    return over({{"rows", 3}}, "n", {1, 31, 33, 128, 1000}) + over(Problem{{"rows", 16}}.with_edges(), "n", {1, 300});
  }
  Problems benches() const { return {{{"rows", 4096}, {"n", 4096}}}; }
  Work work(const Problem& p) const {
    const double bytes = static_cast<double>(p["rows"] * p["n"]) * size_of(dtype_of<T>);
    return {.read = bytes, .written = bytes};
  }
};

const bool registered = kernel<ScaleRows>("example_scale_rows", Floats{});

}  // namespace
}  // namespace mt
