// What authors called their values: a table that the build makes from the kernels' sources.
#pragma once
#include <span>
#include <string_view>

#include "mt/ir/kernel.h"

namespace mt {

/// The declaration of one value, from line `first` to `last` of a file named from the root of the sources.
struct SourceName {
  const char* file;
  int first, last;
  const char* name;
};
/// The table must outlive the program's traces; always true, for static initialisers.
bool register_source_names(std::span<const SourceName> names);

/// Names the outermost value of every declaration that the kernel's instructions come from. Names are for readers:
/// several values may share one.
void name_values(Kernel& kernel);

}  // namespace mt
