// What tests of this backend share: a kernel from text, and what it leaves on `cpu` and on `interp`.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "mt/base/host_tensor.h"
#include "mt/ir/edit.h"
#include "mt/ir/text.h"

namespace mt::cpu {

inline Kernel parsed(const std::string& text) {
  Result<Kernel> k = parse(text);
  if (!k) throw Error(std::string(k.error().what()) + "\n" + text);
  return k.take();
}

/// One launch; `tensors` are the kernel's device memories in order.
struct Launch {
  Kernel kernel;
  std::vector<HostTensor> tensors = {};
  std::vector<std::uint64_t> scalars = {};
  Groups groups = {1, 1, 1};
  std::vector<std::pair<std::string, std::int64_t>> options = {};  // of the cpu device

  /// What the tensors hold after a launch on the backend.
  std::vector<HostTensor> run(std::string_view backend) const {
    const std::unique_ptr<Device> device = find_backend(backend)->open().take();
    for (const auto& [name, value] : options) {
      if (backend == "cpu" && !device->set_option(name, value)) throw Error("no option " + name);
    }
    const auto program = device->compile(kernel);
    std::vector<std::unique_ptr<Buffer>> buffers;
    Arguments arguments{.buffers = {}, .scalars = scalars};
    for (const HostTensor& t : tensors) {
      buffers.push_back(device->allocate(t.bytes()));
      buffers.back()->write(t.data.data(), t.bytes());
      arguments.buffers.push_back({buffers.back().get(), 0, t.bytes()});
    }
    device->launch(*program, arguments, groups);
    device->wait();
    std::vector<HostTensor> after = tensors;
    for (std::size_t i = 0; i < after.size(); ++i) buffers[i]->read(after[i].data.data(), after[i].bytes());
    return after;
  }
};

/// Whether both hold the same values up to `relative`; NaN equals NaN.
inline void expect_same(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b, double relative = 0) {
  ASSERT_EQ(a.size(), b.size());
  int wrong = 0;
  for (std::size_t t = 0; t < a.size(); ++t)
    for (std::int64_t i = 0; i < a[t].count(); ++i) {
      const double x = a[t].at(i), y = b[t].at(i);
      const bool same = (std::isnan(x) && std::isnan(y)) || x == y || std::fabs(x - y) <= relative * std::fabs(y);
      if (!same && ++wrong <= 5) ADD_FAILURE() << a[t].name << "[" << i << "]: cpu " << x << ", interp " << y;
    }
  EXPECT_EQ(wrong, 0);
}

/// A kernel of `threads` threads with an input x and an inout y of f32, an inout u of u32, inputs h (f16) and b (bf16)
/// and an inout c of u8, threadgroup memory s (1024 f32), thread memory p (4 f32), a scalar n and the values %t
/// (thread), %l (lane), %sg (simdgroup), %g (threadgroup), %i (element: g * threads + t), %c0 .. %c32 (constants),
/// %xt (x[i]).
inline std::string with_body(const std::string& body, int threads = 64) {
  return "kernel @k threads " + std::to_string(threads) + R"( {
  device in %x: f32 [m]
  device inout %y: f32 [m]
  device inout %u: u32 [m]
  device in %h: f16 [m]
  device in %b: bf16 [m]
  device inout %c: u8 [m]
  threadgroup %s: f32 [1024]
  thread %p: f32 [4]
  scalar %n: u32
  %t: u32 = thread_id
  %l: u32 = lane_id
  %sg: u32 = simd_id
  %g: u32 = group_id 0
  %c0: u32 = const 0
  %c1: u32 = const 1
  %c2: u32 = const 2
  %c3: u32 = const 3
  %c4: u32 = const 4
  %c8: u32 = const 8
  %c31: u32 = const 31
  %c32: u32 = const 32
  %threads: u32 = const )" +
         std::to_string(threads) + R"(
  %nn: u32 = param %n
  %f0: f32 = const 0.0
  %f1: f32 = const 1.0
  %gt: u32 = mul %g, %threads
  %i: u32 = add %gt, %t
  %xt: f32 = load %x[%i]
)" + body +
         "\n}\n";
}

inline constexpr std::int64_t kElements = 4096;

inline Launch launch_of(const std::string& body, std::uint64_t n = 100, int threads = 64, std::int64_t groups = 3) {
  Launch l{.kernel = parsed(with_body(body, threads))};
  const std::pair<const char*, DType> tensors[] = {{"x", DType::F32}, {"y", DType::F32},  {"u", DType::U32},
                                                   {"h", DType::F16}, {"b", DType::BF16}, {"c", DType::U8}};
  for (const auto& [name, type] : tensors) l.tensors.emplace_back(name, type, std::vector<std::int64_t>{kElements});
  for (HostTensor& t : l.tensors)
    for (std::int64_t i = 0; i < kElements; ++i) {
      const auto r = static_cast<double>((i * 2654435761u + 12345u) % 1009);
      t.set(i, is_float(t.dtype) ? (r - 500) / 128 : r);
    }
  l.scalars = {n};
  l.groups = {groups, 1, 1};
  return l;
}

/// Runs the body on both backends and compares everything.
inline void same_on_both(const std::string& body, std::uint64_t n = 100, int threads = 64, double relative = 0) {
  SCOPED_TRACE("threads " + std::to_string(threads) + ", n " + std::to_string(n) + body);
  const Launch l = launch_of(body, n, threads);
  expect_same(l.run("cpu"), l.run("interp"), relative);
}

}  // namespace mt::cpu
