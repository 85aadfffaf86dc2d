// Which kernels and which device a user means.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "mt/base/error.h"
#include "mt/dsl/kernel.h"

namespace mt {

/// A wrong use of a command or of the library: nothing was tried.
struct UsageError : Error {
  using Error::Error;
};

/// Entries of `all` whose name matches the filter (see `matches`) or, where no name does, whose family it is; of one
/// dtype where it is given. UsageError, with the nearest names, where nothing matches or no match has the dtype.
std::vector<const KernelEntry*> select_kernels(const std::vector<KernelEntry>& all, std::string_view filter,
                                               std::optional<DType> dtype = std::nullopt);
/// What any of the filters selects, in the order of `all`; everything where there is no filter.
std::vector<const KernelEntry*> select_kernels(const std::vector<KernelEntry>& all,
                                               const std::vector<std::string>& filters, std::optional<DType> dtype);

/// The dtype of that name; UsageError with the valid ones.
DType dtype_named(std::string_view name);

/// The backend of that name (msl is another name for metal); UsageError with the valid ones.
const Backend& backend_named(std::string_view name);

struct OpenDevice {
  const Backend* backend = nullptr;
  std::unique_ptr<Device> device;
};
/// The device of that backend, `cuda:1` for the one with that number, or, where the name is empty, of the best backend
/// that works here. UsageError where there is none.
OpenDevice open_device(std::string_view name);

/// Names of the backends that a kernel can be run on here, best first.
std::vector<std::string> usable_devices();

}  // namespace mt
