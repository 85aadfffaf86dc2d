// A compiled text in memory: entries, function constants, and the lines of its code.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/elf_loader.h"
#include "backends/metal_host/compiler.h"
#include "backends/metal_host/launch.h"

namespace mt::metal_host {

/// A line of text that an address of code was made from; line 0: unknown.
struct Place {
  std::string file;
  int line = 0;
};

/// Values of function constants by index, as their bytes.
using ConstantValues = std::map<int, std::vector<std::byte>>;

class MslProgram {
 public:
  /// Loads an object for one set of function constants; those without a value count as not given. Throws Error where
  /// the object asks for what there is not, or a value has not its constant's size.
  MslProgram(MslObject object, const ConstantValues& constants);
  MslProgram(const MslProgram&) = delete;
  MslProgram& operator=(const MslProgram&) = delete;
  ~MslProgram();

  const std::vector<MslKernel>& kernels() const { return object_.kernels; }
  const MslObject& object() const { return object_; }
  /// The kernel of that host name; Error with the names there are.
  const MslKernel& kernel(std::string_view name) const;
  /// Completes a launch with the kernel's entry and the object's code.
  void set_entry(const MslKernel& kernel, Launch& launch) const;
  /// Where the instruction before `address` stands in the text, the shim's own functions left out.
  Place place(const void* address) const;

 private:
  MslObject object_;
  std::vector<std::unique_ptr<std::byte[]>> constants_;
  LoadedObject loaded_;
};

}  // namespace mt::metal_host
