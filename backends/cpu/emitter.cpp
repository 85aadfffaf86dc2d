// Values: from bases and patterns to vectors, and the frame of the entry point.
#include "backends/cpu/emitter.h"

#include <algorithm>

#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::cpu {

Emitter::Emitter(const Kernel& kernel, const EmitOptions& options)
    : kernel_(kernel),
      options_(options),
      shapes_(kernel),
      products_(kernel),
      tiles_(kernel, products_),
      uses_(count_uses(kernel)),
      group_value_(kernel.values.size(), 0),
      made_in_(kernel.values.size(), -1) {
  w_.avx512 = options.avx512;
}

const Val& Emitter::get(ValueId v) {
  for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s)
    if (const auto it = s->values.find(v); it != s->values.end()) return it->second;
  if (waiting_.contains(v)) {
    pure(*kernel_.def(v));
    return scopes_.back().values.at(v);
  }
  // Made in another segment: it waits in a slot, or is made anew here.
  if (const auto slot = slots_.find(v); slot != slots_.end()) {
    define(v, recall(v, slot->second));
  } else {
    const Inst* def = kernel_.def(v);
    MT_ASSERT(def && cheap(v), "a value is used before it is made");
    inst(kernel_.at(v).def);
  }
  return scopes_.back().values.at(v);
}

Ref Emitter::base(ValueId v) {
  const Val& x = get(v);
  MT_ASSERT(x.pattern != kVarying, "a varying value where a uniform one is needed");
  return x.ref;
}

Ref Emitter::wide(ValueId v) {
  for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s) {
    if (const auto it = s->wide.find(v); it != s->wide.end()) return it->second;
    if (s->values.contains(v)) break;
  }
  const Val x = get(v);
  if (x.pattern == kVarying) return x.ref;
  const Ref r = widen(x);
  scopes_.back().wide[v] = r;
  return r;
}

Ref Emitter::widen(const Val& x) {
  if (x.pattern == kVarying) return x.ref;
  if (x.pattern == kUniform) return x.type.lanes == 1 ? w_.splat(x.ref, kLanes) : tile(x.ref, kLanes);
  return w_.bin("add", w_.splat(x.ref, kLanes), offsets(x.pattern, x.ref.el));
}

Ref Emitter::offsets(int pattern, El el) {
  const Offsets& o = shapes_.offsets(pattern);
  return Writer::integers(el, {o.begin(), o.end()});
}

Ref Emitter::repeat(const Ref& v, int lanes) {
  if (lanes == 1) return v;
  if (v.name[0] != '%' && v.name[0] != '<') return {v.name, v.el, v.n * lanes};  // a repeated constant
  std::vector<int> m;
  for (int i = 0; i < v.n * lanes; ++i) m.push_back(i / lanes);
  return w_.shuffle(v, {"poison", v.el, v.n}, m);
}

Ref Emitter::tile(const Ref& v, int times) {
  if (v.name[0] != '%' && v.name[0] != '<') return {v.name, v.el, v.n * times};
  std::vector<int> m;
  for (int i = 0; i < v.n * times; ++i) m.push_back(i % v.n);
  return w_.shuffle(v, {"poison", v.el, v.n}, m);
}

Ref Emitter::lane_mask(int lanes) {
  if (lanes == 1) return *mask_;
  return repeat(*mask_, lanes);
}

