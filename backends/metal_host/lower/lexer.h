// Tokens of Metal text with the place that each has in its file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mt::metal_host {

enum class TokenKind { Space, Newline, Directive, Identifier, Number, String, Punctuator };

struct Token {
  TokenKind kind;
  std::string text;
  int line = 0, file = 0;
};

struct Tokens {
  std::vector<Token> all;
  std::vector<std::string> files;
  std::string place(const Token& t) const {
    return files[static_cast<std::size_t>(t.file)] + ":" + std::to_string(t.line);
  }
};

/// Splits `text`, whose first line is line 1 of `filename` until a line marker says otherwise. Comments are spaces;
/// their line ends stay. An unfinished comment or literal ends at the end of the text.
Tokens lex(std::string_view text, const std::string& filename);

/// Whether all that the preprocessor would do to `text` is to read Metal's own headers: no other includes, no macros,
/// no conditions.
bool needs_no_preprocessor(const Tokens& tokens);

}  // namespace mt::metal_host
