// What a reference says a tensor should hold, and how far a result may be from it.
#pragma once
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
};

/// Expected outputs by tensor name.
using ExpectedOutputs = std::map<std::string, Expected>;

}  // namespace mt
