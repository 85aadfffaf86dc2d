#include "mt/harness/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mt/harness/verified.h"

namespace mt {
namespace {

std::optional<Batch> split_by(const std::vector<std::string>& sizes, const Problem& problem) {
  if (sizes.empty()) return std::nullopt;
  Batch b{.items = problem[sizes[0]], .alone = problem};
  if (b.items < 2) return std::nullopt;
  for (const std::string& size : sizes) {
    if (problem[size] == 1) continue;
    if (problem[size] % b.items != 0) return std::nullopt;
    b.alone = b.alone.with(size, problem[size] / b.items);
    b.sizes.push_back(size);
  }
  return b;
}

/// The axis along which a tensor holds a part for each item.
std::optional<std::size_t> axis_of(const TensorParam& tensor, const Batch& batch) {
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis)
    if (std::find(batch.sizes.begin(), batch.sizes.end(), tensor.shape[axis].symbol) != batch.sizes.end()) return axis;
  return std::nullopt;
}

std::string compare_items(Runner& runner, const KernelEntry& entry, const Call& call, const Batch& batch,
                          const std::map<std::string, HostTensor>& inputs, const std::vector<HostTensor>& outputs,
                          const Overrides& overrides) {
  const Call alone = runner.prepare(entry, batch.alone, overrides);
  TensorSet set(runner.device(), alone);
  std::vector<std::int64_t> items{batch.items - 1};
  if (!batch.only_last) items.insert(items.begin(), batch.items / 2);
  for (const std::int64_t item : items) {
    std::map<std::string, HostTensor> own;
    for (const auto& [name, tensor] : inputs)
      own.emplace(name, item_of(tensor, *call.signature().tensor(name), batch, item));
    set.run(own);
    for (const HostTensor& result : set.outputs()) {
      const auto whole =
          std::find_if(outputs.begin(), outputs.end(), [&](const HostTensor& t) { return t.name == result.name; });
      const HostTensor part = item_of(*whole, *call.signature().tensor(result.name), batch, item);
      if (const auto at = different_element(part, result, true))  // compilations may choose other NaNs
        return fmt::format("{}: element {} of item {} of {} is {:.9g} in the batch but {:.9g} alone", result.name, *at,
                           item, batch.sizes[0], part.at(*at), result.at(*at));
    }
  }
  return "";
}

}  // namespace

std::optional<Batch> batch_of(const KernelInstance& instance, const Problem& problem) {
  return split_by(instance.batch(), problem);
}

std::vector<Batch> promises_of(const KernelInstance& instance, const Problem& problem) {
  std::vector<Batch> all;
  if (const auto batch = batch_of(instance, problem)) all.push_back(*batch);
  for (const auto& sizes : instance.independent())
    if (const auto group = split_by(sizes, problem)) {
      all.push_back(*group);
      all.back().only_last = true;
    }
  return all;
}

bool is_split(const TensorParam& tensor, const Batch& batch) { return axis_of(tensor, batch).has_value(); }

HostTensor item_of(const HostTensor& whole, const TensorParam& tensor, const Batch& batch, std::int64_t item) {
  const auto axis = axis_of(tensor, batch);
  if (!axis) return whole;
  HostTensor part(whole.name, whole.dtype, shape_of(tensor, batch.alone));
  MT_ASSERT(static_cast<std::int64_t>(part.bytes()) * batch.items == static_cast<std::int64_t>(whole.bytes()),
            "one axis of a tensor counts items");
  std::size_t runs = 1;
  for (std::size_t n = 0; n < *axis; ++n) runs *= static_cast<std::size_t>(part.shape[n]);
  if (part.bytes() == 0) return part;
  const std::size_t bytes = part.bytes() / runs, all = whole.bytes() / runs;
  for (std::size_t r = 0; r < runs; ++r)
    std::memcpy(part.data.data() + r * bytes, whole.data.data() + r * all + bytes * static_cast<std::size_t>(item),
                bytes);
  return part;
}

std::string compare_alone(Runner& runner, const KernelEntry& entry, const Call& call,
                          const std::map<std::string, HostTensor>& inputs, const std::vector<HostTensor>& outputs,
                          const Overrides& overrides) {
  if (call.has_atomics()) return "";
  for (const Batch& b : promises_of(call.instance(), call.problem())) {
    const std::string bad = compare_items(runner, entry, call, b, inputs, outputs, overrides);
    if (!bad.empty()) return bad;
  }
  return "";
}

}  // namespace mt
