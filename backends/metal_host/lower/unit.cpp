#include "backends/metal_host/lower/unit.h"

#include <fmt/format.h>

#include <algorithm>

namespace mt::metal_host {

const std::string Unit::kNothing;

Unit::Unit(Tokens tokens, const std::vector<std::string>& wanted, int language)
    : tokens_(std::move(tokens)), wanted_(wanted), language_(language) {
  for (std::size_t i = 0; i < tokens_.all.size(); ++i) {
    const TokenKind k = tokens_.all[i].kind;
    if (k != TokenKind::Space && k != TokenKind::Newline && k != TokenKind::Directive) live_.push_back(i);
  }
}

std::string Unit::place(std::size_t i) const {
  if (live_.empty()) return tokens_.files[0] + ":1";
  return tokens_.place(tokens_.all[live_[std::min(i, live_.size() - 1)]]);
}

void Unit::error(std::size_t i, const std::string& what) {
  out_.errors.push_back(fmt::format("{}: error: {}", place(i), what));
}

std::string Unit::join(std::size_t a, std::size_t b) const {
  std::string all;
  for (std::size_t i = a; i < b; ++i) all += (all.empty() ? "" : " ") + text(i);
  return all;
}

std::size_t Unit::match(std::size_t i) const { return i < pairs_.size() ? pairs_[i] : live_.size(); }

/// Brackets of each kind by themselves: a text whose brackets cross each other is refused by clang.
void Unit::pair_brackets() {
  pairs_.assign(live_.size(), live_.size());
  std::vector<std::size_t> open[3];
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (text(i).size() != 1) continue;
    const std::size_t opens = std::string_view("([{").find(text(i)), closes = std::string_view(")]}").find(text(i));
    if (opens < 3) open[opens].push_back(i);
    if (closes < 3 && !open[closes].empty()) {
      pairs_[open[closes].back()] = i;
      open[closes].pop_back();
    }
  }
}

std::size_t Unit::skip_angles(std::size_t i) const {
  int depth = 0;
  for (const std::size_t end = i + kFar; i < live_.size() && i < end; ++i) {
    const std::string& t = text(i);
    if (t == "(" || t == "[") {
      i = match(i);
      continue;
    }
    if (t == "<") ++depth;
    if (t == ">") --depth;
    if (t == ">>") depth -= 2;
    if (t == ";" || t == "{" || t == "}" || t == ")" || t == "]") return 0;
    if (t == "&&" || t == "||") {
      // Between values these join comparisons; between types && would be a reference.
      if (depth > 0 && text(i + 1) != ">" && text(i + 1) != ",") continue;
    }
    if (depth <= 0) return i + 1;
  }
  return 0;
}

std::size_t Unit::statement_start(std::size_t i) const {
  while (i > 0 && text(i - 1) != ";" && text(i - 1) != "{" && text(i - 1) != "}") --i;
  return i;
}

const std::vector<Attribute>* Unit::attributes(std::size_t i) const {
  const auto it = attributes_.find(i);
  return it == attributes_.end() ? nullptr : &it->second;
}

AttributeUse parameter_attribute(const std::string& name) {
  static const std::map<std::string, AttributeUse, std::less<>> uses = [] {
    std::map<std::string, AttributeUse, std::less<>> all = {{"buffer", AttributeUse::Buffer},
                                                            {"threadgroup", AttributeUse::Threadgroup},
                                                            {"function_constant", AttributeUse::FunctionConstant},
                                                            {"maybe_unused", AttributeUse::Unused}};
    for (const char* n : {"thread_position_in_grid", "thread_position_in_threadgroup", "threadgroup_position_in_grid",
                          "threads_per_threadgroup", "dispatch_threads_per_threadgroup", "threads_per_grid",
                          "threadgroups_per_grid", "grid_origin"})
      all[n] = AttributeUse::Vector;
    for (const char* n : {"thread_index_in_threadgroup", "thread_index_in_simdgroup", "simdgroup_index_in_threadgroup",
                          "simdgroups_per_threadgroup", "dispatch_simdgroups_per_threadgroup", "threads_per_simdgroup",
                          "thread_execution_width", "thread_index_in_quadgroup", "quadgroup_index_in_threadgroup",
                          "quadgroups_per_threadgroup", "dispatch_quadgroups_per_threadgroup"})
      all[n] = AttributeUse::Scalar;
    for (const char* n :
         {"texture", "sampler", "stage_in", "vertex_id", "instance_id", "position", "imageblock_data", "payload",
          "grid_size", "stage_in_grid_origin", "stage_in_grid_size", "base_vertex", "base_instance", "color", "id"})
      all[n] = AttributeUse::Unsupported;
    return all;
  }();
  const auto it = uses.find(name);
  return it == uses.end() ? AttributeUse::Unknown : it->second;
}

