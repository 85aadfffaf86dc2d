#include <fmt/format.h>

#include <array>

#include "backends/interp/machine.h"
#include "backends/interp/runs.h"
#include "mt/ir/edit.h"

namespace mt::interp {
namespace {

using Row = std::array<std::byte, kLanes * 8>;  // one element of every lane

/// Every simdgroup that takes part must do so with all its lanes.
void need_whole_simds(const Machine& m, const Node& n) {
  if (m.mask->dense) return;
  for (int s = m.mask->lo; s < m.mask->hi; ++s) {
    const std::uint32_t w = m.mask->at(s);
    if (w == 0 || w == kAllLanes) continue;
    m.fail(n, fmt::format("{} is reached by {} of the 32 lanes of a simdgroup and missed by {}; move it out of control "
                          "flow that differs between lanes",
                          info(n.inst->op).name, std::popcount(w), m.who(s * kLanes + std::countr_one(w))));
  }
}

void need_whole_group(const Machine& m, const Node& n) {
  const int threads = m.code.kernel.threads, here = m.mask->count();
  if (here == threads) return;
  int missing = 0;
  while (m.mask->at(missing / kLanes) >> (missing % kLanes) & 1u) ++missing;
  m.fail(n,
         fmt::format("{} is reached by {} of the {} threads of a threadgroup and missed by {}; move it out of control "
                     "flow that differs between threads",
                     info(n.inst->op).name, here, threads, m.who(missing)));
}

/// f(simd) for every simdgroup that is active.
template <class F>
void each_simd(const Mask& mask, F f) {
  for (int s = mask.lo; s < mask.hi; ++s)
    if (mask.at(s) != 0) f(s);
}

void combine(const Node& n, void* out, const void* a, const void* b, std::size_t count) {
  n.loop({out, a, b, a, count, op_of(n.inst->combine), n.type});
}

/// Combines the 32 elements of `row` pairwise, halves first, and leaves the result in all of them.
void reduce_row(const Node& n, std::byte* row) {
  const int size = n.out.size;
  for (int half = kLanes / 2; half > 0; half /= 2)
    combine(n, row, row, row + half * size, static_cast<std::size_t>(half));
  for (int l = 1; l < kLanes; ++l) std::memcpy(row + l * size, row, static_cast<std::size_t>(size));
}

std::byte* element(const Machine& m, const Slot& s, int simd, int e) {
  return m.data(s, simd) + static_cast<std::size_t>(e * kLanes * s.size);
}

}  // namespace

void run_simd_reduce(Machine& m, const Node& n) {
  need_whole_simds(m, n);
  each_simd(*m.mask, [&](int s) {
    std::memcpy(m.data(n.out, s), m.data(n.in[0], s), n.out.simd_bytes());
    for (int e = 0; e < n.out.lanes; ++e) reduce_row(n, element(m, n.out, s, e));
  });
}

void run_simd_scan(Machine& m, const Node& n) {
  need_whole_simds(m, n);
  const int size = n.out.size;
  each_simd(*m.mask, [&](int s) {
    for (int e = 0; e < n.out.lanes; ++e) {
      const std::byte* in = element(m, n.in[0], s, e);
      std::byte* out = element(m, n.out, s, e);
      if (n.inst->exclusive)
        put_bits(out, size, 0, n.identity);
      else
        std::memcpy(out, in, static_cast<std::size_t>(size));
      for (int l = 1; l < kLanes; ++l)
        combine(n, out + l * size, out + (l - 1) * size, in + (n.inst->exclusive ? l - 1 : l) * size, 1);
    }
  });
}

void run_shuffle(Machine& m, const Node& n) {
  need_whole_simds(m, n);
  const int by = n.inst->index;
  each_simd(*m.mask, [&](int s) {
    std::array<std::int64_t, kLanes> wanted{};
    if (n.widen) n.widen(wanted.data(), m.data(n.in[1], s));
    for (int e = 0; e < n.out.lanes; ++e) {
      const std::byte* in = element(m, n.in[0], s, e);
      std::byte* out = element(m, n.out, s, e);
      for (int l = 0; l < kLanes; ++l) {
        int from = l;
        switch (n.inst->op) {
          case Op::SimdShuffle:
            from = static_cast<int>(wanted[static_cast<std::size_t>(l)] & (kLanes - 1));
            break;
          case Op::SimdShuffleXor:
            from = (l ^ by) & (kLanes - 1);
            break;
          case Op::SimdShuffleUp:
            if (l - by >= 0 && by >= 0) from = l - by;
            break;
          case Op::SimdShuffleDown:
            if (by < kLanes && l + by < kLanes && by >= 0) from = l + by;
            break;
          default:
            from = by & (kLanes - 1);
        }
        std::memcpy(out + l * n.out.size, in + from * n.out.size, static_cast<std::size_t>(n.out.size));
      }
    }
  });
}

/// The lanes of each simdgroup, then the simdgroups' results side by side, padded with the identity.
void run_group_reduce(Machine& m, const Node& n) {
  need_whole_group(m, n);
  const int simds = m.code.kernel.simds(), size = n.out.size;
  for (int e = 0; e < n.out.lanes; ++e) {
    alignas(64) Row all;
    for (int s = 0; s < kLanes; ++s) put_bits(all.data(), size, static_cast<std::size_t>(s), n.identity);
    for (int s = 0; s < simds; ++s) {
      alignas(64) Row row;
      std::memcpy(row.data(), element(m, n.in[0], s, e), static_cast<std::size_t>(kLanes * size));
      reduce_row(n, row.data());
      std::memcpy(all.data() + s * size, row.data(), static_cast<std::size_t>(size));
    }
    if (simds > 1) reduce_row(n, all.data());
    for (int s = 0; s < simds; ++s)
      for (int l = 0; l < kLanes; ++l)
        std::memcpy(element(m, n.out, s, e) + l * size, all.data(), static_cast<std::size_t>(size));
  }
  m.sync_group();
}

void run_barrier(Machine& m, const Node& n) {
  need_whole_group(m, n);
  m.sync_group();
}

void run_simd_barrier(Machine& m, const Node& n) {
  need_whole_simds(m, n);
  each_simd(*m.mask, [&](int s) { m.sync_simd(s); });
}

}  // namespace mt::interp
