#include "mt/base/fill.h"

namespace mt {

std::string_view name_of(Values values) {
  constexpr std::string_view kNames[] = {"declared",  "zeros",          "ones",    "equal",  "tiny",
                                         "large",     "alternating",    "ramp",    "rising", "spike",
                                         "minus_inf", "head_minus_inf", "nan_tail"};
  return kNames[static_cast<int>(values)];
}

}  // namespace mt
