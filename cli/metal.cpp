// tile metal: Metal text from anywhere, type-checked and run on this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "backends/text_runner.h"
#include "cli/test.h"
#include "mt/harness/buffer_spec.h"
#include "mt/harness/file.h"
#include "mt/harness/names.h"
#include "mt/harness/npy.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

using Json = nlohmann::ordered_json;

const TextRunner& runner() {
  for (const Backend* b : backends()) {
    const TextRunner* r = b->text_runner();
    if (!r) continue;
    if (const std::string why = r->unavailable(); !why.empty()) throw Error(why);
    return *r;
  }
  throw Error("this build can't run Metal text; it has no metal-host backend");
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `3=what` as 3 and what.
std::pair<int, std::string> indexed(const char* option, const std::string& text) {
  const auto at = text.find('=');
  const auto index = number<int>(std::string_view(text).substr(0, at));
  if (at == std::string::npos || !index || *index < 0 || at + 1 == text.size())
    throw UsageError(fmt::format("{} {}: write INDEX=VALUE, as in 0=...", option, text));
  return {*index, text.substr(at + 1)};
}

void refuse_second(const char* option, std::set<int>& seen, int index) {
  if (!seen.insert(index).second) throw UsageError(fmt::format("{} {}: is given twice", option, index));
}

/// `8`, `8,4` or `8,4,2`.
std::array<std::uint32_t, 3> extent(const char* option, const std::string& text) {
  std::array<std::uint32_t, 3> all{1, 1, 1};
  std::size_t from = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t at = std::min(text.find(',', from), text.size());
    const auto n = k < 3 ? number<std::uint32_t>(std::string_view(text).substr(from, at - from)) : std::nullopt;
    if (!n || *n == 0) throw UsageError(fmt::format("{} {}: write one to three numbers above 0, X,Y,Z", option, text));
    all[k] = *n;
    if (at == text.size()) return all;
    from = at + 1;
  }
  return all;
}

/// What the two commands have in common.
struct TextCommand {
  std::string standard = "metal3.1";
  TextOptions options;
  void declare(CLI::App& app) {
    app.add_option("--std", standard, "the language: metal3.1, metal3.2 or metal4.0")
        ->check(CLI::IsMember({"metal3.1", "metal3.2", "metal4.0"}))
        ->capture_default_str();
    app.add_option("-I", options.include_dirs, "a folder for #include")->type_name("DIR")->allow_extra_args(false);
    app.add_option("-D", options.defines, "a macro")->type_name("NAME[=VALUE]")->allow_extra_args(false);
  }
  const TextOptions& finished() {
    options.language = standard == "metal3.1" ? 310 : standard == "metal3.2" ? 320 : 400;
    return options;
  }
};

class Check {
 public:
  void declare(CLI::App& app) {
    text_.declare(app);
    app.add_option("FILE", files_, "Metal files")->required();
  }
  int run() {
    const TextRunner& r = runner();
    bool good = true;
    for (const std::string& file : files_) {
      try {
        const TextContents c = r.contents(read_file(file), file, text_.finished());
        if (!c.warnings.empty()) fmt::print(stderr, "{}{}", c.warnings, c.warnings.ends_with('\n') ? "" : "\n");
        std::vector<std::string> names;
        for (const TextKernel& k : c.kernels) names.push_back(k.name);
        constexpr std::size_t kNamed = 8;
        const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
        names.resize(names.size() - more);
        fmt::print("{}: good; {}{}\n", file,
                   names.empty() ? "no kernel" : (names.size() == 1 ? "kernel " : "kernels ") + listed(names),
                   more ? fmt::format(" and {} more", more) : "");
      } catch (const Error& e) {
        good = false;
        fmt::print(stderr, "{}\n", e.what());
      }
    }
    return good ? kGood : kFailed;
  }

 private:
  TextCommand text_;
  std::vector<std::string> files_;
};

class Run {
 public:
  void declare(CLI::App& app) {
    text_.declare(app);
    app.add_option("FILE", file_, "the Metal file")->required();
    app.add_option("--kernel", kernel_, "which kernel of the file")->required()->type_name("NAME");
    app.add_option("--grid", grid_, "threadgroups of the launch")->required()->type_name("X[,Y,Z]");
    app.add_option("--tpg", threads_, "threads of a threadgroup")->required()->type_name("X[,Y,Z]");
    app.add_flag("--threads-total", total_, "--grid counts threads; threadgroups at its edge are smaller");
    app.add_option("--buffer", buffers_, fmt::format("memory at an index: {}", kBufferSpecs))->type_name("INDEX=SPEC");
    app.add_option("--threadgroup", threadgroup_, "bytes of threadgroup memory at an index")->type_name("INDEX=BYTES");
    app.add_option("--constant", constants_, "a function constant, as in 0=true:bool")->type_name("INDEX=VALUE:DTYPE");
    app.add_option("--out", outs_, "write a buffer after the run; .npy, or else raw bytes")->type_name("INDEX=FILE");
    app.add_flag("--check", launch_.check, "check every access: bounds, races, memory that nothing wrote");
    app.add_option("--schedule", schedule_, "order of threads and threadgroups: forward, reverse or random:SEED")
        ->capture_default_str();
    app.add_option("--budget", launch_.budget_seconds,
                   "seconds of processor time of one threadgroup before it counts as endless")
        ->check(positive())
        ->capture_default_str();
    app.add_flag("--json", json_, "the result as one JSON object");
  }

