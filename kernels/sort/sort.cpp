// Ascending sort of each row, NaN last: a bitonic network in threadgroup memory, one threadgroup a row of up to 4096
// elements. Exchanges over fewer than 32 elements happen between the lanes of a simdgroup.
#include "kernels/lib/order.h"
#include "kernels/lib/row.h"
#include "mt/oracle/reduce.h"

namespace mt {
namespace {

template <Storage T>
struct Sort {
  static constexpr int kLongest = 4096;

  In<T> x{"x", {"rows", "n"}};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable size{
      "size", kLongest, {32, 64, 128, 256, 512, 1024, 2048, 4096}};  // of the network: a power of two, n or more

  void plan(const Problem& p, TargetTraits traits) {
    int network = kLanes;
    while (network < p["n"] && network < kLongest) network *= 2;
    size = network;
    threads = !traits.gpu ? 32 : std::clamp(network < 512 ? network / 8 : network / 2, 32, 512);
  }
  Launch launch(const Problem& p) const {
    require(p["n"] <= size, "a row has at most 4096 elements, and no more than size");
    return row_launch(p, threads);
  }

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

  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::sort_rows(in["x"])}}; }
  Problems tests() const {
    return over({{"rows", 3}}, "n", {1, 2, 31, 32, 33, 64, 65, 100, 1000, 1024, 1025, 4095, 4096}) +
           Problems{{{"rows", 0}, {"n", 64}}, Problem{{"rows", 37}, {"n", 100}}.with_edges()};
  }
  Problems benches() const { return {{{"rows", 1024}, {"n", 1024}}, {{"rows", 256}, {"n", 4096}}}; }
  Work work(const Problem& p) const { return row_work<T>(p, true, 0, 0); }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = kernel<Sort>("mt_sort", Floats{});

}  // namespace
}  // namespace mt
