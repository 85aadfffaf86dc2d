#include "backends/metal_host/externals.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "backends/metal_host/abi.h"
#include "backends/metal_host/checker.h"
#include "backends/metal_host/group_runner.h"
#include "backends/metal_host/matrix.h"
#include "mt/base/half.h"

#define MT_SITE __builtin_return_address(0)

// ── What abi.h declares ──

extern "C" {

void msl_rt_threadgroup_barrier(unsigned int flags) { mt::metal_host::GroupRunner::current()->barrier(flags, MT_SITE); }
const void* msl_rt_simd(unsigned int op, const void* value, unsigned int bytes) {
  return mt::metal_host::GroupRunner::current()->simd(op, value, bytes, MT_SITE);
}
void msl_rt_multiply(unsigned int op, const float* factors, float* sum) {
  auto* r = mt::metal_host::GroupRunner::current();
  const void* slots = r->simd(op, factors, 4 * sizeof(float), MT_SITE);
  mt::metal_host::add_product(static_cast<const std::byte*>(slots), r->fiber().lane, sum);
}
unsigned int msl_rt_active(void) { return mt::metal_host::GroupRunner::current()->active(); }
unsigned int msl_rt_lane(void) { return mt::metal_host::GroupRunner::current()->fiber().lane; }
void* msl_rt_threadgroup(unsigned int id, unsigned long bytes, unsigned long align, const char* name) {
  return mt::metal_host::GroupRunner::current()->array(id, bytes, align, name, MT_SITE);
}
void msl_rt_fault(const char* what) {
  auto* r = mt::metal_host::GroupRunner::current();
  r->fail({r->who(r->fiber().context.thread_index_in_threadgroup) + ": " + what, MT_SITE});
}
}

namespace mt::metal_host {
namespace {

using Kind = Checker::Kind;

void access(Kind kind, const void* p, std::size_t bytes, const void* site, bool aligned) {
  if (Checker* c = GroupRunner::current()->checker()) c->access(kind, p, bytes, site, aligned);
}

// ── The entry points of -fsanitize=thread ──

template <Kind kKind, std::size_t kBytes, bool kAligned>
__attribute__((noinline)) void touched(void* p) {
  access(kKind, p, kBytes, MT_SITE, kAligned);
}
template <std::size_t kBytes, bool kAligned>
__attribute__((noinline)) void read_written(void* p) {
  access(Kind::Read, p, kBytes, MT_SITE, kAligned);
  access(Kind::Write, p, kBytes, MT_SITE, kAligned);
}
template <Kind kKind>
__attribute__((noinline)) void touched_range(void* p, std::size_t bytes) {
  access(kKind, p, bytes, MT_SITE, false);
}
__attribute__((noinline)) void* copied(void* to, const void* from, std::size_t bytes) {
  access(Kind::Read, from, bytes, MT_SITE, false);
  access(Kind::Write, to, bytes, MT_SITE, false);
  return std::memmove(to, from, bytes);
}
__attribute__((noinline)) void* filled(void* to, int value, std::size_t bytes) {
  access(Kind::Write, to, bytes, MT_SITE, false);
  return std::memset(to, value, bytes);
}
void nothing() {}

template <class T>
__attribute__((noinline)) T atomic_load(const T* p, int) {
  access(Kind::Atomic, p, sizeof(T), MT_SITE, true);
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}
template <class T>
__attribute__((noinline)) void atomic_store(T* p, T value, int) {
  access(Kind::Atomic, p, sizeof(T), MT_SITE, true);
  __atomic_store_n(p, value, __ATOMIC_RELAXED);
}
template <class T>
__attribute__((noinline)) T atomic_exchange(T* p, T value, int) {
  access(Kind::Atomic, p, sizeof(T), MT_SITE, true);
  return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);
}
enum class Change { Add, Sub, And, Or, Xor };
template <class T, Change kChange>
__attribute__((noinline)) T atomic_change(T* p, T value, int) {
  access(Kind::Atomic, p, sizeof(T), MT_SITE, true);
  switch (kChange) {
    case Change::Add:
      return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
    case Change::Sub:
      return __atomic_fetch_sub(p, value, __ATOMIC_RELAXED);
    case Change::And:
      return __atomic_fetch_and(p, value, __ATOMIC_RELAXED);
    case Change::Or:
      return __atomic_fetch_or(p, value, __ATOMIC_RELAXED);
    default:
      return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED);
  }
}
template <class T>
__attribute__((noinline)) int atomic_compare(T* p, T* expected, T value, int, int) {
  access(Kind::Atomic, p, sizeof(T), MT_SITE, true);
  return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
template <class T>
__attribute__((noinline)) T atomic_compare_value(T* p, T expected, T value, int, int) {
  access(Kind::Atomic, p, sizeof(T), MT_SITE, true);
  __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
void atomic_fence(int) {}

// ── -fsanitize=array-bounds ──

/// `'__private float[8]'` as Metal's `float[8]`.
std::string metal_type(std::string name) {
  std::erase(name, '\'');
  for (const auto& [ours, metals] : {std::pair{"__private ", ""},
                                     {"__local ", "threadgroup "},
                                     {"__global ", "device "},
                                     {"__constant ", "constant "}})
    for (std::size_t at; (at = name.find(ours)) != std::string::npos;) name.replace(at, std::strlen(ours), metals);
  return name;
}

/// What clang says of the place and the array, laid out as its calls give it.
struct ArrayType {
  std::uint16_t kind, info;
  char name[1];  // in quotes, to its zero byte
};
struct IndexCheck {
  const char* file;
  std::uint32_t line, column;
  const ArrayType *array, *index;
};

__attribute__((noinline)) void index_out_of_range(const IndexCheck* check, std::uintptr_t index) {
  GroupRunner* r = GroupRunner::current();
  // An integer's `info` is the logarithm of its bits above a bit that says whether it is signed.
  const unsigned bits = 1u << (check->index->info >> 1);
  auto value = static_cast<std::intptr_t>(index);
  if ((check->index->info & 1) && bits < 64) value = static_cast<std::intptr_t>(index << (64 - bits)) >> (64 - bits);
  r->fail({fmt::format("{} takes element {} of an array {}", r->who(r->fiber().context.thread_index_in_threadgroup),
                       value, metal_type(check->array->name)),
           MT_SITE});
}

// ── Conversions that the compiler calls where the instruction set lacks them. A 16-bit float lies in the low bits of
// the register that passes a float. ──

float in_register(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits}); }
float to_bf16(float x) { return in_register(f32_to_bf16(x)); }
float to_f16(float x) { return in_register(f32_to_f16(x)); }
float of_f16(float x) { return f16_to_f32(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x))); }

