#include "mt/harness/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mt/harness/verified.h"

namespace mt {
std::optional<Batch> batch_of(const KernelInstance& instance, const Problem& problem) {
  Batch b{instance.batch(), 0, problem};
  if (b.sizes.empty()) return std::nullopt;
  b.items = problem[b.sizes[0]];
  if (b.items < 2) return std::nullopt;
  for (const std::string& size : b.sizes) {
    if (problem[size] % b.items != 0) return std::nullopt;
    b.alone = b.alone.with(size, problem[size] / b.items);
  }
  return b;
}

bool is_split(const TensorParam& tensor, const Batch& batch) {
  return !tensor.shape.empty() &&
         std::find(batch.sizes.begin(), batch.sizes.end(), tensor.shape[0].symbol) != batch.sizes.end();
}

HostTensor item_of(const HostTensor& whole, const TensorParam& tensor, const Batch& batch, std::int64_t item) {
  if (!is_split(tensor, batch)) return whole;
  HostTensor part(whole.name, whole.dtype, shape_of(tensor, batch.alone));
  MT_ASSERT(static_cast<std::int64_t>(part.bytes()) * batch.items == static_cast<std::int64_t>(whole.bytes()),
            "the sizes of a batch are leading dimensions only");
  std::memcpy(part.data.data(), whole.data.data() + part.bytes() * static_cast<std::size_t>(item), part.bytes());
  return part;
}

std::string compare_alone(Runner& runner, const KernelEntry& entry, const Call& call,
                          const std::map<std::string, HostTensor>& inputs, const std::vector<HostTensor>& outputs,
                          const Overrides& overrides) {
  const std::optional<Batch> batch = batch_of(call.instance(), call.problem());
  if (!batch || call.has_atomics()) return "";
  const Call alone = runner.prepare(entry, batch->alone, overrides);
  TensorSet set(runner.device(), alone);
  for (const std::int64_t item : {batch->items / 2, batch->items - 1}) {
    std::map<std::string, HostTensor> own;
    for (const auto& [name, tensor] : inputs)
      own.emplace(name, item_of(tensor, *call.signature().tensor(name), *batch, item));
    set.run(own);
    for (const HostTensor& result : set.outputs()) {
      const auto whole =
          std::find_if(outputs.begin(), outputs.end(), [&](const HostTensor& t) { return t.name == result.name; });
      const HostTensor part = item_of(*whole, *call.signature().tensor(result.name), *batch, item);
      if (const auto at = different_element(part, result, true))  // compilations may choose other NaNs
        return fmt::format("{}: element {} of item {} is {:.9g} in the batch but {:.9g} alone", result.name, *at, item,
                           part.at(*at), result.at(*at));
    }
  }
  return "";
}

}  // namespace mt
