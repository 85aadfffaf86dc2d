// The threads of a threadgroup as fibers of one thread of the host: printed kernels run with their barriers and
// exchanges between lanes.
#pragma once
#include <cstddef>
#include <cstdint>

#include "mt/base/error.h"

namespace mt::emulation {

/// Runs `thread(buffers)` for every thread of every threadgroup. Throws Error where some of those that must meet at a
/// barrier or an exchange never come.
void run_threads(void (*thread)(void** buffers), void** buffers, int threads, const std::int64_t (&groups)[3]);

}  // namespace mt::emulation

/// What text compiled for the host calls.
extern "C" {
struct MtHostIds {
  unsigned index, group[3];
};
const MtHostIds* mt_host_ids();
/// Waits for the simdgroup, or for the threadgroup.
void mt_host_barrier(int simd);
/// Gives the calling lane's value to its simdgroup and gets those of all 32 lanes, 8 bytes apart, until its next call.
const unsigned char* mt_host_exchange(const void* value, std::size_t bytes);
}
