#include "mt/harness/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "mt/base/half.h"
#include "mt/harness/names.h"

namespace mt {
namespace {

constexpr int kMaxCount = 65536;  // of a tunable without choices, which counts something
// Above it, the index of a loop that a whole threadgroup strides through could pass 2^32 and start anew.
constexpr std::int64_t kMaxSize = (std::int64_t{1} << 32) - (1 << 16);
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 46;

/// Sizes that every problem must have: the dimensions of tensors, and integer scalars without a default.
std::set<std::string> needed_sizes(const Signature& signature) {
  std::set<std::string> names;
  for (const TensorParam& t : signature.tensors)
    for (const Dim& d : t.shape)
      if (!d.symbol.empty()) names.insert(d.symbol);
  for (const ScalarDecl& s : signature.scalars)
    if (is_int(s.dtype) && s.fallback == 0) names.insert(s.name);
  return names;
}

std::vector<std::string> to_vector(const std::set<std::string>& names) { return {names.begin(), names.end()}; }

/// Smallest and largest value of an integer type, as far as 64 signed bits hold them.
std::pair<std::int64_t, std::int64_t> range_of(DType t) {
  if (t == DType::I64) return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  if (t == DType::U64) return {0, std::numeric_limits<std::int64_t>::max()};
  const int bits = bits_of(t);
  if (is_signed(t)) return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return {0, (std::int64_t{1} << bits) - 1};
}

void check_size(const std::string& name, DType dtype, std::int64_t value) {
  const auto [low, high] = range_of(dtype);
  if (value < low && value < 0) throw Error(fmt::format("size {} is {}; sizes must not be negative", name, value));
  if (value < low || value > high)
    throw Error(fmt::format("size {} is {}, which does not fit its type {}; the largest is {}", name, value,
                            name_of(dtype), high));
  if (dtype == DType::U32 && value > kMaxSize)
    throw Error(fmt::format("size {} is {}; sizes go up to {}, so that loops over them end before 2^32", name, value,
                            kMaxSize));
}

void check_overrides(const Signature& signature, const Overrides& overrides) {
  for (const auto& [key, value] : overrides) {
    const std::string& name = key;
    const auto it = std::find_if(signature.tunables.begin(), signature.tunables.end(),
                                 [&](const TunableDecl& t) { return t.name == name; });
    if (it == signature.tunables.end()) {
      std::vector<std::string> all;
      for (const TunableDecl& t : signature.tunables) all.push_back(t.name);
      throw Error(fmt::format("no tunable '{}'; {}", name,
                              all.empty() ? "the kernel has none" : "the kernel has " + listed(all)));
    }
    if (!it->choices.empty() && std::find(it->choices.begin(), it->choices.end(), value) == it->choices.end())
      throw Error(fmt::format("tunable {} can't be {}; it is one of {}", name, value, fmt::join(it->choices, ", ")));
    if (it->choices.empty() && (value < 1 || value > kMaxCount))
      throw Error(fmt::format("tunable {} can't be {}; it is 1 to {}", name, value, kMaxCount));
  }
}

std::string shape_text(const TensorSlot& slot) {
  std::string text;
  for (std::size_t i = 0; i < slot.shape.size(); ++i) {
    const std::string& symbol = slot.param->shape[i].symbol;
    text += (i ? ", " : "") + (symbol.empty() ? "" : symbol + "=") + std::to_string(slot.shape[i]);
  }
  return "[" + text + "]";
}

bool overlap(const BufferView& a, const BufferView& b) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  if (a.buffer == b.buffer) return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  const std::byte *pa = a.buffer->host(), *pb = b.buffer->host();
  if (!pa || !pb) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(pa) + a.offset, bt = reinterpret_cast<std::uintptr_t>(pb) + b.offset;
  return at < bt + b.bytes && bt < at + a.bytes;
}

}  // namespace

