// Every tensor of every kernel and dtype with a buffer that does not fit it.
#include <fmt/format.h>

#include "tests/contracts/testing.h"

namespace mt {
namespace {

/// Buffers for a call, each with room around its view.
class Bound {
 public:
  static constexpr std::size_t kRoom = 256;
  explicit Bound(const Call& call) : call_(call) {
    for (const TensorSlot& s : call.tensors()) {
      if (s.param->temporary) continue;
      buffers_.push_back(std::make_unique<FakeBuffer>(s.bytes + 2 * kRoom));
      views_[s.param->name] = {buffers_.back().get(), kRoom, s.bytes};
    }
  }
  std::string refusal() const { return refusal(views_); }
  /// With the view of one tensor changed.
  std::string refusal(const std::string& tensor, const std::function<void(BufferView&)>& change) const {
    auto views = views_;
    change(views.at(tensor));
    return refusal(views);
  }
  std::string refusal(const std::map<std::string, BufferView>& views) const {
    try {
      call_.bind(views).run();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  const std::map<std::string, BufferView>& views() const { return views_; }

 private:
  const Call& call_;
  std::vector<std::unique_ptr<FakeBuffer>> buffers_;
  std::map<std::string, BufferView> views_;
};

/// Bytes of the tensor if its dimension `axis` were one larger.
std::size_t with_larger(const TensorSlot& s, std::size_t axis) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < s.shape.size(); ++i) count *= s.shape[i] + (i == axis ? 1 : 0);
  return static_cast<std::size_t>(count * size_of(s.param->dtype));
}

TEST(Buffers, EveryTensorMustHaveExactlyItsBytesInItsBuffer) {
  std::size_t tensors = 0, shapes = 0, dtypes = 0, misaligned = 0;
  Bench bench;
  for (const KernelEntry* entry : registry(false)) {
    const Call call = bench.prepare(*entry, sound(*entry->make()));
    const Bound bound(call);
    const int before = bench.launches;
    const std::string taken = bound.refusal();
    EXPECT_EQ(taken, "");
    EXPECT_GT(bench.launches, before) << entry->id();
    const int launched = bench.launches;
    const std::string problem = "problem " + call.problem().text();
    for (const TensorSlot& s : call.tensors()) {
      if (s.param->temporary) continue;
      ++tensors;
      const std::string& name = s.param->name;
      const auto size = static_cast<std::size_t>(size_of(s.param->dtype));
      const auto refused = [&](const std::vector<std::string>& parts, const std::function<void(BufferView&)>& change) {
        auto all = parts;
        all.push_back("tensor " + name);
        all.push_back(problem);
        expect_refusal(bound.refusal(name, change), *entry, all);
      };
      const auto needs = [&](std::size_t has) {
        return std::vector<std::string>{fmt::format("needs {} bytes but its buffer view has {}", s.bytes, has),
                                        std::string(name_of(s.param->dtype))};
      };
      auto views = bound.views();
      views.erase(name);
      expect_refusal(bound.refusal(views), *entry, {"tensor " + name + " has no buffer", problem});
      refused({"no buffer"}, [](BufferView& v) { v.buffer = nullptr; });
      refused(needs(s.bytes - size), [&](BufferView& v) { v.bytes -= size; });
      refused(needs(s.bytes + size), [&](BufferView& v) { v.bytes += size; });
      refused({"ends at byte"}, [&](BufferView& v) { v.offset = 2 * Bound::kRoom + size; });
      for (std::size_t axis = 0; axis < s.shape.size(); ++axis) {
        ++shapes;
        const std::size_t bytes = with_larger(s, axis);
        refused(needs(bytes), [&](BufferView& v) { v.bytes = bytes; });
      }
      // Elements of another type show in the bytes.
      ++dtypes;
      const std::size_t other = size == 1 ? s.bytes * 4 : s.bytes / 2;
      refused(needs(other), [&](BufferView& v) { v.bytes = other; });
      if (size == 1) continue;
      ++misaligned;
      refused({"starts at byte 257", fmt::format("no multiple of its {}-byte elements", size)},
              [](BufferView& v) { v.offset += 1; });
    }
    auto views = bound.views();
    views["no_such_tensor"] = views.begin()->second;
    expect_refusal(bound.refusal(views), *entry, {"no tensor 'no_such_tensor'", problem});
    EXPECT_EQ(bench.launches, launched) << entry->id() << " was launched with a buffer that does not fit";
  }
  EXPECT_GE(tensors, 2 * registry(false).size() - 10);  // some kernels make their output from nothing
  EXPECT_GE(shapes, tensors);
  EXPECT_EQ(dtypes, tensors);
  EXPECT_GT(misaligned, tensors / 2);
}

TEST(Buffers, NothingThatIsWrittenSharesMemoryWithAnotherTensor) {
  std::size_t pairs = 0;
  Bench bench;
  for (const KernelEntry* entry : registry(true)) {
    const Call call = bench.prepare(*entry, sound(*entry->make()));
    const Bound bound(call);
    for (const TensorSlot& written : call.tensors())
      for (const TensorSlot& other : call.tensors()) {
        if (written.param->temporary || other.param->temporary || &written == &other) continue;
        if (written.param->access == Access::In) continue;
        ++pairs;
        FakeBuffer both(written.bytes + other.bytes);
        auto views = bound.views();
        const auto size = static_cast<std::size_t>(size_of(other.param->dtype));
        // They meet in the last element of the one and the first of the other.
        const std::size_t start = (written.bytes - 1) / size * size;
        views.at(written.param->name) = {&both, 0, written.bytes};
        views.at(other.param->name) = {&both, start, other.bytes};
        expect_refusal(bound.refusal(views), *entry, {written.param->name, other.param->name, "share memory"});
      }
  }
  EXPECT_GT(pairs, registry(true).size());
}

TEST(Buffers, ViewsStartWhereTheCompiledAccessesCan) {
  std::size_t refused = 0;
  Bench bench;
  bench.device().start_alignment = 16;
  for (const KernelEntry* entry : registry(true)) {
    const Call call = bench.prepare(*entry, sound(*entry->make()));
    const Bound bound(call);
    EXPECT_EQ(bound.refusal(), "");
    const int launched = bench.launches;
    for (const TensorSlot& s : call.tensors()) {
      if (s.param->temporary) continue;
      ++refused;
      const std::size_t offset = Bound::kRoom + static_cast<std::size_t>(size_of(s.param->dtype));
      expect_refusal(
          bound.refusal(s.param->name, [&](BufferView& v) { v.offset = offset; }), *entry,
          {"tensor " + s.param->name, fmt::format("starts at byte {}", offset), "start it at a multiple of 16"});
    }
    EXPECT_EQ(bench.launches, launched);
  }
  EXPECT_GT(refused, registry(true).size());
}

}  // namespace
}  // namespace mt
