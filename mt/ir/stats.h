// Counts that tell how heavy a kernel is.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>

#include "mt/ir/kernel.h"

namespace mt {

struct KernelStats {
  int instructions = 0;                   // in all regions
  std::map<std::string_view, int> by_op;  // op name to instructions
  int nesting = 0;                        // deepest region below the body
  int live_registers = 0;                 // 32-bit registers a thread holds at most, constants apart; an estimate
  std::int64_t threadgroup_bytes = 0;
  std::int64_t thread_bytes = 0;  // arrays of one thread
};

KernelStats count_instructions(const Kernel& kernel);

}  // namespace mt
