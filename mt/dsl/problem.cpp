#include "mt/dsl/problem.h"

#include <fmt/format.h>

namespace mt {
namespace {
thread_local Noted* noting[2] = {nullptr, nullptr};  // by kind
}  // namespace

Noted::Noted(Kind kind) : kind_(kind), outer_(noting[kind]) { noting[kind] = this; }
Noted::~Noted() { noting[kind_] = outer_; }
void Noted::add(Kind kind, std::string_view name) {
  if (noting[kind]) noting[kind]->all_.emplace(name);
}

void require(bool holds, std::string_view why) {
  Noted::add(Noted::Preconditions, why);
  if (!holds) throw Error(std::string(why));
}

std::int64_t Problem::operator[](std::string_view name) const {
  Noted::add(Noted::Reads, name);
  const auto it = sizes_.find(std::string(name));
  if (it != sizes_.end()) return it->second;
  throw Error(fmt::format("the problem has no size '{}'; it has {}", name, text()));
}
std::int64_t Problem::get(std::string_view name, std::int64_t fallback) const {
  Noted::add(Noted::Reads, name);
  const auto it = sizes_.find(std::string(name));
  return it == sizes_.end() ? fallback : it->second;
}
Problem Problem::with(std::string_view name, std::int64_t value) const {
  Problem p = *this;
  p.sizes_.insert_or_assign(std::string(name), value);
  return p;
}
double Problem::real(std::string_view name, double fallback) const {
  Noted::add(Noted::Reads, name);
  const auto it = reals_.find(std::string(name));
  return it == reals_.end() ? fallback : it->second;
}
Problem Problem::with_real(std::string_view name, double value) const {
  Problem p = *this;
  p.reals_.insert_or_assign(std::string(name), value);
  return p;
}
Problem Problem::with_edges() const {
  Problem p = *this;
  p.edges_ = true;
  return p;
}
Problem Problem::with_values(Values values) const {
  Problem p = *this;
  p.values_ = values;
  return p;
}
Problem Problem::with_element(std::string_view tensor, std::int64_t at, double value) const {
  Problem p = *this;
  p.elements_.push_back({std::string(tensor), at, value});
  return p;
}
Problem Problem::with_tunable(std::string_view name, int value) const {
  Problem p = *this;
  p.tunables_.insert_or_assign(std::string(name), value);
  return p;
}
Problem Problem::with_seed(std::uint64_t seed) const {
  Problem p = *this;
  p.seed_ = seed;
  return p;
}
std::string Problem::text() const {
  std::string s;
  for (const auto& [key, value] : sizes_) s += fmt::format("{}{}:{}", s.empty() ? "" : "/", key, value);
  for (const auto& [key, value] : reals_) s += fmt::format("{}{}:{}", s.empty() ? "" : "/", key, value);
  if (edges_) s += s.empty() ? "edges" : "/edges";
  if (values_ != Values::Declared) s += fmt::format("{}values:{}", s.empty() ? "" : "/", name_of(values_));
  for (const Element& e : elements_) s += fmt::format("{}{}[{}]:{}", s.empty() ? "" : "/", e.tensor, e.at, e.value);
  for (const auto& [key, value] : tunables_) s += fmt::format("{}{}={}", s.empty() ? "" : "/", key, value);
  if (seed_ != 1) s += fmt::format("{}seed:{}", s.empty() ? "" : "/", seed_);
  return s;
}

Problems over(const Problem& base, std::string_view size, std::initializer_list<std::int64_t> values) {
  return over(Problems{base}, size, values);
}
Problems over(const Problems& bases, std::string_view size, std::initializer_list<std::int64_t> values) {
  Problems all;
  for (const Problem& base : bases)
    for (const std::int64_t v : values) all.push_back(base.with(size, v));
  return all;
}
Problems operator+(Problems a, const Problems& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace mt
