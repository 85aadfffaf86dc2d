// Declarations that clang's OpenCL mode spells otherwise: function constants, threadgroup arrays, constants of a
// program, members of structs.
#include <fmt/format.h>

#include <algorithm>

#include "backends/metal_host/lower/unit.h"

namespace mt::metal_host {
namespace {

bool scalar_type(const std::string& t) {
  static const std::set<std::string, std::less<>> names = {
      "bool",     "char",    "uchar",    "short",    "ushort", "int",       "uint",      "long",     "ulong",
      "size_t",   "half",    "float",    "bfloat",   "int8_t", "uint8_t",   "int16_t",   "uint16_t", "int32_t",
      "uint32_t", "int64_t", "uint64_t", "unsigned", "signed", "float16_t", "bfloat16_t"};
  return names.contains(t);
}

}  // namespace

/// `constant T name [[function_constant(N)]];` is an object that the runtime provides.
void Unit::function_constants() {
  for (const auto& [i, all] : attributes_) {
    for (const Attribute& a : all) {
      if (a.name != "function_constant" || text(i) != ";" || i == 0 || !name(i - 1)) continue;
      const std::size_t start = statement_start(i);
      bool constant = false;
      for (std::size_t k = start; k < i; ++k) constant = constant || word(k, "constant");
      if (!constant) {
        error(i - 1, fmt::format("function constant '{}' must be in the constant address space", text(i - 1)));
        continue;
      }
      int index = 0;
      bool number = a.arguments.size() == 1;
      for (const char c : number ? a.arguments[0] : std::string()) number = number && c >= '0' && c <= '9';
      if (!number || a.arguments[0].size() > 5 || (index = std::stoi(a.arguments[0])) > 65535) {
        error(i - 1, fmt::format("function constant '{}' needs a number from 0 to 65535", text(i - 1)));
        continue;
      }
      MslConstant c;
      c.index = index;
      c.name = text(i - 1);
      c.symbol = fmt::format("msl_fc_{}", index);
      c.defined_symbol = fmt::format("msl_fcd_{}", index);
      for (std::size_t k = start; k + 1 < i; ++k) {
        if (word(k, "constexpr") || word(k, "static")) set(k, "");
        if (!text(k).empty() && !word(k, "constant") && !word(k, "const"))
          c.type += (c.type.empty() ? "" : " ") + text(k);
      }
      for (const MslConstant& other : out_.constants)
        if (other.index == index && (other.name != c.name || other.type != c.type))
          error(i - 1, fmt::format("function constant {} is both '{}' and '{}'", index, other.name, c.name));
      before(start, "extern ");
      after(i - 1, fmt::format(" __asm__(\"{}\")", c.symbol));
      constant_index_[c.name] = index;
      const bool again = std::any_of(out_.constants.begin(), out_.constants.end(),
                                     [&](const MslConstant& other) { return other.index == index; });
      if (again) continue;
      after(i,
            fmt::format(" extern const __constant bool {0} __asm__(\"{0}\"); extern \"C\" __attribute__((used)) const "
                        "__constant msl_info msl_info_fc_{1}[] = {{msl_describe<{2}>()}};",
                        c.defined_symbol, index, c.type));
      out_.constants.push_back(c);
    }
  }
  for (std::size_t i = 0; i + 3 < live_.size(); ++i) {
    if (!word(i, "is_function_constant_defined") || text(i + 1) != "(") continue;
    const auto it = constant_index_.find(text(i + 2));
    if (it == constant_index_.end() || text(i + 3) != ")") {
      error(i, fmt::format("is_function_constant_defined('{}'): that is no function constant", text(i + 2)));
      continue;
    }
    set(i, fmt::format("msl_fcd_{}", it->second));
    set(i + 1, ""), set(i + 2, ""), set(i + 3, "");
  }
}

/// `constant bool both = a && b;` of function constants: no constant expression, so each use becomes the expression.
void Unit::derived_constants() {
  if (constant_index_.empty()) return;
  std::map<std::string, std::string> derived;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (word(i, "constant") && i == statement_start(i)) {
      std::size_t equals = i, end = i;
      while (equals < live_.size() && text(equals) != "=" && text(equals) != ";" && text(equals) != "(" &&
             text(equals) != "{")
        ++equals;
      if (text(equals) != "=" || !name(equals - 1)) continue;
      bool depends = false;
      for (end = equals; end < live_.size() && text(end) != ";"; ++end)
        depends = depends || constant_index_.contains(text(end)) || derived.contains(text(end)) ||
                  text(end).starts_with("msl_fcd_");
      if (!depends) continue;
      std::string type, value;
      for (std::size_t k = i + 1; k + 1 < equals; ++k)
        if (!word(k, "const") && !word(k, "constexpr")) type += (type.empty() ? "" : " ") + text(k);
      for (std::size_t k = equals + 1; k < end; ++k) {
        const auto it = derived.find(text(k));
        value += " " + (it == derived.end() ? text(k) : it->second);
      }
      derived[text(equals - 1)] = fmt::format("(({})({}))", type, value);
      for (std::size_t k = i; k <= end; ++k) set(k, "");
      i = end;
      continue;
    }
    const auto it = derived.find(text(i));
    if (it != derived.end() && text(i - 1) != "." && text(i - 1) != "->" && text(i - 1) != "::") set(i, it->second);
  }
}

