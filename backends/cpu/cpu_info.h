// What the host's processor is.
#pragma once
#include <map>
#include <string>

#include "backends/cpu/emit.h"

namespace mt::cpu {

struct CpuInfo {
  std::string name;            // "AMD EPYC ..."
  std::string isa;             // widest vector extension: "AVX-512", "AVX2", "NEON", ...
  std::string identity;        // name and feature flags: equal where an object for one runs on the other
  int cores = 1;               // that this process may run on
  std::size_t last_cache = 0;  // bytes of the last level
  EmitOptions emit;            // what code for it may use
  std::map<std::string, std::string> details;
};

const CpuInfo& cpu_info();

}  // namespace mt::cpu