/// Takes `[[...]]` out of the live tokens.
void Unit::read_attributes() {
  pair_brackets();
  static const std::set<std::string, std::less<>> others = {"kernel",
                                                            "host_name",
                                                            "max_total_threads_per_threadgroup",
                                                            "required_threads_per_threadgroup",
                                                            "maybe_unused",
                                                            "noinline",
                                                            "always_inline",
                                                            "nodiscard",
                                                            "fallthrough",
                                                            "deprecated",
                                                            "unused",
                                                            "likely",
                                                            "unlikely",
                                                            "id",
                                                            "visible",
                                                            "no_unique_address"};
  std::vector<std::size_t> kept;
  std::vector<Attribute> pending;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (text(i) != "[" || text(i + 1) != "[" || live_[i + 1] != live_[i] + 1) {
      if (!pending.empty()) attributes_[kept.size()] = std::move(pending);
      pending.clear();
      kept.push_back(live_[i]);
      continue;
    }
    const std::size_t close = match(i);
    if (close >= live_.size()) {
      error(i, "an attribute list that never ends");
      break;
    }
    std::size_t j = i + 2;
    while (j + 1 < close) {
      Attribute a;
      a.token = live_[j];
      a.name = text(j++);
      while (text(j) == "::" && j + 1 < close) a.name += "::" + text(j + 1), j += 2;
      if (text(j) == "(") {
        const std::size_t end = match(j);
        for (std::size_t k = j + 1; k < end && k < close; ++k) a.arguments.push_back(text(k));
        j = end + 1;
      }
      if (parameter_attribute(a.name) == AttributeUse::Unknown && !others.contains(a.name) &&
          a.name.find("::") == std::string::npos)
        error(j - 1, fmt::format("unknown attribute '{}'", a.name));
      pending.push_back(std::move(a));
      if (text(j) != ",") {
        if (j + 1 < close) error(j, fmt::format("expected ',' or ']]' in an attribute list before '{}'", text(j)));
        break;
      }
      ++j;
    }
    i = close;
  }
  if (!pending.empty()) attributes_[kept.size()] = std::move(pending);
  live_ = std::move(kept);
  pair_brackets();
}

/// Words that the language does not have, and those of clang's OpenCL mode.
void Unit::check_words() {
  static const std::set<std::string, std::less<>> absent = {
      "goto", "virtual", "try",          "catch",    "throw",    "dynamic_cast", "typeid",
      "new",  "delete",  "thread_local", "double",   "co_await", "co_yield",     "co_return",
      "asm",  "wchar_t", "char16_t",     "char32_t", "char8_t"};
  static const std::set<std::string, std::less<>> foreign = {
      "__global",    "__local",      "__private",    "__constant",  "__generic",      "__kernel",
      "__read_only", "__write_only", "__read_write", "kernel_exec", "__opencl_c_fp64"};
  static const std::set<std::string, std::less<>> stages = {
      "vertex", "fragment", "mesh", "object_data", "ray_data", "threadgroup_imageblock", "stitchable", "visible"};
  static const std::set<std::string, std::less<>> types = {"texture1d",
                                                           "texture2d",
                                                           "texture3d",
                                                           "texturecube",
                                                           "texture2d_array",
                                                           "texture1d_array",
                                                           "texture2d_ms",
                                                           "texture_buffer",
                                                           "depth2d",
                                                           "sampler",
                                                           "acceleration_structure",
                                                           "intersector",
                                                           "visible_function_table",
                                                           "imageblock",
                                                           "command_buffer",
                                                           "patch_control_point"};
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (kind(i) != TokenKind::Identifier) continue;
    const std::string& t = text(i);
    if (absent.contains(t) && !(t == "delete" && text(i - 1) == "="))
      error(i, fmt::format("the Metal Shading Language has no '{}'", t));
    else if (foreign.contains(t) || t.starts_with("msl_") || t.starts_with("MSL_"))
      error(i, fmt::format("'{}' is no word of the Metal Shading Language", t));
    else if ((stages.contains(t) && name(i + 1)) || (types.contains(t) && (text(i + 1) == "<" || name(i + 1))))
      error(i, fmt::format("'{}' is not supported by metal-host: it runs compute kernels on buffers", t));
    else if (t == "long" && word(i + 1, "double"))
      error(i, "the Metal Shading Language has no 'double'");
  }
}

