// tile snap.
#include <fmt/format.h>

#include <filesystem>

#include "cli/bench.h"
#include "cli/snapshots.h"

namespace mt {
namespace {

class Snap : public Verb {
 public:
  Snap()
      : Verb("snap", "measure, and keep the results under a name for `tile diff`",
             "  tile snap before\n  tile snap before 'mt_*norm'\n  tile snap baselines/epyc.json --quick\n") {}
  void declare(CLI::App& app) override {
    app.add_option("NAME", name_, "a name, or a file where it holds a slash or a dot")->required();
    command_.declare(app);
  }
  int run() override {
    command_.json = snapshot_path(name_);
    const std::filesystem::path folder = std::filesystem::path(command_.json).parent_path();
    std::error_code error;
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    if (error) throw Error(fmt::format("can't create {}: {}", folder.string(), error.message()));
    const int code = command_.run();
    fmt::print("written to {}\n", command_.json);
    return code;
  }

 private:
  BenchCommand command_;
  std::string name_;
};

Snap snap;

}  // namespace
}  // namespace mt
