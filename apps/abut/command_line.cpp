#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/options.h"
#include "engine/input_error.h"
#include "engine/instruction_set.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

constexpr int k_well = 0, k_failed = 1, k_bad_input = 2;

int complain(int exit_code, std::string_view who, std::string_view what) {
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", who, what);
  return exit_code;
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb->get_name());
  return verbs;
}

int unknown_verb(const std::string& word, const std::vector<std::string>& verbs) {
  const std::string closest = closest_word(word, verbs);
  return complain(k_bad_input, "abut",
                  fmt::format("unknown verb '{}'{}; known are {}", word,
                              closest.empty() ? "" : fmt::format(", did you mean '{}'?", closest),
                              fmt::join(verbs, ", ")));
}

/// Parses, and runs the verb.
int parse_and_run(CLI::App& app, int argc, char** argv, const int& exit_code) {
  const std::vector<std::string> verbs = verbs_of(app);
  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return k_bad_input;
  }
  const std::string first = argv[1];
  if (first.rfind('-', 0) != 0 && std::find(verbs.begin(), verbs.end(), first) == verbs.end()) {
    return unknown_verb(first, verbs);
  }
  const std::string who = "abut";
  const auto with_verb = [&] {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? who : who + " " + parsed.front()->get_name();
  };
  try {
    (void)instruction_set();  // what is wrong with the variable that chooses it, before any work
    app.parse(argc, argv);
    if (app.get_subcommands().empty())
      return complain(k_bad_input, who, "a verb is missing; see 'abut --help'");
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? k_well : k_bad_input;
    return complain(k_bad_input, with_verb(), fmt::format("{}; see '{} --help'", error.what(), with_verb()));
  } catch (const InputError& error) {
    return complain(k_bad_input, with_verb(), error.what());
  } catch (const std::invalid_argument& error) {
    return complain(k_bad_input, with_verb(), error.what());
  } catch (const std::system_error& error) {
    return complain(k_bad_input, with_verb(), error.what());
  } catch (const std::bad_alloc&) {
    return complain(k_failed, with_verb(), "not enough memory");
  } catch (const std::exception& error) {
    return complain(k_failed, with_verb(), fmt::format("internal error: {}", error.what()));
  }
}

std::string version_text() {
  return fmt::format("abut {}\nmanifold kernels: {}", ABUT_VERSION, instruction_set());
}

}  // namespace

int run_command_line(int argc, char** argv) {
  // A file that reaches the limit of its size (ulimit -f) is an error to report, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"Abut simulates rigid bodies with smooth contact, and differentiates the simulation.", "abut"};
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("--version", version_text, "show the version, and the instruction set in use");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.require_subcommand(0, 1);  // none is noticed later: an unknown option is the better complaint
  app.footer(
      "'abut VERB --help' tells more. Scene files: docs/scene_format.md. All units are SI.\n"
      "Exit codes: 0 well, 1 the simulation failed or a fit is poor, 2 bad usage or input.\n"
      "\n"
      "Examples:\n"
      "  abut run assets/scenes/armadillo_drop.toml --out out/armadillo_drop.npz\n"
      "  abut gradcheck assets/scenes/armadillo_drop.toml");
  int exit_code = k_well;
  add_run_command(app, exit_code);
  add_contacts_command(app, exit_code);
  add_fit_command(app, exit_code);
  add_gradcheck_command(app, exit_code);
  add_gradient_command(app, exit_code);
  add_identify_command(app, exit_code);
  add_optimize_command(app, exit_code);
  add_laws_command(app, exit_code);
  add_snapshot_command(app, exit_code);
  add_suggest_k_command(app, exit_code);
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verb->group("Verbs");
    refuse_empty_values(*verb);
  }
  const int code = parse_and_run(app, argc, argv, exit_code);
  if (std::fflush(stdout) != 0) return complain(k_bad_input, "abut", "cannot write to standard output");
  return code;
}

}  // namespace abut
