// Floats from text. (std::from_chars reads them with some standard libraries only.)
#pragma once
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace mt {

/// The number that the whole text writes in decimals, `-1.5e3`, or `inf` or `nan`; rounded once. Nothing where it is no
/// number, or a finite one that T cannot hold.
template <class T>
std::optional<T> parse_real(std::string_view text) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  std::string_view digits = text;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  const bool word = digits == "inf" || digits == "nan";
  // What strtod would take besides: blanks, a plus, hexadecimals, other words.
  if (!word && (digits.empty() || digits.find_first_not_of("0123456789.eE+-") != digits.npos || digits[0] == '+' ||
                digits[0] == '-'))
    return std::nullopt;
  const std::string whole(text);
  char* end = nullptr;
  T value{};
  if constexpr (std::is_same_v<T, float>)
    value = std::strtof(whole.c_str(), &end);
  else
    value = std::strtod(whole.c_str(), &end);
  if (end != whole.c_str() + whole.size() || (!word && std::isinf(value))) return std::nullopt;
  return value;
}

}  // namespace mt
