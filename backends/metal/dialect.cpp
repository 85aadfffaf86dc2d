#include "backends/metal/dialect.h"

#include <fmt/format.h>
#include <algorithm>

#include "mt/base/error.h"

namespace mt::metal {
namespace {

using clike::Needs;

const clike::HelperStyle& style_of(DType t) {
  static const clike::HelperStyle narrow{"static inline ", "simd_shuffle_xor({0}, ushort({1}))",
                                         "simd_shuffle_up({0}, ushort({1}))", "metal::min", "metal::max"};
  static const clike::HelperStyle wide{"static inline ", "mt::shuffle_xor({0}, ushort({1}))",
                                       "mt::shuffle_up({0}, ushort({1}))", "metal::min", "metal::max"};
  return size_of(t) == 8 ? wide : narrow;
}

std::string_view space(Space s) {
  return s == Space::Device ? "device" : s == Space::Threadgroup ? "threadgroup" : "thread";
}

std::string shape_of(const Memory& m) {
  std::string text;
  for (const Dim& d : m.shape)
    text += (text.empty() ? "" : ", ") + (d.symbol.empty() ? std::to_string(d.extent) : d.symbol);
  return text.empty() ? "" : "  // [" + text + "]";
}

[[noreturn]] void no_atomic(const Kernel& k, const Inst& inst, DType t) {
  throw Error(fmt::format("{}: [{}] Metal has no atomic {} of {}; accumulate in u32, i32 or f32", to_string(inst.loc),
                          k.name, name_of(inst.combine), name_of(t)));
}

/// An atomic that the language lacks, as a loop of compare and exchange.
std::string atomic_loop(const clike::Dialect& d, const clike::Need& need, Needs& needs) {
  const DType t = need.type.dtype;
  const auto combine = static_cast<Combine>(need.variant % 16);
  const auto where = space(static_cast<Space>(need.variant / 16));
  const std::string T = d.type({t});
  const auto as = [&](const std::string& to, const std::string& x) {
    return t == DType::U32 ? x : fmt::format("as_type<{}>({})", to, x);
  };
  const std::string next = clike::combined(d, combine, t, as(T, "old"), "value", style_of(t), needs);
  return fmt::format(
      "static inline {0} atomic_{1}({2} atomic_uint* at, {0} value) {{\n"
      "  uint old = atomic_load_explicit(at, memory_order_relaxed);\n"
      "  while (!atomic_compare_exchange_weak_explicit(at, &old, {3}, memory_order_relaxed, memory_order_relaxed)) {{\n"
      "  }}\n"
      "  return {4};\n"
      "}}\n",
      T, name_of(combine), where, as("uint", next), as(T, "old"));
}

std::string mma_text(const std::string& t) {
  return fmt::format(
      "// c + a b of 8 x 8 elements that a simdgroup holds together, two a lane.\n"
      "static inline float2 mma(float2 c, {0}2 a, {0}2 b) {{\n"
      "  simdgroup_matrix<{0}, 8, 8> left, right;\n"
      "  simdgroup_matrix<float, 8, 8> sum;\n"
      "  reinterpret_cast<thread {0}2&>(left.thread_elements()) = a;\n"
      "  reinterpret_cast<thread {0}2&>(right.thread_elements()) = b;\n"
      "  reinterpret_cast<thread float2&>(sum.thread_elements()) = c;\n"
      "  simdgroup_multiply_accumulate(sum, left, right, sum);\n"
      "  return reinterpret_cast<thread float2&>(sum.thread_elements());\n"
      "}}\n",
      t);
}

}  // namespace

const std::set<std::string, std::less<>>& MetalDialect::reserved() const {
  static const std::set<std::string, std::less<>> words = [] {
    std::set<std::string, std::less<>> all = {
        // C++
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
        "char", "char16_t", "char32_t", "class", "compl", "const", "const_cast", "constexpr", "continue", "decltype",
        "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
        "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept",
        "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
        "reinterpret_cast", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
        "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
        "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "main", "assert",
        "offsetof",
        // Metal's own words, types and namespaces
        "kernel", "vertex", "fragment", "device", "threadgroup", "thread", "constant", "threadgroup_imageblock",
        "ray_data", "object_data", "visible", "stitchable", "half", "bfloat", "uchar", "ushort", "uint", "ulong",
        "size_t", "ptrdiff_t", "vec", "matrix", "packed_float4", "texture", "sampler", "metal", "precise", "fast",
        "atomic_uint", "atomic_int", "atomic_float", "atomic_bool", "atomic_ulong", "mem_flags", "memory_order",
        "memory_order_relaxed", "as_type", "array", "uniform", "simdgroup_matrix", "INFINITY", "NAN", "HUGE_VALF",
        "MAXFLOAT",
        // what the head of a kernel declares
        "group", "thread_index", "simd", "lane", "mt",
        // functions that the text calls
        "abs", "acos", "acosh", "all", "any", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "clamp", "clz", "cos",
        "cosh", "ctz", "dot", "exp", "exp2", "exp10", "fabs", "floor", "fma", "fmax", "fmin", "fmod", "fract", "isnan",
        "isinf", "length", "log", "log2", "log10", "max", "min", "mix", "popcount", "pow", "rint", "round", "rsqrt",
        "select", "sign", "signbit", "sin", "sinh", "sqrt", "step", "tan", "tanh", "trunc", "reverse_bits", "rotate",
        "cross", "normalize"};
    for (const char* base :
         {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "bool", "bfloat"})
      for (const char* n : {"2", "3", "4"}) all.insert(std::string(base) + n);
    return all;
  }();
  return words;
}

std::string MetalDialect::type(Type t) const {
  static constexpr const char* names[kDTypeCount] = {"float",  "half", "bfloat", "char", "uchar", "short",
                                                     "ushort", "int",  "uint",   "long", "ulong", "bool"};
  const std::string base = names[static_cast<int>(t.dtype)];
  return t.lanes > 1 ? base + std::to_string(t.lanes) : base;
}

std::string_view MetalDialect::suffix(DType t) const {
  return t == DType::U32 ? "u" : t == DType::I64 ? "l" : t == DType::U64 ? "ul" : "";
}

std::string MetalDialect::function(Op op, Type t) const {
  switch (op) {
    case Op::Min:
    case Op::Max:
      return is_float(t.dtype) ? "" : std::string(info(op).name);
    case Op::Abs:
      return is_float(t.dtype) ? "fabs" : "";
    case Op::Sign:
    case Op::Erf:
    case Op::Erfinv:
    case Op::Expm1:
    case Op::Log1p:
      return "";
    case Op::Rem:
      return "precise::fmod";
    case Op::FastExp:
      return "fast::exp";
    case Op::FastExp2:
      return "fast::exp2";
    case Op::Round:
      return "rint";
    case Op::Fma:
    case Op::Fmin:
    case Op::Fmax:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Popcount:
    case Op::Clz:
    case Op::Ctz:
      return std::string(info(op).name);
    default:
      return "precise::" + std::string(info(op).name);
  }
}

std::string MetalDialect::bitcast(Type from, Type to, const std::string& x, Needs&) const {
  const bool whole = is_int(from.dtype) && is_int(to.dtype);
  if (whole || from.dtype == DType::Bool || to.dtype == DType::Bool) return fmt::format("{}({})", type(to), x);
  return fmt::format("as_type<{}>({})", type(to), x);
}
std::string MetalDialect::convert(Type, Type to, const std::string& x, Needs&) const {
  return fmt::format("{}({})", type(to), x);
}
std::string MetalDialect::vector_of(Type t, const std::vector<std::string>& lanes, Needs&) const {
  return fmt::format("{}({})", type(t), clike::lanes_text(lanes));
}
std::string MetalDialect::lane(const std::string& vector, int index) const { return vector + "." + "xyzw"[index]; }
std::string MetalDialect::vector_access(const Memory& m, Type t, const std::string& address, bool) const {
  const bool read_only = m.space == Space::Device && m.access == Access::In;
  return fmt::format("*({} {}{}*){}", space(m.space), read_only ? "const " : "", type(t), address);
}
std::string MetalDialect::group_id(int axis) const { return std::string("group.") + "xyz"[axis]; }

std::string MetalDialect::collective(const Inst& inst, DType t, const std::string& x, const std::string& other,
                                     Needs& needs) const {
  const bool wide = size_of(t) == 8;
  const auto shuffle = [&](const std::string& kind, const std::string& argument) {
    if (wide) needs.insert({"shuffles", {t}});
    return fmt::format("{}{}({}, {})", wide ? "mt::" : "simd_", kind, x, argument);
  };
  switch (inst.op) {
    case Op::SimdShuffle:
      return shuffle("shuffle", fmt::format("ushort({} & 31)", other));
    case Op::SimdShuffleXor:
      return shuffle("shuffle_xor", std::to_string(inst.index & 31));
    case Op::SimdShuffleUp:
      return inst.index > 31 ? x : shuffle("shuffle_up", std::to_string(inst.index));
    case Op::SimdShuffleDown:
      return inst.index > 31 ? x : shuffle("shuffle_down", std::to_string(inst.index));
    case Op::SimdBroadcast:
      return shuffle(wide ? "shuffle" : "broadcast", std::to_string(inst.index & 31));
    default:
      break;
  }
  const bool sum = inst.combine == Combine::Sum || inst.combine == Combine::Prod;
  const std::string_view name = inst.combine == Combine::Prod ? "product" : name_of(inst.combine);
  if (inst.op == Op::SimdReduce) {
    if (t == DType::Bool) return fmt::format("simd_{}({})", inst.combine == Combine::And ? "all" : "any", x);
    if (!wide && (sum || !is_float(t))) return fmt::format("simd_{}({})", name, x);
    needs.insert({"simd_reduce", {t}, static_cast<int>(inst.combine)});
    return fmt::format("mt::{}({})", clike::collective_name(inst), x);
  }
  if (!wide && sum) return fmt::format("simd_prefix_{}_{}({})", inst.exclusive ? "exclusive" : "inclusive", name, x);
  needs.insert({inst.exclusive ? "simd_exclusive" : "simd_inclusive", {t}, static_cast<int>(inst.combine)});
  return fmt::format("mt::{}({}, lane)", clike::collective_name(inst), x);
}

std::string MetalDialect::atomic(const Kernel& k, const Inst& inst, const std::string& target, const std::string& value,
                                 Needs& needs) const {
  const Memory& m = k.at(inst.memory);
  const DType t = m.dtype;
  if (t != DType::U32 && t != DType::I32 && t != DType::F32) no_atomic(k, inst, t);
  const bool is_f32 = t == DType::F32;
  if (inst.combine == Combine::Exchange && is_f32)
    return fmt::format(
        "as_type<float>(atomic_exchange_explicit(({} atomic_uint*)&{}, as_type<uint>({}), memory_order_relaxed))",
        space(m.space), target, value);
  // Only device memory has a sum of floats, and nothing has a product.
  const bool native = is_f32 ? inst.combine == Combine::Sum && m.space == Space::Device : inst.combine != Combine::Prod;
  if (!native) {
    needs.insert({"atomic", {t}, static_cast<int>(inst.combine) + 16 * static_cast<int>(m.space)});
    return fmt::format("mt::atomic_{}(({} atomic_uint*)&{}, {})", name_of(inst.combine), space(m.space), target, value);
  }
  const std::string name = inst.combine == Combine::Exchange ? "exchange"
                           : inst.combine == Combine::Sum    ? "fetch_add"
                                                             : fmt::format("fetch_{}", name_of(inst.combine));
  return fmt::format("atomic_{}_explicit(({} atomic_{}*)&{}, {}, memory_order_relaxed)", name, space(m.space),
                     type({t}), target, value);
}

std::string MetalDialect::barrier(bool simd) const {
  return simd ? "simdgroup_barrier(mem_flags::mem_threadgroup)" : "threadgroup_barrier(mem_flags::mem_threadgroup)";
}

std::string MetalDialect::mma(const Inst&, DType operands, const std::vector<std::string>& in, Needs& needs) const {
  needs.insert({"mma", {operands}});
  return fmt::format("mt::mma({}, {}, {})", in[0], in[1], in[2]);
}

std::string MetalDialect::head(const Kernel& k, const std::vector<std::string>& names, const std::vector<Op>& ids,
                               const std::vector<bool>& vector_memories, Needs&) const {
  struct Parameter {
    std::string text, comment;
  };
  std::vector<Parameter> parameters;
  std::string locals;
  int slot = 0;
  for (std::size_t i = 0; i < k.memories.size(); ++i) {
    const Memory& m = k.memories[i];
    if (m.space == Space::Device)
      parameters.push_back({fmt::format("device {}{}* {} [[buffer({})]]", m.access == Access::In ? "const " : "",
                                        type({m.dtype}), names[i], slot++),
                            shape_of(m)});
    else
      locals += fmt::format("  {}{}{} {}[{}];\n", m.space == Space::Threadgroup ? "threadgroup " : "",
                            vector_memories[i] ? "alignas(16) " : "", type({m.dtype}), names[i], m.count);
  }
  for (std::size_t i = 0; i < k.scalars.size(); ++i)
    parameters.push_back({fmt::format("constant {}& {} [[buffer({})]]", type({k.scalars[i].dtype}),
                                      names[k.memories.size() + i], slot++),
                          ""});
  for (const Op id : ids) {
    if (id == Op::GroupId) parameters.push_back({"uint3 group [[threadgroup_position_in_grid]]", ""});
    if (id == Op::ThreadId) parameters.push_back({"uint thread_index [[thread_index_in_threadgroup]]", ""});
    if (id == Op::SimdId) parameters.push_back({"uint simd [[simdgroup_index_in_threadgroup]]", ""});
    if (id == Op::LaneId) parameters.push_back({"uint lane [[thread_index_in_simdgroup]]", ""});
  }
  std::string out =
      fmt::format("// {}: {} threads a threadgroup\n[[kernel, max_total_threads_per_threadgroup({})]]\nvoid {}(",
                  k.name, k.threads, k.threads, k.name);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    out +=
        fmt::format("\n    {}{}{}", parameters[i].text, i + 1 < parameters.size() ? "," : ") {", parameters[i].comment);
  return out + (parameters.empty() ? ") {\n" : "\n") + locals;
}

std::string MetalDialect::preamble() const {
  return "#include <metal_stdlib>\n"
         "using namespace metal;\n"
         "\n"
         "// A product is fused into a sum only where the text says fma.\n"
         "#pragma METAL fp math_mode(safe)\n"
         "#pragma METAL fp contract(off)\n";
}

std::string MetalDialect::helper(const clike::Need& need, Needs& needs) const {
  if (need.name == "type") return "";
  const clike::HelperStyle& style = style_of(need.type.dtype);
  if (need.name == "mma") return mma_text(type(need.type));
  if (need.name == "atomic") return atomic_loop(*this, need, needs);
  if (need.name == "shuffles") {
    if (size_of(need.type.dtype) != 8) return "";
    const std::string T = type(need.type);
    std::string out = "// 64 bits go through a shuffle as two halves.\n";
    for (const char* kind : {"shuffle", "shuffle_xor", "shuffle_up", "shuffle_down"})
      out += fmt::format(
          "static inline {0} {1}({0} x, ushort by) {{ return as_type<{0}>(simd_{1}(as_type<uint2>(x), by)); }}\n", T,
          kind);
    return out;
  }
  if (const auto text = clike::common_helper(*this, need, style, needs)) return *text;
  const std::string text = maths_helper(need.name);
  if (text.empty()) MT_ICE("no Metal spelling for " + need.name);
  if (need.type.lanes == 1) return text;
  needs.insert({need.name, need.type.scalar()});
  const int arity = need.name == "min" || need.name == "max" ? 2 : 1;
  return clike::per_lane(*this, style, need.name, arity, need.type, need.type);
}

}  // namespace mt::metal