/// `threadgroup T a[N], b;` in a kernel names memory that the runtime hands out.
void Unit::threadgroup_variables() {
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!word(i, "threadgroup")) continue;
    std::size_t first = i;
    while (first > 0 && (word(first - 1, "static") || word(first - 1, "const") || word(first - 1, "volatile"))) --first;
    const std::string& previous = text(first - 1);
    if (first > 0 && previous != "{" && previous != "}" && previous != ";" && previous != ")" && !previous.empty())
      continue;
    std::size_t at = i + 1;
    std::string align;
    while (word(at, "alignas") && text(at + 1) == "(") {
      const std::size_t close = match(at + 1);
      align = join(at + 2, close);
      at = close + 1;
    }
    if (first > 0 && previous == ")" &&
        (text(at) == "{" || text(at) == ":" || text(at) == ";" || text(at) == "=" || word(at, "const") ||
         word(at, "noexcept")))
      continue;  // a member function on threadgroup objects
    const std::size_t type_at = at;
    bool variable = true;
    while (variable && text(at) != "[" && text(at) != ";" && text(at) != "," && text(at) != "=") {
      if (text(at) == "<") {
        const std::size_t end = skip_angles(at);
        variable = end != 0;
        at = end;
        continue;
      }
      if (text(at) == "alignas") {
        const std::size_t close = match(at + 1);
        align = join(at + 2, close);
        for (std::size_t k = at; k <= close; ++k) set(k, "");
        at = close + 1;
        continue;
      }
      variable = at < live_.size() && (name(at) || text(at) == "::" || text(at).empty());
      ++at;
    }
    if (!variable || at < type_at + 2) continue;
    const std::string type = join(type_at, at - 1);
    std::string made;
    std::size_t k = at - 1;
    const std::string first_name = text(k);
    while (k < live_.size()) {
      const std::string variable_name = text(k++);
      std::string dims;
      while (text(k) == "[") {
        const std::size_t close = match(k);
        dims += join(k, close + 1);
        k = close + 1;
      }
      if (text(k) == "=" || text(k) == "{") {
        const std::size_t open = text(k) == "=" ? k + 1 : k;
        const bool zeros =
            text(open) == "{" && (text(open + 1) == "}" || (text(open + 1) == "0" && text(open + 2) == "}"));
        // Text of MLX's has `= {0}`, so Apple's compiler takes that much; the memory counts as unwritten all the same.
        if (zeros)
          out_.warnings.push_back(
              fmt::format("{}: warning: threadgroup variable '{}' is not sure to be initialised by this; assign to it",
                          place(i), variable_name));
        else
          error(i, fmt::format("threadgroup variable '{}' cannot be initialised; assign to it", variable_name));
      }
      while (k < live_.size() && text(k) != "," && text(k) != ";") ++k;
      made += fmt::format(
          "{0}{1} __local ({2}&{3}){4} = *({1} __local (*){4})msl_rt_threadgroup({5}, sizeof({1} {4}), {6}, \"{3}\");",
          made.empty() ? "" : " ", type, "", variable_name, dims, arrays_++,
          align.empty() ? fmt::format("alignof({})", type) : align);
      if (text(k) != ",") break;
      ++k;
    }
    const bool in_kernel = std::any_of(kernel_bodies_.begin(), kernel_bodies_.end(),
                                       [&](const Body& b) { return b.open < i && i < b.close; });
    if (!in_kernel) error(i, fmt::format("threadgroup variable '{}' is not declared in a kernel function", first_name));
    for (std::size_t t = first; t <= k && t < live_.size(); ++t) set(t, "");
    set(i, made);
  }
}

/// Constants of a program or a class whose type is a class must be copied into any address space: clang lets that
/// only be done from its global space. Numbers and arrays stay in the constant space.
void Unit::program_constants() {
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!word(i, "constant")) continue;
    if (i > 0 && (text(i - 1) == "(" || text(i - 1) == "," || text(i - 1) == ")" || text(i - 1) == "<")) continue;
    const std::size_t start = statement_start(i);
    bool qualifiers_only = true, scalar = false, value = false;
    for (std::size_t k = start; k < i; ++k)
      qualifiers_only = qualifiers_only && (word(k, "static") || word(k, "constexpr") || word(k, "const") ||
                                            word(k, "inline") || text(k).empty());
    for (std::size_t k = i + 1; k < live_.size(); ++k) {
      const std::string& t = text(k);
      if (t == "<") {
        const std::size_t end = skip_angles(k);
        if (end == 0) break;
        k = end - 1;
        continue;
      }
      if (t == "=" || t == ";" || (t == "{" && k > i + 2)) value = true;
      if (t == "*" || t == "&" || t == "(" || t == ")" || t == "," || t == "[" || t == "{" || value) break;
      scalar = scalar || scalar_type(t);
    }
    const bool external = edits_.contains(start) && edits_[start].before.find("extern") != std::string::npos;
    if (qualifiers_only && value && !scalar && !external) constant_object_.insert(i);
  }
}

