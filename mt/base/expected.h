// What a reference says a tensor should hold, and how far a result may be from it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mt {

/// One element a tensor element. `bound` is the absolute error allowed to the computation before the rounding of the
/// store; 0 asks for the exact value. Where `low` and `high` are not empty, any value in [low - bound, high + bound]
/// is right (ties that may legally fall either way).
struct Expected {
  std::vector<double> value;
  std::vector<double> bound;
  std::vector<double> low = {}, high = {};
  // Where `code_bits` is not 0 the tensor holds 32-bit words of packed codes and an element here is one code: rows of
  // `codes_per_row`, each a bit stream from the low end of its first word, padded to a whole word.
  int code_bits = 0;
  std::int64_t codes_per_row = 0;
  // Where not empty: elements that may hold any number, infinity or NaN, as long as they were written. For results that
  // depend on which intermediate number overflows first; the reference says where that is.
  std::vector<bool> unspecified = {};
};

/// Expected outputs by tensor name.
using ExpectedOutputs = std::map<std::string, Expected>;

}  // namespace mt
