// What `tile build` makes: the text of every kernel for some targets, and a manifest with their contracts.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "mt/dsl/kernel.h"

namespace mt {

/// One launch.
struct BuiltStage {
  std::string function;  // its name in the text
  Kernel kernel;         // after the passes
  Groups groups;         // for the problem of the manifest
};

/// A kernel for a target, compiled for any sizes ("generic") or for rows whose length divides ("aligned"): one file.
struct BuiltVariant {
  const KernelEntry* entry = nullptr;
  const Backend* target = nullptr;
  std::string variant;
  Problem problem;  // its plan chose counts and threads
  Overrides overrides;
  std::string file;     // from the output folder
  std::string library;  // that its text is linked into as well, from the output folder; empty: none
  Artefact artefact;
  std::vector<BuiltStage> stages;
};

/// Both variants, or one where they are equal, of a kernel for a target, planned for the default problem with
/// `changes` laid over it. Throws Error, also for a size, real parameter or tunable that the kernel does not have.
std::vector<BuiltVariant> build_kernel(const KernelEntry& entry, const Backend& target, const Problem& changes = {},
                                       const Overrides& overrides = {});

/// The first bench problem, else the first test problem.
Problem default_problem(const KernelInstance& instance);

/// manifest.json: parameters, shapes, scalars, tunables, threads, geometry, facts, the sizes that plans chose by, and
/// files of everything built.
std::string manifest_json(const std::vector<BuiltVariant>& built, const std::string& version);

}  // namespace mt