std::vector<std::string> size_names(const KernelInstance& instance) {
  std::set<std::string> names = needed_sizes(instance.signature());
  for (const ScalarDecl& s : instance.signature().scalars)
    if (is_int(s.dtype)) names.insert(s.name);
  for (const Problems& all : {instance.tests(), instance.benches()})
    for (const Problem& p : all)
      for (const auto& [name, value] : p.sizes()) names.insert(name);
  return to_vector(names);
}

std::vector<std::string> real_names(const KernelInstance& instance) {
  std::set<std::string> names;
  for (const ScalarDecl& s : instance.signature().scalars)
    if (!is_int(s.dtype)) names.insert(s.name);
  for (const Problems& all : {instance.tests(), instance.benches()})
    for (const Problem& p : all)
      for (const auto& [name, value] : p.reals()) names.insert(name);
  return to_vector(names);
}

void check_problem(const KernelInstance& instance, const Problem& problem, const Overrides& overrides) {
  const Signature& signature = instance.signature();
  for (const std::string& name : needed_sizes(signature))
    if (!problem.has(name)) throw Error(fmt::format("the problem has no size {}; give it one", name));
  const std::vector<std::string> known = size_names(instance);
  for (const auto& [name, value] : problem.sizes()) {
    if (!std::binary_search(known.begin(), known.end(), name))
      throw Error(fmt::format("the kernel has no size '{}'; it has {}", name, listed(known)));
    const int scalar = signature.scalar(name);
    check_size(name, scalar < 0 ? DType::U32 : signature.scalars[static_cast<std::size_t>(scalar)].dtype, value);
  }
  for (const TensorParam& t : signature.tensors)
    for (const Dim& d : t.shape) {
      const std::int64_t extent = extent_of(d, problem);
      if (extent < 0)
        throw Error(fmt::format("tensor {} has a dimension of {}; sizes must not be negative", t.name, extent));
    }
  const std::vector<std::string> reals = real_names(instance);
  for (const auto& [name, value] : problem.reals())
    if (!std::binary_search(reals.begin(), reals.end(), name))
      throw Error(fmt::format("the kernel has no real parameter '{}'{}", name,
                              reals.empty() ? "" : "; it has " + listed(reals)));
  check_overrides(signature, problem.tunables());
  check_overrides(signature, overrides);
}

std::vector<TensorSlot> tensor_slots(const Signature& signature, const Problem& problem) {
  std::vector<TensorSlot> slots;
  for (const TensorParam& t : signature.tensors) {
    TensorSlot slot{&t, shape_of(t, problem), 1, 0};
    std::int64_t bytes = size_of(t.dtype);
    bool fits = true;
    for (const std::int64_t d : slot.shape) fits = fits && !__builtin_mul_overflow(bytes, d, &bytes);
    const bool empty = std::find(slot.shape.begin(), slot.shape.end(), 0) != slot.shape.end();
    if (empty) bytes = 0;
    if (!empty && (!fits || bytes > kMaxBytes))
      throw Error(fmt::format("tensor {} {} is larger than any memory; give smaller sizes", t.name, shape_text(slot)));
    slot.bytes = static_cast<std::size_t>(bytes);
    slot.count = bytes / size_of(t.dtype);
    slots.push_back(std::move(slot));
  }
  return slots;
}

std::uint64_t scalar_bits(const ScalarParam& scalar, const Signature& signature, const Problem& problem) {
  const int declared = signature.scalar(scalar.name);
  const double fallback = declared < 0 ? 0 : signature.scalars[static_cast<std::size_t>(declared)].fallback;
  switch (scalar.dtype) {
    case DType::F32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(problem.real(scalar.name, fallback)));
    case DType::F16:
      return f32_to_f16(f64_to_f32_odd(problem.real(scalar.name, fallback)));
    case DType::BF16:
      return f32_to_bf16(f64_to_f32_odd(problem.real(scalar.name, fallback)));
    default:
      break;
  }
  const std::int64_t value = problem.get(scalar.name, static_cast<std::int64_t>(fallback));
  check_size(scalar.name, scalar.dtype == DType::Bool ? DType::U8 : scalar.dtype, value);
  if (value % scalar.multiple_of != 0)
    throw Error(fmt::format("size {} is {} but the kernel was compiled for multiples of {}", scalar.name, value,
                            scalar.multiple_of));
  const int bits = bits_of(scalar.dtype);
  return static_cast<std::uint64_t>(value) & (bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
}

