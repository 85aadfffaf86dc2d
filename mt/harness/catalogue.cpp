#include "mt/harness/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "mt/harness/contract.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

const char* access_name(Access a) { return a == Access::In ? "in" : a == Access::Out ? "out" : "inout"; }

/// From the folder `kernels` on, else the file's own name.
std::string from_root(std::string file) {
  const auto at = file.rfind("kernels/");
  if (at != std::string::npos) return file.substr(at);
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? file : file.substr(slash + 1);
}

std::string folder_of(const std::string& file) {
  const auto first = file.find('/'), last = file.rfind('/');
  return first == std::string::npos || first == last ? "" : file.substr(first + 1, last - first - 1);
}

CataloguedKernel describe(const KernelEntry& entry) {
  const auto instance = entry.make();
  const Signature& s = instance->signature();
  CataloguedKernel k;
  k.name = entry.name;
  k.file = from_root(entry.loc.file);
  k.family = folder_of(k.file);
  k.line = entry.loc.line;
  for (const TensorParam& t : s.tensors) {
    if (t.temporary) {
      ++k.temporaries;
      continue;
    }
    CataloguedTensor c{t.name, std::string(name_of(t.dtype)), access_name(t.access), {}};
    for (const Dim& d : t.shape) c.shape.push_back(d.symbol.empty() ? std::to_string(d.extent) : d.symbol);
    k.tensors.push_back(std::move(c));
  }
  k.sizes = size_names(*instance);
  for (const ScalarDecl& d : s.scalars)
    if (!is_int(d.dtype)) k.reals.push_back(d);
  k.tunables = s.tunables;
  k.tests = instance->tests().size();
  k.benches = instance->benches().size();
  return k;
}

std::string tensor_text(const CataloguedTensor& t) {
  return fmt::format("{} {} {}[{}]", t.access, t.dtype, t.name, fmt::join(t.shape, ", "));
}

}  // namespace

std::string family_of(const KernelEntry& entry) { return folder_of(from_root(entry.loc.file)); }

std::vector<CataloguedKernel> catalogue(const std::vector<const KernelEntry*>& entries) {
  std::vector<CataloguedKernel> all;
  for (std::size_t i = 0; i < entries.size();) {
    std::size_t end = i;
    while (end < entries.size() && entries[end]->name == entries[i]->name) ++end;
    CataloguedKernel k = describe(*entries[i]);
    // A tensor that has the kernel's own dtype in each of them is of type T.
    std::vector<bool> own(k.tensors.size(), end - i > 1);
    for (std::size_t e = i; e < end; ++e) {
      const std::string dtype(name_of(entries[e]->dtype));
      k.dtypes.push_back(dtype);
      const CataloguedKernel other = e == i ? k : describe(*entries[e]);
      for (std::size_t t = 0; t < own.size(); ++t) own[t] = own[t] && other.tensors[t].dtype == dtype;
    }
    for (std::size_t t = 0; t < own.size(); ++t)
      if (own[t]) k.tensors[t].dtype = "T";
    all.push_back(std::move(k));
    i = end;
  }
  return all;
}

std::string catalogue_text(const std::vector<CataloguedKernel>& kernels) {
  Table table({{"kernel", Table::Align::Left},
               {"dtypes", Table::Align::Left},
               {"tests", Table::Align::Right},
               {"benches", Table::Align::Right},
               {"parameters", Table::Align::Left}});
  for (const CataloguedKernel& k : kernels) {
    std::vector<std::string> parameters;
    for (const CataloguedTensor& t : k.tensors) parameters.push_back(tensor_text(t));
    table.add({k.name, fmt::format("{}", fmt::join(k.dtypes, " ")), std::to_string(k.tests), std::to_string(k.benches),
               fmt::format("{}", fmt::join(parameters, "; "))});
  }
  return table.text();
}

std::string catalogue_json(const std::vector<CataloguedKernel>& kernels) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CataloguedKernel& k : kernels) {
    nlohmann::ordered_json j;
    j["name"] = k.name;
    j["family"] = k.family;
    j["dtypes"] = k.dtypes;
    j["source"] = fmt::format("{}:{}", k.file, k.line);
    j["parameters"] = nlohmann::ordered_json::array();
    for (const CataloguedTensor& t : k.tensors)
      j["parameters"].push_back({{"name", t.name}, {"access", t.access}, {"dtype", t.dtype}, {"shape", t.shape}});
    j["sizes"] = k.sizes;
    j["scalars"] = nlohmann::ordered_json::array();
    for (const ScalarDecl& s : k.reals)
      j["scalars"].push_back({{"name", s.name}, {"dtype", name_of(s.dtype)}, {"default", s.fallback}});
    j["tunables"] = nlohmann::ordered_json::array();
    for (const TunableDecl& t : k.tunables)
      j["tunables"].push_back({{"name", t.name}, {"default", t.value}, {"choices", t.choices}});
    j["temporaries"] = k.temporaries;
    j["tests"] = k.tests;
    j["benches"] = k.benches;
    all.push_back(std::move(j));
  }
  return all.dump(2) + "\n";
}

std::string catalogue_markdown(const std::vector<CataloguedKernel>& kernels) {
  std::map<std::string, std::vector<const CataloguedKernel*>> families;
  std::size_t pairs = 0;
  for (const CataloguedKernel& k : kernels) {
    families[k.family].push_back(&k);
    pairs += k.dtypes.size();
  }
  std::string page = fmt::format(
      "# Kernels\n\nMade by `./tile list --markdown` from the registry; edit the kernels, not this page.\n\n"
      "{} kernels, {} with their dtypes. `T` is the kernel's dtype; names in shapes are sizes of the problem. `Tests` "
      "and\n"
      "`Benches` count the cases of one dtype.\n",
      kernels.size(), pairs);
  for (const auto& [family, members] : families) {
    page += fmt::format("\n## {}\n\n", family.empty() ? "other" : family);
    Table table({{"Kernel", Table::Align::Left},
                 {"dtypes", Table::Align::Left},
                 {"Parameters", Table::Align::Left},
                 {"Sizes and scalars", Table::Align::Left},
                 {"Tunables", Table::Align::Left},
                 {"Tests", Table::Align::Right},
                 {"Benches", Table::Align::Right}});
    for (const CataloguedKernel* k : members) {
      std::vector<std::string> parameters, scalars = k->sizes, tunables;
      for (const CataloguedTensor& t : k->tensors) parameters.push_back("`" + tensor_text(t) + "`");
      for (const ScalarDecl& s : k->reals) scalars.push_back(fmt::format("{} = {}", s.name, s.fallback));
      for (const TunableDecl& t : k->tunables) tunables.push_back(fmt::format("{} = {}", t.name, t.value));
      table.add({fmt::format("[`{}`](../{})", k->name, k->file), fmt::format("{}", fmt::join(k->dtypes, " ")),
                 fmt::format("{}", fmt::join(parameters, "<br>")), fmt::format("{}", fmt::join(scalars, ", ")),
                 fmt::format("{}", fmt::join(tunables, ", ")), std::to_string(k->tests), std::to_string(k->benches)});
    }
    page += table.markdown();
  }
  return page;
}

}  // namespace mt
