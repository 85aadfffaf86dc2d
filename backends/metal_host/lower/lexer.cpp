#include "backends/metal_host/lower/lexer.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace mt::metal_host {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& filename) : text_(text) { out_.files.push_back(filename); }
  Tokens run() {
    while (at_ < text_.size()) next();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void add(TokenKind kind, std::size_t length) {
    out_.all.push_back({kind, std::string(text_.substr(at_, length)), line_, file_});
    at_ += length;
    if (kind != TokenKind::Space && kind != TokenKind::Newline) fresh_line_ = false;
  }
  void newline() {
    add(TokenKind::Newline, 1);
    ++line_;
    fresh_line_ = true;
  }
  void next();
  void comment();
  void directive();
  void literal();
  std::size_t punctuator() const;

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, file_ = 0;
  bool fresh_line_ = true;
  Tokens out_;
};

void Lexer::comment() {
  const bool block = peek(1) == '*';
  while (at_ < text_.size()) {
    if (peek() == '\n') {
      if (!block) return;
      newline();
      continue;
    }
    if (block && peek() == '*' && peek(1) == '/') {
      out_.all.push_back({TokenKind::Space, " ", line_, file_});
      at_ += 2;
      return;
    }
    ++at_;
  }
}

/// `# 12 "file"` and `#line 12 "file"` set the place of what follows; other directives stay tokens.
void Lexer::directive() {
  std::size_t end = at_, lines = 0;
  while (end < text_.size() && text_[end] != '\n') {
    if (text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] == '\n') ++end, ++lines;
    ++end;
  }
  const std::string whole(text_.substr(at_, end - at_));
  add(TokenKind::Directive, end - at_);
  line_ += static_cast<int>(lines);
  std::size_t p = 1;
  const auto skip = [&] {
    while (p < whole.size() && (whole[p] == ' ' || whole[p] == '\t')) ++p;
  };
  skip();
  if (whole.compare(p, 5, "line ") == 0) p += 5;
  skip();
  if (p >= whole.size() || !std::isdigit(static_cast<unsigned char>(whole[p]))) return;
  line_ = std::atoi(whole.c_str() + p) - 1;
  const std::size_t open = whole.find('"', p), close = whole.rfind('"');
  if (open == std::string::npos || close <= open) return;
  const std::string name = whole.substr(open + 1, close - open - 1);
  const auto known = std::find(out_.files.begin(), out_.files.end(), name);
  file_ = static_cast<int>(known - out_.files.begin());
  if (known == out_.files.end()) out_.files.push_back(name);
}

void Lexer::literal() {
  const char quote = peek();
  std::size_t n = 1;
  while (at_ + n < text_.size() && text_[at_ + n] != quote && text_[at_ + n] != '\n')
    n += text_[at_ + n] == '\\' ? 2u : 1u;
  add(TokenKind::String, std::min(n + (peek(n) == quote ? 1 : 0), text_.size() - at_));
}

std::size_t Lexer::punctuator() const {
  static constexpr std::string_view longer[] = {"<<=", ">>=", "->*", "...", "::", "->", "++", "--", "<<",
                                                ">>",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                                "*=",  "/=",  "%=",  "&=",  "|=", "^=", "##"};
  for (const std::string_view p : longer)
    if (text_.substr(at_, p.size()) == p) return p.size();
  return 1;
}

void Lexer::next() {
  const char c = peek();
  std::size_t n = 1;
  if (c == '\n') return newline();
  if (c == '\\' && peek(1) == '\n') {
    ++at_;
    return newline();
  }
  if (std::isspace(static_cast<unsigned char>(c))) {
    while (peek(n) != '\n' && std::isspace(static_cast<unsigned char>(peek(n)))) ++n;
    return add(TokenKind::Space, n);
  }
  if (c == '/' && (peek(1) == '/' || peek(1) == '*')) return comment();
  if (c == '#' && fresh_line_) return directive();
  if (c == '"' || c == '\'') return literal();
  if (std::isdigit(static_cast<unsigned char>(c)) || (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))))) {
    const bool hex = c == '0' && (peek(1) == 'x' || peek(1) == 'X');
    while (is_word(peek(n)) || peek(n) == '.' || (peek(n) == '\'' && is_word(peek(n + 1))) ||
           ((peek(n) == '+' || peek(n) == '-') &&
            (std::string_view(hex ? "pP" : "eEpP").find(peek(n - 1)) != std::string_view::npos)))
      ++n;
    return add(TokenKind::Number, n);
  }
  if (is_word(c)) {
    while (is_word(peek(n))) ++n;
    return add(TokenKind::Identifier, n);
  }
  add(TokenKind::Punctuator, punctuator());
}

}  // namespace

Tokens lex(std::string_view text, const std::string& filename) { return Lexer(text, filename).run(); }

bool needs_no_preprocessor(const Tokens& tokens) {
  for (const Token& t : tokens.all) {
    if (t.kind != TokenKind::Directive) continue;
    std::string words;
    for (const char c : t.text)
      if (c != ' ' && c != '\t') words += c;
    if (!words.starts_with("#pragma") && !words.starts_with("#include<metal_") && !words.starts_with("#line"))
      return false;
  }
  return true;
}

}  // namespace mt::metal_host
