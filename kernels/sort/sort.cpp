// Ascending sort of each row, NaN last.
//
// Rows of up to 4096 elements: a bitonic network in threadgroup memory, one threadgroup a row. Exchanges over fewer
// than 32 elements happen between the lanes of a simdgroup.
//
// Longer rows: a radix sort from the low digit on. For each digit of 8 bits simdgroups count the keys of a segment of
// the row, the counts of each digit are summed up over the segments, and the simdgroups put their keys where those
// sums say, equal digits in the order in which they stand.
#include "kernels/lib/order.h"
#include "kernels/lib/row.h"
#include "mt/oracle/reduce.h"

namespace mt {
namespace {

template <Storage T>
struct Sort {
  static constexpr int kLongest = 4096;  // of the network
  static constexpr int kDigit = 8, kDigits = 1 << kDigit;
  // Keys of 16-bit numbers differ in their upper bits alone: those of bf16 in 16, those of f16 in 19.
  static constexpr int kPasses = dtype_of<T> == DType::F32 ? 4 : dtype_of<T> == DType::F16 ? 3 : 2;
  static constexpr int kFirstBit = 32 - kPasses * kDigit;

  In<T> x{"x", {"rows", "n"}};
  Out<T> out{"out", {"rows", "n"}};
  Temp<u32> keys_a{"keys_a", {"rows", "n"}}, keys_b{"keys_b", {"rows", "n"}};  // in turn, between passes
  // How many keys of a segment have a digit, then how many of them stand in segments before it: [digit][segment] of
  // each row, which are fewer than its elements.
  Temp<u32> places{"places", {"rows", "n"}};
  Temp<u32> totals{"totals", {"rows", kDigits}};  // keys of the row that have the digit
  Size n{"n"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable size{
      "size", kLongest, {32, 64, 128, 256, 512, 1024, 2048, 4096}};  // of the network: a power of two, n or more
  Tunable radix{"radix", 0, {0, 1}};
  Tunable turns{"turns", 32, {16, 32, 64, 128}};  // a segment has so many times 32 keys

  void plan(const Problem& p, TargetTraits traits) {
    int network = kLanes;
    while (network < p["n"] && network < kLongest) network *= 2;
    size = network;
    radix = p["n"] > kLongest ? 1 : 0;
    turns = p["n"] < (1 << 22) ? 32 : 128;
    if (radix == 1)
      threads = traits.gpu ? 256 : 32;
    else
      threads = !traits.gpu ? 32 : std::clamp(network < 512 ? network / 8 : network / 2, 32, 512);
  }
  Stages<Sort> stages() const {
    if (radix == 0) return {{"", &Sort::launch, &Sort::body}};
    Stages<Sort> all;
    add_passes(all, std::make_integer_sequence<int, kPasses>{});
    return all;
  }
  template <int... kPass>
  static void add_passes(Stages<Sort>& all, std::integer_sequence<int, kPass...>) {
    const auto add = [&](int pass, auto count, auto scatter) {
      const std::string digit = std::to_string(pass);
      all.push_back({"count_" + digit, &Sort::launch_segments, count});
      all.push_back({"sum_" + digit, &Sort::launch_digits, &Sort::sum_counts});
      all.push_back({"scatter_" + digit, &Sort::launch_segments, scatter});
    };
    (add(kPass, &Sort::template count<kPass>, &Sort::template scatter<kPass>), ...);
  }

  Launch launch(const Problem& p) const {
    require(p["n"] <= size, "a row that the network sorts has at most 4096 elements, and no more than size");
    return row_launch(p, threads);
  }
  Launch launch_segments(const Problem& p) const {
    require(p["n"] > kDigits, "the radix sort is for rows of more than 256 elements");
    return {.groups = {ceil_div(p["n"], std::int64_t{threads} * turns), p["rows"]}, .threads = threads};
  }
  Launch launch_digits(const Problem& p) const { return {.groups = {kDigits, p["rows"]}, .threads = kLanes}; }

  /// The steps of a merge of `merge` elements whose distances fit in a simdgroup, each lane's key in a register.
  void exchange_lanes(Var<u32>& key, int merge, const U32& position) const {
    const Bool ascending = (position & static_cast<u32>(merge)) == 0;
    for (int distance = std::min(merge, kLanes) / 2; distance >= 1; distance /= 2) {
      const U32 own = key, other = simd_shuffle_xor(key, distance);
      const Bool keep_low = ((lane_id() & static_cast<u32>(distance)) == 0) == ascending;
      key = select(keep_low, min(own, other), max(own, other));
    }
  }

  void body() const {
    const auto row = x.row(group_id());
    const auto result = out.row(group_id());
    const Shared<u32> keys("keys", size);
    const U32 lane = lane_id();

    for_simds(static_cast<u32>(size / kLanes), [&](U32 block) {
      const U32 i = block * kLanes + lane;
      // Equivalent if constant_below: no number has that key either.
      Var<u32> key(kNanKey);  // padding sorts last
      if_(i < n, [&] { key = order_key(row.load(i, 1))[0]; });
      for (int merge = 2; merge <= kLanes; merge *= 2) exchange_lanes(key, merge, i);
      keys[i] = key;
    });
    barrier();

    for (int merge = 2 * kLanes; merge <= size; merge *= 2) {
      for (int distance = merge / 2; distance >= kLanes; distance /= 2) {
        for_simds(static_cast<u32>(size / (2 * kLanes)), [&](U32 pair) {
          const U32 t = pair * kLanes;
          // Equivalent if constant_below: t is a multiple of 32.
          const U32 i = t * 2u - (t & static_cast<u32>(distance - 1));
          // Equivalent if constant_above: i is a multiple of 32.
          const Bool ascending = (i & static_cast<u32>(merge)) == 0;
          const U32 low = i + lane, high = low + static_cast<u32>(distance);
          const U32 a = keys[low], b = keys[high], smaller = min(a, b), larger = max(a, b);
          keys[low] = select(ascending, smaller, larger);
          keys[high] = select(ascending, larger, smaller);
        });
        barrier();
      }
      for_simds(static_cast<u32>(size / kLanes), [&](U32 block) {
        const U32 i = block * kLanes + lane;
        Var<u32> key(keys[i]);
        exchange_lanes(key, merge, i);
        keys[i] = key;
      });
      barrier();
    }

    for_(thread_id(), n, static_cast<u32>(mt::threads()),
         [&](U32 i) { result.store(i, from_order_key(keys.load(i, 1))); });
  }

  // ── radix sort: groups of axis 1 are rows ──
  U32 segment_keys() const { return U32(static_cast<u32>(turns * kLanes)); }
  U32 segments() const { return (n + (segment_keys() - 1u)) / segment_keys(); }
  U32 own_segment() const { return group_id() * static_cast<u32>(simd_count()) + simd_id(); }
  template <int kPass>
  Vec<u32> key_at(const U32& i) const {
    if constexpr (kPass == 0)
      return order_key(x.row(group_id(1)).load(i, 1));
    else
      return (kPass % 2 == 1 ? keys_a : keys_b).row(group_id(1)).load(i, 1);
  }
  template <int kPass>
  static U32 digit_of(const U32& key) {
    // Equivalent if first_operand of bit_and: nothing is above the highest digit.
    return (key >> (kFirstBit + kPass * kDigit)) & static_cast<u32>(kDigits - 1);
  }
  /// f(digit) for all of them, shared out among the lanes.
  template <class F>
  static void each_digit(F&& f) {
    for_(0u, U32(static_cast<u32>(kDigits)), static_cast<u32>(kLanes), [&](U32 first) { f(first + lane_id()); });
  }
  /// f(i) for the keys of this simdgroup's segment, a key a lane in each turn; the row may end before the last lanes.
  template <class F>
  void each_turn(F&& f) const {
    const U32 begin = own_segment() * segment_keys();
    // Equivalent if first_operand of min: there is nothing in the turns beyond the row.
    for_(begin, min(begin + segment_keys(), n), static_cast<u32>(kLanes), [&](U32 first) { f(first + lane_id()); });
  }

  template <int kPass>
  void count() const {
    const Shared<u32> counts("counts", simd_count() * kDigits);
    const U32 own = simd_id() * static_cast<u32>(kDigits);
    each_digit([&](U32 digit) { counts[own + digit] = 0; });
    simd_barrier();
    each_turn([&](U32 i) {
      if_(i < n, [&] { counts.atomic(Combine::Sum, own + digit_of<kPass>(key_at<kPass>(i)[0]), 1u); });
    });
    simd_barrier();
    if_(own_segment() < segments(), [&] {
      const auto row = places.row(group_id(1));
      each_digit([&](U32 digit) { row.store(digit * segments() + own_segment(), counts.load(own + digit)); });
    });
  }

  /// One simdgroup a digit: what stands before each segment, and the total.
  void sum_counts() const {
    constexpr int kAtOnce = 4;
    const auto row = places.row(group_id(1));
    const U32 first = group_id() * segments();
    Var<u32> before(0u);
    // Equivalent if loop_beyond_last: no segments are left there.
    for_(0u, segments(), static_cast<u32>(kAtOnce * kLanes), [&](U32 start) {
      auto own = vars<u32>(kAtOnce, U32(0));
      const auto place = [&](int e) { return start + static_cast<u32>(e * kLanes) + lane_id(); };
      for (int e : unroll(kAtOnce)) if_(place(e) < segments(), [&] { own[e] = row.load(first + place(e)); });
      for (int e : unroll(kAtOnce)) {
        const U32 mine = own[e];
        const U32 sum = before + simd_scan_exclusive(Combine::Sum, mine);
        if_(place(e) < segments(), [&] { row.store(first + place(e), sum); });
        before = before + simd_sum(mine);
      }
    });
    // Equivalent if constant_above: every lane has the total.
    if_(lane_id() == 0, [&] { totals.row(group_id(1)).store(group_id(), before); });
  }

  template <int kPass>
  void scatter() const {
    const Shared<u32> next("next", simd_count() * kDigits);  // where the segment's next key with a digit goes
    const U32 own = simd_id() * static_cast<u32>(kDigits), lane = lane_id();
    // Equivalent if first_operand of sub, constant_below: simdgroups beyond the row put nothing.
    const U32 segment = min(own_segment(), segments() - 1u);
    const auto row = places.row(group_id(1)), all = totals.row(group_id(1));
    Var<u32> smaller(0u);  // keys of the row with smaller digits
    each_digit([&](U32 digit) {
      const U32 mine = all.load(digit);
      next[own + digit] = smaller + simd_scan_exclusive(Combine::Sum, mine) + row.load(digit * segments() + segment);
      smaller = smaller + simd_sum(mine);
    });
    simd_barrier();
    each_turn([&](U32 i) {
      const Bool exists = i < n;
      // Equivalent if constant_above, constant_below: only lanes after all others have no key.
      Var<u32> key(0u);
      if_(exists, [&] { key = key_at<kPass>(i)[0]; });
      const U32 digit = digit_of<kPass>(key), bit = U32(1) << lane;
      Var<u32> same(~0u);  // lanes whose keys have the digit
      for (int b = 0; b < kDigit; ++b) {
        // Equivalent if negated, constant_below: bits are equal where their complements are.
        const Bool one = ((digit >> b) & 1u) == 1;
        const U32 ones = simd_or(select(one, bit, U32(0)));
        same = same & select(one, ones, ~ones);
      }
      const U32 place = next.load(own + digit) + popcount(same & (bit - 1u));
      simd_barrier();
      // The last of them moves the place on.
      if_((same & ~(bit | (bit - 1u))) == 0, [&] { next[own + digit] = place + 1u; });
      simd_barrier();
      if_(exists, [&] { put<kPass>(place, key); });
    });
  }
  template <int kPass>
  void put(const U32& place, const U32& key) const {
    if constexpr (kPass + 1 == kPasses)
      out.row(group_id(1)).store(place, from_order_key(splat(key, 1)));
    else
      (kPass % 2 == 0 ? keys_a : keys_b).row(group_id(1)).store(place, key);
  }

  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::sort_rows(in["x"])}}; }
  Problems tests() const {
    return over({{"rows", 3}}, "n", {1, 2, 31, 32, 33, 64, 65, 100, 1000, 1024, 1025, 4095, 4096}) +
           Problems{{{"rows", 0}, {"n", 64}}, Problem{{"rows", 37}, {"n", 100}}.with_edges()} + long_tests();
  }
  /// A segment and a threadgroup that are full, and some with a key more or less.
  Problems long_tests() const {
    const auto with_radix = [](std::int64_t rows, std::int64_t count, int turns_wanted) {
      return Problem{{"rows", rows}, {"n", count}}.with_tunable("radix", 1).with_tunable("turns", turns_wanted);
    };
    Problems all = over({{"rows", 2}}, "n", {4097, 8192, 8193, 20000});
    for (const int count : {257, 512, 513, 1000, 4096, 4097}) all.push_back(with_radix(2, count, 16));
    all.push_back(with_radix(3, 5000, 16).with_edges());
    all.push_back(with_radix(1, 70000, 16));  // more segments than sum_counts takes at once
    all.push_back(with_radix(2, 9000, 128).with_edges());
    for (const Values v : {Values::Equal, Values::Alternating, Values::Rising, Values::Ramp})
      all.push_back(with_radix(1, 3000, 16).with_values(v));
    return all;
  }
  Problems benches() const {
    return {{{"rows", 1024}, {"n", 1024}}, {{"rows", 256}, {"n", 4096}}, {{"rows", 1}, {"n", 1 << 22}}};
  }
  Work work(const Problem& p) const { return row_work<T>(p, true, 0, 0); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = kernel<Sort>("mt_sort", Floats{});

}  // namespace
}  // namespace mt
