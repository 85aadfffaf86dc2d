// Index of the largest or smallest element: the first of equals; NaN counts as the extreme. Long tensors take two
// stages: many threadgroups leave their best element each, then one threadgroup chooses among those.
#include "kernels/lib/order.h"
#include "mt/oracle/reduce.h"

namespace mt {
namespace {

template <Storage T>
struct ArgReduce {
  static constexpr int kMostBlocks = 1024;
  static constexpr u32 kNowhere = 0xffffffffu;  // above every index

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
    // Equivalent if constant_above: the least key of a number is far above 1.
    explicit Best(int lanes) : key(lanes, 0u), at(lanes, kNowhere) {}
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
    // Equivalent if constant_below: no index is larger than that either.
    const Vec<u32> candidates = select(best.key == highest, best.at, splat(U32(kNowhere), best.at.lanes()));
    const U32 first = group_min(min_of(candidates));
    // Equivalent if constant_above: every thread has both.
    if_(thread_id() == 0, [&] { result(highest, first); });
  }

  void walk_blocks(Best& best) const {
    const u32 run = static_cast<u32>(threads * width);
    const U32 mine = thread_id() * static_cast<u32>(width), begin = blocks == 1 ? mine : group_id() * run + mine;
    // Equivalent if second_operand, swap_operands: the last `width` elements are offered one by one then, some twice.
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
    const auto each_block = [&](auto&& body) {
      for_(thread_id(), U32(static_cast<u32>(blocks)), static_cast<u32>(mt::threads()), body);
    };
    // Equivalent if constant_above: the least key of a number is far above 1.
    // Equivalent if constant_below: no index is larger than that either.
    Var<u32> key(0u), at(kNowhere);
    each_block([&](U32 i) { key = max(key, best_key.load(i)); });
    const U32 highest = group_max(key);
    // Blocks interleave: any of those with the highest key may hold the earliest element.
    // Equivalent if constant_below: no index is larger than that either.
    each_block([&](U32 i) { at = min(at, select(best_key.load(i) == highest, best_at.load(i), U32(kNowhere))); });
    const U32 first = group_min(at);
    // Equivalent if constant_above: every thread has it.
    if_(thread_id() == 0, [&] { out.store(0, first); });
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
    return all + placed_tests() + Problems{Problem{{"n", 5000}}.with_edges(), Problem{{"n", 200003}}.with_seed(7)};
  }
  /// Extremes, neighbours of extremes, NaN and zeros of both signs in the last elements, which are whole runs or a
  /// ragged end of one launch or of two; and equal extremes all over.
  Problems placed_tests() const {
    const double nan = std::numeric_limits<double>::quiet_NaN(), most = largest ? 512 : -512;
    const double above = largest ? 1 + 0x1p-23 : 1 - 0x1p-24, below = 0.7f - 0x1p-24;
    Problems all;
    for (const int count : {7, 8, 1503, 2052, 2055, 4105}) {
      const Problem p{{"n", count}};
      const auto last = [](const Problem& base, double v) { return base.with_element("x", -1, v); };
      const Problem ones = p.with_values(Values::Ones), equal = p.with_values(Values::Equal);
      all = all + Problems{last(p, most), last(p, -most), p.with_element("x", -3, most), last(p, nan), last(p, -nan)};
      all = all + Problems{last(p, nan).with_element("x", 3, -nan), equal, p.with_values(Values::Ramp)};
      all = all + Problems{last(ones, above), last(equal, largest ? 0.7f + 0x1p-24 : below)};
      // A zero of the sign that counts less, then one of the other.
      const Problem lower = largest ? p.with_values(Values::MinusInf) : equal;
      all.push_back(last(lower, largest ? 0. : -0.).with_element("x", -2, largest ? -0. : 0.));
    }
    // More partial results than the second launch has threads.
    for (const auto& [at, v] : {std::pair{-1, most}, {1, most}, {-1, nan}})
      all.push_back(Problem{{"n", 4105}}.with_tunable("blocks", 1024).with_element("x", at, v));
    all.push_back(Problem{{"n", 4105}}.with_tunable("blocks", 1024).with_values(Values::Equal));
    return all;
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
