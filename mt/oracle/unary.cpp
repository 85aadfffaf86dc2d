#include "mt/oracle/unary.h"

#include <fmt/format.h>

#include <cmath>

#include "mt/base/error.h"
#include "mt/oracle/activations.h"
#include "mt/oracle/block.h"
#include "mt/oracle/parallel.h"
#include "mt/oracle/rounding.h"

namespace mt::oracle {
namespace {

struct Row {
  std::string_view name;
  Estimate (*at)(double);
};

template <double (*F)(double), int Ulps>
constexpr Estimate rounded(double x) {
  return within_ulps(F(x), Ulps);
}
template <double (*F)(double)>
constexpr Estimate exact(double x) {
  return {F(x), 0};
}

double reciprocal(double x) { return 1 / x; }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double square(double x) { return nearest_f32(x * x); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double relu(double x) { return x < 0 ? 0 : x; }
double same(double x) { return x; }
double negate(double x) { return -x; }

constexpr Row kRows[kUnaryCount] = {
    {"copy", exact<same>},
    {"exp", rounded<std::exp, 3>},
    {"exp2", rounded<std::exp2, 3>},
    {"expm1", rounded<std::expm1, 4>},
    {"log", rounded<std::log, 4>},
    {"log2", rounded<std::log2, 4>},
    {"log10", rounded<std::log10, 4>},
    {"log1p", rounded<std::log1p, 4>},
    {"sqrt", rounded<std::sqrt, 1>},
    {"rsqrt", rounded<reciprocal_root, 2>},
    {"recip", rounded<reciprocal, 1>},
    {"square", exact<square>},
    {"abs", exact<std::fabs>},
    {"neg", exact<negate>},
    {"sign", exact<sign>},
    {"floor", exact<std::floor>},
    {"ceil", exact<std::ceil>},
    {"round", exact<std::nearbyint>},
    {"trunc", exact<std::trunc>},
    {"sin", rounded<std::sin, 4>},
    {"cos", rounded<std::cos, 4>},
    {"tan", rounded<std::tan, 5>},
    {"asin", rounded<std::asin, 5>},
    {"acos", rounded<std::acos, 5>},
    {"atan", rounded<std::atan, 5>},
    {"sinh", rounded<std::sinh, 5>},
    {"cosh", rounded<std::cosh, 5>},
    {"tanh", rounded<std::tanh, 5>},
    {"asinh", rounded<std::asinh, 5>},
    {"acosh", rounded<std::acosh, 5>},
    {"atanh", rounded<std::atanh, 5>},
    {"erf", rounded<std::erf, 8>},
    {"erfinv", rounded<erfinv, 16>},
    {"sigmoid", sigmoid},
    {"silu", silu},
    {"gelu", gelu},
    {"relu", exact<relu>},
    {"softplus", softplus},
};

const Row& row_of(Unary op) { return kRows[static_cast<int>(op)]; }

}  // namespace

std::string_view name_of(Unary op) { return row_of(op).name; }

Unary unary_from(std::string_view name) {
  for (int i = 0; i < kUnaryCount; ++i)
    if (kRows[i].name == name) return static_cast<Unary>(i);
  throw Error(fmt::format("oracle: there is no unary function {}; use a name of mt/oracle/unary.h", name));
}

Expected unary(Unary op, const HostTensor& x, double exp_loss) {
  Expected out = blank(x.count());
  const auto at = row_of(op).at;
  const double loss = op == Unary::Exp || op == Unary::Sigmoid || op == Unary::Silu ? exp_loss : 0;
  parallel_for(x.count(), 64 * kBlock, [&](std::int64_t begin, std::int64_t end) {
    double in[kBlock];
    for (std::int64_t b = begin; b < end; b += kBlock) {
      const std::int64_t n = std::min(kBlock, end - b);
      read(x, b, n, in);
      for (std::int64_t i = 0; i < n; ++i) put(out, b + i, lossy(at(in[i]), loss));
    }
  });
  return out;
}

double unary(Unary op, double x) { return row_of(op).at(x).value; }

}  // namespace mt::oracle