/// `constant constexpr T X<A>::member[4];` outside of the class repeats what C++17 has already defined.
void Unit::static_redeclarations() {
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!word(i, "constant") || (i > 0 && text(i - 1) != ";" && text(i - 1) != "}" && text(i - 1) != ">")) continue;
    bool qualified = false, constant_expression = false;
    std::size_t k = i;
    while (k < live_.size() && text(k) != ";" && text(k) != "=" && text(k) != "(" && text(k) != "{") {
      qualified = qualified || text(k) == "::";
      constant_expression = constant_expression || word(k, "constexpr");
      ++k;
    }
    if (text(k) != ";" || !qualified || !constant_expression) continue;
    std::size_t start = statement_start(i);
    for (std::size_t t = start; t <= k; ++t) set(t, "");
  }
}

/// clang's OpenCL mode takes no pointer to a function as a template argument; what is deduced is a reference.
void Unit::function_template_parameters() {
  std::set<std::string> aliases;
  for (std::size_t i = 0; i + 2 < live_.size(); ++i) {
    if (!word(i, "using") || !name(i + 1) || text(i + 2) != "=") continue;
    for (std::size_t k = i + 3; k < live_.size() && text(k) != ";"; ++k)
      if (text(k) == "(" && text(k + 1) == "*" && text(k + 2) == ")") aliases.insert(text(i + 1));
  }
  for (std::size_t i = 0; !aliases.empty() && i < live_.size(); ++i) {
    if (!word(i, "template") || text(i + 1) != "<") continue;
    const std::size_t end = skip_angles(i + 1);
    for (std::size_t k = i + 2; k < end; ++k) {
      if (!aliases.contains(text(k)) || (text(k - 1) != "," && text(k - 1) != "<")) continue;
      const std::size_t behind = text(k + 1) == "<" ? std::max(skip_angles(k + 1), k + 1) : k + 1;
      if (!name(behind)) continue;
      set(k, "auto");
      for (std::size_t t = k + 1; t < behind; ++t) set(t, "");
    }
  }
}

/// A constructor for thread objects builds temporaries too, which clang keeps in a space without a name.
void Unit::constructors() {
  std::set<std::string> classes;
  for (const auto& [own, body] : structs_) classes.insert(text(own));
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (text(i) != "(" || i == 0 || !classes.contains(text(i - 1))) continue;
    if (i > 1 && (text(i - 2) == "." || text(i - 2) == "->" || text(i - 2) == "::")) continue;
    const std::size_t close = match(i);
    if (word(close + 1, "thread")) dropped_thread_.insert(close + 1);
  }
}

/// `const thread T&` takes temporaries, so it is a reference into any space; the check plugin refuses device and
/// threadgroup objects.
void Unit::const_thread_references() {
  for (std::size_t i = 1; i < live_.size(); ++i) {
    if (!word(i, "thread") || text(i - 1) == ")") continue;
    const bool constant = word(i - 1, "const") || word(i + 1, "const");
    if (!constant || (i > 1 && word(i - 1, "const") && text(i - 2) == ")")) continue;
    std::size_t k = i + 1;
    while (k < live_.size() && (name(k) || text(k) == "::" || text(k) == "<")) {
      if (text(k) == "<") {
        const std::size_t end = skip_angles(k);
        if (end == 0) break;
        k = end;
      } else {
        ++k;
      }
    }
    if (text(k) == "&") dropped_thread_.insert(i);
  }
}

/// Structs can be copied from constant memory; they stay aggregates that are copied byte by byte.
void Unit::copies_from_constant() {
  for (const auto& [own, body] : structs_) {
    if (text(own) == "struct" || text(own) == "class" || text(own) == "union") continue;
    if (word(own - 1, "union")) continue;
    if (text(own + 1) == "<") continue;  // a partial specialisation
    const std::string& type = text(own);
    bool constructor = false, copy = false;
    for (std::size_t k = body.open + 1; k < body.close; ++k) {
      if (text(k) == "{") {
        k = match(k);
        continue;
      }
      if (!word(k, type) || text(k + 1) != "(" || text(k - 1) == "~" || text(k - 1) == "return" || text(k - 1) == "=")
        continue;
      constructor = true;
      const std::size_t close = match(k + 1);
      for (std::size_t p = k + 2; p < std::min(close, k + 8); ++p) copy = copy || (word(p, type) && text(p + 1) == "&");
    }
    if (copy || body.close == body.open + 1) continue;
    std::string made = word(own - 1, "class") ? " public:" : "";
    if (!constructor) made += fmt::format(" {0}() = default;", type);
    made += fmt::format(" {0}(const {0}&) = default; {0}(const __constant {0}&) = default;", type);
    if (word(own - 1, "class")) made += " private:";
    after(body.open, made);
  }
}

}  // namespace mt::metal_host
