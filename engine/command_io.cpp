#include "engine/command_io.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/closest_word.h"
#include "engine/control.h"
#include "engine/count_text.h"
#include "engine/csv_table.h"
#include "engine/input_error.h"
#include "engine/npz.h"

namespace abut {
namespace {

namespace fs = std::filesystem;

constexpr double k_latest = 1e12;  ///< [s]

/// The motors of a model by the names of their joints, couplings and actuators.
class MotorNames {
 public:
  explicit MotorNames(const Model& model) : model_(model), names_(motor_names(model)) {}

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has(const std::string& name) const { return find(name) != names_.end(); }
  /// Index of a motor that is there.
  [[nodiscard]] int motor(const std::string& name) const {
    return static_cast<int>(find(name) - names_.begin());
  }
  /// Why there is no motor of that name, and which names there are.
  [[nodiscard]] std::string refusal(const std::string& name) const {
    const auto is_it = [&](const auto& of) { return of.name == name; };
    const bool is_joint = std::any_of(model_.joints.begin(), model_.joints.end(), is_it),
               is_coupling = std::any_of(model_.couplings.begin(), model_.couplings.end(), is_it);
    return (is_joint      ? fmt::format("joint '{}' has no motor", name)
            : is_coupling ? fmt::format("coupling '{}' has no motor", name)
                          : fmt::format("there is no joint or actuator '{}'", name)) +
           allowed(name);
  }
  /// ", allowed: elbow, wrist; did you mean 'elbow'?"
  [[nodiscard]] std::string allowed(const std::string& name = "") const {
    if (names_.empty()) return "; the scene has no motor";
    const std::string closest = name.empty() ? std::string() : closest_word(name, names_);
    return fmt::format(", allowed: {}{}", fmt::join(names_, ", "),
                       closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest));
  }

 private:
  [[nodiscard]] std::vector<std::string>::const_iterator find(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name);
  }

  const Model& model_;
  std::vector<std::string> names_;
};

/// Calls fail(index, message) for the first time that does not lie after the one before.
template <typename Fail>
void require_increasing(const std::vector<double>& times, const Fail& fail) {
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (!(times[i - 1] < times[i]))
      fail(i, fmt::format("time {} does not lie after {}, the one before", times[i], times[i - 1]));
  }
}

/// From the keys `times` and `values`.
CommandTable read_inline(const TomlTable& table, int motor) {
  CommandTable command;
  command.motor = motor;
  command.times = table.required_numbers("times", between(-k_latest, k_latest));
  command.values = table.required_numbers("values", any_number());
  if (command.times.empty()) table.fail("times", "is empty, at least one time is needed");
  require_increasing(command.times,
                     [&](std::size_t, const std::string& message) { table.fail("times", message); });
  if (command.values.size() != command.times.size()) {
    table.fail("values", fmt::format("{}, expected {}, one for each of 'times'",
                                     count_text(command.values.size(), "number"), command.times.size()));
  }
  return command;
}

/// @param only  name of the only motor whose column is read; none: all columns are, and must be of motors
std::vector<CommandTable> read_csv(const fs::path& file, const std::optional<std::string>& only,
                                   const MotorNames& motors) {
  std::vector<std::string> known = motors.names();
  known.emplace_back("time");
  const CsvTable table(file, known);
  table.require_columns({"time"}, "add the time of each row, in seconds on the scene's clock");
  std::vector<std::string> columns;
  if (only) {
    table.require_columns({*only}, "it is the 'joint' of the [[command]] that names this file");
    columns = {*only};
  } else {
    for (const std::string& column : table.columns()) {
      if (column == "time") continue;
      if (!motors.has(column))
        table.fail(table.header_line(), fmt::format("column '{}': {}", column, motors.refusal(column)));
      (void)table.has_column(column);  // throws where it is there twice
      columns.push_back(column);
    }
    if (columns.empty())
      table.fail(table.header_line(),
                 "there is no column named after a joint with a motor or an actuator" + motors.allowed());
  }
  if (table.rows() == 0) table.fail(0, "there is no row, at least one time is needed");
  std::vector<double> times;
  for (std::size_t row = 0; row < table.rows(); ++row) times.push_back(table.number(row, "time", k_latest));
  require_increasing(
      times, [&](std::size_t row, const std::string& message) { table.fail(table.line(row), message); });
  std::vector<CommandTable> commands;
  for (const std::string& column : columns) {
    CommandTable& command = commands.emplace_back();
    command.motor = motors.motor(column);
    command.times = times;
    for (std::size_t row = 0; row < table.rows(); ++row) command.values.push_back(table.number(row, column));
  }
  return commands;
}

