#include "mt/harness/mutation_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "mt/harness/catalogue.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

using Json = nlohmann::ordered_json;

std::map<std::string, MutationTotals> by(const std::vector<Mutant>& mutants,
                                         const std::function<std::string(const Mutant&)>& group) {
  std::map<std::string, MutationTotals> all;
  for (const Mutant& m : mutants) all[group(m)].count(m);
  return all;
}
std::string fault_of(const Mutant& m) { return std::string(m.fault->name); }
std::string kernel_of(const Mutant& m) { return m.kernel->id(); }

Json counts(const MutationTotals& t) {
  return {{"planted", t.planted},       {"killed", t.killed},       {"survived", t.survived},
          {"equivalent", t.equivalent}, {"unchanged", t.unchanged}, {"refused", t.refused}};
}

std::string rate(const MutationTotals& t) {
  const std::int64_t fair = t.planted - t.equivalent;
  return fair == 0 ? "-" : fmt::format("{:.4g} %", 100.0 * static_cast<double>(t.killed) / static_cast<double>(fair));
}

}  // namespace

void MutationTotals::count(const Mutant& m) {
  killed += m.fate == Fate::Killed;
  survived += m.fate == Fate::Survived;
  equivalent += m.fate == Fate::Equivalent;
  unchanged += m.fate == Fate::Unchanged;
  refused += m.fate == Fate::Refused;
  planted = killed + survived + equivalent;
}

int MutationTotals::exit_code() const {
  if (survived > 0 || !stale.empty()) return 1;
  return killed == 0 ? 3 : 0;
}

std::string mutant_json(const Mutant& m) {
  Json j{{"kernel", m.kernel->name},  {"dtype", name_of(m.kernel->dtype)},
         {"fault", m.fault->name},    {"op", info(m.op).name},
         {"place", to_string(m.loc)}, {"number", m.number},
         {"before", m.before},        {"after", m.after},
         {"fate", name_of(m.fate)}};
  if (!m.by.empty()) j["by"] = m.by;
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string mutant_text(const Mutant& m, bool colour) {
  const bool bad = m.fate == Fate::Survived;
  std::string s = fmt::format("{} {}\n", painted(std::string(name_of(m.fate)), bad ? "31" : "32", colour), m.id());
  if (!m.before.empty()) s += fmt::format("    {}\n    -> {}\n", m.before, m.after.empty() ? "(nothing)" : m.after);
  if (!m.by.empty()) s += fmt::format("    {}\n", m.by);
  return s;
}

std::string mutation_totals_text(const MutationTotals& t, bool colour) {
  std::string s;
  for (const std::string& line : t.stale) s += line + "\n";
  s += fmt::format(
      "{} kernels with their dtypes, {} mutants: {} killed, {} survived, {} equivalent ({} killed of the rest)",
      t.pairs, grouped(t.planted), grouped(t.killed), grouped(t.survived), grouped(t.equivalent), rate(t));
  s += fmt::format("; {} more change nothing after the passes, {} are refused by the verifier; {}\n",
                   grouped(t.unchanged), grouped(t.refused), time_text(t.seconds));
  if (t.exit_code() == 3) s += "no mutant was killed: nothing was checked\n";
  return t.exit_code() == 0 ? s : painted(s, "31", colour);
}

std::string mutation_summary_json(const std::vector<Mutant>& mutants, const MutationTotals& totals) {
  Json j = counts(totals);
  j["kernels_with_dtypes"] = totals.pairs;
  j["seconds"] = totals.seconds;
  Json faults = Json::object(), kernels = Json::object(), survivors = Json::array();
  for (const auto& [name, t] : by(mutants, fault_of)) faults[name] = counts(t);
  for (const auto& [name, t] : by(mutants, kernel_of)) kernels[name] = counts(t);
  for (const Mutant& m : mutants)
    if (m.fate == Fate::Survived) survivors.push_back(m.id());
  j["faults"] = faults;
  j["kernels"] = kernels;
  j["survivors"] = survivors;
  return j.dump(1) + "\n";
}

std::string mutation_markdown(const std::vector<Mutant>& mutants, const MutationTotals& totals) {
  using Align = Table::Align;
  const auto row = [](std::vector<std::string> first, const MutationTotals& t) {
    for (const std::int64_t n : {t.planted, t.killed, t.equivalent, t.survived}) first.push_back(grouped(n));
    return first;
  };
  const std::vector<std::pair<std::string, Align>> numbers = {
      {"planted", Align::Right}, {"killed", Align::Right}, {"equivalent", Align::Right}, {"survived", Align::Right}};
  const auto headed = [&](std::vector<std::pair<std::string, Align>> first) {
    first.insert(first.end(), numbers.begin(), numbers.end());
    return Table(first);
  };
  Table faults_table = headed({{"fault", Align::Left}, {"what it is", Align::Left}});
  const auto per_fault = by(mutants, fault_of);
  for (const Fault& f : faults())
    if (const auto it = per_fault.find(std::string(f.name)); it != per_fault.end())
      faults_table.add(row({"`" + it->first + "`", std::string(f.what)}, it->second));
  Table kernels_table = headed({{"kernel", Align::Left}});
  for (const auto& [name, t] : by(mutants, kernel_of)) kernels_table.add(row({"`" + name + "`"}, t));
  std::set<std::string> reasons;
  for (const Mutant& m : mutants)
    if (m.fate == Fate::Equivalent)
      reasons.insert(fmt::format("- `{}` `{}` of `{}`: {}\n", to_string(m.loc), m.fault->name, info(m.op).name, m.by));
  std::string s = "# Mutants\n\n<!-- made by tile mutate --markdown -->\n\n";
  s += fmt::format(
      "`tile mutate` plants faults in every kernel, one at a time, and runs the kernel's test cases on the reference\n"
      "device. A mutant is killed where a case fails. {} mutants in {} kernels: {} killed, {} equivalent, {} "
      "survived.\n"
      "{} more are gone after the passes and {} are refused by the verifier; they are not counted.\n\n",
      grouped(totals.planted), totals.pairs, grouped(totals.killed), grouped(totals.equivalent),
      grouped(totals.survived), grouped(totals.unchanged), grouped(totals.refused));
  s += "A fault is planted in all instructions that one expression of the source was traced to, so that it is what an\n"
       "author would have written. Equivalent mutants are declared where they are, with the reason.\n\n";
  s += "## Faults\n\n" + faults_table.markdown() + "\n## Kernels\n\n" + kernels_table.markdown();
  if (!reasons.empty()) {
    s += "\n## Equivalent mutants\n\n";
    for (const std::string& r : reasons) s += r;
  }
  return s;
}

}  // namespace mt
