// Sum, product, maximum or minimum of a whole tensor, in two stages: many threadgroups leave one partial result each,
// then one threadgroup combines those.
#include "kernels/lib/reductions.h"
#include "kernels/lib/row.h"

namespace mt {
namespace {

template <Storage T>
struct AllReduce {
  In<T> x{"x", {"n"}};
  Temp<f32> partial{"partial", {Dim(kMostBlocks)}};
  Out<T> out{"out", {1}};
  LargeSize n{"n"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};                  // elements a thread takes at a time
  Tunable blocks{"blocks", 512, {16, 64, 256, 512, 1024}};  // threadgroups of the first stage
  Tunable loads{"loads", 1, {1, 2, 4, 8}};                  // runs of a thread that are under way at once
  bool pieces = false;                                      // in one piece: for memory that streams
  Combine combine = Combine::Sum;
  oracle::Reduction meaning = oracle::Reduction::Sum;
  static constexpr int kMostBlocks = 1024;

  void plan(const Problem& p, TargetTraits traits) {
    threads = traits.gpu ? 256 : 32;
    loads = traits.gpu ? 4 : 1;
    pieces = !traits.gpu;
    width = 16 / size_of(dtype_of<T>);
    blocks = static_cast<int>(
        std::clamp<std::int64_t>(p["n"] / (std::int64_t{16} * threads * width), 1, traits.gpu ? 1024 : 256));
  }
  Launch launch_partial(const Problem&) const { return {.groups = {blocks}, .threads = threads}; }
  Launch launch_total(const Problem&) const { return {.threads = 256}; }

  /// Threadgroup g takes the g-th share of the elements in one piece, or the runs g, g + blocks, … of threads * width.
  void body_partial() const {
    const u64 run = static_cast<u64>(threads) * width, groups = static_cast<u64>(blocks);
    RowAccumulator part(combine, width, identity_f32(combine));
    const U64 group = group_id();
    const U64 whole = as_value(n) - as_value(n) % static_cast<u64>(width);
    const auto share = [&] { return (whole + (run * groups - 1)) / (run * groups) * run; };
    const U64 begin = group * (pieces ? share() : U64(run)), first = begin + thread_id() * static_cast<u32>(width);
    const U64 end = pieces ? min(begin + share(), whole) : whole;
    const u64 step = pieces ? run : run * groups;
    // Equivalent if first_operand of min, constant_above, constant_below: the second loop takes what is left.
    const U64 most = loads == 1 ? end : end - min(end, U64(step * static_cast<u64>(loads - 1)));
    Var<u64> next(first);
    // Equivalent if loop_short_of_last, loop_never, loop_half: the second loop takes what is left.
    for_(first, most, step * static_cast<u64>(loads), [&](U64 i) {
      const auto values = each(loads, [&](int k) { return x.load(i + step * static_cast<u64>(k), width); });
      for (const Vec<f32>& v : values) part.add(v);
      // Equivalent if constant_above in mt_all_reduce_m*, first_operand in mt_all_reduce_m*: extremes stay.
      // Equivalent if second_operand in mt_all_reduce_m*, other_op in mt_all_reduce_m*: extremes stay.
      // Equivalent if drop_set in mt_all_reduce_m*: extremes stay.
      next = i + step * static_cast<u64>(loads);
    });
    if (loads > 1) for_(next, end, step, [&](U64 i) { part.add(x.load(i, width)); });
    // Equivalent if always in mt_all_reduce_m*, zero_id in mt_all_reduce_m*: extremes stay.
    // Equivalent if half_guard in mt_all_reduce_m*, other_half_guard in mt_all_reduce_m*: extremes stay.
    // Equivalent if other_op of bit_and in mt_all_reduce_m*, negated of eq in mt_all_reduce_m*: extremes stay.
    // Equivalent if other_axis in mt_all_reduce_m*: extremes stay.
    if (width > 1)
      if_((group_id() == 0) & (thread_id() == 0), [&] { for_(whole, n, 1, [&](U64 i) { part.add(x.load(i, 1)); }); });
    const F32 result = group_reduce(combine, part.total());
    // Equivalent if constant_above: every thread has it.
    if_(thread_id() == 0, [&] { partial.store(group_id(), result); });
  }
  void body_total() const {
    // Equivalent if first_operand in row.h, other_op of add in row.h: a run of one leaves no ragged end.
    // Equivalent if loses_second_nan in row.h: a ragged end begins without one.
    RowAccumulator part(combine, 1, identity_f32(combine));
    for_(thread_id(), U32(static_cast<u32>(blocks)), static_cast<u32>(mt::threads()),
         [&](U32 i) { part.add(partial.load(i, 1)); });
    const F32 result = group_reduce(combine, part.total());
    // Equivalent if constant_above: every thread has it.
    if_(thread_id() == 0, [&] { out.store(0, result); });
  }
  Stages<AllReduce> stages() const {
    return {{"partial", &AllReduce::launch_partial, &AllReduce::body_partial},
            {"total", &AllReduce::launch_total, &AllReduce::body_total}};
  }

  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::all_reduce(meaning, in["x"])}}; }
  Problems tests() const {
    const bool extreme = combine == Combine::Max || combine == Combine::Min;
    return over(Problem{}, "n", {0, 1, 3, 31, 33, 1023, 4097, 100003, 1 << 20}) +
           (extreme ? over(Problem{}.with_edges(), "n", {3, 6, 7, 1003, 1004}) + placed_tests() : Problems{});
  }
  /// A NaN, or the extreme, in one place: of the loads under way together, of those one by one, and of the ragged end.
  Problems placed_tests() const {
    const double nan = std::numeric_limits<double>::quiet_NaN(), most = combine == Combine::Max ? 512 : -512;
    Problems all;
    for (const int at : {1, 3073, 4097, 8193, 9216, 10243, -3, -2, -1})
      for (const double v : {nan, most}) all.push_back(Problem{{"n", 10247}}.with_element("x", at, v));
    // More partial results than the second launch has threads.
    for (const double v : {nan, most}) {
      all.push_back(Problem{{"n", 10247}}.with_tunable("blocks", 1024).with_element("x", 1, v));
      all.push_back(Problem{{"n", 16387}}.with_tunable("blocks", 16).with_element("x", -4, v));
    }
    return all;
  }
  Problems benches() const {
    return over(Problem{}, "n",
                combine == Combine::Prod ? std::initializer_list<std::int64_t>{1 << 16}
                                         : std::initializer_list<std::int64_t>{16 << 20, 64 << 20});
  }
  Work work(const Problem& p) const {
    const double elements = static_cast<double>(p["n"]), size = size_of(dtype_of<T>);
    return {.read = elements * size, .written = size, .flops = elements};
  }
};

const bool registered = [] {
  for (const ReductionRow& row : kReductions)
    kernel<AllReduce>(std::string("mt_all_reduce") + row.suffix, Floats{}, [row](auto& k) { set_reduction(k, row); });
  return true;
}();

}  // namespace
}  // namespace mt
