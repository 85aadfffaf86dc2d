// Collectives of a simdgroup: all lanes are in one vector, so they are shuffles and trees.
#include "backends/cpu/emitter.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::cpu {

/// Combines the lanes' vectors of `lanes` elements by halves; gives `lanes` elements.
Ref Emitter::reduce(Combine c, DType t, const Ref& v, int lanes) {
  const bool small = is_float(t) && t != DType::F32;
  Ref x = small ? to_f32(v, t) : v;
  while (x.n > lanes) {
    const int half = x.n / 2;
    x = combine(c, small ? DType::F32 : t, w_.slice(x, 0, half), w_.slice(x, half, half));
  }
  return small ? from_f32(x, t) : x;
}

void Emitter::simd(const Inst& i) {
  MT_ASSERT(!mask_, "a collective where lanes are apart");
  const ValueId out = i.out[0];
  const Type t = type(out);
  const int lanes = t.lanes;
  const Shape& s = shapes_.of(out);
  const bool reduces = i.op == Op::SimdReduce;
  if (!reduces && i.op != Op::SimdScan && shapes_.of(i.in[0]).uniform())
    return define(out, {t, kUniform, base(i.in[0])});
  const Ref v = wide(i.in[0]);
  const auto moved = [&](const std::function<int(int)>& from) {
    std::vector<int> m;
    for (int l = 0; l < kLanes; ++l)
      for (int e = 0; e < lanes; ++e) m.push_back(from(l) * lanes + e);
    return w_.shuffle(v, {"poison", v.el, v.n}, m);
  };
  Val r{t, s.pattern, {}};
  switch (i.op) {
    case Op::SimdReduce:
      r.ref = reduce(i.combine, t.dtype, v, lanes);
      break;
    case Op::SimdBroadcast:
      r.ref = w_.slice(v, i.index % kLanes * lanes, lanes);
      break;
    case Op::SimdShuffleXor:
      r.ref = moved([&](int l) { return (l ^ i.index) % kLanes; });
      break;
    case Op::SimdShuffleUp:
      r.ref = moved([&](int l) { return l - i.index < 0 ? l : l - i.index; });
      break;
    case Op::SimdShuffleDown:
      r.ref = moved([&](int l) { return l + i.index >= kLanes ? l : l + i.index; });
      break;
    case Op::SimdScan:
      r.ref = scan(i, v);
      break;
    case Op::SimdShuffle:
      r.ref = shuffle_dynamic(i, v);
      break;
    default:
      MT_ICE("not a collective");
  }
  define(out, std::move(r));
}

/// log2(32) steps; every step combines with the value 1, 2, 4, ... lanes below.
Ref Emitter::scan(const Inst& i, const Ref& v) {
  const Type t = type(i.out[0]);
  const int lanes = t.lanes;
  const bool small = is_float(t.dtype) && t.dtype != DType::F32;
  const DType dt = small ? DType::F32 : t.dtype;
  Ref x = small ? to_f32(v, t.dtype) : v;
  const Ref identity = Writer::constant(dt, identity_of(i.combine, dt), x.n);
  const auto below = [&](int d) {
    std::vector<int> m;
    for (int e = 0; e < x.n; ++e) m.push_back(e < d * lanes ? x.n + e : e - d * lanes);
    return w_.shuffle(x, identity, m);
  };
  for (int d = 1; d < kLanes; d *= 2) x = combine(i.combine, dt, below(d), x);
  if (i.exclusive) x = below(1);
  return small ? from_f32(x, t.dtype) : x;
}

Ref Emitter::shuffle_dynamic(const Inst& i, const Ref& v) {
  const Type t = type(i.out[0]);
  const int lanes = t.lanes, n = kLanes * lanes;
  const El el = memory_el_of(t.dtype), word = bytes_of(el) < 4 ? El::I32 : el;
  Ref x = to_memory(v, t.dtype);
  if (word != el) x = w_.cast("zext", x, word);
  const Ref copy = w_.stack(word, n);
  w_.set(copy, x);
  const auto back = [&](Ref r) { return from_memory(word == el ? r : w_.cast("trunc", r, el), t.dtype); };
  const auto narrow = [&](const Ref& r) {
    const Ref k = bytes_of(r.el) > 4   ? w_.cast("trunc", r, El::I32)
                  : bytes_of(r.el) < 4 ? w_.cast("zext", r, El::I32)
                                       : r;
    return w_.bin("and", k, Writer::integer(El::I32, kLanes - 1, r.n));
  };
  if (shapes_.of(i.in[1]).uniform()) {
    const Ref at = w_.bin("mul", w_.cast("zext", narrow(base(i.in[1])), El::I64), Writer::integer(El::I64, lanes));
    return back(w_.load(word, lanes, w_.element(copy, word, at), bytes_of(word)));
  }
  Ref at = narrow(wide(i.in[1]));
  if (lanes > 1) {
    std::vector<std::int64_t> e;
    for (int l = 0; l < n; ++l) e.push_back(l % lanes);
    at = w_.bin("add", w_.bin("mul", repeat(at, lanes), Writer::integer(El::I32, lanes, n)),
                Writer::integers(El::I32, e));
  }
  const Ref pointers = w_.element(copy, word, at);
  return back(w_.call_as(
      fmt::format("llvm.masked.gather.v{}{}{}.v{}p0", n, word == El::F32 ? "f" : "i", 8 * bytes_of(word), n), word, n,
      {pointers, Writer::integer(El::I32, bytes_of(word)), Writer::integer(El::I1, 1, n), Writer::zero(word, n)}));
}

}  // namespace mt::cpu
