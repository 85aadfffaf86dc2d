#include "mt/harness/large.h"

#include <fmt/format.h>

#include <algorithm>

#include "mt/harness/verified.h"

namespace mt {
namespace {

constexpr std::size_t kAfter = 4096;  // bytes behind a tensor that must stay as they are
constexpr unsigned char kPattern = 0xA5;

/// A tensor of the whole batch of which only the last item is in use.
class Sparse {
 public:
  Sparse(Device& device, const TensorSlot& slot, const Batch& batch)
      : slot_(slot), buffer_(device.allocate(slot.bytes + kAfter)) {
    part_ = is_split(*slot.param, batch) ? slot.bytes / static_cast<std::size_t>(batch.items) : slot.bytes;
    const std::vector<unsigned char> pattern(kAfter, kPattern);
    buffer_->write(pattern.data(), kAfter, slot.bytes);
  }
  BufferView view() const { return {buffer_.get(), 0, slot_.bytes}; }
  void write(const HostTensor& item) { buffer_->write(item.data.data(), part_, slot_.bytes - part_); }
  void poison() {
    const std::vector<unsigned char> pattern(part_, kPattern);
    buffer_->write(pattern.data(), part_, slot_.bytes - part_);
  }
  HostTensor read(HostTensor like) const {
    buffer_->read(like.data.data(), part_, slot_.bytes - part_);
    return like;
  }
  bool intact() const {
    std::vector<unsigned char> after(kAfter);
    buffer_->read(after.data(), kAfter, slot_.bytes);
    return std::all_of(after.begin(), after.end(), [](unsigned char c) { return c == kPattern; });
  }

 private:
  TensorSlot slot_;
  std::unique_ptr<Buffer> buffer_;
  std::size_t part_ = 0;
};

/// Threadgroups at the end of each launch that the last item may need.
std::int64_t groups_of_an_item(const Call& call, std::int64_t items) {
  std::int64_t most = 1;
  for (const PreparedStage& s : call.stages()) {
    const std::int64_t total = s.groups[0] * s.groups[1] * s.groups[2];
    most = std::max(most, (total + items - 1) / items);
  }
  return most;
}

struct LastGroups {
  LastGroups(Device& d, std::int64_t count) : device(d), taken(d.set_option("last_groups", count)) {}
  ~LastGroups() {
    if (taken) device.set_option("last_groups", 0);
  }
  Device& device;
  bool taken;
};

using Change = std::function<Call(const Call&)>;

std::string run(Runner& runner, const KernelEntry& entry, const Problem& problem, const Change& change, CaseResult& r) {
  Device& device = runner.device();
  Call whole = runner.prepare(entry, problem);
  if (change) whole = change(whole);
  const std::optional<Batch> batch = batch_of(whole.instance(), problem);
  if (!batch) return "the kernel declares no batch, or the problem has one item; give it batch() and more";
  const Call alone = runner.prepare(entry, batch->alone);
  const std::map<std::string, HostTensor> inputs = make_inputs(alone.tensors(), batch->alone);
  TensorSet set(device, alone);
  set.run(inputs);
  const std::vector<HostTensor> outputs = set.outputs();
  const Verification v =
      verify_outputs(outputs, alone.instance().oracle(Inputs(inputs, batch->alone, alone.signature())));
  r.compared = v.compared;
  r.ratio = v.worst.max_error;
  if (!v.error.empty()) return "alone: " + v.error;

  std::map<std::string, Sparse> tensors;
  std::map<std::string, BufferView> views;
  for (const TensorSlot& s : whole.tensors()) {
    if (s.param->temporary) continue;
    Sparse& t = tensors.try_emplace(s.param->name, device, s, *batch).first->second;
    if (const auto it = inputs.find(s.param->name); it != inputs.end())
      t.write(it->second);
    else
      t.poison();
    views[s.param->name] = t.view();
  }
  const BoundCall bound = whole.bind(views);
  {
    const LastGroups some(device, groups_of_an_item(whole, batch->items));
    bound.run();
    device.wait();
  }
  for (const HostTensor& expected : outputs) {
    const HostTensor found = tensors.at(expected.name).read(expected);
    if (const auto i = different_element(found, expected))
      return fmt::format("{}: element {} of the last of {} items is {:.9g} but {:.9g} alone", expected.name, *i,
                         batch->items, found.at(*i), expected.at(*i));
  }
  for (const auto& [name, t] : tensors)
    if (!t.intact()) return fmt::format("{}: written past its end", name);
  return "";
}

}  // namespace

CaseResult run_last_item(Runner& runner, const KernelEntry& entry, const Problem& problem, const Change& change) {
  return timed_case(runner, entry, problem, [&](CaseResult& r) { r.error = run(runner, entry, problem, change, r); });
}

std::optional<Problem> enlarged(const KernelInstance& instance, const Problem& problem, std::int64_t elements) {
  const std::optional<Batch> batch = batch_of(instance, problem);
  if (!batch) return std::nullopt;
  std::int64_t part = 0;
  for (const TensorSlot& s : tensor_slots(instance.signature(), problem))
    if (!s.param->temporary && is_split(*s.param, *batch)) part = std::max(part, s.count / batch->items);
  if (part == 0) return std::nullopt;
  Problem large = batch->alone;
  for (const std::string& size : batch->sizes) large = large.with(size, batch->alone[size] * (elements / part + 1));
  return large;
}

}  // namespace mt
