// Index of the largest or smallest element: the first of equals; NaN counts as the extreme. Long tensors take two
// stages: many threadgroups leave their best element each, then one threadgroup chooses among those.
#include "kernels/lib/order.h"
#include "mt/oracle/reduce.h"

namespace mt {
namespace {

template <Storage T>
struct ArgReduce {
  static constexpr int kMostBlocks = 1024;

  In<T> x{"x", {"n"}};
  Temp<u32> best_key{"best_key", {kMostBlocks}}, best_at{"best_at", {kMostBlocks}};
  Out<u32> out{"out", {1}};
  Size n{"n"};
  Tunable threads{"threads", 256, {32, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};              // elements a thread takes at a time
  Tunable blocks{"blocks", 1, {1, 16, 64, 256, 1024}};  // threadgroups of the first stage; 1: it is the only one
  bool largest = true;

  void plan(const Problem& p, TargetTraits traits) {
    threads = traits.gpu ? 256 : 32;
    width = 16 / size_of(dtype_of<T>);
    // A GPU waits for memory rather than for threads; a core has the more to do with each threadgroup.
    const std::int64_t runs = traits.gpu ? 1 : 8;
    blocks = static_cast<int>(std::clamp<std::int64_t>(p["n"] / (runs * threads * width), 1, traits.gpu ? 1024 : 64));
  }
  Launch launch_blocks(const Problem& p) const {
    require(p["n"] > 0, "n must be at least 1: nothing has no extreme");
    return {.groups = {blocks}, .threads = threads};
  }
  Launch launch_choose(const Problem&) const { return {.threads = 256}; }

  /// A key that the wanted element has the largest of. Zeros of either sign are equal.
  Vec<u32> key_of(const Vec<f32>& v) const {
    const Vec<u32> key = order_key(v + 0.f);
    return largest ? key : select(key == kNanKey, key, ~key);
  }

  struct Best {
    VecVar<u32> key, at;
    explicit Best(int lanes) : key(lanes, 0u), at(lanes, 0xffffffffu) {}
    /// Takes what beats the lane's best; earlier elements come first, so equals change nothing.
    void offer(const Vec<u32>& k, const Vec<u32>& where) {
      const Vec<bool> better = k > key;  // 0 is no number's key
      at = select(better, where, at);
      key = select(better, k, key);
    }
  };
  /// The best of the threadgroup's lanes: the highest key, and the lowest index that has it.
  template <class F>
  void choose(const Best& best, F&& result) const {
    const U32 highest = group_max(max_of(as_value(best.key)));
    const Vec<u32> candidates = select(best.key == highest, best.at, splat(U32(0xffffffffu), best.at.lanes()));
    const U32 first = group_min(min_of(candidates));
    // Equivalent if constant_above: every thread has both.
    if_(thread_id() == 0, [&] { result(highest, first); });
  }

  void walk_blocks(Best& best) const {
    const u32 run = static_cast<u32>(threads * width);
    const U32 mine = thread_id() * static_cast<u32>(width), begin = blocks == 1 ? mine : group_id() * run + mine;
    const U32 whole = n - n % static_cast<u32>(width);
    for_(begin, whole, run * static_cast<u32>(blocks),
         [&](U32 i) { best.offer(key_of(x.load(i, width)), pack(width, [&](int e) { return i + e; })); });
    if (width == 1) return;
    // Equivalent if always, half_guard, other_half_guard, other_op of bit_and: an offer made twice changes nothing.
    // Equivalent if zero_id, other_axis, constant_above of const, negated of eq: some thread makes it all the same.
    if_(blocks == 1 ? thread_id() == 0 : (group_id() == 0) & (thread_id() == 0),
        [&] { for_(whole, n, 1, [&](U32 i) { best.offer(splat(key_of(x.load(i, 1))[0], width), splat(i, width)); }); });
  }
  void body_single() const {
    Best best(width);
    walk_blocks(best);
    choose(best, [&](const U32&, const U32& at) { out.store(0, at); });
  }
  void body_blocks() const {
    Best best(width);
    walk_blocks(best);
    choose(best, [&](const U32& key, const U32& at) {
      best_key.store(group_id(), key);
      best_at.store(group_id(), at);
    });
  }
  void body_choose() const {
    Best best(1);
    for_(thread_id(), U32(static_cast<u32>(blocks)), static_cast<u32>(mt::threads()), [&](U32 i) {
      const Vec<u32> key = best_key.load(i, 1), at = best_at.load(i, 1);
      // Blocks interleave, so a later one may hold an earlier element.
      const Vec<bool> better = (key > best.key) | ((key == best.key) & (at < best.at));
      best.at = select(better, at, best.at);
      best.key = select(better, key, best.key);
    });
    choose(best, [&](const U32&, const U32& at) { out.store(0, at); });
  }
  Stages<ArgReduce> stages() const {
    if (blocks == 1) return {{"", &ArgReduce::launch_blocks, &ArgReduce::body_single}};
    return {{"blocks", &ArgReduce::launch_blocks, &ArgReduce::body_blocks},
            {"choose", &ArgReduce::launch_choose, &ArgReduce::body_choose}};
  }

  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", largest ? oracle::arg_max_all(in["x"]) : oracle::arg_min_all(in["x"])}};
  }
  Problems tests() const {
    Problems all = over(Problem{}, "n", {1, 2, 31, 33, 1000, 4096, 151936, 1 << 20});
    // The answer is one element: many inputs, so that it lies in every place of a run, a ragged end and a threadgroup.
    for (int seed = 1; seed <= 40; ++seed) {
      for (const int count : {2 + seed % 11, 1024 + seed % 8, 4096 + seed % 8})
        all.push_back(Problem{{"n", count}}.with_seed(static_cast<std::uint64_t>(seed)));
      all.push_back(Problem{{"n", 1 + seed}}.with_edges());
    }
    return all + Problems{Problem{{"n", 5000}}.with_edges(), Problem{{"n", 200003}}.with_seed(7)};
  }
  Problems benches() const { return over(Problem{}, "n", {1 << 20, 151936}); }
  Work work(const Problem& p) const {
    return {.read = static_cast<double>(p["n"]) * size_of(dtype_of<T>), .written = 4};
  }
};

const auto smallest = [](auto& k) { k.largest = false; };
const bool registered = kernel<ArgReduce>("mt_argmax", Floats{}) &&
                        kernel<ArgReduce>("mt_argmin", Floats{}, smallest) &&
                        kernel<ArgReduce>("ffai_argmax", Floats{});

}  // namespace
}  // namespace mt
