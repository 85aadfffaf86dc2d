// Functions of one tensor, element by element: out[i] = f(a[i]).
#include "mt/oracle/unary.h"
#include "kernels/lib/activations.h"
#include "kernels/lib/map_kernel.h"

namespace mt {
namespace {

using Function = Vec<f32> (*)(const Vec<f32>&);

template <Storage T>
struct UnaryMap : MapKernel<T> {
  static constexpr bool kShort = size_of(dtype_of<T>) == 2;

  In<T> a{"a", {"n"}};
  Out<T> out{"out", {"n"}};
  LargeSize n{"n"};
  Function f = nullptr;
  oracle::Unary meaning{};

  void body() const {
    // Equivalent if through_f16 of store in mt_sign, through_bf16 of store in mt_sign: -1, 0 and 1 are exact in both.
    map_(n, this->width, [&](U64 i, int lanes) { out.store(i, f(a.load(i, lanes))); });
  }
  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::unary(meaning, in["a"], kExpLoss<T>)}}; }
  Problems tests() const { return map_tests(); }
  Problems benches() const { return map_benches(); }
  Work work(const Problem& p) const { return map_work<T>(p, 1); }
  std::vector<std::string> batch() const { return {"n"}; }
};

/// How the inputs of a function are spread.
enum class Domain { Signed, Positive, Unit, FromOne };

struct Row {
  const char* name;
  oracle::Unary meaning;
  Domain domain;
  Function f, f16;  // for results of 32 and of 16 bits
};

#define MT_FUNCTION(type, expression) \
  [](const Vec<f32>& x) -> Vec<f32> { \
    using T [[maybe_unused]] = type;  \
    return expression;                \
  }
#define MT_MAP(name, Meaning, domain, expression) \
  Row { name, oracle::Unary::Meaning, Domain::domain, MT_FUNCTION(f32, expression), MT_FUNCTION(f16, expression) }

constexpr Row kRows[] = {
    MT_MAP("mt_copy", Copy, Signed, x),
    MT_MAP("mt_exp", Exp, Signed, exp_for<T>(x)),
    MT_MAP("mt_exp2", Exp2, Signed, exp2(x)),
    MT_MAP("mt_expm1", Expm1, Signed, expm1(x)),
    MT_MAP("mt_log", Log, Positive, log(x)),
    MT_MAP("mt_log2", Log2, Positive, log2(x)),
    MT_MAP("mt_log10", Log10, Positive, log10(x)),
    MT_MAP("mt_log1p", Log1p, Positive, log1p(x)),
    MT_MAP("mt_sqrt", Sqrt, Positive, sqrt(x)),
    MT_MAP("mt_rsqrt", Rsqrt, Positive, rsqrt(x)),
    MT_MAP("mt_recip", Recip, Positive, recip(x)),
    MT_MAP("mt_square", Square, Signed, x* x),
    MT_MAP("mt_abs", Abs, Signed, abs(x)),
    MT_MAP("mt_neg", Neg, Signed, -x),
    MT_MAP("mt_sign", Sign, Signed, sign(x)),
    MT_MAP("mt_floor", Floor, Signed, floor(x)),
    MT_MAP("mt_ceil", Ceil, Signed, ceil(x)),
    MT_MAP("mt_round", Round, Signed, round(x)),
    MT_MAP("mt_trunc", Trunc, Signed, trunc(x)),
    MT_MAP("mt_sin", Sin, Signed, sin(x)),
    MT_MAP("mt_cos", Cos, Signed, cos(x)),
    MT_MAP("mt_tan", Tan, Signed, tan(x)),
    MT_MAP("mt_asin", Asin, Unit, asin(x)),
    MT_MAP("mt_acos", Acos, Unit, acos(x)),
    MT_MAP("mt_atan", Atan, Signed, atan(x)),
    MT_MAP("mt_sinh", Sinh, Signed, sinh(x)),
    MT_MAP("mt_cosh", Cosh, Signed, cosh(x)),
    MT_MAP("mt_tanh_op", Tanh, Signed, tanh(x)),
    MT_MAP("mt_asinh", Asinh, Signed, asinh(x)),
    MT_MAP("mt_acosh", Acosh, FromOne, acosh(x)),
    MT_MAP("mt_atanh", Atanh, Unit, atanh(x)),
    MT_MAP("mt_erf", Erf, Signed, erf(x)),
    MT_MAP("mt_erfinv", Erfinv, Unit, erfinv(x)),
    MT_MAP("mt_sigmoid", Sigmoid, Signed, sigmoid<T>(x)),
    MT_MAP("mt_silu", Silu, Signed, silu<T>(x)),
    MT_MAP("mt_gelu", Gelu, Signed, gelu(x)),
    MT_MAP("mt_relu", Relu, Signed, max(x, 0.f)),
    // Equivalent if loses_nan of max: the logarithm is a NaN then.
    MT_MAP("mt_softplus", Softplus, Signed, max(x, 0.f) + log1p(exp(-abs(x)))),
};
#undef MT_MAP
#undef MT_FUNCTION

Fill fill_of(Domain d) {
  switch (d) {
    case Domain::Signed:
      return Fill::normal(0, 4);
    case Domain::Positive:
      return Fill::positive();
    case Domain::Unit:
      return Fill::unit();
    case Domain::FromOne:
      return Fill::uniform(1, 40);
  }
  MT_ICE("domain out of range");
}

const bool registered = [] {
  for (const Row& row : kRows)
    kernel<UnaryMap>(row.name, Floats{}, [row](auto& k) {
      k.f = k.kShort ? row.f16 : row.f;
      k.meaning = row.meaning;
      k.a.fill_with(fill_of(row.domain));
    });
  return true;
}();

}  // namespace
}  // namespace mt
