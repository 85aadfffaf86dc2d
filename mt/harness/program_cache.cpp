#include "mt/harness/program_cache.h"

#include "mt/base/error.h"
#include "mt/base/hash.h"
#include "mt/harness/stopwatch.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "mt/passes/pipeline.h"

namespace mt {

Compiled ProgramCache::get(const Backend& backend, Device& device, Kernel traced) {
  const std::pair<const Device*, std::string> key{&device, hash_hex(print(traced))};
  if (const auto it = entries_.find(key); it != entries_.end()) {
    Compiled found = it->second;
    found.reused = true;
    return found;
  }
  if (const std::string violations = verify(traced); !violations.empty()) throw Error(violations);
  Compiled made;
  const Stopwatch optimising;
  optimise(traced, backend.pipeline());
  made.optimise_ms = optimising.milliseconds();
  const Stopwatch compiling;
  made.program = device.compile(traced);
  made.compile_ms = compiling.milliseconds();
  if (!made.program) MT_ICE("a backend compiled to no program");
  made.kernel = std::move(traced);
  return entries_.emplace(key, std::move(made)).first->second;
}

}  // namespace mt
