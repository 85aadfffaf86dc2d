// Sum and product of two tensors in one pass over them: c = a + b, d = a * b.
#include "kernels/lib/map_kernel.h"
#include "mt/oracle/binary.h"

namespace mt {
namespace {

template <Storage T>
struct BinaryTwo : MapKernel<T> {
  In<T> a{"a", {"n"}}, b{"b", {"n"}};
  Out<T> c{"c", {"n"}}, d{"d", {"n"}};
  LargeSize n{"n"};

  void body() const {
    map_(n, this->width, [&](U64 i, int lanes) {
      const Vec<f32> x = a.load(i, lanes), y = b.load(i, lanes);
      c.store(i, x + y);
      d.store(i, x * y);
    });
  }
  ExpectedOutputs oracle(const Inputs& in) const {
    auto [sum, product] = oracle::binary_two(in["a"], in["b"]);
    return {{"c", std::move(sum)}, {"d", std::move(product)}};
  }
  Problems tests() const { return map_tests(); }
  Problems benches() const { return map_benches(); }
  Work work(const Problem& p) const { return map_work<T>(p, 2, 2); }
  std::vector<std::string> batch() const { return {"n"}; }
};

const bool registered = kernel<BinaryTwo>("mt_binary_two", Floats{});

}  // namespace
}  // namespace mt
