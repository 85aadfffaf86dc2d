// The functions that run instructions, one group a file.
#pragma once
#include "backends/interp/code.h"

namespace mt::interp {

// run_values.cpp: pure ops
void run_loop(Machine& m, const Node& n);  // elementwise, by n.loop
void run_constant(Machine& m, const Node& n);
void run_index(Machine& m, const Node& n);  // param, group_id, thread_id, simd_id, lane_id
void run_select(Machine& m, const Node& n);
void run_bitcast(Machine& m, const Node& n);  // get and var too: the same bits
void run_splat(Machine& m, const Node& n);
void run_pack(Machine& m, const Node& n);
void run_extract(Machine& m, const Node& n);
void run_vector_reduce(Machine& m, const Node& n);

// run_memory.cpp
void run_load(Machine& m, const Node& n);
void run_store(Machine& m, const Node& n);
void run_atomic(Machine& m, const Node& n);

// run_collective.cpp
void run_simd_reduce(Machine& m, const Node& n);
void run_simd_scan(Machine& m, const Node& n);
void run_shuffle(Machine& m, const Node& n);
void run_group_reduce(Machine& m, const Node& n);
void run_barrier(Machine& m, const Node& n);
void run_simd_barrier(Machine& m, const Node& n);

// run_tiles.cpp
void run_tile_fill(Machine& m, const Node& n);
void run_tile_load(Machine& m, const Node& n);
void run_tile_store(Machine& m, const Node& n);
void run_tile_mma(Machine& m, const Node& n);
void run_tile_cast(Machine& m, const Node& n);
void run_tile_reduce(Machine& m, const Node& n);
void run_tile_map(Machine& m, const Node& n);
void run_copy_async(Machine& m, const Node& n);
void run_copy_commit(Machine& m, const Node& n);
void run_copy_wait(Machine& m, const Node& n);
void run_load_matrix(Machine& m, const Node& n);
void run_mma_block(Machine& m, const Node& n);
void run_mma_team(Machine& m, const Node& n);
void run_mma_wait(Machine& m, const Node& n);
void run_nothing(Machine& m, const Node& n);

// run_control.cpp
void run_set(Machine& m, const Node& n);
void run_if(Machine& m, const Node& n);
Run for_of(DType index);  // null where the dtype can't be an index
void run_while(Machine& m, const Node& n);

}  // namespace mt::interp
