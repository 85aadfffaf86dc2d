// What the results of running a kernel on a problem share: whose they are, and sentences about what went wrong.
#pragma once
#include <new>
#include <string>

#include "mt/dsl/kernel.h"

namespace mt {

/// A result with the names of the kernel, its dtype and the problem.
template <class Result>
Result result_of(const KernelEntry& entry, const Problem& problem) {
  Result r;
  r.kernel = entry.name;
  r.dtype = std::string(name_of(entry.dtype));
  r.problem = problem.text();
  return r;
}

/// Appends a sentence, where it is one.
inline void add_sentence(std::string& all, const std::string& one) {
  if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
}

/// Calls f; an Error, or memory that is not there, becomes a sentence of the result. Interrupted passes.
template <class Result, class F>
void note_failure(Result& r, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    add_sentence(r.error, e.what());
  } catch (const std::bad_alloc&) {
    add_sentence(r.error, "not enough memory for this problem");
  }
}

}  // namespace mt
