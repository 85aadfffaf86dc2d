#include "mt/dsl/kernel.h"

#include <fmt/format.h>
#include <algorithm>

namespace mt {
namespace {
std::vector<KernelEntry>& table() {
  static std::vector<KernelEntry> all;
  return all;
}
bool before(const KernelEntry& a, const KernelEntry& b) {
  return a.name != b.name ? a.name < b.name : a.dtype < b.dtype;
}
}  // namespace

const HostTensor& Inputs::operator[](std::string_view name) const {
  const auto it = tensors_.find(std::string(name));
  if (it == tensors_.end())
    throw Error(fmt::format("the oracle asks for tensor '{}', which the kernel does not declare as an input", name));
  return it->second;
}

double Inputs::real(std::string_view name) const {
  const int i = signature_.scalar(name);
  if (i < 0) throw Error(fmt::format("the oracle asks for scalar '{}', which the kernel does not declare", name));
  const ScalarDecl& s = signature_.scalars[static_cast<std::size_t>(i)];
  // The kernel sees the value rounded to f32; so must the oracle.
  return static_cast<double>(static_cast<float>(problem_.real(name, s.fallback)));
}

const std::vector<KernelEntry>& kernels() { return table(); }

void add_kernel(KernelEntry entry) {
  auto& all = table();
  const auto at = std::upper_bound(all.begin(), all.end(), entry, before);
  if (at != all.begin() && !before(*std::prev(at), entry)) MT_ICE("two kernels are registered as " + entry.id());
  all.insert(at, std::move(entry));
}

}  // namespace mt