  int run() {
    launch_.kernel = kernel_;
    launch_.grid = extent("--grid", grid_);
    launch_.threads = extent("--tpg", threads_);
    if (!total_)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint64_t n = std::uint64_t{launch_.grid[k]} * launch_.threads[k];
        if (n > UINT32_MAX) throw UsageError(fmt::format("--grid {}: more than 2^32 - 1 threads along an axis", grid_));
        launch_.grid[k] = static_cast<std::uint32_t>(n);
      }
    launch_.schedule = schedule_number(schedule_);
    std::set<int> seen;
    for (const std::string& text : buffers_) {
      const auto [index, spec] = indexed("--buffer", text);
      refuse_second("--buffer", seen, index);
      tensors_.emplace_back(index, make_buffer(spec));
    }
    for (auto& [index, t] : tensors_) launch_.buffers.push_back({index, t.data.data(), t.data.size(), t.dtype});
    seen.clear();
    for (const std::string& text : threadgroup_) {
      const auto [index, bytes] = indexed("--threadgroup", text);
      refuse_second("--threadgroup", seen, index);
      const auto n = number<std::size_t>(bytes);
      if (!n) throw UsageError(fmt::format("--threadgroup {}: {} is no number of bytes", text, bytes));
      launch_.threadgroup.emplace_back(index, *n);
    }
    seen.clear();
    for (const std::string& text : constants_) {
      const auto [index, value] = indexed("--constant", text);
      refuse_second("--constant", seen, index);
      launch_.constants.emplace_back(index, make_scalar(value).data);
    }
    std::vector<std::pair<int, std::string>> outs;
    for (const std::string& text : outs_) {
      outs.push_back(indexed("--out", text));
      tensor("--out", outs.back().first);
    }
    text_.options.kernels = {kernel_};
    const TextRun done = runner().run(read_file(file_), file_, text_.finished(), launch_);
    for (const auto& [index, path] : outs) {
      const HostTensor& t = tensor("--out", index);
      write_file(path, path.ends_with(".npy") ? npy_bytes(t)
                                              : std::string(reinterpret_cast<const char*>(t.data.data()), t.bytes()));
    }
    if (!done.warnings.empty()) fmt::print(stderr, "{}{}", done.warnings, done.warnings.ends_with('\n') ? "" : "\n");
    report(done);
    return kGood;
  }

 private:
  const HostTensor& tensor(const char* option, int index) const {
    for (const auto& [i, t] : tensors_)
      if (i == index) return t;
    throw UsageError(fmt::format("{} {}: no --buffer has that index", option, index));
  }

  void report(const TextRun& done) const {
    const auto written = [&](int index) {
      return std::any_of(done.kernel.parameters.begin(), done.kernel.parameters.end(), [&](const TextParameter& p) {
        return p.kind == TextParameter::Kind::Buffer && p.index == index && !p.read_only;
      });
    };
    if (!json_) {
      fmt::print(
          "{}: {} threads, {} barriers, {} simd operations in {}{}\n", kernel_,
          grouped(static_cast<std::int64_t>(done.threads)), done.barriers, done.simd_operations,
          time_text(done.seconds),
          launch_.check ? fmt::format("; {} accesses checked", grouped(static_cast<std::int64_t>(done.accesses))) : "");
      for (const auto& [index, t] : tensors_)
        if (written(index)) fmt::print("buffer {}: {}\n", index, summary(t));
      return;
    }
    Json j{{"kernel", kernel_},
           {"threads", done.threads},
           {"barriers", done.barriers},
           {"simd_operations", done.simd_operations},
           {"checked_accesses", done.accesses},
           {"compile_ms", done.compile_ms},
           {"seconds", done.seconds},
           {"buffers", Json::array()}};
    for (const auto& [index, t] : tensors_)
      if (written(index))
        j["buffers"].push_back(
            {{"index", index}, {"dtype", name_of(t.dtype)}, {"shape", t.shape}, {"summary", summary(t)}});
    fmt::print("{}\n", j.dump(2));
  }

  TextCommand text_;
  TextLaunch launch_;
  std::string file_, kernel_, grid_, threads_, schedule_ = "forward";
  std::vector<std::string> buffers_, threadgroup_, constants_, outs_;
  std::vector<std::pair<int, HostTensor>> tensors_;
  bool total_ = false, json_ = false;
};

class Metal : public Verb {
 public:
  Metal()
      : Verb("metal", "type-check and run Metal files from anywhere on this machine, without a Mac",
             "  tile metal check kernels/*.metal\n"
             "  tile metal run scale.metal --kernel scale --grid 4 --tpg 256 --buffer 0=random:f32:1024 "
             "1=zeros:f32:1024 2=f32:0.5\n"
             "  tile metal run scale.metal --kernel scale --grid 1000 --tpg 256 --threads-total --check "
             "--buffer 0=x.npy 1=zeros:f32:1000 2=f32:0.5 --out 1=y.npy\n") {}
  void declare(CLI::App& app) override {
    app.require_subcommand(1);
    check_app_ = app.add_subcommand("check", "type-check files, nothing is run");
    check_.declare(*check_app_);
    run_app_ = app.add_subcommand("run", "run one kernel of a file");
    run_.declare(*run_app_);
  }
  int run() override { return check_app_->parsed() ? check_.run() : run_.run(); }

 private:
  CLI::App *check_app_ = nullptr, *run_app_ = nullptr;
  Check check_;
  Run run_;
};

Metal metal;

}  // namespace
}  // namespace mt
