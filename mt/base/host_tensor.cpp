#include "mt/base/host_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "mt/base/error.h"
#include "mt/base/half.h"

namespace mt {
namespace {

template <class T>
T read(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void write(std::byte* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

}  // namespace

HostTensor::HostTensor(std::string tensor_name, DType type, std::vector<std::int64_t> dims)
    : name(std::move(tensor_name)), dtype(type), shape(std::move(dims)) {
  data.resize(static_cast<std::size_t>(count()) * static_cast<std::size_t>(size_of(dtype)));
}

std::int64_t HostTensor::count() const {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}

double HostTensor::at(std::int64_t i) const {
  const std::byte* p = data.data() + i * size_of(dtype);
  switch (dtype) {
    case DType::F32:
      return static_cast<double>(read<float>(p));
    case DType::F16:
      return static_cast<double>(f16_to_f32(read<std::uint16_t>(p)));
    case DType::BF16:
      return static_cast<double>(bf16_to_f32(read<std::uint16_t>(p)));
    case DType::U64:
      return static_cast<double>(read<std::uint64_t>(p));
    default:
      return static_cast<double>(int_at(i));
  }
}

std::int64_t HostTensor::int_at(std::int64_t i) const {
  const std::byte* p = data.data() + i * size_of(dtype);
  switch (dtype) {
    case DType::I8:
      return read<std::int8_t>(p);
    case DType::U8:
      return read<std::uint8_t>(p);
    case DType::I16:
      return read<std::int16_t>(p);
    case DType::U16:
      return read<std::uint16_t>(p);
    case DType::I32:
      return read<std::int32_t>(p);
    case DType::U32:
      return read<std::uint32_t>(p);
    case DType::I64:
      return read<std::int64_t>(p);
    case DType::U64:
      return static_cast<std::int64_t>(read<std::uint64_t>(p));
    case DType::Bool:
      return read<std::uint8_t>(p) != 0;
    default:
      return static_cast<std::int64_t>(at(i));
  }
}

void HostTensor::set(std::int64_t i, double value) {
  std::byte* p = data.data() + i * size_of(dtype);
  switch (dtype) {
    case DType::F32:
      write(p, static_cast<float>(value));
      break;
    case DType::F16:
      write(p, f32_to_f16(f64_to_f32_odd(value)));
      break;
    case DType::BF16:
      write(p, f32_to_bf16(f64_to_f32_odd(value)));
      break;
    case DType::U64:
      write(p, static_cast<std::uint64_t>(value));
      break;
    default:
      set_int(i, static_cast<std::int64_t>(value));
  }
}

void HostTensor::set_int(std::int64_t i, std::int64_t value) {
  std::byte* p = data.data() + i * size_of(dtype);
  switch (dtype) {
    case DType::I8:
      write(p, static_cast<std::int8_t>(value));
      break;
    case DType::U8:
      write(p, static_cast<std::uint8_t>(value));
      break;
    case DType::I16:
      write(p, static_cast<std::int16_t>(value));
      break;
    case DType::U16:
      write(p, static_cast<std::uint16_t>(value));
      break;
    case DType::I32:
      write(p, static_cast<std::int32_t>(value));
      break;
    case DType::U32:
      write(p, static_cast<std::uint32_t>(value));
      break;
    case DType::I64:
      write(p, value);
      break;
    case DType::U64:
      write(p, static_cast<std::uint64_t>(value));
      break;
    case DType::Bool:
      write(p, static_cast<std::uint8_t>(value != 0));
      break;
    default:
      set(i, static_cast<double>(value));
  }
}

double round_to(DType type, double value) {
  switch (type) {
    case DType::F32:
      return static_cast<double>(static_cast<float>(value));
    case DType::F16:
      return static_cast<double>(f16_to_f32(f32_to_f16(f64_to_f32_odd(value))));
    case DType::BF16:
      return static_cast<double>(bf16_to_f32(f32_to_bf16(f64_to_f32_odd(value))));
    default:
      return value;
  }
}

double half_ulp(DType type, double value) {
  if (!is_float(type) || !std::isfinite(value)) return 0;
  const int mantissa_bits = type == DType::F32 ? 24 : type == DType::F16 ? 11 : 8;
  const int min_exponent = type == DType::F16 ? -14 : -126;
  const auto biased = static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52) & 0x7ff);
  const int exponent = std::max(biased - 1023, min_exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent - mantissa_bits + 1023) << 52);  // a power of two
}

}  // namespace mt
