#include "mt/harness/tuned.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <nlohmann/json.hpp>

#include "backends/object_cache.h"
#include "mt/base/hash.h"
#include "mt/harness/contract.h"
#include "mt/harness/file.h"
#include "mt/ir/text.h"

namespace mt {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;
constexpr int kForm = 1;  // of the files

TunedChoice parse(const std::string& text) {
  const Json j = Json::parse(text);
  if (j.at("form").get<int>() != kForm)
    throw Error(fmt::format("its form is {}, this program reads {}", j.at("form").get<int>(), kForm));
  TunedChoice c;
  c.key = {j.at("backend"), j.at("device"), j.at("kernel"), j.at("problem"), j.at("code")};
  for (const auto& [name, value] : j.at("chosen").items()) c.chosen[name] = value.get<int>();
  c.planned_seconds = 1e-9 * j.at("planned_ns").get<double>();
  c.tuned_seconds = 1e-9 * j.at("tuned_ns").get<double>();
  c.date = j.at("date");
  return c;
}

std::string text_of(const TunedChoice& c) {
  Json j;
  j["form"] = kForm;
  j["backend"] = c.key.backend;
  j["device"] = c.key.device;
  j["kernel"] = c.key.kernel;
  j["problem"] = c.key.problem;
  j["code"] = c.key.code;
  j["chosen"] = Json::object();
  for (const auto& [name, value] : c.chosen) j["chosen"][name] = value;
  j["planned_ns"] = 1e9 * c.planned_seconds;
  j["tuned_ns"] = 1e9 * c.tuned_seconds;
  j["date"] = c.date;
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string path_of(const std::string& folder, const TunedKey& key) {
  return fmt::format("{}/{}.json", folder, key.hash());
}

}  // namespace

std::string TunedKey::hash() const {
  return hash_hex(fmt::format("{}\n{}\n{}\n{}\n{}", backend, device, kernel, problem, code));
}

std::string problem_key(const Problem& problem) {
  Problem plain;
  for (const auto& [name, value] : problem.sizes()) plain = plain.with(name, value);
  for (const auto& [name, value] : problem.reals()) plain = plain.with_real(name, value);
  return plain.text();
}

std::string planned_code(const KernelEntry& entry, const Problem& problem, TargetTraits traits,
                         const Overrides& overrides, const Limits* limits) {
  const std::unique_ptr<KernelInstance> instance = entry.make();
  check_problem(*instance, problem, overrides);
  const std::vector<StagePlan> plans = instance->plan(problem, traits, overrides);
  std::string all;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Grid& g = plans[i].launch.groups;
    if (g[0] == 0 || g[1] == 0 || g[2] == 0) continue;
    const Kernel traced = instance->trace(i);
    if (limits) check_geometry(traced, {g[0], g[1], g[2]}, *limits, limits->max_threads);
    all += fmt::format("{} {} {}\n{}", g[0], g[1], g[2], print(traced));
  }
  return hash_hex(all);
}

TunedStore::TunedStore(const std::vector<std::string>& folders) {
  std::map<TunedKey, std::size_t> seen;
  for (const std::string& folder : folders) {
    std::error_code absent;
    std::vector<fs::path> files;
    for (fs::directory_iterator at(folder, absent), end; !absent && at != end; at.increment(absent))
      if (at->path().extension() == ".json") files.push_back(at->path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      try {
        TunedChoice c = parse(read_file(file.string()));
        c.file = file.string();
        if (file.stem() != c.key.hash()) throw Error("it is not what its name says");
        if (!seen.emplace(c.key, choices_.size()).second) continue;
        by_kernel_.emplace(c.key.kernel, choices_.size());
        choices_.push_back(std::move(c));
      } catch (const std::exception& e) {  // of nlohmann-json too
        note(fmt::format("the tuned choice in {} is passed by: {}; tune again or remove the file", file.string(),
                         e.what()));
      }
    }
  }
}

std::string TunedStore::user_folder() { return ObjectCache::standard_folder("tuned"); }

std::optional<TunedChoice> TunedStore::find(const Backend& backend, const DeviceInfo& device, const KernelEntry& entry,
                                            const Problem& problem) const {
  const auto [first, last] = by_kernel_.equal_range(entry.id());
  std::string name, code;
  for (auto it = first; it != last; ++it) {
    const TunedChoice& c = choices_[it->second];
    if (c.key.backend != device.backend || c.key.device != device.name) continue;
    if (name.empty()) name = problem_key(problem);
    if (c.key.problem != name) continue;
    if (code.empty()) code = planned_code(entry, problem, backend.traits());
    if (c.key.code == code) return c;
  }
  return std::nullopt;
}

void TunedStore::refuse(const TunedChoice& choice, const std::string& why) const {
  note(fmt::format("the tuned choice {} in {} is passed by: {}; tune again or remove the file",
                   overrides_text(choice.chosen), choice.file, why));
}

void TunedStore::note(const std::string& sentence) const {
  const std::lock_guard lock(mutex_);
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) notes_.push_back(sentence);
}

std::vector<std::string> TunedStore::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

std::string TunedStore::store(const std::string& folder, const TunedChoice& choice) {
  std::error_code failed;
  fs::create_directories(folder, failed);  // where it fails, writing says why
  const std::string path = path_of(folder, choice.key);
  write_file(path, text_of(choice));
  return path;
}

bool TunedStore::forget(const std::string& folder, const TunedKey& key) {
  std::error_code failed;
  const bool there = fs::remove(path_of(folder, key), failed);
  if (failed) throw Error(fmt::format("{} can't be removed: {}", path_of(folder, key), failed.message()));
  return there;
}

bool is_current(const TunedChoice& choice) {
  const Backend* backend = find_backend(choice.key.backend);
  const auto entry = std::find_if(kernels().begin(), kernels().end(),
                                  [&](const KernelEntry& e) { return e.id() == choice.key.kernel; });
  if (!backend || entry == kernels().end()) return false;
  const std::vector<std::string> reals = real_names(*entry->make());
  Problem problem;
  std::stringstream parts(choice.key.problem);
  try {
    for (std::string part; std::getline(parts, part, '/');) {
      const auto colon = part.find(':');
      if (colon == std::string::npos) return false;
      const std::string name = part.substr(0, colon), value = part.substr(colon + 1);
      problem = std::binary_search(reals.begin(), reals.end(), name) ? problem.with_real(name, std::stod(value))
                                                                     : problem.with(name, std::stoll(value));
    }
    return problem_key(problem) == choice.key.problem &&
           planned_code(*entry, problem, backend->traits()) == choice.key.code;
  } catch (const std::exception&) {  // a size that is no number, or one that the kernel refuses now
    return false;
  }
}

std::string overrides_text(const Overrides& overrides) {
  std::string text;
  for (const auto& [name, value] : overrides) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace mt
