// out[i] = condition[i] ? on_true[i] : on_false[i]; the condition is a byte, true where it is not 0.
#include "kernels/lib/map_kernel.h"
#include "mt/oracle/binary.h"

namespace mt {
namespace {

template <Storage T>
struct SelectMap : MapKernel<T> {
  In<u8> cond{"cond", {"n"}, Fill::integers(0, 2)};
  In<T> on_true{"on_true", {"n"}}, on_false{"on_false", {"n"}};
  Out<T> out{"out", {"n"}};
  LargeSize n{"n"};

  void body() const {
    map_(n, this->width, [&](U64 i, int lanes) {
      // Equivalent if other_sign: the condition is only compared with 0.
      out.store(i, select(cond.load(i, lanes) != 0, on_true.load(i, lanes), on_false.load(i, lanes)));
    });
  }
  ExpectedOutputs oracle(const Inputs& in) const {
    return {{"out", oracle::select(in["cond"], in["on_true"], in["on_false"])}};
  }
  Problems tests() const { return map_tests(); }
  Problems benches() const { return map_benches(); }
  Work work(const Problem& p) const {
    Work w = map_work<T>(p, 2);
    w.read += static_cast<double>(p["n"]);
    return w;
  }
  std::vector<std::string> batch() const { return {"n"}; }
};

const bool registered = kernel<SelectMap>("mt_select", Floats{});

}  // namespace
}  // namespace mt
