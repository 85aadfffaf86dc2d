// What a trace may assume of the sizes it is traced for.
#pragma once

namespace mt {

/// While it lives, this thread traces kernels that assume nothing: they are right for sizes that divide by nothing.
struct WithoutFacts {
  WithoutFacts();
  ~WithoutFacts();
  WithoutFacts(const WithoutFacts&) = delete;
  WithoutFacts& operator=(const WithoutFacts&) = delete;

 private:
  bool outer_;
};

}  // namespace mt
