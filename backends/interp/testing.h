// What tests of this backend share: a kernel, its arguments, and what a launch leaves or says.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "mt/base/host_tensor.h"
#include "mt/ir/edit.h"
#include "mt/ir/text.h"

namespace mt::interp {

inline Kernel parsed(const std::string& text) {
  Result<Kernel> k = parse(text);
  if (!k) throw Error(std::string(k.error().what()) + "\n" + text);
  return k.take();
}

/// One launch on a fresh device. `tensors` are the kernel's device memories in order and come back changed.
struct Launch {
  Kernel kernel;
  std::vector<HostTensor> tensors = {};
  std::vector<std::uint64_t> scalars = {};
  Groups groups = {1, 1, 1};
  std::vector<std::pair<std::string, std::int64_t>> options = {};
  std::size_t offset = 0;  // of every view in its buffer, bytes

  /// Empty where all went well, else the Error's text.
  std::string run() {
    try {
      const std::unique_ptr<Device> device = find_backend("interp")->open().take();
      for (const auto& [name, value] : options) EXPECT_TRUE(device->set_option(name, value)) << name;
      const auto program = device->compile(kernel);
      std::vector<std::unique_ptr<Buffer>> buffers;
      Arguments arguments{.buffers = {}, .scalars = scalars};
      for (const HostTensor& t : tensors) {
        buffers.push_back(device->allocate(offset + t.bytes()));
        buffers.back()->write(t.data.data(), t.bytes(), offset);
        arguments.buffers.push_back({buffers.back().get(), offset, t.bytes()});
      }
      device->launch(*program, arguments, groups);
      device->wait();
      for (std::size_t i = 0; i < tensors.size(); ++i)
        buffers[i]->read(tensors[i].data.data(), tensors[i].bytes(), offset);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  }
};

/// A kernel of 64 threads with an input x and an inout y of f32, an inout u of u32, an out o of f32, threadgroup memory
/// s (64 f32), thread memory p (4 f32), a scalar n and the values %t (thread), %l (lane), %sg (simdgroup), %g
/// (threadgroup), %0c .. %2c (constants), %xt (x[t]).
inline std::string with_body(const std::string& body) {
  return R"(kernel @k threads 64 {
  device in %x: f32 [n]
  device inout %y: f32 [n]
  device inout %u: u32 [n]
  device out %o: f32 [n]
  threadgroup %s: f32 [64]
  thread %p: f32 [4]
  scalar %n: u32
  %t: u32 = thread_id
  %l: u32 = lane_id
  %sg: u32 = simd_id
  %g: u32 = group_id 0
  %c0: u32 = const 0
  %c1: u32 = const 1
  %c2: u32 = const 2
  %c63: u32 = const 63
  %nn: u32 = param %n
  %f1: f32 = const 1.0
  %xt: f32 = load %x[%t]
)" + body +
         "\n}\n";
}

/// The launch of with_body: x[i] = i, y and o zero, u[i] = 0; 128 elements each.
inline Launch launch_of(const std::string& body, std::uint64_t n = 64) {
  Launch l{.kernel = parsed(with_body(body))};
  for (const char* name : {"x", "y", "u", "o"})
    l.tensors.emplace_back(name, name[0] == 'u' ? DType::U32 : DType::F32, std::vector<std::int64_t>{128});
  for (int i = 0; i < 128; ++i) l.tensors[0].set(i, i);
  l.scalars = {n};
  return l;
}
inline std::string run_body(const std::string& body, std::uint64_t n = 64, std::int64_t groups = 1) {
  Launch l = launch_of(body, n);
  l.groups = {groups, 1, 1};
  return l.run();
}

}  // namespace mt::interp
