#include "backends/cpu/text.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "mt/base/error.h"

namespace mt::cpu {

std::string_view name_of(El e) {
  constexpr std::string_view names[] = {"i1", "i8", "i16", "i32", "i64", "float", "double", "half", "bfloat", "ptr"};
  return names[static_cast<int>(e)];
}
int bytes_of(El e) {
  constexpr int bytes[] = {1, 1, 2, 4, 8, 4, 8, 2, 2, 8};
  return bytes[static_cast<int>(e)];
}

El el_of(DType t) {
  if (t == DType::Bool) return El::I1;
  return memory_el_of(t);
}
El memory_el_of(DType t) {
  switch (t) {
    case DType::F32:
      return El::F32;
    case DType::F16:
    case DType::BF16:
    case DType::I16:
    case DType::U16:
      return El::I16;
    case DType::I8:
    case DType::U8:
    case DType::Bool:
      return El::I8;
    case DType::I32:
    case DType::U32:
      return El::I32;
    case DType::I64:
    case DType::U64:
      return El::I64;
  }
  MT_ICE("dtype out of range");
}

std::string type_name(El e, int n) {
  return n == 1 ? std::string(name_of(e)) : fmt::format("<{} x {}>", n, name_of(e));
}

namespace {
std::string repeated(El el, std::string text, int n) {
  return n == 1 ? text : fmt::format("splat ({} {})", name_of(el), text);
}
std::string overload(const Ref& r) {
  const char* el = r.el == El::F32    ? "f32"
                   : r.el == El::F64  ? "f64"
                   : r.el == El::F16  ? "f16"
                   : r.el == El::BF16 ? "bf16"
                   : r.el == El::Ptr  ? "p0"
                                      : name_of(r.el).data();
  return r.n == 1 ? el : fmt::format("v{}{}", r.n, el);
}
}  // namespace

Ref Writer::integer(El el, std::int64_t v, int n) {
  if (el == El::I1) return {repeated(el, v ? "true" : "false", n), el, n};
  return {repeated(el, std::to_string(v), n), el, n};
}
Ref Writer::f32(float v, int n) {
  // LLVM spells a float by the bits of the equal double; a NaN's payload moves to the double's top bits.
  const auto f = std::bit_cast<std::uint32_t>(v);
  std::uint64_t d = std::bit_cast<std::uint64_t>(static_cast<double>(v));
  if (std::isnan(v)) d = (std::uint64_t{f >> 31} << 63) | (0x7ffull << 52) | (std::uint64_t{f & 0x7fffffu} << 29);
  return {repeated(El::F32, fmt::format("0x{:016X}", d), n), El::F32, n};
}
Ref Writer::f64(double v, int n) {
  return {repeated(El::F64, fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(v)), n), El::F64, n};
}
Ref Writer::zero(El el, int n) {
  if (n > 1) return {"zeroinitializer", el, n};
  if (el == El::F32 || el == El::F64) return {"0.0", el, 1};
  return integer(el, 0);
}
Ref Writer::constant(DType t, std::uint64_t bits, int n) {
  if (t == DType::F32) return f32(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), n);
  std::int64_t v = static_cast<std::int64_t>(bits);
  const int width = bits_of(t);
  if (width > 1 && width < 64) v = static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
  return integer(el_of(t), v, n);
}
Ref Writer::integers(El el, const std::vector<std::int64_t>& values) {
  std::string text = "<";
  for (const std::int64_t v : values) {
    if (text.size() > 1) text += ", ";
    text += name_of(el);
    text += ' ';
    text += el == El::I1 ? (v ? "true" : "false") : std::to_string(v);
  }
  return {text + ">", el, static_cast<int>(values.size())};
}