void Unit::find_bodies() {
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!word(i, "struct") && !word(i, "class") && !word(i, "union")) continue;
    if (i > 0 && (text(i - 1) == "<" || text(i - 1) == "," || word(i - 1, "enum") || word(i - 1, "friend"))) continue;
    std::size_t at = i + 1;
    while (word(at, "alignas") || word(at, "__attribute__")) at = match(at + 1) + 1;
    const std::size_t own = name(at) ? at++ : i;
    if (text(at) == "<") at = std::max(skip_angles(at), at + 1);
    if (text(at) != "{" && text(at) != ":" && !word(at, "final")) continue;
    while (at < live_.size() && text(at) != "{" && text(at) != ";") ++at;
    if (text(at) != "{") continue;
    const std::size_t close = match(at);
    structs_.push_back({own, {at, close}});
    for (std::size_t k = at + 1; k < close; ++k) {
      if (text(k) == "(" || text(k) == "{") {
        k = match(k);
        continue;
      }
      const std::string& next = text(k + 1);
      if (name(k) && (next == ";" || next == "," || next == "=" || next == "[")) members_.insert(text(k));
    }
  }
}

std::string Unit::write() {
  for (auto& [i, edit] : edits_) {
    if (i >= live_.size()) continue;
    std::string& t = tokens_.all[live_[i]].text;
    t = edit.before + t + edit.after;
  }
  std::string all;
  std::vector<bool> keep(tokens_.all.size());
  for (const std::size_t i : live_) keep[i] = true;
  int line = 1, file = 0;
  bool need_marker = true;
  for (std::size_t i = 0; i < tokens_.all.size(); ++i) {
    const Token& t = tokens_.all[i];
    if (t.kind == TokenKind::Directive) {
      if (t.text.starts_with("#pragma") && t.text.find("METAL") == std::string::npos) all += t.text;
      continue;
    }
    if (t.kind == TokenKind::Newline) {
      all += '\n';
      need_marker = need_marker || t.line + 1 != line + 1;
      line = t.line + 1;
      continue;
    }
    if (t.line != line || t.file != file || need_marker) {
      if (!all.empty() && all.back() != '\n') all += '\n';
      all += fmt::format("# {} \"{}\"\n", t.line, tokens_.files[static_cast<std::size_t>(t.file)]);
      line = t.line;
      file = t.file;
      need_marker = false;
    }
    if (t.kind == TokenKind::Space || keep[i]) all += t.text;
  }
  return all + "\n";
}

Lowered Unit::run() {
  read_attributes();
  check_words();
  find_bodies();
  function_constants();
  derived_constants();
  find_kernels();
  other_words();
  threadgroup_variables();
  program_constants();
  static_redeclarations();
  function_template_parameters();
  constructors();
  const_thread_references();
  copies_from_constant();
  conditionals();
  literals_and_casts();
  swizzles();
  spaces();
  check_nothing_left();
  out_.text = write();
  return std::move(out_);
}

Lowered lower(Tokens tokens, const std::vector<std::string>& kernels, int language) {
  return Unit(std::move(tokens), kernels, language).run();
}

}  // namespace mt::metal_host
