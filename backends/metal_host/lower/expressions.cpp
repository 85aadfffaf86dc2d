// Words and expressions: address spaces, swizzles, literals, casts, conditionals.
#include <fmt/format.h>

#include <algorithm>

#include "backends/metal_host/lower/unit.h"

namespace mt::metal_host {
namespace {

bool assigns(const std::string& t) {
  static const std::set<std::string, std::less<>> all = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return all.contains(t);
}

/// The components' numbers of a swizzle of two to four letters, as "1, 0"; empty where it is none.
std::string swizzle_of(const std::string& t) {
  if (t.size() < 2 || t.size() > 4) return "";
  for (const std::string_view letters : {"xyzw", "rgba"}) {
    std::string all;
    for (const char c : t) {
      const std::size_t n = letters.find(c);
      if (n == std::string_view::npos) {
        all.clear();
        break;
      }
      all += (all.empty() ? "" : ", ") + std::to_string(n);
    }
    if (!all.empty()) return all;
  }
  return "";
}

}  // namespace

void Unit::swizzles() {
  for (std::size_t i = 1; i < live_.size(); ++i) {
    if (!name(i) || (text(i - 1) != "." && text(i - 1) != "->") || text(i + 1) == "(" || members_.contains(text(i)))
      continue;
    const std::string numbers = swizzle_of(text(i));
    if (numbers.empty()) continue;
    set(i, fmt::format("template {}<{}>()", assigns(text(i + 1)) ? "swizzle_of" : "swizzle", numbers));
  }
}

void Unit::literals_and_casts() {
  for (std::size_t i = 0; i < live_.size(); ++i) {
    const std::string& t = text(i);
    if (kind(i) == TokenKind::Number && t.size() > 2 && (t.ends_with("bf") || t.ends_with("BF")) &&
        !t.starts_with("0x") && !t.starts_with("0X")) {
      set(i, fmt::format("metal::bfloat({}f)", t.substr(0, t.size() - 2)));
    } else if (kind(i) == TokenKind::Number && (t.ends_with('l') || t.ends_with('L')) && !t.starts_with("0x") &&
               !t.starts_with("0X") && t.find_first_of(".eE") != t.npos) {
      error(i, fmt::format("'{}' is a long double, which the Metal Shading Language has not; write f for l", t));
    } else if (word(i, "static_cast") && text(i + 1) == "<") {
      const std::size_t end = skip_angles(i + 1);
      bool reference = end == 0;
      for (std::size_t k = i + 2; k + 1 < end; ++k) reference = reference || text(k) == "&" || text(k) == "&&";
      if (!reference) set(i, "msl_cast");
    } else if ((word(i, "half") || word(i, "bfloat")) && text(i + 1) == "(" && text(i + 2) != "&" &&
               text(i + 2) != "*" && !word(i - 1, "operator") && text(i + 2) != "thread" && text(i + 2) != "device") {
      set(i, fmt::format("msl_cast<{}>", t == "half" ? "half" : "metal::bfloat"));
    }
  }
}

/// clang's ?: does not unify two objects of one class in different address spaces; both sides become values.
void Unit::conditionals() {
  for (std::size_t q = 1; q < live_.size(); ++q) {
    if (text(q) != "?") continue;
    // Not among template arguments, where a side would end at `>`.
    bool in_angles = false;
    int depth = 0;
    for (std::size_t k = q; k-- > 0 && k + kFar > q && !in_angles;) {
      const std::string& t = text(k);
      if (t == ")" || t == "]") ++depth;
      if (t == "(" || t == "[") --depth;
      if (depth < 0 || t == ";" || t == "{" || t == "}") break;
      if (depth == 0 && t == "<" && k > 0 && name(k - 1)) in_angles = skip_angles(k) > q;
    }
    if (in_angles) continue;
    std::size_t colon = q + 1;
    int nested = 0;
    bool good = true;
    for (; colon < live_.size(); ++colon) {
      const std::string& t = text(colon);
      if (t == "(" || t == "[" || t == "{")
        colon = match(colon);
      else if (t == "?")
        ++nested;
      else if (t == ":" && nested-- == 0)
        break;
      else if (t == ")" || t == "]" || t == "}" || t == ";")
        good = false;
      if (!good) break;
    }
    if (!good || colon >= live_.size() || colon == q + 1) continue;
    std::size_t end = colon + 1;
    nested = 0;
    for (; end < live_.size(); ++end) {
      const std::string& t = text(end);
      if (t == "(" || t == "[" || t == "{") {
        end = match(end);
      } else if (t == "<" && name(end - 1)) {
        const std::size_t close = skip_angles(end);
        if (close != 0 && (text(close) == "(" || text(close) == "::" || text(close) == "{")) end = close - 1;
      } else if (t == "?") {
        ++nested;
      } else if (t == ":" && nested-- == 0) {
        break;
      } else if (t == ")" || t == "]" || t == "}" || t == ";" || t == ",") {
        break;
      }
    }
    if (text(q + 1) == "{" || text(colon + 1) == "{") continue;
    after(q, " msl_value(");
    before(colon, ")");
    after(colon, " msl_value(");
    before(end, ")");
  }
}

void Unit::spaces() {
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!name(i)) continue;
    const std::string& t = text(i);
    if (t == "device") {
      set(i, "__global");
    } else if (t == "threadgroup") {
      set(i, "__local");
    } else if (t == "thread") {
      set(i, dropped_thread_.contains(i) ? "" : "__private");
    } else if (t == "constant") {
      std::size_t p = i;
      while (p > 0 && (word(p - 1, "const") || word(p - 1, "noexcept"))) --p;
      const bool method = p > 0 && text(p - 1) == ")" &&
                          (text(i + 1) == "{" || text(i + 1) == ";" || text(i + 1) == ":" || text(i + 1) == "=" ||
                           word(i + 1, "const"));
      set(i, method                         ? "__constant"
             : constant_object_.contains(i) ? "__attribute__((annotate(\"msl_constant\"))) const __global"
                                            : "const __constant");
    }
  }
}

void Unit::other_words() {
  static const std::set<std::string, std::less<>> opencl = {
      "local",      "global",    "generic",   "pipe",        "read_only",  "write_only",
      "read_write", "vec_step",  "event_t",   "sampler_t",   "queue_t",    "ndrange_t",
      "image1d_t",  "image2d_t", "image3d_t", "clk_event_t", "atomic_flag"};
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!name(i)) continue;
    const std::string t = text(i);
    if (opencl.contains(t)) {
      set(i, t + "_msl");
    } else if ((t == "atomic_uint" || t == "atomic_int" || t == "atomic_float" || t == "atomic_bool" ||
                t == "atomic_ulong") &&
               text(i - 1) != "::") {
      set(i, "metal::" + t);
    } else if (t == "coherent" && text(i + 1) == "(" && text(i + 3) == ")") {
      if (language_ < 320) error(i, "'coherent' needs Metal 3.2");
      set(i, ""), set(i + 1, ""), set(i + 2, ""), set(i + 3, "");
    }
  }
}

/// What only Metal spells so must be gone.
void Unit::check_nothing_left() {
  static const std::set<std::string, std::less<>> words = {"device",   "threadgroup", "thread",
                                                           "constant", "kernel",      "coherent"};
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (name(i) && words.contains(text(i))) error(i, fmt::format("'{}' is not understood here", text(i)));
    if (kind(i) == TokenKind::Punctuator && (text(i) == "@" || text(i) == "`" || text(i) == "$"))
      error(i, fmt::format("unexpected character '{}'", text(i)));
  }
}

}  // namespace mt::metal_host
