// Softmax of rows: out = exp(x - max) / sum of exp(x - max).
#include "mt/oracle/softmax.h"
#include "kernels/lib/row.h"

namespace mt {
namespace {

template <Storage T>
struct Softmax {
  static constexpr int kCached = 4096;  // longest row whose exponentials stay in threadgroup memory

  In<T> x{"x", {"rows", "n"}, Fill::row_shifted(4, 200)};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};  // elements a thread takes at a time
  Tunable cached{"cached", 1, {0, 1}};      // keep the exponentials of the second pass for the third

  void plan(const Problem& p, TargetTraits traits) {
    threads = row_threads(p["n"], traits);
    width = traits.gpu ? 4 : 2;  // on a CPU more would not stay in registers
    cached = p["n"] <= kCached;
  }
  Launch launch(const Problem& p) const {
    require(!cached || p["n"] <= kCached, "with cached = 1 a row has at most 4096 elements");
    return row_launch(p, threads);
  }

  void body() const {
    const auto row = x.row(group_id());
    const auto result = out.row(group_id());
    const bool even = n.multiple_of(width);
    const auto over_row = [&](auto body) { for_row_(n, width, even, body); };

    RowAccumulator top(Combine::Max, width, -inf);
    over_row([&](U32 i, int lanes) { top.add(row.load(i, lanes)); });
    const F32 highest = group_max(top.total());

    // Each thread reads back only what it wrote itself, so that the cache needs no barrier.
    const auto cache = each(cached, [](int) { return Shared<f32>("exponentials", kCached); });
    RowAccumulator total(Combine::Sum, width, 0.f);
    over_row([&](U32 i, int lanes) {
      const auto e = exp(row.load(i, lanes) - highest);
      if (cached) cache[0].store(i, e);
      total.add(e);
    });
    const F32 scale = recip(group_sum(total.total()));

    over_row([&](U32 i, int lanes) {
      const auto e = cached ? cache[0].load(i, lanes) : exp(row.load(i, lanes) - highest);
      result.store(i, e * scale);
    });
  }

  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::softmax(in["x"])}}; }
  Problems tests() const {
    return row_tests() + Problems{Problem{{"rows", 5}, {"n", 300}}.with_edges(), {{"rows", 2}, {"n", 9001}}};
  }
  Problems benches() const { return row_benches(); }
  Work work(const Problem& p) const { return row_work<T>(p, true, 0, 4); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = kernel<Softmax>("mt_softmax", Floats{});

}  // namespace
}  // namespace mt