Emitted Emitter::run() {
  const auto& k = kernel_;
  const Ref buffers{"%buffers", El::Ptr, 1}, scalars{"%scalars", El::Ptr, 1}, scratch{"%scratch", El::Ptr, 1};
  int device = 0;
  for (const Memory& m : k.memories) {
    if (m.space == Space::Device) {
      memories_.push_back(w_.load(El::Ptr, 1, w_.element(buffers, El::Ptr, Writer::integer(El::I64, device++)), 8));
    } else {
      const std::size_t one = static_cast<std::size_t>(m.count) * static_cast<std::size_t>(size_of(m.dtype));
      const std::size_t bytes = m.space == Space::Threadgroup ? one : one * static_cast<std::size_t>(k.threads);
      memories_.push_back(
          w_.element(scratch, El::I8, Writer::integer(El::I64, static_cast<std::int64_t>(reserve(bytes)))));
    }
  }
  for (std::size_t n = 0; n < k.scalars.size(); ++n) {
    const DType t = k.scalars[n].dtype;
    const Ref at = w_.element(scalars, El::I64, Writer::integer(El::I64, static_cast<std::int64_t>(n)));
    const Ref raw = w_.load(memory_el_of(t), 1, at, 8);  // little endian: the low bytes come first
    params_.push_back(from_memory(raw, t));
  }
  tiles_at_ = reserve(tiles_.bytes() * static_cast<std::size_t>(k.simds()));
  find_last_reads();
  // Linear ids begin .. end, kept as three counters that carry over.
  const Ref gx{"%gx", El::I64, 1}, gy{"%gy", El::I64, 1}, one = Writer::integer(El::I64, 1),
                                                          nil = Writer::zero(El::I64);
  const Ref id = w_.stack(El::I64, 1), x = w_.stack(El::I64, 1), y = w_.stack(El::I64, 1), z = w_.stack(El::I64, 1);
  const Ref begin{"%begin", El::I64, 1}, end{"%end", El::I64, 1};
  w_.set(id, begin);
  w_.set(x, w_.bin("urem", begin, gx));
  const Ref row = w_.bin("udiv", begin, gx);
  w_.set(y, w_.bin("urem", row, gy));
  w_.set(z, w_.bin("udiv", row, gy));
  const std::string head = w_.label("group"), body = w_.label("body"), done = w_.label("done");
  w_.place(head);
  w_.branch(w_.cmp("icmp slt", w_.get(id, El::I64, 1), end), body, done);
  w_.place(body);
  group_id_ = {w_.get(x, El::I64, 1), w_.get(y, El::I64, 1), w_.get(z, El::I64, 1)};
  planning_ = true;
  group_region(RegionId::Root, {});
  planning_ = false;
  segment_ = 0;
  std::fill(group_value_.begin(), group_value_.end(), char{0});
  group_region(RegionId::Root, {});
  const Ref x1 = w_.bin("add", w_.get(x, El::I64, 1), one), x_over = w_.cmp("icmp eq", x1, gx);
  const Ref y1 = w_.bin("add", w_.get(y, El::I64, 1), w_.cast("zext", x_over, El::I64)),
            y_over = w_.cmp("icmp eq", y1, gy);
  w_.set(x, w_.select(x_over, nil, x1));
  w_.set(y, w_.select(y_over, nil, y1));
  w_.set(z, w_.bin("add", w_.get(z, El::I64, 1), w_.cast("zext", y_over, El::I64)));
  w_.set(id, w_.bin("add", w_.get(id, El::I64, 1), one));
  w_.jump(head);
  w_.place(done);
  if (options_.stream) w_.line("fence seq_cst");  // such stores are ordered by nothing less
  w_.line("ret void");

  Emitted out;
  out.text = fmt::format("; kernel {}, {} threads a group\n", k.name, k.threads);
  out.text += w_.function(
      fmt::format("void @{}(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %scalars, "
                  "i64 %begin, i64 %end, i64 %gx, i64 %gy, i64 %gz, ptr noalias align 64 %scratch, i64 %ahead)",
                  kEntry),
      "#0");
  out.text += w_.others();
  constexpr const char* wide = "\"prefer-vector-width\"=\"512\" \"min-legal-vector-width\"=\"512\"";
  out.text += fmt::format(
      "\nattributes #0 = {{ nounwind {} }}\nattributes #1 = {{ nounwind noinline {} }}\n!0 = !{{}}\n!1 = !{{i32 1}}\n",
      wide, wide);
  out.scratch_bytes = scratch_;
  return out;
}

std::size_t Emitter::reserve(std::size_t bytes) {
  const std::size_t at = scratch_;
  scratch_ += (bytes + 63) / 64 * 64;
  return at;
}

Emitted emit(const Kernel& kernel, const EmitOptions& options) { return Emitter(kernel, options).run(); }

}  // namespace mt::cpu
