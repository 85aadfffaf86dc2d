// One text while it is lowered: its tokens without spaces and attributes, and what was learned of it.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/metal_host/lower/lower.h"

namespace mt::metal_host {

struct Attribute {
  std::string name;
  std::vector<std::string> arguments;  // tokens between the parentheses
  std::size_t token = 0;               // where it stands
};

/// Positions are indices of live tokens: those that are neither space nor part of an attribute. Reading beyond either
/// end gives an empty text.
class Unit {
 public:
  Unit(Tokens tokens, const std::vector<std::string>& wanted, int language);
  Lowered run();

 private:
  struct Edit {
    std::string before, after;
  };
  struct Kernel {
    std::vector<MslParameter> parameters;
    std::vector<std::string> kinds;  // msl_at<...> of each
    int max_threads = 0;
  };
  struct Body {
    std::size_t open, close;  // its braces
  };

  const std::string& text(std::size_t i) const { return i < live_.size() ? tokens_.all[live_[i]].text : kNothing; }
  TokenKind kind(std::size_t i) const { return i < live_.size() ? tokens_.all[live_[i]].kind : TokenKind::Punctuator; }
  bool word(std::size_t i, std::string_view w) const { return kind(i) == TokenKind::Identifier && text(i) == w; }
  bool name(std::size_t i) const { return kind(i) == TokenKind::Identifier; }
  void set(std::size_t i, std::string t) {
    if (i < live_.size()) tokens_.all[live_[i]].text = std::move(t);
  }
  void before(std::size_t i, const std::string& t) { edits_[i].before = t + edits_[i].before; }
  void after(std::size_t i, const std::string& t) { edits_[i].after += t; }
  std::string place(std::size_t i) const;
  void error(std::size_t i, const std::string& what);
  /// Tokens from `a` up to `b`, with spaces between.
  std::string join(std::size_t a, std::size_t b) const;
  /// Position of the bracket that closes the one at `i`; live_.size() where there is none.
  std::size_t match(std::size_t i) const;
  /// Behind the `>` that closes the `<` at `i`, or 0 where that is no list of template arguments.
  std::size_t skip_angles(std::size_t i) const;
  /// First token of the statement or declaration that `i` lies in.
  std::size_t statement_start(std::size_t i) const;
  const std::vector<Attribute>* attributes(std::size_t i) const;

  void pair_brackets();
  void read_attributes();
  void check_words();
  void find_bodies();  // of structs, with the members' names

  // kernels.cpp
  void find_kernels();
  void kernel_calls();
  void kernel_definition(std::size_t mark, std::size_t first);
  void kernel_instance(std::size_t mark, std::size_t first);
  Kernel read_parameters(std::size_t open, std::size_t close, const std::string& kernel);
  void read_parameter(std::size_t a, std::size_t b, const std::string& kernel, Kernel& k, std::set<int>& buffers,
                      std::set<int>& groups);
  std::string entry(const std::string& host, const std::string& expression, const std::string& type,
                    const Kernel& kernel, std::size_t at);
  std::string host_name(std::size_t mark, std::size_t first) const;
  // declarations.cpp
  void function_constants();
  void derived_constants();
  void threadgroup_variables();
  void program_constants();
  void static_redeclarations();
  void function_template_parameters();
  void constructors();
  void const_thread_references();
  void copies_from_constant();
  // expressions.cpp
  void spaces();
  void swizzles();
  void literals_and_casts();
  void conditionals();
  void other_words();
  void check_nothing_left();
  std::string write();

  static const std::string kNothing;
  static constexpr std::size_t kFar = 4096;  // tokens: no list of template arguments is longer
  Tokens tokens_;
  const std::vector<std::string>& wanted_;
  int language_;
  std::vector<std::size_t> live_, pairs_;
  std::map<std::size_t, std::vector<Attribute>> attributes_;  // by the live token that follows them
  std::map<std::size_t, Edit> edits_;
  std::map<std::string, Kernel> kernels_;  // by the function's name
  std::vector<Body> kernel_bodies_;
  std::vector<std::pair<std::size_t, Body>> structs_;  // position of its name, body
  std::set<std::string> members_;
  std::set<std::size_t> dropped_thread_, constant_object_;
  std::set<std::string> symbols_;
  std::map<std::string, int> constant_index_;  // function constants by name
  int arrays_ = 0;
  Lowered out_;
};

/// Types of values that a kernel's parameter with that attribute may have; empty: no such attribute.
enum class AttributeUse { Unknown, Buffer, Threadgroup, Vector, Scalar, FunctionConstant, Unused, Unsupported };
AttributeUse parameter_attribute(const std::string& name);

}  // namespace mt::metal_host