void Writer::start() {
  MT_ASSERT(open_, "an instruction after the end of a block");
  body_ += "  ";
}
void Writer::add(TypeOf t) {
  if (t.n == 1) {
    body_ += name_of(t.el);
    return;
  }
  body_ += '<';
  body_ += std::to_string(t.n);
  body_ += " x ";
  body_ += name_of(t.el);
  body_ += '>';
}
Ref Writer::emit(El el, int n, std::string_view text) { return made(el, n, text); }
void Writer::line(std::string_view text) {
  start();
  body_ += text;
  body_ += '\n';
}

Ref Writer::bin(std::string_view op, const Ref& a, const Ref& b) {
  MT_ASSERT(a.el == b.el && a.n == b.n, "operands of different types");
  return made(a.el, a.n, op, " ", a, ", ", std::string_view(b.name));
}
Ref Writer::cmp(std::string_view op, const Ref& a, const Ref& b) {
  MT_ASSERT(a.el == b.el && a.n == b.n, "operands of different types");
  return made(El::I1, a.n, op, " ", a, ", ", std::string_view(b.name));
}
Ref Writer::neg(const Ref& a) {
  if (a.el == El::F32 || a.el == El::F64) return made(a.el, a.n, "fneg ", a);
  return bin("sub", zero(a.el, a.n), a);
}
Ref Writer::cast(std::string_view op, const Ref& a, El to) {
  if (a.el == to) return a;
  return made(to, a.n, op, " ", a, " to ", TypeOf{to, a.n});
}
Ref Writer::bitcast(const Ref& a, El to, int n) {
  if (a.el == to && a.n == n) return a;
  return made(to, n, "bitcast ", a, " to ", TypeOf{to, n});
}
Ref Writer::select(const Ref& c, const Ref& a, const Ref& b) {
  MT_ASSERT(a.el == b.el && a.n == b.n && (c.n == a.n || c.n == 1), "select of different types");
  return made(a.el, a.n, "select ", c, ", ", a, ", ", b);
}
Ref Writer::call_pieces(std::string_view function, El el, int piece, const std::vector<Ref>& args,
                        const std::vector<Ref>& constants) {
  std::vector<Ref> parts;
  for (int from = 0; from < args[0].n; from += piece) {
    std::vector<Ref> all;
    for (const Ref& a : args) all.push_back(slice(a, from, piece));
    all.insert(all.end(), constants.begin(), constants.end());
    parts.push_back(call_as(function, el, piece, all));
  }
  return join(std::move(parts));
}
Ref Writer::call(std::string_view intrinsic, const std::vector<Ref>& args) {
  return call_as(std::string(intrinsic) + "." + overload(args[0]), args[0].el, args[0].n, args);
}
Ref Writer::call_as(std::string_view function, El el, int n, const std::vector<Ref>& args) {
  Ref r{"%v" + std::to_string(next_++), el, n};
  start();
  add(r.name);
  add(" = call ");
  add(TypeOf{el, n});
  add(" @");
  add(function);
  add("(");
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (k) add(", ");
    add(args[k]);
  }
  add(")\n");
  return r;
}
Ref Writer::shuffle(const Ref& a, const Ref& b, const std::vector<int>& mask) {
  const int n = static_cast<int>(mask.size());
  MT_ASSERT(n > 1 && a.n > 1, "shuffle of a scalar");
  std::string list;
  list.reserve(mask.size() * 9);
  for (const int m : mask) {
    list += list.empty() ? "i32 " : ", i32 ";
    list += std::to_string(m);
  }
  return made(a.el, n, "shufflevector ", a, ", ", b, ", ", TypeOf{El::I32, n}, " <", std::string_view(list), ">");
}
Ref Writer::splat(const Ref& s, int n) {
  if (s.n == n) return s;
  MT_ASSERT(s.n == 1, "splat of a vector");
  if (s.name[0] != '%') return {repeated(s.el, s.name, n), s.el, n};
  const Ref one = made(s.el, n, "insertelement ", TypeOf{s.el, n}, " poison, ", s, ", i32 0");
  return made(s.el, n, "shufflevector ", one, ", ", TypeOf{s.el, n}, " poison, ", TypeOf{El::I32, n},
              " zeroinitializer");
}
Ref Writer::extract(const Ref& v, int lane) {
  if (v.n == 1) return v;
  return made(v.el, 1, "extractelement ", v, ", i32 ", lane);
}
Ref Writer::insert(const Ref& v, const Ref& s, int lane) {
  return made(v.el, v.n, "insertelement ", v, ", ", s, ", i32 ", lane);
}
Ref Writer::slice(const Ref& v, int from, int count) {
  if (from == 0 && count == v.n) return v;
  if (count == 1) return extract(v, from);
  std::vector<int> mask;
  for (int i = 0; i < count; ++i) mask.push_back(from + i);
  return shuffle(v, {"poison", v.el, v.n}, mask);
}
Ref Writer::join(const Ref& a, const Ref& b) {
  if (a.n == 1) return insert(insert({"poison", a.el, 2}, a, 0), b, 1);
  std::vector<int> mask;
  for (int i = 0; i < a.n + b.n; ++i) mask.push_back(i);
  return shuffle(a, b, mask);
}

