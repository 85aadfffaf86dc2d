// Two kinds of failure: the user's mistake (Error, with a sentence) and a broken invariant (MT_ICE, aborts).
#pragma once
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace mt {

/// A mistake that the user can mend. The text reads `file:line: [kernel] what is wrong; what to write instead`
/// as far as these are known.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Either a value or the Error that stands in its place.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }
  /// The value; throws the Error where there is none.
  T take() {
    if (!*this) throw error();
    return std::move(std::get<0>(state_));
  }

 private:
  std::variant<T, Error> state_;
};

[[noreturn]] inline void ice(const char* file, int line, std::string_view what) {
  std::fprintf(stderr, "%s:%d: internal error: %.*s\n", file, line, static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace mt

#define MT_ICE(what) ::mt::ice(__FILE__, __LINE__, what)
#define MT_ASSERT(cond, what) ((cond) ? void(0) : ::mt::ice(__FILE__, __LINE__, what))
