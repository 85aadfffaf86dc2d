#include "mt/harness/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "mt/harness/catalogue.h"
#include "mt/harness/names.h"

namespace mt {
namespace {

std::vector<const Backend*> by_rank() {
  std::vector<const Backend*> all;
  for (const Backend* b : backends())
    if (b->rank() > 0) all.push_back(b);
  std::stable_sort(all.begin(), all.end(), [](const Backend* a, const Backend* b) { return a->rank() > b->rank(); });
  return all;
}

}  // namespace

std::vector<const KernelEntry*> select_kernels(const std::vector<KernelEntry>& all, std::string_view filter,
                                               std::optional<DType> dtype) {
  std::vector<const KernelEntry*> found;
  std::vector<std::string> names, dtypes;
  for (const KernelEntry& e : all) names.push_back(e.name);
  const bool named = std::any_of(names.begin(), names.end(), [&](const auto& n) { return matches(filter, n); });
  for (const KernelEntry& e : all) {
    if (named ? !matches(filter, e.name) : family_of(e) != filter) continue;
    const std::string type(name_of(e.dtype));
    if (std::find(dtypes.begin(), dtypes.end(), type) == dtypes.end()) dtypes.push_back(type);
    if (!dtype || e.dtype == *dtype) found.push_back(&e);
  }
  if (!found.empty()) return found;
  if (all.empty()) throw UsageError("this build has no kernels");
  if (!dtypes.empty())
    throw UsageError(fmt::format("no kernel that matches '{}' is registered for {}; there is {}", filter,
                                 name_of(*dtype), listed(dtypes)));
  const std::vector<std::string> near = nearest(filter, names);
  throw UsageError(fmt::format("no kernel matches '{}'; {}", filter,
                               near.empty() ? "`tile list` shows all of them" : "nearest: " + listed(near, "or")));
}

std::vector<const KernelEntry*> select_kernels(const std::vector<KernelEntry>& all,
                                               const std::vector<std::string>& filters, std::optional<DType> dtype) {
  if (filters.empty()) return select_kernels(all, "", dtype);
  std::set<const KernelEntry*> found;  // entries lie in one array: by address is by order
  for (const std::string& filter : filters)
    for (const KernelEntry* e : select_kernels(all, filter, dtype)) found.insert(e);
  return {found.begin(), found.end()};
}

DType dtype_named(std::string_view name) {
  if (const auto type = dtype_from(name)) return *type;
  std::vector<std::string> all;
  for (int i = 0; i < kDTypeCount; ++i) all.emplace_back(name_of(static_cast<DType>(i)));
  throw UsageError(fmt::format("unknown dtype '{}'; use {}", name, listed(all, "or")));
}

const Backend& backend_named(std::string_view name) {
  if (const Backend* b = find_backend(name == "msl" ? "metal" : name)) return *b;
  std::vector<std::string> all;
  for (const Backend* b : backends()) all.emplace_back(b->name());
  throw UsageError(fmt::format("unknown target '{}'; this build has {}", name, listed(all)));
}

namespace {

std::optional<int> whole_number(std::string_view text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

}  // namespace

std::vector<std::string> usable_devices() {
  std::vector<std::string> names;
  for (const Backend* b : by_rank())
    if (b->unavailable().empty()) names.emplace_back(b->name());
  return names;
}

OpenDevice open_device(std::string_view name) {
  if (!name.empty()) {
    const auto colon = name.find(':');
    const Backend* b = find_backend(name.substr(0, colon));
    const auto index = colon == name.npos ? 0 : whole_number(name.substr(colon + 1));
    if (!b || !index)
      throw UsageError(fmt::format("unknown device '{}'; this machine has {}", name, listed(usable_devices())));
    std::string why = b->unavailable();
    if (why.empty()) {
      auto device = b->open(*index);
      if (device) return {b, device.take()};
      why = device.error().what();
    }
    throw UsageError(
        fmt::format("device {} can't be used here: {}; this machine has {}", name, why, listed(usable_devices())));
  }
  std::string why;
  for (const Backend* b : by_rank()) {
    if (!b->unavailable().empty()) continue;
    auto device = b->open();
    if (device) return {b, device.take()};
    why += fmt::format("; {}: {}", b->name(), device.error().what());
  }
  throw UsageError("no backend of this build can run kernels here" + why);
}

}  // namespace mt
