// Loads and stores: scalar, contiguous, small spans with a shuffle, gathers and scatters.
#include <algorithm>
#include <unordered_set>

#include "backends/cpu/emitter.h"
#include "mt/base/error.h"
#include "mt/ir/edit.h"

namespace mt::cpu {
namespace {

/// Elements that the lanes touch, relative to the base index.
struct Span {
  std::int64_t low = 0, count = 0;
};
Span span_of(const Offsets& o, int lanes) {
  const auto [lo, hi] = std::minmax_element(o.begin(), o.end());
  return {*lo, *hi - *lo + lanes};
}
bool contiguous(const Offsets& o, int lanes) {
  for (int l = 0; l < kLanes; ++l)
    if (o[l] != o[0] + std::int64_t{l} * lanes) return false;
  return true;
}
/// Position in the span of every element of the loaded vector.
std::vector<int> positions(const Offsets& o, const Span& s, int lanes) {
  std::vector<int> p;
  for (int l = 0; l < kLanes; ++l)
    for (int e = 0; e < lanes; ++e) p.push_back(static_cast<int>(o[l] - s.low) + e);
  return p;
}

}  // namespace

/// Whether lanes that take `lanes` elements each from the index on take one stretch of memory.
bool Emitter::follows(const Shape& index, int lanes) const {
  return index.pattern > kUniform && contiguous(shapes_.offsets(index.pattern), lanes);
}

Ref Emitter::address(MemoryId m) { return memories_[index_of(m)]; }

std::string Emitter::metadata(MemoryId m, bool load) const {
  const Memory& x = kernel_.at(m);
  return load && x.space == Space::Device && x.access == Access::In ? ", !invariant.load !0" : "";
}

Ref Emitter::to_memory(const Ref& v, DType t) { return t == DType::Bool ? w_.cast("zext", v, El::I8) : v; }
Ref Emitter::from_memory(const Ref& v, DType t) {
  return t == DType::Bool ? w_.cmp("icmp ne", v, Writer::zero(El::I8, v.n)) : v;
}

Ref Emitter::base_index(ValueId v) {
  const DType t = type(v).dtype;
  const int pattern = shapes_.of(v).pattern;
  const Ref b = base(v);
  if (size_of(t) == 8) return b;
  if (!is_unsigned(t)) return w_.cast("sext", b, El::I64);
  if (pattern == kUniform) return w_.cast("zext", b, El::I64);
  // Counted from the largest offset: lanes that wrapped below zero are off, and those above are exact.
  const Offsets& o = shapes_.offsets(pattern);
  const std::int64_t top = std::max<std::int64_t>(0, *std::max_element(o.begin(), o.end()));
  const Shape& s = shapes_.of(v);
  if (top == 0 || s.known || s.multiple == 0) return w_.cast("zext", b, El::I64);
  const std::int64_t room = s.multiple & -s.multiple;
  if (*std::min_element(o.begin(), o.end()) >= 0 && top < room) return w_.cast("zext", b, El::I64);
  const Ref last = w_.cast("zext", w_.bin("add", b, Writer::integer(b.el, top)), El::I64);
  return w_.bin("sub", last, Writer::integer(El::I64, top));
}

Ref Emitter::wide_index(ValueId v) {
  const Shape& s = shapes_.of(v);
  if (s.pattern > kUniform) return w_.bin("add", w_.splat(base_index(v), kLanes), offsets(s.pattern, El::I64));
  return w_.cast(is_unsigned(type(v).dtype) ? "zext" : "sext", wide(v), El::I64);
}

Ref Emitter::pointer_at(MemoryId m, const Ref& index64) {
  return w_.element(address(m), memory_el_of(kernel_.at(m).dtype), index64);
}

void Emitter::each_lane(const std::function<void(const Ref&)>& body) {
  const Ref bits = w_.stack(El::I32, 1);
  w_.set(bits, mask_ ? w_.bitcast(*mask_, El::I32, 1) : Writer::integer(El::I32, -1));
  const std::string head = w_.label("lanes"), inner = w_.label("lane"), done = w_.label("lanes_done");
  w_.place(head);
  const Ref left = w_.get(bits, El::I32, 1);
  w_.branch(w_.cmp("icmp ne", left, Writer::integer(El::I32, 0)), inner, done);
  w_.place(inner);
  const Ref lane = w_.call_as("llvm.cttz.i32", El::I32, 1, {left, Writer::integer(El::I1, 1)});
  body(w_.cast("zext", lane, El::I64));
  w_.set(bits, w_.bin("and", left, w_.bin("sub", left, Writer::integer(El::I32, 1))));
  w_.jump(head);
  w_.place(done);
}

void Emitter::load(const Inst& i) {
  const Memory& m = kernel_.at(i.memory);
  const ValueId out = i.out[0], index = i.in[0];
  const Type t = type(out);
  const El el = memory_el_of(t.dtype);
  const int lanes = t.lanes, n = kLanes * lanes, align = size_of(t.dtype);
  const Shape& s = shapes_.of(index);
  const std::string meta = metadata(i.memory, true);
  Val v{t, kVarying, {}};
  if (m.space == Space::Thread) {
    v.ref = from_memory(gather(i.memory, index, lanes), t.dtype);
    return define(out, v);
  }
  if (s.uniform()) {
    v.pattern = kUniform;
    v.ref = from_memory(w_.load(el, lanes, pointer_at(i.memory, base_index(index)), align, meta), t.dtype);
    return define(out, v);
  }
  if (s.pattern > kUniform) {
    const Offsets& o = shapes_.offsets(s.pattern);
    const Span span = span_of(o, lanes);
    const auto at = [&](std::int64_t offset) {
      const Ref b = base_index(index);
      return pointer_at(i.memory, offset ? w_.bin("add", b, Writer::integer(El::I64, offset)) : b);
    };
    if (contiguous(o, lanes)) {
      const Ref p = at(o[0]);
      if (!mask_) {
        const auto last = last_read_.find(i.memory);
        v.ref = last != last_read_.end() && last->second == i.home ? load_ahead(el, n, p, align)
                                                                   : w_.load(el, n, p, align, meta);
      } else if (size_of(t.dtype) >= 4 || options_.small_masks) {
        v.ref = w_.call_as(fmt::format("llvm.masked.load.v{}{}{}.p0", n, el == El::F32 ? "f" : "i", 8 * bytes_of(el)),
                           el, n, {p, Writer::integer(El::I32, align), lane_mask(lanes), Writer::zero(el, n)});
      } else {
        const Ref copy = w_.stack(el, n);
        w_.set(copy, Writer::zero(el, n));
        each_lane([&](const Ref& lane) {
          const Ref at_lane = w_.bin("mul", lane, Writer::integer(El::I64, lanes));
          w_.store(w_.load(el, lanes, w_.element(p, el, at_lane), align, meta), w_.element(copy, el, at_lane), align);
        });
        v.ref = w_.get(copy, el, n);
      }
      v.ref = from_memory(v.ref, t.dtype);
      return define(out, v);
    }
    if (!mask_ && span.count <= 3 * n && span.count > 1) {
      // Two loads of equal length cover the span; neither leaves it.
      int half = 1;
      while (half * 2 <= span.count) half *= 2;
      std::vector<int> p = positions(o, span, lanes);
      const Ref low = w_.load(el, half, at(span.low), align, meta);
      if (half == span.count) {
        v.ref = half == 1 ? w_.splat(low, n) : w_.shuffle(low, {"poison", el, half}, p);
      } else {
        const int second = static_cast<int>(span.count) - half;
        const Ref high = w_.load(el, half, at(span.low + second), align, meta);
        for (int& e : p)
          if (e >= half) e = e - second + half;
        v.ref = w_.shuffle(low, high, p);
      }
      v.ref = from_memory(v.ref, t.dtype);
      return define(out, v);
    }
  }
  v.ref = from_memory(gather(i.memory, index, lanes), t.dtype);
  define(out, v);
}

void Emitter::store(const Inst& i) {
  const Memory& m = kernel_.at(i.memory);
  const ValueId index = i.in[0], value = i.in[1];
  const Type t = type(value);
  const El el = memory_el_of(t.dtype);
  const int lanes = t.lanes, n = kLanes * lanes, align = size_of(t.dtype);
  const Shape& s = shapes_.of(index);
  if (m.space != Space::Thread && s.uniform()) {
    const Ref p = pointer_at(i.memory, base_index(index));
    if (shapes_.of(value).uniform()) return w_.store(to_memory(base(value), t.dtype), p, align);
    // Lanes that store to one place race; the last one that is on wins.
    const Ref v = to_memory(wide(value), t.dtype);
    if (!mask_) return w_.store(w_.slice(v, n - lanes, lanes), p, align);
    const Ref bits = w_.bitcast(*mask_, El::I32, 1);
    const Ref zeros = w_.call_as("llvm.ctlz.i32", El::I32, 1, {bits, Writer::integer(El::I1, 1)});
    const Ref lane = w_.bin("sub", Writer::integer(El::I32, kLanes - 1), zeros);
    const Ref copy = w_.stack(el, n);
    w_.set(copy, v);
    const Ref at = w_.bin("mul", w_.cast("zext", lane, El::I64), Writer::integer(El::I64, lanes));
    return w_.store(w_.load(el, lanes, w_.element(copy, el, at), align), p, align);
  }
  const Ref v = to_memory(wide(value), t.dtype);
  if (m.space != Space::Thread && s.pattern > kUniform && contiguous(shapes_.offsets(s.pattern), lanes)) {
    const std::int64_t first = shapes_.offsets(s.pattern)[0];
    Ref b = base_index(index);
    if (first) b = w_.bin("add", b, Writer::integer(El::I64, first));
    const Ref p = pointer_at(i.memory, b);
    if (!mask_) return options_.stream && m.space == Space::Device ? stream(v, p, align) : w_.store(v, p, align);
    if (size_of(t.dtype) >= 4 || options_.small_masks) {
      const Ref mask = lane_mask(lanes);
      return w_.line(fmt::format("call void @llvm.masked.store.v{}{}{}.p0({} {}, ptr {}, i32 {}, {} {})", n,
                                 el == El::F32 ? "f" : "i", 8 * bytes_of(el), type_name(v), v.name, p.name, align,
                                 type_name(mask), mask.name));
    }
    const Ref copy = w_.stack(el, n);
    w_.set(copy, v);
    return each_lane([&](const Ref& lane) {
      const Ref at = w_.bin("mul", lane, Writer::integer(El::I64, lanes));
      w_.store(w_.load(el, lanes, w_.element(copy, el, at), align), w_.element(p, el, at), align);
    });
  }
  scatter(i.memory, index, v, lanes);
}

/// Only the last pass over a memory asks for what comes next: by then the passes before it have what they need, and
/// memory works while the last one computes. Launches that stream do so; others where words are taken apart, which
/// leaves memory idle for as long as hardware would wait at the end of a page.
void Emitter::find_last_reads() {
  std::unordered_map<MemoryId, int> widest;
  std::unordered_set<ValueId> taken_apart;
  if (!options_.stream)
    walk(kernel_, RegionId::Root, [&](InstId id) {
      const Inst& i = kernel_.at(id);
      if (i.op == Op::And || i.op == Op::Shr) taken_apart.insert(i.in[0]);
    });
  walk(kernel_, RegionId::Root, [&](InstId id) {
    const Inst& i = kernel_.at(id);
    if (i.op != Op::Load || kernel_.at(i.memory).space != Space::Device) return;
    if (!options_.stream && (type(i.out[0]).dtype != DType::U32 || taken_apart.count(i.out[0]) == 0)) return;
    const int lanes = type(i.out[0]).lanes;
    int& most = widest[i.memory];
    if (lanes < most) return;
    most = lanes;
    last_read_[i.memory] = i.home;
  });
}

/// Loads line by line and asks for what lies `ahead`: hardware stops at the end of a page. It goes to the second-level
/// cache, for the first is full of this threadgroup's row. A prefetch between any two
/// lines keeps their loads in the order of addresses; LLVM turns the halves of a wide load around, which costs a copy a
/// sixth of its bandwidth.
Ref Emitter::load_ahead(El el, int n, const Ref& p, int align) {
  constexpr int kLine = 64;
  const Ref next = w_.element(p, El::I8, {"%ahead", El::I64, 1});
  const int bytes = n * bytes_of(el), lines = std::max(1, bytes / kLine), each = n / lines;
  std::vector<Ref> parts;
  for (int line = 0; line < lines; ++line) {
    const Ref there = w_.element(next, El::I8, Writer::integer(El::I64, line * kLine));
    w_.line(fmt::format("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 2, i32 1)", there.name));
    parts.push_back(w_.load(el, each, w_.element(p, el, Writer::integer(El::I64, line * each)), align));
  }
  return w_.join(std::move(parts));
}

/// Past the caches where the address is aligned for it: what is written is larger than they are.
void Emitter::stream(const Ref& v, const Ref& p, int align) {
  constexpr int kLine = 64;
  if (v.n * bytes_of(v.el) % kLine != 0) return w_.store(v, p, align);
  const Ref low = w_.bin("and", w_.cast("ptrtoint", p, El::I64), Writer::integer(El::I64, kLine - 1));
  const std::string past = w_.label("past"), through = w_.label("through"), done = w_.label("stored");
  w_.branch(w_.cmp("icmp eq", low, Writer::integer(El::I64, 0)), past, through);
  w_.place(past);
  w_.store(v, p, kLine, ", !nontemporal !1");
  w_.jump(done);
  w_.place(through);
  w_.store(v, p, align);
  w_.place(done);
}

/// Addresses of every lane's first element.
Ref Emitter::lane_pointers(MemoryId m, ValueId index) {
  Ref at = wide_index(index);
  if (kernel_.at(m).space == Space::Thread) {
    // Element-major: element e of all lanes side by side, so that a uniform index is one vector.
    std::vector<std::int64_t> lane(kLanes);
    for (int l = 0; l < kLanes; ++l) lane[static_cast<std::size_t>(l)] = l;
    at = w_.bin("add", w_.bin("mul", at, Writer::integer(El::I64, kLanes, kLanes)), Writer::integers(El::I64, lane));
  }
  return w_.element(address_here(m), memory_el_of(kernel_.at(m).dtype), at);
}

/// Threads' own arrays stand one block a simdgroup.
Ref Emitter::address_here(MemoryId m) {
  const Memory& x = kernel_.at(m);
  if (x.space != Space::Thread || kernel_.simds() == 1) return address(m);
  return w_.element(address(m), memory_el_of(x.dtype),
                    w_.bin("mul", simd_, Writer::integer(El::I64, x.count * kLanes)));
}

Ref Emitter::gather(MemoryId m, ValueId index, int lanes) {
  const DType dt = kernel_.at(m).dtype;
  const El el = memory_el_of(dt);
  const int bytes = lanes * size_of(dt);
  const std::string meta = metadata(m, true);
  if (kernel_.at(m).space == Space::Thread) {
    std::vector<Ref> parts;
    for (int e = 0; e < lanes; ++e) parts.push_back(thread_element(m, index, e));
    return interleave(parts);
  }
  const Ref mask = mask_ ? *mask_ : Writer::integer(El::I1, 1, kLanes);
  const auto fetch = [&](El piece, const Ref& pointers, int align) {
    return w_.call_as(fmt::format("llvm.masked.gather.v{}{}{}.v{}p0", kLanes, piece == El::F32 ? "f" : "i",
                                  8 * bytes_of(piece), kLanes),
                      piece, kLanes, {pointers, Writer::integer(El::I32, align), mask, Writer::zero(piece, kLanes)});
  };
  Ref pointers = lane_pointers(m, index);
  if (bytes == 4) return w_.bitcast(fetch(lanes == 1 ? el : El::I32, pointers, size_of(dt)), el, kLanes * lanes);
  if (bytes == 8) return w_.bitcast(fetch(El::I64, pointers, size_of(dt)), el, kLanes * lanes);
  if (bytes >= 16 && !mask_) {
    // Lanes' vectors stand end to end in a register: one load a lane beats a gather and the shuffles after it.
    std::vector<Ref> parts;
    for (int l = 0; l < kLanes; ++l)
      parts.push_back(w_.load(el, lanes, lane_pointer(m, index, pointers, l), size_of(dt), meta));
    return w_.join(std::move(parts));
  }
  // One or two bytes: the aligned word around them, then a shift. Two bytes may straddle words only where a pair of
  // bytes is loaded from an odd place.
  if (bytes < 4 && lanes == 1) {
    const Ref where = w_.cast("ptrtoint", pointers, El::I64);
    const Ref word = w_.cast("inttoptr", w_.bin("and", where, Writer::integer(El::I64, -4, kLanes)), El::Ptr);
    const Ref shift =
        w_.bin("shl", w_.cast("trunc", w_.bin("and", where, Writer::integer(El::I64, 3, kLanes)), El::I32),
               Writer::integer(El::I32, 3, kLanes));
    return w_.cast("trunc", w_.bin("lshr", fetch(El::I32, word, 4), shift), el);
  }
  const Ref from = w_.stack(El::Ptr, kLanes), to = w_.stack(el, kLanes * lanes);
  w_.set(from, pointers);
  w_.set(to, Writer::zero(el, kLanes * lanes));
  each_lane([&](const Ref& lane) {
    const Ref p = w_.load(El::Ptr, 1, w_.element(from, El::Ptr, lane), 8);
    const Ref at = w_.bin("mul", lane, Writer::integer(El::I64, lanes));
    w_.store(w_.load(el, lanes, p, 1, meta), w_.element(to, el, at), 1);
  });
  return w_.get(to, el, kLanes * lanes);
}

/// Address of one lane's first element.
Ref Emitter::lane_pointer(MemoryId m, ValueId index, const Ref& pointers, int lane) {
  const Shape& s = shapes_.of(index);
  if (s.pattern <= kUniform) return w_.extract(pointers, lane);
  const Ref offset = Writer::integer(El::I64, shapes_.offsets(s.pattern)[static_cast<std::size_t>(lane)]);
  return pointer_at(m, w_.bin("add", base_index(index), offset));
}

/// Element `index + e` of every thread's own array.
Ref Emitter::thread_element(MemoryId m, ValueId index, int e) {
  const El el = memory_el_of(kernel_.at(m).dtype);
  if (shapes_.of(index).uniform()) {
    const Ref at = w_.bin("add", base_index(index), Writer::integer(El::I64, e));
    const Ref p = w_.element(address_here(m), el, w_.bin("mul", at, Writer::integer(El::I64, kLanes)));
    return w_.load(el, kLanes, p, bytes_of(el));
  }
  const Ref from = w_.stack(El::Ptr, kLanes), to = w_.stack(el, kLanes);
  w_.set(from, w_.element(lane_pointers(m, index), el, Writer::integer(El::I64, std::int64_t{e} * kLanes)));
  w_.set(to, Writer::zero(el, kLanes));
  each_lane([&](const Ref& lane) {
    const Ref p = w_.load(El::Ptr, 1, w_.element(from, El::Ptr, lane), 8);
    w_.store(w_.load(el, 1, p, bytes_of(el)), w_.element(to, el, lane), bytes_of(el));
  });
  return w_.get(to, el, kLanes);
}

void Emitter::scatter(MemoryId m, ValueId index, const Ref& v, int lanes) {
  const DType dt = kernel_.at(m).dtype;
  const El el = memory_el_of(dt);
  const int bytes = lanes * size_of(dt);
  const bool own = kernel_.at(m).space == Space::Thread;
  if (own && shapes_.of(index).uniform()) {
    for (int e = 0; e < lanes; ++e) {
      const Ref at = w_.bin("add", base_index(index), Writer::integer(El::I64, e));
      const Ref p = w_.element(address_here(m), el, w_.bin("mul", at, Writer::integer(El::I64, kLanes)));
      const Ref part = every(v, lanes, e);
      if (mask_)
        w_.store(w_.select(*mask_, part, w_.load(el, kLanes, p, bytes_of(el))), p, bytes_of(el));
      else
        w_.store(part, p, bytes_of(el));
    }
    return;
  }
  const Ref pointers = lane_pointers(m, index);
  if (!own && (bytes == 4 || bytes == 8)) {
    const El piece = lanes == 1 ? el : bytes == 4 ? El::I32 : El::I64;
    const Ref mask = mask_ ? *mask_ : Writer::integer(El::I1, 1, kLanes);
    const Ref whole = w_.bitcast(v, piece, kLanes);
    return w_.line(fmt::format("call void @llvm.masked.scatter.v{}{}{}.v{}p0({} {}, {} {}, i32 {}, {} {})", kLanes,
                               piece == El::F32 ? "f" : "i", 8 * bytes_of(piece), kLanes, type_name(whole), whole.name,
                               type_name(pointers), pointers.name, size_of(dt), type_name(mask), mask.name));
  }
  if (!own && !mask_ && bytes >= 16) {
    for (int l = 0; l < kLanes; ++l)
      w_.store(w_.slice(v, l * lanes, lanes), lane_pointer(m, index, pointers, l), size_of(dt));
    return;
  }
  const Ref to = w_.stack(El::Ptr, kLanes), from = w_.stack(el, kLanes * lanes);
  w_.set(to, pointers);
  w_.set(from, v);
  each_lane([&](const Ref& lane) {
    const Ref p = w_.load(El::Ptr, 1, w_.element(to, El::Ptr, lane), 8);
    const Ref at = w_.bin("mul", lane, Writer::integer(El::I64, lanes));
    if (!own) return w_.store(w_.load(el, lanes, w_.element(from, el, at), 1), p, 1);
    for (int e = 0; e < lanes; ++e) {
      const Ref place = Writer::integer(El::I64, std::int64_t{e} * kLanes);
      const Ref one = w_.load(el, 1, w_.element(from, el, w_.bin("add", at, Writer::integer(El::I64, e))), 1);
      w_.store(one, w_.element(p, el, place), 1);
    }
  });
}

Ref Emitter::interleave(std::vector<Ref> parts) {
  const int lanes = static_cast<int>(parts.size()), n = parts[0].n;
  if (lanes == 1) return parts[0];
  const Ref all = w_.join(std::move(parts));
  std::vector<int> m;
  for (int e = 0; e < n * lanes; ++e) m.push_back(e % lanes * n + e / lanes);
  return w_.shuffle(all, {"poison", all.el, all.n}, m);
}

Ref Emitter::every(const Ref& v, int step, int first) {
  if (step == 1) return v;
  std::vector<int> m;
  for (int e = first; e < v.n; e += step) m.push_back(e);
  return w_.shuffle(v, {"poison", v.el, v.n}, m);
}

/// Var, Get and Set: one vector a simdgroup.
void Emitter::variable(const Inst& i) {
  const ValueId var = i.op == Op::Var ? i.out[0] : i.in[0];
  const Type t = type(var);
  const El el = memory_el_of(t.dtype);
  const int n = kLanes * t.lanes;
  auto it = variables_.find(var);
  if (it == variables_.end()) {
    const std::size_t bytes = static_cast<std::size_t>(n * bytes_of(el)) * static_cast<std::size_t>(kernel_.simds());
    const Ref at = Writer::integer(El::I64, static_cast<std::int64_t>(reserve(bytes)));
    it = variables_.emplace(var, Ref{at.name, El::I64, 1}).first;
  }
  const Ref offset = w_.bin("add", it->second, w_.bin("mul", simd_, Writer::integer(El::I64, n * bytes_of(el))));
  const Ref p = w_.element({"%scratch", El::Ptr, 1}, El::I8, offset);
  if (i.op == Op::Var) define(i.out[0], {t, kVarying, {"zeroinitializer", el_of(t.dtype), n}});
  if (i.op == Op::Get) return define(i.out[0], {t, kVarying, from_memory(w_.load(el, n, p, 64), t.dtype)});
  Ref v = to_memory(wide(i.in[i.op == Op::Var ? 0 : 1]), t.dtype);
  if (mask_ && i.op == Op::Set) v = w_.select(lane_mask(t.lanes), v, w_.load(el, n, p, 64));
  w_.store(v, p, 64);
}

}  // namespace mt::cpu