Ref Writer::join(std::vector<Ref> parts) {
  while (parts.size() > 1) {
    std::vector<Ref> joined;
    for (std::size_t p = 0; p + 1 < parts.size(); p += 2) joined.push_back(join(parts[p], parts[p + 1]));
    parts = std::move(joined);
  }
  return parts[0];
}

Ref Writer::element(const Ref& pointer, El el, const Ref& index) {
  return made(El::Ptr, std::max(pointer.n, index.n), "getelementptr ", name_of(el), ", ", pointer, ", ", index);
}
Ref Writer::load(El el, int n, const Ref& pointer, int align, std::string_view metadata) {
  return made(el, n, "load ", TypeOf{el, n}, ", ptr ", std::string_view(pointer.name), ", align ", align, metadata);
}
void Writer::store(const Ref& v, const Ref& pointer, int align, std::string_view metadata) {
  start();
  add("store ");
  add(v);
  add(", ptr ");
  add(pointer.name);
  add(", align ");
  add(align);
  add(metadata);
  add("\n");
}
Ref Writer::stack(El el, int n) {
  Ref r{fmt::format("%s{}", next_++), El::Ptr, 1};
  slots_ += fmt::format("  {} = alloca {}, align 64\n", r.name, type_name(el, n));
  return r;
}

std::string Writer::label(std::string_view hint) { return fmt::format("{}{}", hint, next_++); }
void Writer::place(const std::string& label) {
  if (open_) jump(label);
  body_ += fmt::format("{}:\n", label);
  open_ = true;
}
void Writer::jump(const std::string& label) {
  line(fmt::format("br label %{}", label));
  open_ = false;
}
void Writer::branch(const Ref& c, const std::string& then, const std::string& other) {
  line(fmt::format("br i1 {}, label %{}, label %{}", c.name, then, other));
  open_ = false;
}

bool Writer::first_use(const std::string& name) {
  if (std::find(used_.begin(), used_.end(), name) != used_.end()) return false;
  used_.push_back(name);
  return true;
}
void Writer::outside(const std::string& text) { outside_.push_back(text); }
std::string Writer::function(std::string_view head, std::string_view attributes) const {
  return fmt::format("define {} {} {{\nentry:\n{}{}}}\n", head, attributes, slots_, body_);
}
Writer::Frame Writer::enter() {
  Frame outer{std::move(body_), std::move(slots_), open_};
  body_.clear();
  slots_.clear();
  open_ = true;
  return outer;
}
void Writer::leave(Frame outer, std::string_view head, std::string_view attributes) {
  outside(function(head, attributes));
  body_ = std::move(outer.body);
  slots_ = std::move(outer.slots);
  open_ = outer.open;
}
std::string Writer::others() const {
  std::string all;
  for (const std::string& s : outside_) all += s;
  return all;
}

}  // namespace mt::cpu
