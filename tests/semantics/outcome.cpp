#include "tests/semantics/outcome.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "mt/ir/edit.h"

namespace mt {
namespace {

std::uint64_t random_bits(DType t, std::mt19937_64& random) {
  const std::uint64_t width = static_cast<std::uint64_t>(bits_of(t)), r = random();
  const std::uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
  if (t == DType::Bool) return r & 1;
  if (is_float(t)) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const double edges[] = {0.0, -0.0, inf, -inf, std::nan(""), 1e-40, -6e-8, 3e38, 65504, 2147483648.0, 0.5, -1};
    if (r % 16 == 0) return bits_of(t, edges[(r >> 8) % 12]);
    return bits_of(t, static_cast<double>(static_cast<std::int64_t>((r >> 8) % 2001) - 1000) / 64);
  }
  if (r % 8 == 0) return (mask >> ((r >> 8) % 2)) - ((r >> 9) % 2);
  return r % 8 < 3 ? (r >> 8) & mask : (r >> 8) % 40;
}

}  // namespace

RandomArguments::RandomArguments(const Kernel& kernel, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  bool first_written = true;
  for (const Memory& m : kernel.memories) {
    if (m.space != Space::Device) continue;
    std::int64_t count = 1;
    for (const Dim& d : m.shape) count *= d.extent;
    HostTensor t(m.name, m.dtype, {count});
    const auto size = static_cast<std::size_t>(size_of(m.dtype));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t bits = random_bits(m.dtype, random);
      std::memcpy(t.data.data() + static_cast<std::size_t>(i) * size, &bits, size);
    }
    if (m.access != Access::In && first_written) {
      first_written = false;
      groups[0] = std::max<std::int64_t>(1, count / (8 * kernel.threads));
    }
    tensors.push_back(std::move(t));
  }
  for (const ScalarParam& s : kernel.scalars) {
    const std::uint64_t r = random() % 24;
    const std::uint64_t v = r - r % static_cast<std::uint64_t>(s.multiple_of);
    const std::uint64_t mask = bits_of(s.dtype) == 64 ? ~0ull : (1ull << bits_of(s.dtype)) - 1;
    scalars.push_back((is_signed(s.dtype) && r % 3 == 0 ? 0 - v : v) & mask);
  }
}

Outcome run_on(Device& device, const Kernel& kernel, const RandomArguments& given) {
  try {
    const auto program = device.compile(kernel);
    std::vector<std::unique_ptr<Buffer>> buffers;
    Arguments arguments{.buffers = {}, .scalars = given.scalars};
    for (const HostTensor& t : given.tensors) {
      buffers.push_back(device.allocate(t.bytes()));
      buffers.back()->write(t.data.data(), t.bytes());
      arguments.buffers.push_back({buffers.back().get(), 0, t.bytes()});
    }
    device.launch(*program, arguments, given.groups);
    device.wait();
    Outcome outcome;
    std::size_t n = 0;
    for (const Memory& m : kernel.memories) {
      if (m.space != Space::Device) continue;
      if (m.access != Access::In) {
        outcome.outputs.push_back(given.tensors[n]);
        HostTensor& t = outcome.outputs.back();
        buffers[n]->read(t.data.data(), t.bytes());
      }
      ++n;
    }
    return outcome;
  } catch (const Error& e) {
    return {e.what(), {}};
  }
}

std::string difference(const Outcome& a, const Outcome& b) {
  if (a.error.empty() != b.error.empty()) return fmt::format("'{}' and '{}'", a.error, b.error);
  for (std::size_t t = 0; t < a.outputs.size(); ++t) {
    const HostTensor &x = a.outputs[t], &y = b.outputs[t];
    if (x.data == y.data) continue;
    const auto size = static_cast<std::size_t>(size_of(x.dtype));
    for (std::int64_t n = 0; n < x.count(); ++n) {
      const std::size_t at = static_cast<std::size_t>(n) * size;
      if (std::memcmp(x.data.data() + at, y.data.data() + at, size) == 0) continue;
      const double u = x.at(n), v = y.at(n);
      if (is_float(x.dtype) && std::isnan(u) && std::isnan(v)) continue;
      return fmt::format("{}[{}]: {} and {}", x.name, n, u, v);
    }
  }
  return "";
}

}  // namespace mt