/// The same from an archive.
std::vector<CommandTable> read_arrays(const fs::path& file, const std::optional<std::string>& only,
                                      const MotorNames& motors) {
  const auto arrays = read_npz(file);
  const auto fail = [&](const std::string& message) { throw InputError(file.string(), 0, message); };
  const auto array = [&](const std::string& name) -> const NpzArray& {
    const auto found = arrays.find(name);
    if (found == arrays.end())
      fail(fmt::format("there is no array '{}', needed: time, command, joint_names", name));
    return found->second;
  };
  const auto require_shape = [&](const std::string& name, bool is_right, const std::string& expected) {
    if (!is_right)
      fail(fmt::format("'{}' has shape ({}), expected ({})", name, fmt::join(array(name).shape, ", "),
                       expected));
  };
  const auto numbers = [&](const std::string& name) -> const std::vector<double>& {
    if (!std::holds_alternative<std::vector<double>>(array(name).values))
      fail(fmt::format("'{}' holds integers or texts, expected float64", name));
    return array(name).doubles();
  };
  if (!std::holds_alternative<std::vector<std::string>>(array("joint_names").values))
    fail("'joint_names' holds numbers, expected strings");
  const std::vector<std::string>& names = array("joint_names").texts();
  const std::vector<double>&times = numbers("time"), &values = numbers("command");
  require_shape("joint_names", array("joint_names").shape.size() == 1, "n");
  require_shape("time", array("time").shape.size() == 1, "T");
  require_shape("command", array("command").shape == std::vector<std::size_t>{times.size(), names.size()},
                fmt::format("{}, {}", times.size(), names.size()));
  if (times.empty()) fail("'time' is empty, at least one time is needed");
  if (names.empty()) fail("'joint_names' is empty" + motors.allowed());
  const auto fail_unless_finite = [&](double value, const auto& place) {
    if (!std::isfinite(value)) fail(fmt::format("{} = {}, allowed: any finite number", place(), value));
  };
  for (std::size_t t = 0; t < times.size(); ++t) {
    if (!(std::abs(times[t]) <= k_latest))
      fail(fmt::format("time[{}] = {}, allowed: a number in [-{:g}, {:g}]", t, times[t], k_latest, k_latest));
  }
  require_increasing(times, [&](std::size_t t, const std::string& message) {
    fail(fmt::format("time[{}]: {}", t, message));
  });
  if (only && std::find(names.begin(), names.end(), *only) == names.end()) {
    const std::string closest = closest_word(*only, names);
    fail(fmt::format(
        "'joint_names' has no '{}', the 'joint' of the [[command]] that names this file, but: {}{}", *only,
        fmt::join(names, ", "), closest.empty() ? "" : fmt::format("; did '{}' mean that?", closest)));
  }
  std::vector<CommandTable> commands;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (only && names[j] != *only) continue;
    if (!motors.has(names[j])) fail(fmt::format("joint_names[{}]: {}", j, motors.refusal(names[j])));
    if (std::find(names.begin() + static_cast<std::ptrdiff_t>(j) + 1, names.end(), names[j]) != names.end())
      fail(fmt::format("'joint_names' has '{}' twice", names[j]));
    CommandTable& command = commands.emplace_back();
    command.motor = motors.motor(names[j]);
    command.times = times;
    for (std::size_t t = 0; t < times.size(); ++t) {
      command.values.push_back(values[t * names.size() + j]);
      fail_unless_finite(command.values.back(), [&] { return fmt::format("command[{}, {}]", t, j); });
    }
  }
  return commands;
}

}  // namespace

std::vector<CommandTable> read_commands(const TomlTable& table, const Model& model) {
  const MotorNames motors(model);
  std::optional<std::string> joint;
  table.require_one_of({"joint", "coupling", "actuator"}, false);
  const std::string_view key = table.has("actuator")   ? "actuator"
                               : table.has("coupling") ? "coupling"
                                                       : "joint";
  if (table.has(key)) {
    joint = table.required_text(key);
    if (!motors.has(*joint)) table.fail(key, motors.refusal(*joint));
  }
  const bool is_linear = table.choice<bool>("interpolation", false, {{"held", false}, {"linear", true}});
  table.require_one_of({"times", "file"}, true);
  std::vector<CommandTable> commands;
  if (table.has("file")) {
    if (table.has("values"))
      table.fail("values", "the numbers are those of 'file'; give only one of the two");
    const fs::path file = table.required_file("file");
    const std::string extension = file.extension().string();
    if (extension != ".csv" && extension != ".npz") {
      table.fail("file", fmt::format("'{}' has the unknown extension '{}', allowed: .csv, .npz",
                                     file.filename().string(), extension));
    }
    commands = extension == ".csv" ? read_csv(file, joint, motors) : read_arrays(file, joint, motors);
  } else {
    commands.push_back(read_inline(table, motors.motor(joint ? *joint : table.required_text("joint"))));
  }
  for (CommandTable& command : commands) command.is_linear = is_linear;
  table.finish();
  return commands;
}

}  // namespace abut
