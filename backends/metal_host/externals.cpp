#include "backends/metal_host/externals.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include "backends/metal_host/abi.h"
#include "backends/metal_host/checker.h"
#include "backends/metal_host/group_runner.h"
#include "mt/base/half.h"

#define MT_SITE __builtin_return_address(0)

// ── What abi.h declares ──

extern "C" {

void msl_rt_threadgroup_barrier(unsigned int flags) { mt::metal_host::GroupRunner::current()->barrier(flags, MT_SITE); }
const void* msl_rt_simd(unsigned int op, const void* value, unsigned int bytes) {
  return mt::metal_host::GroupRunner::current()->simd(op, value, bytes, MT_SITE);
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

__attribute__((noinline)) void index_out_of_range() {
  GroupRunner* r = GroupRunner::current();
  r->fail({r->who(r->fiber().context.thread_index_in_threadgroup) + " has an index outside an array of fixed size",
           MT_SITE});
}

// ── Conversions that the compiler calls where the instruction set lacks them. A 16-bit float lies in the low bits of
// the register that passes a float. ──

float in_register(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits}); }
float to_bf16(float x) { return in_register(f32_to_bf16(x)); }
float to_f16(float x) { return in_register(f32_to_f16(x)); }
float of_f16(float x) { return f16_to_f32(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x))); }

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
  put(t, "__ubsan_handle_out_of_bounds_minimal", &index_out_of_range);
  put(t, "__ubsan_handle_out_of_bounds_minimal_abort", &index_out_of_range);
  put(t, "__truncsfbf2", &to_bf16);
  put(t, "__truncsfhf2", &to_f16);
  put(t, "__gnu_f2h_ieee", &to_f16);
  put(t, "__extendhfsf2", &of_f16);
  using F1 = float(float);
  using F2 = float(float, float);
#define MT_F1(f) put<F1>(t, #f, &::f);
  MT_F1(acosf)
  MT_F1(acoshf)
  MT_F1(asinf) MT_F1(asinhf) MT_F1(atanf) MT_F1(atanhf) MT_F1(cbrtf) MT_F1(ceilf) MT_F1(cosf) MT_F1(coshf) MT_F1(erff)
      MT_F1(erfcf) MT_F1(expf) MT_F1(exp2f) MT_F1(expm1f) MT_F1(fabsf) MT_F1(floorf) MT_F1(lgammaf) MT_F1(logf)
          MT_F1(log10f) MT_F1(log1pf) MT_F1(log2f) MT_F1(logbf) MT_F1(nearbyintf) MT_F1(rintf) MT_F1(roundf)
              MT_F1(roundevenf) MT_F1(sinf) MT_F1(sinhf) MT_F1(sqrtf) MT_F1(tanf) MT_F1(tanhf) MT_F1(tgammaf)
                  MT_F1(truncf) MT_F1(exp10f)
#undef MT_F1
#define MT_F2(f) put<F2>(t, #f, &::f);
                      MT_F2(atan2f) MT_F2(copysignf) MT_F2(fdimf) MT_F2(fmaxf) MT_F2(fminf) MT_F2(fmodf) MT_F2(hypotf)
                          MT_F2(nextafterf) MT_F2(powf) MT_F2(remainderf)
#undef MT_F2
                              put<float(float, float, float)>(t, "fmaf", &::fmaf);
  put<float(float, int)>(t, "ldexpf", &::ldexpf);
  put<float(float, int*)>(t, "frexpf", &::frexpf);
  put<float(float, float*)>(t, "modff", &::modff);
  put<int(float)>(t, "ilogbf", &::ilogbf);
  put<void(float, float*, float*)>(t, "sincosf", &::sincosf);
  using D1 = double(double);
  using D2 = double(double, double);
#define MT_D1(f) put<D1>(t, #f, &::f);
  MT_D1(exp)
  MT_D1(exp2)
  MT_D1(log) MT_D1(log2) MT_D1(sin) MT_D1(cos) MT_D1(tan) MT_D1(sqrt) MT_D1(rint) MT_D1(floor) MT_D1(erf) MT_D1(tanh)
#undef MT_D1
      put<D2>(t, "pow", &::pow);
  put<D2>(t, "fmod", &::fmod);
  return t;
}

}  // namespace

void* resolve_external(std::string_view name) {
  static const Table table = make_table();
  const auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace mt::metal_host
