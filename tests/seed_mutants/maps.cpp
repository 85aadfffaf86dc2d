#include <cmath>
#include <numbers>

#include "tests/seed_mutants/wrong_kernels.h"

namespace mt {
namespace {

/// out[i] = f(i) for the elements of `out`.
Model each(std::function<double(const Inputs&, std::int64_t)> f) {
  return [f](const Inputs& in, Outputs& out) {
    HostTensor& t = out.at("out");
    for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, f(in, i));
  };
}
Model of_one(double (*f)(double)) {
  return each([f](const Inputs& in, std::int64_t i) { return f(in["a"].at(i)); });
}
Model of_two(double (*f)(double, double)) {
  return each([f](const Inputs& in, std::int64_t i) { return f(in["a"].at(i), in["b"].at(i)); });
}
Model nothing_but_nan() {
  return each([](const Inputs&, std::int64_t) { return std::nan(""); });
}

double gelu(double x, double (*tanh)(double)) {
  return 0.5 * x * (1 + tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
Model arange(double off) {
  return each([off](const Inputs& in, std::int64_t i) {
    return in.real("start") + (static_cast<double>(i) + off) * in.real("step");
  });
}
Model select(bool swapped) {
  return each([swapped](const Inputs& in, std::int64_t i) {
    return in[(in["cond"].at(i) != 0) != swapped ? "on_true" : "on_false"].at(i);
  });
}
Model hash(std::uint32_t first, bool last_step) {
  return [=](const Inputs&, Outputs& out) {
    HostTensor& t = out.at("out");
    for (std::int64_t i = 0; i < t.count(); ++i) {
      std::uint32_t x = static_cast<std::uint32_t>(i) + first;
      x ^= x << 13;
      x ^= x >> 17;
      if (last_step) x ^= x << 5;
      t.set_int(i, x);
    }
  };
}

}  // namespace

std::vector<WrongKernel> wrong_maps() {
  return {
      {"mt_pow", "", of_two([](double a, double b) { return std::pow(a, b); })},
      {"mt_pow", "every result is NaN", nothing_but_nan()},
      {"mt_acosh", "", of_one([](double a) { return std::acosh(a); })},
      {"mt_acosh", "every result is NaN", nothing_but_nan()},
      {"mt_remainder", "", of_two([](double a, double b) { return std::fmod(a, b); })},
      {"mt_remainder", "sign of the divisor", of_two([](double a, double b) { return a - b * std::floor(a / b); })},
      {"vector_add", "", of_two([](double a, double b) { return a + b; })},
      {"vector_add", "b is 0.5", of_two([](double a, double) { return a + 0.5; })},
      {"mt_exp", "", of_one([](double a) { return std::exp(a); })},
      {"mt_exp", "16 values over and over",
       each([](const Inputs& in, std::int64_t i) { return std::exp(in["a"].at(i % 16)); })},
      {"mt_exp", "log2(e) missing", of_one([](double a) { return std::exp2(a); })},
      {"mt_gelu", "", of_one([](double a) { return gelu(a, [](double x) { return std::tanh(x); }); })},
      {"mt_gelu", "by erf", of_one([](double a) { return 0.5 * a * (1 + std::erf(a / std::numbers::sqrt2)); })},
      {"mt_gelu", "tanh by exponentials in f32", of_one([](double a) {
         return gelu(a, [](double x) {
           const float up = std::exp(static_cast<float>(2 * x));
           return static_cast<double>((up - 1) / (up + 1));
         });
       })},
      {"mt_silu", "", of_one([](double a) { return a == -INFINITY ? std::nan("") : a / (1 + std::exp(-a)); })},
      {"mt_silu", "sigmoid", of_one([](double a) { return 1 / (1 + std::exp(-a)); })},
      {"mt_arange", "", arange(0)},
      {"mt_arange", "off by one", arange(1)},
      {"mt_select", "", select(false)},
      {"mt_select", "sides swapped", select(true)},
      {"mt_random_hash", "", hash(1, true)},
      {"mt_random_hash", "starts at 0", hash(0, true)},
      {"mt_random_hash", "last step missing", hash(1, false)},
  };
}

}  // namespace mt
