#include "apps/identification/joint_measurement_io.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/trajectory_file.h"
#include "engine/csv_table.h"
#include "engine/input_error.h"
#include "engine/joint_geometry.h"
#include "engine/npz.h"

namespace abut {
namespace {

/// The measurements of one joint.
struct Series {
  int joint = -1;
  std::vector<double> coordinate, rate;  ///< one for each time; empty: not measured
};

struct Log {
  std::vector<double> time;
  std::vector<int> lines;  ///< of a table, one for each time; none of an archive
  std::vector<Series> series;
};

/// The hinges and sliders that a source asks for, else all.
struct Wanted {
  std::vector<int> joints;
  std::vector<std::string> names;  ///< of these
  bool is_listed = false;          ///< by the source, which makes each of them needed
  bool has_rates = false;

  [[nodiscard]] std::string allowed() const {
    return names.empty() ? "the scene has no hinge and no slider"
                         : fmt::format("allowed: {}", fmt::join(names, ", "));
  }
};

Wanted wanted_of(const MeasurementSource& source, const Model& model) {
  Wanted wanted;
  wanted.has_rates = source.has_rates;
  wanted.is_listed = !source.joints.empty();
  for (const int joint : joints_with_coordinate(model)) {
    const std::string& name = model.joints[at(joint)].name;
    if (wanted.is_listed &&
        std::find(source.joints.begin(), source.joints.end(), name) == source.joints.end())
      continue;
    wanted.joints.push_back(joint);
    wanted.names.push_back(name);
  }
  return wanted;
}

/// The columns of a joint: "elbow" or "joint.elbow.coordinate", and "joint.elbow.rate".
std::string column_of(const std::string& name, const char* quantity) {
  return fmt::format("joint.{}.{}", name, quantity);
}

/// The rows of a table that are read: where `abut run` wrote one for each body, those of the first.
std::vector<std::size_t> rows_of(const CsvTable& table) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!table.has("body") || table.text(row, "body") == table.text(0, "body")) rows.push_back(row);
  }
  return rows;
}

Log read_table(const MeasurementSource& source, const Model& model, const Wanted& wanted) {
  std::vector<std::string> known{"time", "body"};
  for (const Joint& joint : model.joints) {
    known.push_back(joint.name);
    for (const char* quantity : {"coordinate", "rate"}) known.push_back(column_of(joint.name, quantity));
  }
  const CsvTable table(source.file, known);
  table.require_columns({"time"}, "add the time of each row, in seconds on the scene's clock");
  const std::vector<std::size_t> rows = rows_of(table);
  const auto numbers = [&](const std::string& column) {
    std::vector<double> values;
    for (const std::size_t row : rows) values.push_back(table.number(row, column, k_largest_measured));
    return values;
  };
  Log log;
  log.time = numbers("time");
  for (const std::size_t row : rows) log.lines.push_back(table.line(row));
  for (std::size_t i = 0; i < wanted.joints.size(); ++i) {
    const std::string &name = wanted.names[i], long_name = column_of(name, "coordinate");
    const bool has_short = table.has_column(name), has_long = table.has_column(long_name);
    if (has_short && has_long)
      table.fail(table.header_line(),
                 fmt::format("columns '{}' and '{}' are of the same coordinate", name, long_name));
    if (!has_short && !has_long) {
      if (wanted.is_listed)
        table.fail(
            table.header_line(),
            fmt::format("there is no column '{}' or '{}', the coordinate of a joint that 'joints' names",
                        name, long_name));
      continue;
    }
    Series& series = log.series.emplace_back();
    series.joint = wanted.joints[i];
    series.coordinate = numbers(has_short ? name : long_name);
    if (!wanted.has_rates) continue;
    table.require_columns({column_of(name, "rate")}, "it is needed with 'rates = true'");
    series.rate = numbers(column_of(name, "rate"));
  }
  if (log.series.empty())
    table.fail(table.header_line(), "no column has the name of a hinge or slider, " + wanted.allowed());
  return log;
}

