#include "cli/verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "mt/base/real.h"
#include "mt/harness/contract.h"
#include "mt/harness/names.h"

namespace mt {
namespace {

std::vector<Verb*>& table() {
  static std::vector<Verb*> all;
  return all;
}

/// `key=value` or `key:value`; UsageError for anything else.
std::pair<std::string, std::string> split(const std::string& text, const char* option) {
  const auto at = text.find_first_of("=:");
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError(fmt::format("{} {}: write name=value", option, text));
  return {text.substr(0, at), text.substr(at + 1)};
}

template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void insert_all(std::vector<std::string>& into, const std::vector<std::string>& names) {
  for (const std::string& n : names)
    if (std::find(into.begin(), into.end(), n) == into.end()) into.push_back(n);
}

[[noreturn]] void unknown(const char* what, const std::string& name, const std::vector<std::string>& known) {
  throw UsageError(fmt::format("no selected kernel has a {} '{}'; {}", what, name,
                               known.empty() ? "there is none" : "known: " + listed(known)));
}

[[noreturn]] void twice(const char* option, const std::string& name) {
  throw UsageError(fmt::format("{} {} is given twice; give it one value", option, name));
}

/// A choice that some of the selected kernels have may still fail in others; one that none has is wrong use.
void refuse_where_no_kernel_takes(const std::string& text, const std::string& name, int value,
                                  const std::vector<TunableDecl>& declared) {
  std::vector<int> choices;
  for (const TunableDecl& t : declared) {
    if (t.name != name) continue;
    if (t.choices.empty() || std::find(t.choices.begin(), t.choices.end(), value) != t.choices.end()) return;
    choices.insert(choices.end(), t.choices.begin(), t.choices.end());
  }
  std::sort(choices.begin(), choices.end());
  choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  throw UsageError(fmt::format("--set {}: {} is one of {}", text, name, fmt::join(choices, ", ")));
}

}  // namespace

CLI::Validator positive() {
  return {[](std::string& text) {
            const auto n = parse_real<double>(text);
            return n && std::isfinite(*n) && *n > 0 ? "" : text + " is no number above 0";
          },
          ""};
}

Verb::Verb(std::string n, std::string w, std::string e)
    : name(std::move(n)), what(std::move(w)), examples(std::move(e)) {
  auto& all = table();
  all.insert(std::upper_bound(all.begin(), all.end(), this, [](auto* a, auto* b) { return a->name < b->name; }), this);
}
const std::vector<Verb*>& verbs() { return table(); }

void KernelOptions::declare(CLI::App& app) {
  app.add_option("FILTER", filters,
                 "substrings or globs of kernel names, or a folder of kernels/; all kernels where absent");
  app.add_option("--dtype", dtype, "only this dtype (f32, f16, bf16, ...)");
}
std::vector<const KernelEntry*> KernelOptions::select() const {
  return select_kernels(kernels(), filters, dtype.empty() ? std::nullopt : std::optional(dtype_named(dtype)));
}

void ProblemOptions::declare(CLI::App& app) {
  app.add_option("--size", sizes, "a size or real parameter of the problem, name=value")->type_name("NAME=VALUE");
  app.add_option("--set", tunables, "a tunable, name=value")->type_name("NAME=VALUE");
}

Problem ProblemOptions::problem(const std::vector<const KernelEntry*>& entries) const {
  Problem p;
  if (sizes.empty()) return p;
  std::vector<std::string> size_keys, real_keys;
  for (const KernelEntry* e : entries) {
    const auto instance = e->make();
    insert_all(size_keys, size_names(*instance));
    insert_all(real_keys, real_names(*instance));
  }
  for (const std::string& text : sizes) {
    const auto [name, value] = split(text, "--size");
    if (std::find(size_keys.begin(), size_keys.end(), name) != size_keys.end()) {
      const auto n = number<std::int64_t>(value);
      if (!n) throw UsageError(fmt::format("--size {}: {} is no whole number", text, value));
      if (p.has(name)) twice("--size", name);
      p = p.with(name, *n);
    } else if (std::find(real_keys.begin(), real_keys.end(), name) != real_keys.end()) {
      const auto n = parse_real<double>(value);
      if (!n) throw UsageError(fmt::format("--size {}: {} is no number", text, value));
      if (p.reals().count(name)) twice("--size", name);
      p = p.with_real(name, *n);
    } else {
      insert_all(size_keys, real_keys);
      unknown("size", name, size_keys);
    }
  }
  return p;
}

Overrides ProblemOptions::overrides(const std::vector<const KernelEntry*>& entries) const {
  Overrides chosen;
  if (tunables.empty()) return chosen;
  std::vector<std::string> known;
  std::vector<TunableDecl> declared;
  for (const KernelEntry* e : entries) {
    const auto instance = e->make();
    for (const TunableDecl& t : instance->signature().tunables) {
      insert_all(known, {t.name});
      declared.push_back(t);
    }
  }
  for (const std::string& text : tunables) {
    const auto [name, value] = split(text, "--set");
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown("tunable", name, known);
    const auto n = number<int>(value);
    if (!n) throw UsageError(fmt::format("--set {}: {} is no whole number", text, value));
    refuse_where_no_kernel_takes(text, name, *n, declared);
    if (!chosen.emplace(name, *n).second) twice("--set", name);
  }
  return chosen;
}

}  // namespace mt
