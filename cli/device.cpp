// tile device.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "mt/harness/bench.h"

namespace mt {
namespace {

using Json = nlohmann::ordered_json;

class DeviceVerb : public Verb {
 public:
  DeviceVerb()
      : Verb("device", "show targets and devices with limits and measured ceilings",
             "  tile device\n  tile device --json\n  tile device --no-measure\n") {}
  void declare(CLI::App& app) override {
    app.add_flag("--json", json_, "an array of objects");
    app.add_flag("--no-measure", no_measure_, "leave the ceilings out");
  }
  int run() override {
    Json all = Json::array();
    for (const Backend* b : backends()) all.push_back(describe(*b));
    if (json_) {
      fmt::print("{}\n", all.dump(2));
      return kGood;
    }
    const std::vector<std::string> usable = usable_devices();
    for (const Json& d : all) {
      const std::string target = d["name"];
      fmt::print("{}{}: {}\n", target, !usable.empty() && target == usable.front() ? " (default)" : "",
                 d["description"].get<std::string>());
      for (const auto& [key, value] : d.items())
        if (key != "name" && key != "description") fmt::print("  {:<22} {}\n", key, text_of(key, value));
    }
    return kGood;
  }

 private:
  static std::string text_of(const std::string& key, const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float() && key.find("_per_second") != std::string::npos)
      return fmt::format("{:.1f} G", value.get<double>() / 1e9);
    if (!value.is_array()) return value.dump();
    std::string text;
    for (const Json& element : value) text += (text.empty() ? "" : " x ") + element.dump();
    return text;
  }
  Json describe(const Backend& b) {
    Json j{{"name", b.name()}, {"description", b.description()}};
    if (b.rank() == 0) {
      j["device"] = "text only";
      return j;
    }
    std::string why = b.unavailable();
    if (why.empty()) {
      auto device = b.open();
      if (device) return describe(b, **device, std::move(j));
      why = device.error().what();
    }
    j["unavailable"] = why;
    return j;
  }
  Json describe(const Backend& b, Device& device, Json j) {
    const DeviceInfo& info = device.info();
    j["device"] = info.name;
    j["max_threads"] = info.limits.max_threads;
    j["threadgroup_bytes"] = info.limits.threadgroup_bytes;
    j["max_groups"] = info.limits.max_groups;
    for (const auto& [key, value] : info.details) j[key] = value;
    // Devices that are there to check (interp, metal-host) run in host memory as well, but its speed says nothing of
    // theirs.
    constexpr int kNativeRank = 10;
    if (no_measure_ || b.rank() < kNativeRank) return j;
    const auto source = ceiling_of(device);
    if (!source) return j;
    std::vector<Ceiling> samples;
    for (int i = 0; i < 9; ++i) samples.push_back(source->sample());
    const Ceiling c = median_of(samples);
    j["copy_bytes_per_second"] = c.copy;
    j["read_bytes_per_second"] = c.read;
    j["write_bytes_per_second"] = c.write;
    j["flops_per_second"] = c.flops;
    if (c.matrix_flops > 0) j["matrix_flops_per_second"] = c.matrix_flops;
    if (c.launch > 0) j["launch_ns"] = 1e9 * c.launch;
    return j;
  }
  bool json_ = false, no_measure_ = false;
};

DeviceVerb device_verb;

}  // namespace
}  // namespace mt
