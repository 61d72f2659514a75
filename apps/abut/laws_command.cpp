#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "engine/law_settings.h"

namespace abut {

void add_laws_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("laws", "print which settings each contact law honours");
  command->footer(
      "A table in Markdown: 'yes' where the law acts on the setting, 'joints' where only the joints of a "
      "scene\n"
      "do, '–' where the law ignores it. A scene that sets what its law ignores is refused.\n"
      "\n"
      "Example:\n"
      "  abut laws");
  command->callback([&exit_code] {
    fmt::print("{}", law_settings_table());
    exit_code = 0;
  });
}

}  // namespace abut
