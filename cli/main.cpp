// tile: finds the verb and runs it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <system_error>

#include "cli/verb.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/names.h"

namespace {

constexpr const char* kCodes = "Exit codes: 0 good, 1 something failed, 2 wrong use, 3 nothing was run.";

int complain(const std::string& sentence, int code) {
  std::fflush(stdout);
  fmt::print(stderr, "tile: {}\n", sentence);
  return code;
}

/// A first word that is no verb: says so with the nearest ones, before the parser gives its own view.
std::string unknown_verb(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> names;
  for (const mt::Verb* v : mt::verbs()) names.push_back(v->name);
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return "";
  const std::vector<std::string> near = mt::nearest(argv[1], names);
  return fmt::format("unknown verb '{}'; {}", argv[1],
                     near.empty() ? "use " + mt::listed(names, "or") : "did you mean " + mt::listed(near, "or") + "?");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"One kernel source, verified and measured on every target."};
  app.name("tile");
  app.require_subcommand(1);
  app.footer(kCodes);
  app.set_version_flag("--version", MT_VERSION);
  app.set_help_flag("-h,--help", "this text");
  std::map<CLI::App*, mt::Verb*> by_app;
  for (mt::Verb* v : mt::verbs()) {
    CLI::App* sub = app.add_subcommand(v->name, v->what);
    sub->footer(fmt::format("Examples:\n{}\n{}", v->examples, kCodes));
    v->declare(*sub);
    by_app[sub] = v;
  }
  if (const std::string wrong = unknown_verb(argc, argv); !wrong.empty()) return complain(wrong, mt::kWrongUse);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return mt::kWrongUse;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return complain(fmt::format("{}; `tile {} --help` shows the options", e.what(), argc > 1 ? argv[1] : ""),
                    mt::kWrongUse);
  }
  mt::catch_interrupts();
  try {
    const int code = by_app.at(app.get_subcommands().front())->run();
    if (std::fflush(stdout) != 0 && errno != EPIPE)
      return complain(fmt::format("can't write the standard output: {}", std::strerror(errno)), mt::kFailed);
    return code;
  } catch (const mt::UsageError& e) {
    return complain(e.what(), mt::kWrongUse);
  } catch (const mt::Error& e) {
    return complain(e.what(), mt::kFailed);
  } catch (const mt::Interrupted&) {
    return complain("interrupted", mt::kInterrupted);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", mt::kFailed);
  } catch (const std::system_error& e) {  // of printing
    return complain(fmt::format("can't write the standard output: {}", e.code().message()), mt::kFailed);
  } catch (const std::exception& e) {
    return complain(fmt::format("internal error: {}", e.what()), mt::kFailed);
  }
}
