#pragma once
#include <string>

#include "mt/base/error.h"

namespace mt::metal {

/// What f() throws as an Error, empty if nothing.
template <class F>
std::string message(F&& f) {
  try {
    f();
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace mt::metal
