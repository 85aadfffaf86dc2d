#include "mt/ir/text_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <mutex>
#include <set>

namespace mt {
namespace {

/// A copy of the name that lives as long as the program.
const char* intern(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '+';
}

/// `file:line`, or an unknown place where the comment says something else.
Loc place_of(std::string_view comment) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!comment.empty() && space(comment.front())) comment.remove_prefix(1);
  while (!comment.empty() && space(comment.back())) comment.remove_suffix(1);
  const std::size_t colon = comment.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  int line = 0;
  const char* end = comment.data() + comment.size();
  const auto [rest, failed] = std::from_chars(comment.data() + colon + 1, end, line);
  if (failed != std::errc{} || rest != end || line <= 0) return {};
  const std::string file(comment.substr(0, colon));
  if (std::any_of(file.begin(), file.end(), space)) return {};
  return {intern(file), line};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

Tokens tokenize(std::string_view text) {
  Tokens out;
  int line = 1;
  std::size_t at = 0;
  const auto fail = [&](const std::string& what) { throw Error(fmt::format("line {}: {}", line, what)); };
  const auto string = [&] {
    std::string s;
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
      if (text[at] != '\\') {
        s += text[at];
      } else if (at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\')) {
        s += text[++at];
      } else if (at + 3 < text.size() && text[at + 1] == 'x' && hex_digit(text[at + 2]) >= 0 &&
                 hex_digit(text[at + 3]) >= 0) {
        s += static_cast<char>(hex_digit(text[at + 2]) * 16 + hex_digit(text[at + 3]));
        at += 3;
      } else {
        fail("an escape in a string is \\\\, \\\" or \\x and two hex digits");
      }
    }
    if (at >= text.size() || text[at] != '"') fail("a string has no end; close it with \"");
    ++at;
    return s;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      ++at;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else if (c == ';') {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (const Loc loc = place_of(text.substr(at + 1, end - at - 1)); loc.known()) out.comments[line] = loc;
      at = end;
    } else if (c == '"') {
      const int start = line;
      out.list.push_back({Token::String, string(), start});
    } else if (is_word(c)) {
      const std::size_t start = at;
      while (at < text.size() && is_word(text[at])) ++at;
      out.list.push_back({Token::Word, std::string(text.substr(start, at - start)), line});
    } else if (std::string_view("%@{}[](),:=").find(c) != std::string_view::npos) {
      out.list.push_back({Token::Punct, std::string(1, c), line});
      ++at;
    } else {
      fail(fmt::format("a character (code {}) that no instruction has",
                       static_cast<int>(static_cast<unsigned char>(c))));
    }
  }
  out.list.push_back({Token::End, "", line});
  return out;
}

}  // namespace mt
