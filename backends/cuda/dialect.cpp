#include "backends/cuda/dialect.h"

#include <fmt/format.h>
#include <algorithm>

#include "backends/cuda/matrix.h"
#include "mt/base/error.h"

namespace mt::cuda {
namespace {

using clike::Needs;

constexpr std::int64_t kStaticShared = 48 * 1024;  // more must be asked for at launch
constexpr const char* kAllLanes = "0xffffffffu";

const clike::HelperStyle kStyle{"static __device__ __forceinline__ ", "__shfl_xor_sync(0xffffffffu, {0}, {1})",
                                "__shfl_up_sync(0xffffffffu, {0}, {1})", "::min", "::max"};

constexpr int kPanelAlign = 1024;  // bytes: 8 rows of a panel, which the hardware takes for one pattern

/// Where arrays of threadgroup memory begin, by memory, and last the bytes of all: panels stand first, at their
/// multiples.
std::vector<std::int64_t> shared_places(const Kernel& k) {
  std::vector<std::int64_t> places(k.memories.size() + 1);
  std::int64_t end = 0;
  for (const bool panels : {true, false})
    for (std::size_t i = 0; i < k.memories.size(); ++i) {
      const Memory& m = k.memories[i];
      if (m.space != Space::Threadgroup || (m.layout != Layout::Plain) != panels) continue;
      places[i] = end;
      const std::int64_t align = panels ? kPanelAlign : 16;
      end += (m.count * size_of(m.dtype) + align - 1) / align * align;
    }
  places.back() = end;
  return places;
}

std::string shape_of(const Memory& m) {
  std::string text;
  for (const Dim& d : m.shape)
    text += (text.empty() ? "" : ", ") + (d.symbol.empty() ? std::to_string(d.extent) : d.symbol);
  return text.empty() ? "" : "  // [" + text + "]";
}

[[noreturn]] void no_atomic(const Kernel& k, const Inst& inst, DType t) {
  throw Error(fmt::format("{}: [{}] this CUDA text has no atomic {} of {}; accumulate in u32, i32, f32 or u64",
                          to_string(inst.loc), k.name, name_of(inst.combine), name_of(t)));
}

/// An atomic that the language lacks, as a loop of compare and swap on 32 bits.
std::string atomic_loop(const clike::Dialect& d, const clike::Need& need, Needs& needs) {
  const DType t = need.type.dtype;
  const auto combine = static_cast<Combine>(need.variant);
  const std::string T = d.type({t});
  const std::string next =
      clike::combined(d, combine, t, d.bitcast({DType::U32}, {t}, "seen", needs), "value", kStyle, needs);
  return fmt::format(
      "static __device__ {0} atomic_{1}({0}* at, {0} value) {{\n"
      "  uint* word = (uint*)at;\n"
      "  uint old = *(volatile uint*)word, seen;\n"
      "  do {{\n"
      "    seen = old;\n"
      "    old = atomicCAS(word, seen, {2});\n"
      "  }} while (old != seen);\n"
      "  return {3};\n"
      "}}\n",
      T, name_of(combine), d.bitcast({t}, {DType::U32}, next, needs), d.bitcast({DType::U32}, {t}, "old", needs));
}

std::string type_text(const clike::Dialect& d, Type t, Needs& needs) {
  if (t.lanes > 1) {
    needs.insert({"type", t.scalar()});
    std::string fields;
    for (int k = 0; k < t.lanes; ++k) fields += fmt::format("{}{}", k ? ", " : "", fmt::format("s{}", k));
    return fmt::format("struct alignas({}) {} {{\n  {} {};\n}};\n", std::min(16, t.lanes * size_of(t.dtype)), d.type(t),
                       d.type(t.scalar()), fields);
  }
  switch (t.dtype) {
    case DType::I8:
      return "typedef signed char i8;\n";
    case DType::U8:
      return "typedef unsigned char u8;\n";
    case DType::I16:
      return "typedef short i16;\n";
    case DType::U16:
      return "typedef unsigned short u16;\n";
    case DType::U32:
      return "typedef unsigned int uint;\n";
    case DType::I64:
      return "typedef long long i64;\n";
    case DType::U64:
      return "typedef unsigned long long u64;\n";
    case DType::F16:
      return "struct half {\n"
             "  unsigned short bits;\n"
             "  __device__ __forceinline__ explicit operator float() const {\n"
             "    float x;\n"
             "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));\n"
             "    return x;\n"
             "  }\n"
             "};\n";
    case DType::BF16:
      return "struct bfloat {\n"
             "  unsigned short bits;\n"
             "  __device__ __forceinline__ explicit operator float() const { return __uint_as_float(unsigned(bits) << "
             "16); }\n"
             "};\n";
    default:
      return "";
  }
}

/// Entries that CUDA alone has.
std::string own_helper(const clike::Need& need) {
  const DType t = need.type.dtype;
  const std::string& f = kStyle.function;
  if (need.name == "min" || need.name == "max") {
    return fmt::format(
        "// NaN if either is; -0 < +0.\n{0}float {1}(float x, float y) {{\n  float r;\n"
        "  asm(\"{1}.NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(x), \"f\"(y));\n  return r;\n}}\n",
        f, need.name);
  }
  if (need.name == "fast_exp2")
    return f +
           "float fast_exp2(float x) {\n  float y;\n  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n"
           "  return y;\n}\n";
  if (need.name == "to_float") {
    const bool h = t == DType::F16;
    return fmt::format(
        "// Rounds to nearest even.\n{0}{1} to_{1}(float x) {{\n  {1} r;\n"
        "  asm(\"cvt.rn.{2}.f32 %0, %1;\" : \"=h\"(r.bits) : \"f\"(x));\n  return r;\n}}\n",
        f, h ? "half" : "bfloat", h ? "f16" : "bf16");
  }
  if (need.name == "to_int" && t == DType::I32) return f + "int to_i32(float x) { return __float2int_rz(x); }\n";
  if (need.name == "to_int" && t == DType::U32) return f + "uint to_u32(float x) { return __float2uint_rz(x); }\n";
  return "";
}

}  // namespace

std::int64_t dynamic_shared_bytes(const Kernel& kernel) {
  const std::int64_t bytes = shared_places(kernel).back();
  return bytes > kStaticShared ? bytes : 0;
}

const std::set<std::string, std::less<>>& CudaDialect::reserved() const {
  static const std::set<std::string, std::less<>> words = [] {
    std::set<std::string, std::less<>> all = {
        // C++
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
        "char", "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr",
        "constinit", "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete",
        "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
        "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
        "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
        "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
        "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
        "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "main",
        // CUDA, and what the text itself declares
        "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "half", "bfloat", "i8", "u8", "i16", "u16",
        "uint", "i64", "u64", "mt", "mt_shared", "simd", "lane", "size_t", "NULL", "assert", "atomicAdd", "atomicMin",
        "atomicMax", "atomicAnd", "atomicOr", "atomicXor", "atomicExch", "atomicCAS", "min", "max", "fmaxf", "fminf",
        "fabsf", "fmodf", "fmaf", "sqrtf", "rsqrtf", "expf", "__expf", "exp2f", "expm1f", "logf", "log2f", "log10f",
        "log1pf", "sinf", "cosf", "tanf", "asinf", "acosf", "atanf", "sinhf", "coshf", "tanhf", "asinhf", "acoshf",
        "atanhf", "erff", "erfinvf", "floorf", "ceilf", "rintf", "truncf", "powf", "atan2f", "signbit", "isnan",
        "isinf", "INFINITY", "NAN", "linux", "unix"};
    for (int t = 0; t < kDTypeCount; ++t)
      for (const int n : {2, 4, 8}) all.insert(to_string(Type{static_cast<DType>(t), static_cast<std::uint8_t>(n)}));
    return all;
  }();
  return words;
}

std::string CudaDialect::type(Type t) const {
  if (t.lanes > 1) return to_string(t);
  static constexpr const char* names[kDTypeCount] = {"float", "half", "bfloat", "i8",  "u8",  "i16",
                                                     "u16",   "int",  "uint",   "i64", "u64", "bool"};
  return names[static_cast<int>(t.dtype)];
}

std::string_view CudaDialect::suffix(DType t) const {
  return t == DType::U32 ? "u" : t == DType::I64 ? "ll" : t == DType::U64 ? "ull" : "";
}

std::string CudaDialect::function(Op op, Type t) const {
  switch (op) {
    case Op::Min:
    case Op::Max:
      return is_float(t.dtype) ? "" : std::string(info(op).name);
    case Op::Abs:
      return is_float(t.dtype) ? "fabsf" : "";
    case Op::Sign:
      return "";
    case Op::Ctz:
      return "";
    case Op::Rem:
      return "fmodf";
    case Op::Round:
      return "rintf";
    case Op::FastExp:
      return "__expf";
    case Op::FastExp2:
      return "";
    case Op::Popcount:
      return "__popc";
    case Op::Clz:
      return "__clz";
    default:
      return std::string(info(op).name) + "f";
  }
}

std::string CudaDialect::bitcast(Type from, Type to, const std::string& x, Needs& needs) const {
  const DType a = from.dtype, b = to.dtype;
  needs.insert({"type", to});
  if (a == DType::F32 && b != DType::F32) return fmt::format("__float_as_{}({})", b == DType::U32 ? "uint" : "int", x);
  if (b == DType::F32 && a != DType::F32) return fmt::format("__{}_as_float({})", a == DType::U32 ? "uint" : "int", x);
  std::string bits = x;
  if (is_float(a) && a != DType::F32) {
    needs.insert({"bits", {a}});
    bits = fmt::format("mt::bits({})", x);
  }
  if (is_float(b) && b != DType::F32) return fmt::format("{}{{(unsigned short)({})}}", type(to), bits);
  return a == b ? x : fmt::format("{}({})", type(to), bits);
}

std::string CudaDialect::convert(Type from, Type to, const std::string& x, Needs& needs) const {
  needs.insert({"type", to});
  needs.insert({"type", from});
  if (to.dtype == DType::F16 || to.dtype == DType::BF16) {
    needs.insert({"to_float", to});
    return fmt::format("mt::to_{}({})", type(to), x);
  }
  return fmt::format("{}({})", type(to), x);
}

std::string CudaDialect::vector_of(Type t, const std::vector<std::string>& lanes, Needs& needs) const {
  needs.insert({"type", t});
  return fmt::format("{}{{{}}}", type(t), clike::lanes_text(lanes));
}
std::string CudaDialect::lane(const std::string& vector, int index) const {
  return fmt::format("{}.s{}", vector, index);
}
std::string CudaDialect::vector_access(const Memory& m, Type t, const std::string& address, bool) const {
  const bool read_only = m.space == Space::Device && m.access == Access::In;
  return fmt::format("*({}{}*){}", read_only ? "const " : "", type(t), address);
}
std::string CudaDialect::group_id(int axis) const { return std::string("blockIdx.") + "xyz"[axis]; }

std::string CudaDialect::collective(const Inst& inst, DType t, const std::string& x, const std::string& other,
                                    Needs& needs) const {
  const auto shuffle = [&](const char* kind, const std::string& argument) {
    return fmt::format("__shfl_{}sync({}, {}, {})", kind, kAllLanes, x, argument);
  };
  switch (inst.op) {
    case Op::SimdShuffle:
      return shuffle("", other);
    case Op::SimdShuffleXor:
      return shuffle("xor_", std::to_string(inst.index & 31));
    case Op::SimdShuffleUp:
      return inst.index > 31 ? x : shuffle("up_", std::to_string(inst.index));
    case Op::SimdShuffleDown:
      return inst.index > 31 ? x : shuffle("down_", std::to_string(inst.index));
    case Op::SimdBroadcast:
      return shuffle("", std::to_string(inst.index & 31));
    default:
      break;
  }
  const auto own = [&](const char* kind, const char* arguments) {
    needs.insert({kind, {t}, static_cast<int>(inst.combine)});
    return fmt::format("mt::{}({}{})", clike::collective_name(inst), x, arguments);
  };
  if (inst.op == Op::SimdScan) return own(inst.exclusive ? "simd_exclusive" : "simd_inclusive", ", lane");
  if (t == DType::Bool)
    return fmt::format("bool(__{}_sync({}, {}))", inst.combine == Combine::And ? "all" : "any", kAllLanes, x);
  // The hardware reduces 32-bit integers; its and, or, xor are for unsigned ones.
  const bool bits = inst.combine == Combine::And || inst.combine == Combine::Or || inst.combine == Combine::Xor;
  const bool native = inst.combine != Combine::Prod && (t == DType::U32 || (t == DType::I32 && !bits));
  if (!native) return own("simd_reduce", "");
  return fmt::format("__reduce_{}_sync({}, {})", inst.combine == Combine::Sum ? "add" : name_of(inst.combine),
                     kAllLanes, x);
}

std::string CudaDialect::atomic(const Kernel& k, const Inst& inst, const std::string& target, const std::string& value,
                                Needs& needs) const {
  const DType t = k.at(inst.memory).dtype;
  const Combine c = inst.combine;
  if (size_of(t) < 4) no_atomic(k, inst, t);
  const bool order = c == Combine::Min || c == Combine::Max;
  const bool loop = c == Combine::Prod || (t == DType::F32 && order);
  if (loop) {
    if (size_of(t) == 8) no_atomic(k, inst, t);
    needs.insert({"atomic", {t}, static_cast<int>(c)});
    needs.insert({"type", {DType::U32}});
    return fmt::format("mt::atomic_{}(&{}, {})", name_of(c), target, value);
  }
  static constexpr const char* names[] = {"atomicAdd", "",         "atomicMin", "atomicMax",
                                          "atomicAnd", "atomicOr", "atomicXor", "atomicExch"};
  const char* name = names[static_cast<int>(c)];
  if (t != DType::I64 || order) return fmt::format("{}(&{}, {})", name, target, value);
  needs.insert({"type", {DType::U64}});
  needs.insert({"type", {DType::I64}});
  return fmt::format("i64({}((u64*)&{}, u64({})))", name, target, value);
}

std::string CudaDialect::head(const Kernel& k, const std::vector<std::string>& names, const std::vector<Op>& ids,
                              const std::vector<bool>& vector_memories, Needs& needs) const {
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string locals;
  const std::int64_t dynamic = dynamic_shared_bytes(k);
  const std::vector<std::int64_t> places = shared_places(k);
  const bool panels =
      std::any_of(k.memories.begin(), k.memories.end(), [](const Memory& m) { return m.layout != Layout::Plain; });
  if (dynamic)
    locals += fmt::format("  extern __shared__ __align__({}) unsigned char mt_shared[];\n", panels ? kPanelAlign : 16);
  for (std::size_t i = 0; i < k.memories.size(); ++i) {
    const Memory& m = k.memories[i];
    const std::string T = type({m.dtype});
    needs.insert({"type", {m.dtype}});
    if (m.space == Space::Device) {
      parameters.emplace_back(fmt::format("{}{}* __restrict__ {}", m.access == Access::In ? "const " : "", T, names[i]),
                              shape_of(m));
    } else if (m.space == Space::Threadgroup && dynamic) {
      locals += fmt::format("  {0}* {1} = ({0}*)(mt_shared + {2});\n", T, names[i], places[i]);
    } else {
      locals += fmt::format("  {}{}{} {}[{}];\n", m.space == Space::Threadgroup ? "__shared__ " : "",
                            m.layout != Layout::Plain ? fmt::format("alignas({}) ", kPanelAlign)
                            : vector_memories[i]      ? "alignas(16) "
                                                      : "",
                            T, names[i], m.count);
    }
  }
  for (std::size_t i = 0; i < k.scalars.size(); ++i) {
    needs.insert({"type", {k.scalars[i].dtype}});
    parameters.emplace_back(fmt::format("{} {}", type({k.scalars[i].dtype}), names[k.memories.size() + i]), "");
  }
  for (const Op id : ids) {
    if (id == Op::SimdId) locals += "  const unsigned simd = threadIdx.x >> 5;\n";
    if (id == Op::LaneId) locals += "  const unsigned lane = threadIdx.x & 31;\n";
  }
  std::string out = fmt::format(
      "// {}: {} threads a block{}\nextern \"C\" __global__ void __launch_bounds__({}) {}(", k.name, k.threads,
      dynamic ? fmt::format(", {} bytes of dynamic shared memory", dynamic) : "", k.threads, k.name);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    out +=
        fmt::format("\n    {}{}{}", parameters[i].first, i + 1 < parameters.size() ? "," : ") {", parameters[i].second);
  return out + (parameters.empty() ? ") {\n" : "\n") + locals;
}

std::string CudaDialect::preamble() const {
  return "// Compile with -fmad=false: a product is fused into a sum only where the text says fmaf.\n";
}

std::string CudaDialect::helper(const clike::Need& need, Needs& needs) const {
  if (need.name == "type") return type_text(*this, need.type, needs);
  if (need.name == "shuffles") return "";
  if (need.name == "bits")
    return fmt::format("{}unsigned short bits({} x) {{ return x.bits; }}\n", kStyle.function, type(need.type));
  if (need.name == "ctz") return kStyle.function + "uint ctz(uint x) { return __clz(__brev(x)); }\n";
  needs.insert({"type", need.type});
  if (need.name == "atomic") return atomic_loop(*this, need, needs);
  std::string own = own_helper(need);
  if (own.empty()) own = matrix_helper(need, needs);
  if (!own.empty()) return own;
  if (const auto text = clike::common_helper(*this, need, kStyle, needs)) return *text;
  MT_ICE("no CUDA spelling for " + need.name);
}

}  // namespace mt::cuda
