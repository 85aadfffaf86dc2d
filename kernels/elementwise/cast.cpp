// Widening copies: out = float(in), as it is or through silu.
#include "kernels/lib/activations.h"
#include "kernels/lib/map_kernel.h"
#include "mt/oracle/unary.h"

namespace mt {
namespace {

// The wider side moves 16 bytes a thread: neighbouring threads then write neighbouring bytes.
template <Storage T>
struct CastToF32 : MapKernel<f32> {
  In<T> input{"input", {"n"}, Fill::normal(0, 4)};
  Out<f32> out{"out", {"n"}};
  LargeSize n{"n"};
  bool through_silu = false;

  void body() const {
    map_(n, width, [&](U64 i, int lanes) {
      const Vec<f32> x = input.load(i, lanes);
      out.store(i, through_silu ? silu<f32>(x) : x);
    });
  }
  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::unary(through_silu ? oracle::Unary::Silu : oracle::Unary::Copy, in["input"])}};
  }
  Problems tests() const { return map_tests(); }
  Problems benches() const { return map_benches(); }
  Work work(const Problem& p) const {
    const double elements = static_cast<double>(p["n"]);
    return {.read = elements * size_of(dtype_of<T>), .written = elements * 4};
  }
  std::vector<std::string> batch() const { return {"n"}; }
};

const bool registered =
    kernel<CastToF32>("mt_cast_to_f32", dtypes<f16, bf16>{}) &&
    kernel<CastToF32>("mt_silu_cast_to_f32", dtypes<f16, bf16>{}, [](auto& k) { k.through_silu = true; });

}  // namespace
}  // namespace mt
