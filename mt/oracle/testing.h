// For the tests of this room: tensors from lists, random tensors, and sums in f32 in the orders that kernels use.
#pragma once
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "mt/base/host_tensor.h"

namespace mt::oracle {

inline HostTensor tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  HostTensor t("t", dtype, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) t.set(static_cast<std::int64_t>(i), values[i]);
  return t;
}

inline HostTensor vec(std::initializer_list<double> values, DType dtype = DType::F32) {
  return tensor(dtype, {static_cast<std::int64_t>(values.size())}, values);
}

inline HostTensor random_normal(DType dtype, std::vector<std::int64_t> shape, unsigned seed, double mean = 0,
                                double deviation = 1) {
  HostTensor t("random", dtype, std::move(shape));
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(mean, deviation);
  for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, normal(engine));
  return t;
}

inline std::vector<float> floats(const HostTensor& t) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < t.count(); ++i) out.push_back(static_cast<float>(t.at(i)));
  return out;
}

enum class Order { Sequential, Lanes };  // one chain, or 32 strided lanes and a butterfly over them

/// Sum of term(0) … term(n - 1) in f32.
inline float f32_sum(std::int64_t n, Order order, const std::function<float(std::int64_t)>& term) {
  if (order == Order::Sequential) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += term(i);
    return sum;
  }
  float lanes[32] = {};
  for (std::int64_t i = 0; i < n; ++i) lanes[i % 32] += term(i);
  for (int step = 16; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) lanes[i] += lanes[i + step];
  return lanes[0];
}

inline const DType kFloats[] = {DType::F32, DType::F16, DType::BF16};
inline const Order kOrders[] = {Order::Sequential, Order::Lanes};

}  // namespace mt::oracle
