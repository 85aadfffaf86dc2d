// Tensors made from nothing: sequences and hashed random words.
#include "kernels/lib/map_kernel.h"
#include "mt/oracle/movement.h"

namespace mt {
namespace {

/// out[i] = start + i * step.
template <Storage T>
struct Arange : MapKernel<T> {
  Out<T> out{"out", {"n"}};
  LargeSize n{"n"};
  Scalar<f32> start{"start", 0}, step{"step", 1};

  void body() const {
    map_(n, this->width, [&](U64 i, int lanes) {
      const auto position = pack(lanes, [&](int e) { return cast<f32>(i + e); });
      out.store(i, start + position * step);
    });
  }
  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::arange(in.real("start"), in.real("step"), in.size("n"))}};
  }
  Problems tests() const {
    Problems all = over(Problem{}, "n", {1, 31, 33, 1025, 10007, 0});
    all.push_back(Problem{{"n", 500}}.with_real("start", -3.5).with_real("step", 0.25));
    return all;
  }
  Problems benches() const { return map_benches(); }
  Work work(const Problem& p) const { return map_work<T>(p, 0); }
};

/// Marsaglia's xorshift of i + 1: 32 random bits for each element.
struct RandomHash : MapKernel<u32> {
  Out<u32> out{"out", {"n"}};
  LargeSize n{"n"};

  void body() const {
    map_(n, width, [&](U64 i, int lanes) {
      const Vec<u32> seed = pack(lanes, [&](int e) { return cast<u32>(i + (e + 1)); });
      const Vec<u32> a = seed ^ (seed << 13), b = a ^ (a >> 17);
      out.store(i, b ^ (b << 5));
    });
  }
  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::random_hash(in.size("n"))}}; }
  Problems tests() const { return over(Problem{}, "n", {1, 7, 30, 31, 33, 1025, 8193, 100003, 0}); }
  Problems benches() const { return map_benches(); }
  Work work(const Problem& p) const { return map_work<u32>(p, 0); }
};

const bool registered = kernel<Arange>("mt_arange", Floats{}) && kernel<RandomHash>("mt_random_hash", DType::U32);

}  // namespace
}  // namespace mt
