// Kernels: their parameters' attributes, and a function for each that the runtime calls.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "backends/metal_host/lower/unit.h"

namespace mt::metal_host {
namespace {

constexpr int kMaxBuffers = 31;

/// The text of a string literal's tokens.
std::string unquoted(const std::vector<std::string>& tokens) {
  std::string all;
  for (const std::string& t : tokens)
    if (t.size() >= 2 && t.front() == '"' && t.back() == '"') all += t.substr(1, t.size() - 2);
  return all;
}

std::string symbol_of(const std::string& host) {
  std::string s;
  for (const char c : host) s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return s;
}

bool number(const std::vector<std::string>& arguments, int& value) {
  if (arguments.size() != 1 || arguments[0].empty() || arguments[0].size() > 6) return false;
  for (const char c : arguments[0])
    if (!std::isdigit(static_cast<unsigned char>(c))) return false;
  value = std::stoi(arguments[0]);
  return true;
}

}  // namespace

std::string Unit::host_name(std::size_t mark, std::size_t first) const {
  for (const std::size_t i : {mark, first})
    if (const auto* all = attributes(i))
      for (const Attribute& a : *all)
        if (a.name == "host_name") return unquoted(a.arguments);
  return "";
}

void Unit::find_kernels() {
  std::vector<std::pair<std::size_t, std::size_t>> marks;  // where attributes stand, first token of the declaration
  for (std::size_t i = 0; i < live_.size(); ++i) {
    bool marked = false;
    if (const auto* all = attributes(i))
      for (const Attribute& a : *all) marked = marked || a.name == "kernel";
    if (word(i, "kernel") && (name(i + 1) || text(i + 1) == "::")) {
      set(i, "");
      marks.emplace_back(i, i + 1);
    } else if (marked) {
      marks.emplace_back(i, i);
    }
  }
  for (const auto& [mark, first] : marks) {
    if (mark > 0 && word(mark - 1, "template"))
      kernel_instance(mark, first);
    else
      kernel_definition(mark, first);
  }
  kernel_calls();
}

/// A kernel is started by a launch alone.
void Unit::kernel_calls() {
  for (std::size_t i = 1; i < live_.size(); ++i) {
    if (text(i) != "{" || text(i - 1) != ")") continue;
    const std::size_t end = match(i);
    for (; i < end && i < live_.size(); ++i)
      if (name(i) && text(i + 1) == "(" && kernels_.contains(text(i)) && text(i - 1) != "." && text(i - 1) != "->" &&
          text(i - 1) != "::" && !name(i - 1))
        error(i, fmt::format("kernel '{}' cannot be called; move what both do to a function", text(i)));
  }
}

void Unit::read_parameter(std::size_t a, std::size_t b, const std::string& kernel, Kernel& k, std::set<int>& buffers,
                          std::set<int>& groups) {
  MslParameter p;
  p.line = tokens_.all[live_[a]].line;
  // The name is the last word before a bracket or a default value.
  std::size_t end = a;
  int angle = 0;
  while (end < b && text(end) != "[" && text(end) != "=") {
    if (text(end) == "<") angle = static_cast<int>(skip_angles(end));
    ++end;
    if (angle > static_cast<int>(end)) end = static_cast<std::size_t>(angle);
    angle = 0;
  }
  const bool named = end - a > 1 && name(end - 1) && text(end - 2) != "::";
  p.name = named ? text(end - 1) : "";
  p.type = join(a, named ? end - 1 : end);
  bool pointer = false, device = false, constant = false, group = false, thread = false;
  for (std::size_t i = a; i < b; ++i) {
    pointer = pointer || text(i) == "*" || text(i) == "&" || text(i) == "[";
    device = device || word(i, "device");
    constant = constant || word(i, "constant");
    group = group || word(i, "threadgroup");
    thread = thread || word(i, "thread");
  }
  const Attribute* chosen = nullptr;
  AttributeUse use = AttributeUse::Unknown;
  for (std::size_t i = a; i <= b; ++i) {
    const auto* all = attributes(i);
    if (!all || (i == b && text(b) != "," && text(b) != ")")) continue;
    for (const Attribute& attribute : *all) {
      const AttributeUse u = parameter_attribute(attribute.name);
      if (u == AttributeUse::Unknown && attribute.name.find("::") != std::string::npos) continue;
      if (u == AttributeUse::Unknown) continue;  // said where the list was read
      if (u == AttributeUse::Unsupported) {
        error(i,
              fmt::format("attribute '{}' of parameter '{}' is not supported by metal-host", attribute.name, p.name));
      } else if (u == AttributeUse::FunctionConstant) {
        const std::string& n = attribute.arguments.empty() ? kNothing : attribute.arguments[0];
        const auto it = constant_index_.find(n);
        if (it != constant_index_.end()) p.function_constant = it->second;
      } else if (u != AttributeUse::Unused) {
        if (chosen)
          error(i, fmt::format("parameter '{}' of kernel '{}' has both '{}' and '{}'", p.name, kernel, chosen->name,
                               attribute.name));
        chosen = &attribute;
        use = u;
      }
    }
  }
  const std::string what = fmt::format("parameter '{}' of kernel '{}'", p.name, kernel);
  if (pointer && !device && !constant && !group)
    error(a, fmt::format("{} is a pointer or reference without an address space; write device, constant or threadgroup",
                         what));
  if (thread) error(a, fmt::format("{} cannot be in the thread address space", what));
  if (!pointer && (use == AttributeUse::Buffer || use == AttributeUse::Threadgroup))
    error(a, fmt::format("attribute '{}' of {} needs a pointer or a reference", chosen->name, what));
  if (pointer && (use == AttributeUse::Vector || use == AttributeUse::Scalar))
    error(a, fmt::format("attribute '{}' of {} needs a value", chosen->name, what));
  if (!pointer && !chosen && p.name != "") {
    error(a, fmt::format("{} is a value without an attribute", what));
    return;
  }
  if (use == AttributeUse::Buffer && group)
    error(a, fmt::format("{} is in threadgroup memory, which has attribute 'threadgroup', not 'buffer'", what));
  if (use == AttributeUse::Threadgroup && !group)
    error(a, fmt::format("{} has attribute 'threadgroup' but is not in the threadgroup address space", what));
  if (use == AttributeUse::Vector || use == AttributeUse::Scalar) {
    // A type by another name is checked where the parameter is bound.
    static const std::set<std::string, std::less<>> wrong = {
        "float", "half", "bfloat", "int",    "short", "char",    "uchar", "long",  "ulong",  "bool",  "size_t",
        "int2",  "int3", "float2", "float3", "uint4", "ushort4", "half2", "half3", "short2", "short3"};
    const std::size_t at = word(a, "const") ? a + 1 : a;
    const bool vector = text(at) == "uint2" || text(at) == "uint3" || text(at) == "ushort2" || text(at) == "ushort3";
    if (wrong.contains(text(at)) || (use == AttributeUse::Scalar && vector))
      error(a,
            fmt::format("type '{}' of {} does not fit attribute '{}', which takes {}", text(at), what, chosen->name,
                        use == AttributeUse::Scalar ? "uint or ushort" : "uint, uint2, uint3 or the same of ushort"));
    p.kind = MslKind::Builtin;
    p.attribute = chosen->name == "thread_execution_width" ? "threads_per_simdgroup" : chosen->name;
    k.parameters.push_back(p);
    k.kinds.push_back(fmt::format("msl_at<msl_k_{}, 0>", p.attribute));
    return;
  }
  const bool threadgroup = group && !device;
  std::set<int>& used = threadgroup ? groups : buffers;
  p.kind = threadgroup ? MslKind::Threadgroup : MslKind::Buffer;
  p.index = -1;
  if (chosen) {
    int n = 0;
    if (!number(chosen->arguments, n)) {
      error(a, fmt::format("attribute '{}' of {} needs a number", chosen->name, what));
      n = 0;
    }
    p.index = n;
    if (n >= kMaxBuffers)
      error(a, fmt::format("{} index {} of {} is out of range; there are {}", chosen->name, n, what, kMaxBuffers));
    else if (!used.insert(n).second && p.function_constant < 0)
      error(a, fmt::format("{} index {} of {} is used twice", chosen->name, n, what));
  }
  k.parameters.push_back(p);
  k.kinds.emplace_back(threadgroup ? "msl_k_threadgroup" : "msl_k_buffer");
}

Unit::Kernel Unit::read_parameters(std::size_t open, std::size_t close, const std::string& kernel) {
  Kernel k;
  std::set<int> buffers, groups;
  std::size_t start = open + 1;
  for (std::size_t i = open + 1; i <= close && close > open + 1; ++i) {
    if (text(i) == "(" || text(i) == "[" || text(i) == "{") {
      i = match(i);
      continue;
    }
    if (text(i) == "<")
      if (const std::size_t end = skip_angles(i)) i = end - 1;
    if (i == close || text(i) == ",") {
      read_parameter(start, i, kernel, k, buffers, groups);
      start = i + 1;
    }
  }
  int next_buffer = 0, next_group = 0;
  for (std::size_t i = 0; i < k.parameters.size(); ++i) {
    MslParameter& p = k.parameters[i];
    if (p.kind == MslKind::Builtin) continue;
    int& next = p.kind == MslKind::Buffer ? next_buffer : next_group;
    std::set<int>& used = p.kind == MslKind::Buffer ? buffers : groups;
    if (p.index < 0) {
      while (used.contains(next)) ++next;
      used.insert(p.index = next);
    }
    k.kinds[i] = fmt::format("msl_at<{}, {}>", k.kinds[i], p.index);
  }
  return k;
}

std::string Unit::entry(const std::string& host, const std::string& expression, const std::string& type,
                        const Kernel& kernel, std::size_t at) {
  if (std::find(out_.known.begin(), out_.known.end(), host) != out_.known.end())
    error(at, fmt::format("two kernels have the name '{}'", host));
  out_.known.push_back(host);
  if (!wanted_.empty() && std::find(wanted_.begin(), wanted_.end(), host) == wanted_.end()) return "";
  std::string symbol = symbol_of(host);
  while (!symbols_.insert(symbol).second) symbol += "_";
  MslKernel k;
  k.name = host;
  k.entry = "msl_entry_" + symbol;
  k.parameters = kernel.parameters;
  k.max_threads = kernel.max_threads;
  k.line = at < live_.size() ? tokens_.all[live_[at]].line : 0;
  out_.kernels.push_back(k);
  std::string kinds, infos;
  for (std::size_t i = 0; i < kernel.kinds.size(); ++i) {
    kinds += (i ? ", " : "") + kernel.kinds[i];
    infos += fmt::format("{}MSL_INFO({}, {})", i ? ", " : "", i, type);
  }
  std::string all = fmt::format(" extern \"C\" void {}(const __private msl_context* c) {{ msl_call<{}>({}, *c); }}",
                                k.entry, kinds, expression);
  if (!infos.empty())
    all += fmt::format(" extern \"C\" __attribute__((used)) const __constant msl_info msl_info_{}[] = {{{}}};", symbol,
                       infos);
  return all;
}

/// `kernel void f(...) {...}` or a template of kernels.
void Unit::kernel_definition(std::size_t mark, std::size_t first) {
  std::size_t open = first;
  while (open < live_.size() && text(open) != "(" && text(open) != ";" && text(open) != "{") {
    if (text(open) == "<")
      if (const std::size_t end = skip_angles(open)) {
        open = end;
        continue;
      }
    ++open;
  }
  if (text(open) != "(" || open < first + 2) return error(first, "expected a function after 'kernel'");
  const std::string function = text(open - 1);
  const std::size_t close = match(open);
  if (close >= live_.size()) return error(first, fmt::format("the parameters of kernel '{}' never end", function));
  bool returns_void = false;
  for (std::size_t i = first; i + 1 < open; ++i) returns_void = returns_void || word(i, "void");
  if (!returns_void) error(first, fmt::format("kernel '{}' must return void", function));
  const bool is_template = mark > 0 && (text(mark - 1) == ">" || text(mark - 1) == ">>");
  before(first, "static ");
  if (text(close + 1) != "{") return;  // a declaration
  Kernel k = read_parameters(open, close, function);
  for (const std::size_t i : {mark, first})
    if (const auto* all = attributes(i))
      for (const Attribute& a : *all)
        if (a.name == "max_total_threads_per_threadgroup" && number(a.arguments, k.max_threads) &&
            (k.max_threads < 1 || k.max_threads > 1024))
          error(i, fmt::format("kernel '{}' has at most {} threads in a threadgroup; write 1 to 1024", function,
                               k.max_threads));
  kernels_[function] = k;
  const std::size_t body = close + 1, end = match(body);
  kernel_bodies_.push_back({body, end});
  if (is_template) return;
  const std::string host = host_name(mark, first);
  after(end, entry(host.empty() ? function : host, function, fmt::format("decltype({})", function), k, first));
}

/// `template [[host_name("x")]] [[kernel]] decltype(f<A>) f<A>;` or `... void f<A>(parameters);`
void Unit::kernel_instance(std::size_t mark, std::size_t first) {
  std::size_t end = first;
  while (end < live_.size() && text(end) != ";") ++end;
  if (end >= live_.size()) return error(first, "expected ';' after the instance of a kernel");
  const std::string host = host_name(mark, first);
  std::size_t a = first;
  std::string expression, type;
  if (word(first, "decltype")) {
    a = match(first + 1) + 1;
    expression = join(a, end);
  } else {
    while (a < end && !word(a, "void")) ++a;
    ++a;
  }
  std::size_t id = a;  // the last word of the function's name
  while (text(id + 1) == "::") id += 2;
  const std::string function = text(id);
  const auto known = kernels_.find(function);
  if (a >= end || known == kernels_.end())
    return error(first, fmt::format("an instance of kernel '{}', which has no definition before it", function));
  if (expression.empty()) {
    std::size_t open = id + 1;
    const bool arguments = text(open) == "<";
    if (arguments) open = std::max(skip_angles(open), open + 1);
    if (text(open) != "(") return error(first, "expected the parameters of the kernel's instance");
    if (arguments) {
      expression = join(a, open);
    } else {
      // What the template is made with follows from the types of the parameters.
      if (match(open) > end) return error(first, "expected ')' after the parameters of the kernel's instance");
      const Kernel k = read_parameters(open, match(open), function);
      for (const MslParameter& p : k.parameters) type += (type.empty() ? "" : ", ") + p.type;
      for (const auto& [from, to] : std::map<std::string, std::string>{
               {"device ", "__global "}, {"threadgroup ", "__local "}, {"constant ", "const __constant "}}) {
        for (std::size_t at = 0; (at = type.find(from, at)) != std::string::npos; at += to.size())
          if (at == 0 || !std::isalnum(static_cast<unsigned char>(type[at - 1]))) type.replace(at, from.size(), to);
      }
      type = fmt::format("void({})", type);
      expression = fmt::format("static_cast<metal::msl_same_t<{}>*>({})", type, join(a, id + 1));
    }
  }
  if (type.empty()) type = fmt::format("decltype({})", expression);
  const std::string made = entry(host.empty() ? function : host, expression, type, known->second, first);
  for (std::size_t i = mark - 1; i < end; ++i) set(i, "");
  set(end, made);
}

}  // namespace mt::metal_host
