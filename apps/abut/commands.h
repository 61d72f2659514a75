/// The verbs of the program `abut`, one source file each.
///
/// Each function adds its verb with its options to `app`. When that verb has been parsed, it does its work
/// right away and sets `exit_code`: 0 well, 1 the simulation failed or a fit is poor. Bad input throws
/// InputError or std::invalid_argument, which the program answers with exit code 2.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}

namespace abut {

void add_run_command(CLI::App& app, int& exit_code);
void add_contacts_command(CLI::App& app, int& exit_code);
void add_fit_command(CLI::App& app, int& exit_code);
void add_gradcheck_command(CLI::App& app, int& exit_code);
void add_gradient_command(CLI::App& app, int& exit_code);
void add_identify_command(CLI::App& app, int& exit_code);
void add_optimize_command(CLI::App& app, int& exit_code);
void add_laws_command(CLI::App& app, int& exit_code);
void add_snapshot_command(CLI::App& app, int& exit_code);
void add_suggest_k_command(CLI::App& app, int& exit_code);

/// The whole program: parses the arguments and runs a verb. Returns the exit code: 0 well, 1 the simulation
/// failed or a fit is poor, 2 bad usage or input.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace abut
