#include "backends/cpu/maths.h"

#include "mt/base/error.h"

namespace mt::cpu {

Ref maths(Writer& w, Op op, const std::vector<Ref>& args) {
  const Ref& x = args[0];
  const int n = x.n;
  switch (op) {
    case Op::Sqrt:
      return w.call("llvm.sqrt", {x});
    case Op::Recip:
      return w.bin("fdiv", Writer::f32(1, n), x);
    default:
      throw Error("no maths");
  }
}

}  // namespace mt::cpu