Log read_archive(const MeasurementSource& source, const Wanted& wanted) {
  const auto arrays = read_npz(source.file);
  const auto fail = [&](const std::string& message) { throw InputError(source.file.string(), 0, message); };
  const auto array = [&](const std::string& name) -> const NpzArray& {
    const auto found = arrays.find(name);
    if (found == arrays.end()) fail(fmt::format("there is no array '{}'", name));
    return found->second;
  };
  const std::vector<std::string>& names = texts_of(source.file, "joint_names", array("joint_names"));
  const std::size_t n = names.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      fail(fmt::format("'joint_names' has '{}' twice", names[i]));
  }
  const std::vector<std::size_t>& shape_of_time = array("time").shape;
  if (shape_of_time.size() != 1)
    fail(fmt::format("'time' has shape ({}), expected (T)", fmt::join(shape_of_time, ", ")));
  const std::size_t times = shape_of_time.front();
  const auto numbers = [&](const std::string& name, const std::vector<std::size_t>& shape) {
    const NpzArray& of = array(name);
    if (!std::holds_alternative<std::vector<double>>(of.values))
      fail(fmt::format("'{}' holds integers or texts, expected float64", name));
    if (of.shape != shape)
      fail(fmt::format("'{}' has shape ({}), expected ({})", name, fmt::join(of.shape, ", "),
                       fmt::join(shape, ", ")));
    const std::vector<double>& values = of.doubles();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::abs(values[i]) <= k_largest_measured) continue;
      const std::string place =
          shape.size() == 1 ? fmt::format("{}", i) : fmt::format("{}, {}", i / n, i % n);
      fail(fmt::format("{}[{}] = {}, allowed: a number in [-{:g}, {:g}]", name, place, values[i],
                       k_largest_measured, k_largest_measured));
    }
    return values;
  };
  Log log;
  log.time = numbers("time", {times});
  const std::vector<double> coordinates = numbers("joint_coordinate", {times, n});
  const std::vector<double> rates =
      wanted.has_rates ? numbers("joint_rate", {times, n}) : std::vector<double>();
  for (std::size_t i = 0; i < wanted.joints.size(); ++i) {
    const auto place = std::find(names.begin(), names.end(), wanted.names[i]);
    if (place == names.end()) {
      if (wanted.is_listed)
        fail(fmt::format("'joint_names' has no '{}', which 'joints' names", wanted.names[i]));
      continue;
    }
    Series& series = log.series.emplace_back();
    series.joint = wanted.joints[i];
    const auto column = static_cast<std::size_t>(place - names.begin());
    for (std::size_t t = 0; t < times; ++t) {
      series.coordinate.push_back(coordinates[t * n + column]);
      if (wanted.has_rates) series.rate.push_back(rates[t * n + column]);
    }
  }
  if (log.series.empty()) fail("'joint_names' has no hinge or slider of the scene, " + wanted.allowed());
  return log;
}

}  // namespace

MeasuredJoint unmeasured(const MeasurementSource& source, const Model& model, int joint) {
  const bool is_hinge = model.joints[at(joint)].kind == JointKind::hinge;
  MeasuredJoint measured;
  measured.joint = joint;
  measured.coordinate_noise = is_hinge ? source.rotation_noise : source.position_noise;
  measured.rate_noise = is_hinge ? source.angular_noise : source.linear_noise;
  return measured;
}

std::vector<Measurement> read_joint_measurements(const MeasurementSource& source, const Model& model,
                                                 double start_time) {
  const Wanted wanted = wanted_of(source, model);
  const bool is_table = source.file.extension() == ".csv";
  const Log log = is_table ? read_table(source, model, wanted) : read_archive(source, wanted);
  const auto fail = [&](std::size_t t, const std::string& message) {
    const int line = is_table ? log.lines[t] : 0;
    throw InputError(source.file.string(), line,
                     is_table ? message : fmt::format("time[{}]: {}", t, message));
  };
  if (log.time.size() < 2)
    throw InputError(source.file.string(), 0, "joints are measured at fewer than two times");
  std::vector<Measurement> measurements;
  for (std::size_t t = 0; t < log.time.size(); ++t) {
    if (t == 0 && log.time[t] < start_time)
      fail(t, fmt::format("time {} lies before the start of the scene, {} s", log.time[t], start_time));
    if (t > 0 && !(log.time[t] > log.time[t - 1]))
      fail(t, fmt::format("time {} does not lie after {}, the one before", log.time[t], log.time[t - 1]));
    for (const Series& series : log.series) {
      MeasuredJoint measured = unmeasured(source, model, series.joint);
      measured.coordinate = series.coordinate[t];
      if (!series.rate.empty()) measured.rate = series.rate[t];
      Measurement& measurement = measurements.emplace_back();
      measurement.time = log.time[t];
      measurement.what = measured;
      if (is_table) measurement.lines = {log.lines[t]};
    }
  }
  return measurements;
}

std::string joint_table(const Model& model, const std::vector<Measurement>& measurements) {
  std::string header = "time", rows;
  std::optional<double> time;
  bool is_first_row = true;
  for (const Measurement& measurement : measurements) {
    const auto& measured = std::get<MeasuredJoint>(measurement.what);
    if (time != measurement.time) {
      is_first_row = !time;
      rows += fmt::format("{}{:.9g}", is_first_row ? "" : "\n", measurement.time);
      time = measurement.time;
    }
    const std::string& name = model.joints[at(measured.joint)].name;
    for (const auto& [number, quantity] :
         {std::pair{measured.coordinate, "coordinate"}, std::pair{measured.rate, "rate"}}) {
      if (!number) continue;
      if (is_first_row) header += "," + csv_field(column_of(name, quantity));
      rows += fmt::format(",{:.9g}", *number);
    }
  }
  return header + "\n" + rows + "\n";
}

}  // namespace abut
