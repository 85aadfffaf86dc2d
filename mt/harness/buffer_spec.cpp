#include "mt/harness/buffer_spec.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "mt/base/real.h"
#include "mt/harness/file.h"
#include "mt/harness/npy.h"
#include "mt/harness/select.h"

namespace mt {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 34;
constexpr std::uint64_t kSeed = 1;

[[noreturn]] void refuse(const std::string& spec, const std::string& why) {
  throw UsageError(fmt::format("{}: {}; write {}", spec, why, kBufferSpecs));
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(':', from)) != std::string::npos; from = at + 1)
    parts.push_back(text.substr(from, at - from));
  parts.push_back(text.substr(from));
  return parts;
}

template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

HostTensor shaped(const std::string& spec, const std::string& dtype, const std::string& shape) {
  const auto t = dtype_from(dtype);
  if (!t) refuse(spec, fmt::format("'{}' is no dtype", dtype));
  std::vector<std::int64_t> dims;
  std::int64_t bytes = size_of(*t);
  for (std::size_t from = 0; from <= shape.size();) {
    const std::size_t at = std::min(shape.find('x', from), shape.size());
    const auto n = number<std::int64_t>(shape.substr(from, at - from));
    if (!n || *n < 0) refuse(spec, fmt::format("'{}' is no shape", shape));
    if (*n > 0 && bytes > kMostBytes / *n) refuse(spec, "it is larger than 16 GiB");
    bytes *= *n;
    dims.push_back(*n);
    from = at + 1;
  }
  return HostTensor(spec, *t, dims);
}

void fill_random(HostTensor& t, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  const int low = is_unsigned(t.dtype) ? 0 : -100;
  for (std::int64_t i = 0; i < t.count(); ++i)
    if (is_float(t.dtype))
      t.set(i, normal(bits));
    else
      t.set_int(i, t.dtype == DType::Bool ? static_cast<std::int64_t>(bits() & 1)
                                          : low + static_cast<std::int64_t>(bits() % 201));
}

HostTensor raw_file(const std::string& spec, const std::string& path, const std::string& dtype,
                    const std::string& shape) {
  HostTensor t = shaped(spec, dtype, shape);
  const std::string bytes = read_file(path);
  if (bytes.size() != t.bytes())
    throw Error(
        fmt::format("{}: has {} bytes; {} elements of {} are {}", path, bytes.size(), t.count(), dtype, t.bytes()));
  if (!bytes.empty()) std::memcpy(t.data.data(), bytes.data(), bytes.size());
  return t;
}

bool fits(DType t, std::int64_t n) {
  if (t == DType::I64 || is_float(t)) return true;
  if (t == DType::U64) return n >= 0;
  const int bits = bits_of(t);
  const std::int64_t high = (std::int64_t{1} << (is_signed(t) ? bits - 1 : bits)) - 1;
  return n <= high && n >= (is_signed(t) ? -high - 1 : 0);
}

}  // namespace

HostTensor make_scalar(const std::string& spec) {
  const auto colon = spec.find(':');
  if (colon == std::string::npos) refuse(spec, "a value needs a dtype, as in f32:1.5");
  std::string dtype = spec.substr(0, colon), value = spec.substr(colon + 1);
  if (!dtype_from(dtype)) std::swap(dtype, value);
  const auto t = dtype_from(dtype);
  if (!t) refuse(spec, "neither side of the ':' is a dtype");
  HostTensor x(spec, *t, {});
  if (*t == DType::Bool && (value == "true" || value == "false")) value = value == "true" ? "1" : "0";
  if (is_float(*t)) {
    const auto v = parse_real<double>(value);
    if (!v) refuse(spec, fmt::format("'{}' is no number", value));
    x.set(0, *v);
  } else if (const auto u = number<std::uint64_t>(value); u && *t == DType::U64) {
    x.set_int(0, static_cast<std::int64_t>(*u));
  } else {
    const auto v = number<std::int64_t>(value);
    if (!v) refuse(spec, fmt::format("'{}' is no whole number", value));
    if (!fits(*t, *v)) refuse(spec, fmt::format("{} has no value {}", dtype, value));
    x.set_int(0, *v);
  }
  return x;
}

HostTensor make_buffer(const std::string& spec) {
  const std::vector<std::string> p = parts_of(spec);
  const std::string& kind = p[0];
  if (kind == "zeros" || kind == "ones" || kind == "arange" || kind == "random") {
    if (p.size() != 3 && !(kind == "random" && p.size() == 4)) refuse(spec, kind + " takes a dtype and a shape");
    HostTensor t = shaped(spec, p[1], p[2]);
    if (kind == "random") {
      const auto seed = p.size() == 4 ? number<std::uint64_t>(p[3]) : kSeed;
      if (!seed) refuse(spec, fmt::format("'{}' is no seed", p[3]));
      fill_random(t, *seed);
    } else if (kind != "zeros") {
      for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, kind == "ones" ? 1.0 : static_cast<double>(i));
    }
    return t;
  }
  if (p.size() == 2 && (dtype_from(p[0]) || dtype_from(p[1]))) return make_scalar(spec);
  if (spec.ends_with(".npy")) return parse_npy(read_file(spec), spec);
  if (p.size() < 3) refuse(spec, "it describes no buffer");
  const std::size_t tail = p[p.size() - 1].size() + p[p.size() - 2].size() + 2;
  return raw_file(spec, spec.substr(0, spec.size() - tail), p[p.size() - 2], p[p.size() - 1]);
}

std::string summary(const HostTensor& t) {
  constexpr std::int64_t kShown = 6;
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  std::int64_t nan = 0;
  std::string first;
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const double v = t.at(i);
    if (i < kShown)
      first += fmt::format("{}{}", i ? ", " : "",
                           is_float(t.dtype)       ? fmt::format("{:.7g}", v)
                           : t.dtype == DType::U64 ? fmt::to_string(static_cast<std::uint64_t>(t.int_at(i)))
                                                   : fmt::to_string(t.int_at(i)));
    if (std::isnan(v)) {
      ++nan;
      continue;
    }
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
  }
  std::string head = fmt::format("{} [{}]", name_of(t.dtype), fmt::join(t.shape, ", "));
  if (t.count() == 0) return head;
  if (t.count() > kShown) first += ", …";
  if (nan == t.count()) return fmt::format("{}: NaN everywhere", head);
  return fmt::format("{}: {:.7g} to {:.7g}, mean {:.7g}{}; first {}", head, low, high,
                     sum / static_cast<double>(t.count() - nan), nan ? fmt::format(", {} NaN", nan) : "", first);
}

}  // namespace mt