// ── libm ──

// Not every system's libm has these.
float ten_to(float x) { return static_cast<float>(std::pow(10.0, static_cast<double>(x))); }
float to_even(float x) { return std::nearbyint(x); }  // rounding is to nearest even throughout
void sine_and_cosine(float x, float* sine, float* cosine) { *sine = std::sin(x), *cosine = std::cos(x); }

#define MT_FUNCTION(f) \
  { #f, &::f }
const std::pair<const char*, float (*)(float)> kUnary[] = {
    MT_FUNCTION(acosf),  MT_FUNCTION(acoshf),  MT_FUNCTION(asinf),  MT_FUNCTION(asinhf),     MT_FUNCTION(atanf),
    MT_FUNCTION(atanhf), MT_FUNCTION(cbrtf),   MT_FUNCTION(ceilf),  MT_FUNCTION(cosf),       MT_FUNCTION(coshf),
    MT_FUNCTION(erff),   MT_FUNCTION(erfcf),   MT_FUNCTION(expf),   MT_FUNCTION(exp2f),      MT_FUNCTION(expm1f),
    MT_FUNCTION(fabsf),  MT_FUNCTION(floorf),  MT_FUNCTION(logf),   MT_FUNCTION(log10f),     MT_FUNCTION(log1pf),
    MT_FUNCTION(log2f),  MT_FUNCTION(logbf),   MT_FUNCTION(rintf),  MT_FUNCTION(nearbyintf), MT_FUNCTION(roundf),
    MT_FUNCTION(sinf),   MT_FUNCTION(sinhf),   MT_FUNCTION(sqrtf),  MT_FUNCTION(tanf),       MT_FUNCTION(tanhf),
    MT_FUNCTION(truncf), MT_FUNCTION(lgammaf), MT_FUNCTION(tgammaf)};
const std::pair<const char*, float (*)(float, float)> kBinary[] = {
    MT_FUNCTION(atan2f), MT_FUNCTION(copysignf), MT_FUNCTION(fdimf), MT_FUNCTION(fmaxf),      MT_FUNCTION(fminf),
    MT_FUNCTION(fmodf),  MT_FUNCTION(hypotf),    MT_FUNCTION(powf),  MT_FUNCTION(nextafterf), MT_FUNCTION(remainderf)};
const std::pair<const char*, double (*)(double)> kDouble[] = {
    MT_FUNCTION(exp), MT_FUNCTION(exp2), MT_FUNCTION(log),  MT_FUNCTION(log2),  MT_FUNCTION(sin), MT_FUNCTION(cos),
    MT_FUNCTION(tan), MT_FUNCTION(sqrt), MT_FUNCTION(rint), MT_FUNCTION(floor), MT_FUNCTION(erf), MT_FUNCTION(tanh)};
#undef MT_FUNCTION

using Table = std::map<std::string, void*, std::less<>>;

template <class F>
void put(Table& t, std::string name, F* f) {
  t[std::move(name)] = reinterpret_cast<void*>(f);
}

template <std::size_t kBytes>
void put_accesses(Table& t) {
  const std::string n = std::to_string(kBytes);
  put(t, "__tsan_read" + n, &touched<Kind::Read, kBytes, true>);
  put(t, "__tsan_write" + n, &touched<Kind::Write, kBytes, true>);
  put(t, "__tsan_read_write" + n, &read_written<kBytes, true>);
  put(t, "__tsan_unaligned_read" + n, &touched<Kind::Read, kBytes, false>);
  put(t, "__tsan_unaligned_write" + n, &touched<Kind::Write, kBytes, false>);
  put(t, "__tsan_unaligned_read_write" + n, &read_written<kBytes, false>);
}

template <class T>
void put_atomics(Table& t) {
  const std::string head = "__tsan_atomic" + std::to_string(8 * sizeof(T)) + "_";
  put(t, head + "load", &atomic_load<T>);
  put(t, head + "store", &atomic_store<T>);
  put(t, head + "exchange", &atomic_exchange<T>);
  put(t, head + "fetch_add", &atomic_change<T, Change::Add>);
  put(t, head + "fetch_sub", &atomic_change<T, Change::Sub>);
  put(t, head + "fetch_and", &atomic_change<T, Change::And>);
  put(t, head + "fetch_or", &atomic_change<T, Change::Or>);
  put(t, head + "fetch_xor", &atomic_change<T, Change::Xor>);
  put(t, head + "compare_exchange_strong", &atomic_compare<T>);
  put(t, head + "compare_exchange_weak", &atomic_compare<T>);
  put(t, head + "compare_exchange_val", &atomic_compare_value<T>);
}

Table make_table() {
  Table t;
  put(t, "msl_rt_threadgroup_barrier", &msl_rt_threadgroup_barrier);
  put(t, "msl_rt_simd", &msl_rt_simd);
  put(t, "msl_rt_multiply", &msl_rt_multiply);
  put(t, "msl_rt_active", &msl_rt_active);
  put(t, "msl_rt_lane", &msl_rt_lane);
  put(t, "msl_rt_threadgroup", &msl_rt_threadgroup);
  put(t, "msl_rt_fault", &msl_rt_fault);
  put_accesses<1>(t);
  put_accesses<2>(t);
  put_accesses<4>(t);
  put_accesses<8>(t);
  put_accesses<16>(t);
  put(t, "__tsan_read_range", &touched_range<Kind::Read>);
  put(t, "__tsan_write_range", &touched_range<Kind::Write>);
  put(t, "__tsan_memcpy", &copied);
  put(t, "__tsan_memmove", &copied);
  put(t, "__tsan_memset", &filled);
  for (const char* name : {"__tsan_init", "__tsan_func_entry", "__tsan_func_exit", "__tsan_ignore_thread_begin",
                           "__tsan_ignore_thread_end", "__tsan_vptr_update", "__tsan_vptr_read"})
    put(t, name, &nothing);
  put_atomics<std::uint8_t>(t);
  put_atomics<std::uint16_t>(t);
  put_atomics<std::uint32_t>(t);
  put_atomics<std::uint64_t>(t);
  put(t, "__tsan_atomic_thread_fence", &atomic_fence);
  put(t, "__tsan_atomic_signal_fence", &atomic_fence);
  put(t, "__ubsan_handle_out_of_bounds_abort", &index_out_of_range);
  put(t, "__truncsfbf2", &to_bf16);
  put(t, "__truncsfhf2", &to_f16);
  put(t, "__gnu_f2h_ieee", &to_f16);
  put(t, "__extendhfsf2", &of_f16);
  for (const auto& [name, f] : kUnary) put(t, name, f);
  for (const auto& [name, f] : kBinary) put(t, name, f);
  for (const auto& [name, f] : kDouble) put(t, name, f);
  put<float(float, float, float)>(t, "fmaf", &::fmaf);
  put<float(float, int)>(t, "ldexpf", &::ldexpf);
  put<float(float, int*)>(t, "frexpf", &::frexpf);
  put<float(float, float*)>(t, "modff", &::modff);
  put<int(float)>(t, "ilogbf", &::ilogbf);
  put(t, "sincosf", &sine_and_cosine);
  put(t, "exp10f", &ten_to);
  put(t, "roundevenf", &to_even);
  put<double(double, double)>(t, "pow", &::pow);
  put<double(double, double)>(t, "fmod", &::fmod);
  return t;
}

}  // namespace

void* resolve_external(std::string_view name) {
  static const Table table = make_table();
  const auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace mt::metal_host