std::int64_t threadgroup_bytes(const Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const Memory& m : kernel.memories)
    if (m.space == Space::Threadgroup) bytes += (m.count * size_of(m.dtype) + 15) / 16 * 16;
  return bytes;
}

void check_geometry(const Kernel& kernel, const Groups& groups, const Limits& limits, int program_threads) {
  const int most = std::min(limits.max_threads, program_threads);
  if (kernel.threads > most)
    throw Error(fmt::format("a threadgroup of {} threads, but {} allows {}; choose fewer threads", kernel.threads,
                            program_threads < limits.max_threads ? "the compiled kernel" : "the device", most));
  const std::int64_t bytes = threadgroup_bytes(kernel);
  if (bytes > limits.threadgroup_bytes)
    throw Error(fmt::format("{} bytes of threadgroup memory, but the device has {}; use smaller arrays", bytes,
                            limits.threadgroup_bytes));
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (groups[axis] < 0 || groups[axis] > limits.max_groups[axis])
      throw Error(fmt::format("{} threadgroups along {}, but the device allows 0 to {}", groups[axis], "xyz"[axis],
                              limits.max_groups[axis]));
}

void check_bindings(const std::vector<TensorSlot>& slots, const std::map<std::string, BufferView>& views) {
  std::vector<std::string> names;
  for (const TensorSlot& s : slots) names.push_back(s.param->name);
  for (const auto& [name, view] : views)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(fmt::format("the kernel has no tensor '{}'; it has {}", name, listed(names)));
  for (const TensorSlot& s : slots) {
    const std::string& name = s.param->name;
    const auto it = views.find(name);
    if (it == views.end()) throw Error(fmt::format("tensor {} has no buffer; bind one", name));
    const BufferView& v = it->second;
    if (v.bytes != s.bytes)
      throw Error(fmt::format("tensor {} {} of {} needs {} bytes but its buffer view has {}", name, shape_text(s),
                              name_of(s.param->dtype), s.bytes, v.bytes));
    if (!v.buffer) throw Error(fmt::format("tensor {} is bound to no buffer", name));
    if (v.offset > v.buffer->bytes() || v.bytes > v.buffer->bytes() - v.offset)
      throw Error(fmt::format("the view of tensor {} ends at byte {} of a buffer of {}", name, v.offset + v.bytes,
                              v.buffer->bytes()));
    if (v.offset % static_cast<std::size_t>(size_of(s.param->dtype)) != 0)
      throw Error(fmt::format("the view of tensor {} starts at byte {}, which is no multiple of its {}-byte elements",
                              name, v.offset, size_of(s.param->dtype)));
  }
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (std::size_t j = i + 1; j < slots.size(); ++j) {
      const TensorParam &a = *slots[i].param, &b = *slots[j].param;
      if (a.access == Access::In && b.access == Access::In) continue;
      if (overlap(views.at(a.name), views.at(b.name)))
        throw Error(fmt::format("tensors {} and {} share memory and one of them is written; give each its own", a.name,
                                b.name));
    }
}

void check_alignment(const std::string& tensor, const BufferView& view, std::size_t alignment) {
  if (alignment > 1 && view.offset % alignment != 0)
    throw Error(
        fmt::format("the view of tensor {} starts at byte {}, but the compiled kernel moves {} bytes at a time; "
                    "start it at a multiple of {}",
                    tensor, view.offset, alignment, alignment));
}

std::string contextual(const std::string& kernel_id, const Problem& problem, std::string_view what) {
  const std::string name = kernel_id.substr(0, kernel_id.find('/'));
  const bool named = what.find("[" + name) != std::string_view::npos;
  const std::string text = problem.text();
  return fmt::format("{}{}{}", named ? "" : "[" + kernel_id + "] ", what, text.empty() ? "" : "; problem " + text);
}

}  // namespace mt
