// Tokens of the kernel text form.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mt/base/error.h"
#include "mt/base/loc.h"

namespace mt {

struct Token {
  enum Kind { Word, String, Punct, End } kind = End;
  std::string text;  // a string's content is unescaped
  int line = 0;
};

struct Tokens {
  std::vector<Token> list;      // ends in End
  std::map<int, Loc> comments;  // by line of the text: the source place that a comment names
};

/// Splits the text; throws Error with the line for a character or a string that cannot be read.
Tokens tokenize(std::string_view text);

}  // namespace mt
