// Functions of two tensors, element by element: out[i] = f(a[i], b[i]).
#include "mt/oracle/binary.h"
#include "kernels/lib/map_kernel.h"

namespace mt {
namespace {

using Function = Vec<f32> (*)(const Vec<f32>&, const Vec<f32>&);

template <Storage T>
struct BinaryMap : MapKernel<T> {
  In<T> a{"a", {"n"}}, b{"b", {"n"}};
  Out<T> out{"out", {"n"}};
  LargeSize n{"n"};
  Function f = nullptr;
  oracle::Binary meaning{};

  void body() const {
    map_(n, this->width, [&](U64 i, int lanes) { out.store(i, f(a.load(i, lanes), b.load(i, lanes))); });
  }
  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::binary(meaning, in["a"], in["b"])}}; }
  Problems tests() const { return map_tests(); }
  Problems benches() const { return map_benches(); }
  Work work(const Problem& p) const { return map_work<T>(p, 2); }
  std::vector<std::string> batch() const { return {"n"}; }
};

/// log(exp(a) + exp(b)) with the larger exponent taken out, so that nothing overflows.
Vec<f32> logaddexp(const Vec<f32>& a, const Vec<f32>& b) {
  // Equivalent if loses_nan of max, loses_second_nan of max: the distance of a NaN is one too.
  // Equivalent if swap_operands of sub: it has no sign.
  const Vec<f32> top = max(a, b), distance = abs(a - b);
  // Equal infinities have no distance: inf - inf is NaN, but the answer is that infinity.
  return select(a == b, top + 0.6931471805599453f, top + log1p(exp(-distance)));
}

struct Row {
  const char* name;
  oracle::Binary meaning;
  bool positive;  // the first operand's domain
  Function f;
};
#define MT_MAP(name, Meaning, positive, expression)                                 \
  Row {                                                                             \
    name, oracle::Binary::Meaning, positive,                                        \
        [](const Vec<f32>& a, const Vec<f32>& b) -> Vec<f32> { return expression; } \
  }

constexpr Row kRows[] = {
    MT_MAP("vector_add", Add, false, a + b),
    MT_MAP("mt_sub", Sub, false, a - b),
    MT_MAP("mt_mul", Mul, false, a* b),
    MT_MAP("mt_div", Div, false, a / b),
    MT_MAP("mt_max_elem", Max, false, max(a, b)),
    MT_MAP("mt_min_elem", Min, false, min(a, b)),
    MT_MAP("mt_pow", Pow, true, pow(a, b)),
    MT_MAP("mt_atan2", Atan2, false, atan2(a, b)),
    MT_MAP("mt_remainder", Rem, false, rem(a, b)),
    MT_MAP("mt_logaddexp", LogAddExp, false, logaddexp(a, b)),
};
#undef MT_MAP

const bool registered = [] {
  for (const Row& row : kRows)
    kernel<BinaryMap>(row.name, Floats{}, [row](auto& k) {
      k.f = row.f;
      k.meaning = row.meaning;
      if (row.positive) k.a.fill_with(Fill::positive());
    });
  return true;
}();

}  // namespace
}  // namespace mt
