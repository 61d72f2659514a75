#include "apps/identification/measurement_io.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/trajectory_file.h"
#include "apps/identification/joint_measurement_io.h"
#include "engine/atomic_file.h"
#include "engine/closest_word.h"
#include "engine/csv_table.h"
#include "engine/input_error.h"
#include "engine/lie.h"
#include "engine/npz.h"

namespace abut {
namespace {

/// A measurement with where it stands.
struct Row {
  std::string body;
  double time = 0;
  Vec3<double> position = Vec3<double>::Zero();
  std::array<bool, 3> is_measured{true, true, true};
  std::optional<Quat<double>> orientation;
  std::optional<Vec3<double>> rotation_vector;
  int line = 0;       ///< of a table, 0 in an archive
  std::string place;  ///< "row 3" or "time 3 of body 'box'"
};

// Tables ----------------------------------------------------------------------------------------------------

/// The columns that are read, so that none of them is taken for another one that is misspelt.
constexpr std::array<std::string_view, 12> k_columns{"time",
                                                     "body",
                                                     "position_x",
                                                     "position_y",
                                                     "position_z",
                                                     "orientation_w",
                                                     "orientation_x",
                                                     "orientation_y",
                                                     "orientation_z",
                                                     "rotation_vector_x",
                                                     "rotation_vector_y",
                                                     "rotation_vector_z"};

/// The number of a field.
double number_in(const CsvTable& table, std::size_t row, const std::string& column) {
  return table.number(row, column, k_largest_measured);
}

/// A component of which there is no column is 0.
Vec3<double> vector_of_columns(const CsvTable& table, std::size_t row, const std::string& name,
                               const std::array<bool, 3>& is_there) {
  Vec3<double> v = Vec3<double>::Zero();
  for (std::size_t i = 0; i < 3; ++i) {
    if (is_there[i]) v[static_cast<Eigen::Index>(i)] = number_in(table, row, name + '_' + "xyz"[i]);
  }
  return v;
}

Vec3<double> vector_in(const CsvTable& table, std::size_t row, const std::string& name) {
  return vector_of_columns(table, row, name, {true, true, true});
}

/// Which components of the position a table has columns of.
std::array<bool, 3> measured_components(const CsvTable& table, bool are_points) {
  if (are_points) {
    table.require_columns({"position_x", "position_y", "position_z"},
                          "a point on a surface has all three coordinates [m]");
    return {true, true, true};
  }
  const std::array<bool, 3> is_measured{table.has_column("position_x"), table.has_column("position_y"),
                                        table.has_column("position_z")};
  if (std::find(is_measured.begin(), is_measured.end(), true) == is_measured.end())
    table.fail(0,
               "there is no column 'position_x', 'position_y' or 'position_z': add those that were "
               "measured, in metres");
  return is_measured;
}

/// @param only_body  whose all rows are, where there is no column that says so; empty: it is needed
std::vector<Row> read_table(const std::filesystem::path& file, bool rotations, bool are_points,
                            const std::string& only_body) {
  const CsvTable table(file, {k_columns.begin(), k_columns.end()});
  table.require_columns({"time"}, "add the time of each row, in seconds from the start of the scene's clock");
  const bool has_body = table.has_column("body");
  if (!has_body && only_body.empty())
    table.fail(0,
               "there is no column 'body': add the name of the body that each row is of, or name one body "
               "in 'bodies' of the [[motion]]");
  const std::array<bool, 3> is_measured = measured_components(table, are_points);
  const bool as_vector = rotations && (table.has("rotation_vector_x") || table.has("rotation_vector_y") ||
                                       table.has("rotation_vector_z"));
  if (as_vector) {
    table.require_columns(
        {"rotation_vector_x", "rotation_vector_y", "rotation_vector_z"},
        "a rotation vector has three components [rad]; a turn about z alone has 0, 0 and its "
        "angle");
  } else if (rotations) {
    table.require_columns({"orientation_w", "orientation_x", "orientation_y", "orientation_z"},
                          "add these four, or rotation_vector_x, _y and _z [rad]; where only positions were "
                          "measured, say kind = \"positions\" in the [[motion]]");
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    Row row;
    row.body = has_body ? table.text(i, "body") : only_body;
    row.time = number_in(table, i, "time");
    row.position = vector_of_columns(table, i, "position", is_measured);
    row.is_measured = is_measured;
    if (as_vector) {
      row.rotation_vector = vector_in(table, i, "rotation_vector");
    } else if (rotations) {
      const Vec3<double> xyz = vector_in(table, i, "orientation");
      row.orientation = Quat<double>(number_in(table, i, "orientation_w"), xyz.x(), xyz.y(), xyz.z());
    }
    row.line = table.line(i);
    row.place = "this row";
    rows.push_back(std::move(row));
  }
  return rows;
}

// Archives --------------------------------------------------------------------------------------------------

std::vector<Row> read_archive(const std::filesystem::path& file, bool rotations) {
  const auto arrays = read_npz(file);
  const auto fail = [&](const std::string& message) { throw InputError(file.string(), 0, message); };
  const auto find = [&](const std::string& name) -> const NpzArray& {
    const auto found = arrays.find(name);
    if (found == arrays.end()) fail(fmt::format("there is no array '{}'", name));
    return found->second;
  };
  const auto numbers = [&](const std::string& name,
                           const std::vector<std::size_t>& shape) -> const std::vector<double>& {
    const NpzArray& array = find(name);
    if (!std::holds_alternative<std::vector<double>>(array.values))
      fail(fmt::format("'{}' holds integers or texts, expected float64", name));
    if (array.shape != shape) {
      fail(fmt::format("'{}' has shape ({}), expected ({})", name, fmt::join(array.shape, ", "),
                       fmt::join(shape, ", ")));
    }
    return array.doubles();
  };
  const std::vector<std::string>& names = texts_of(file, "body_names", find("body_names"));
  const NpzArray& time_array = find("time");
  const std::size_t times = time_array.shape.size() == 1 ? time_array.shape[0] : 0, n = names.size();
  const std::vector<double>& time = numbers("time", {times});
  const std::vector<double>& position = numbers("position", {times, n, 3});
  const std::vector<double>* orientation = rotations ? &numbers("orientation_wxyz", {times, n, 4}) : nullptr;
  std::vector<Row> rows;
  for (std::size_t t = 0; t < times; ++t) {
    for (std::size_t b = 0; b < n; ++b) {
      Row row;
      row.body = names[b];
      row.time = time[t];
      row.place = fmt::format("time {} of body '{}'", t, names[b]);
      const double* p = &position[3 * (t * n + b)];
      row.position = {p[0], p[1], p[2]};
      if (orientation) {
        const double* q = &(*orientation)[4 * (t * n + b)];
        row.orientation = Quat<double>(q[0], q[1], q[2], q[3]);
      }
      if (!(std::abs(row.time) <= k_largest_measured) ||
          !(row.position.array().abs() <= k_largest_measured).all()) {
        fail(fmt::format("{}: 'time' or 'position' is not in [-{:g}, {:g}]", row.place, k_largest_measured,
                         k_largest_measured));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// Both ------------------------------------------------------------------------------------------------------

Quat<double> rotation_of(const std::filesystem::path& file, const Row& row) {
  constexpr double k_turn = 2.0 * std::numbers::pi * (1.0 + 1e-9);
  if (row.rotation_vector) {
    const double angle = row.rotation_vector->norm();
    if (angle > k_turn) {
      throw InputError(
          file.string(), row.line,
          fmt::format("{}: rotation_vector of {:.4g} rad, allowed: at most a turn; are these degrees?",
                      row.place, angle));
    }
    return exp_quaternion(*row.rotation_vector);
  }
  const double norm = row.orientation->norm();
  if (!(std::abs(norm - 1.0) < 1e-3)) {
    throw InputError(file.string(), row.line,
                     fmt::format("{}: orientation of length {:.4g}, allowed: 1", row.place, norm));
  }
  return row.orientation->normalized();
}

/// To those of the same body and time, if it follows them.
void add_point(const Row& row, int body, const MeasurementSource& source,
               std::vector<Measurement>& measurements) {
  auto* points = measurements.empty() ? nullptr : std::get_if<SurfacePoints>(&measurements.back().what);
  if (points == nullptr || points->body != body || measurements.back().time != row.time) {
    measurements.push_back({row.time, SurfacePoints{body, Points(3, 0), source.position_noise}, {}});
    points = std::get_if<SurfacePoints>(&measurements.back().what);
  }
  points->p_W.conservativeResize(3, points->p_W.cols() + 1);
  points->p_W.rightCols<1>() = row.position;
  if (row.line > 0) measurements.back().lines.push_back(row.line);
}

/// The body that counts, where there is but one.
std::string only_body_of(const MeasurementSource& source, const Model& model) {
  if (!source.bodies.empty()) return source.bodies.size() == 1 ? source.bodies.front() : "";
  std::string only;
  for (const Body& body : model.bodies) {
    if (body.fixed) continue;
    if (!only.empty()) return {};
    only = body.name;
  }
  return only;
}

}  // namespace

std::vector<Measurement> read_measurements(const MeasurementSource& source, const Model& model,
                                           double start_time) {
  const std::string extension = source.file.extension().string();
  if (extension != ".csv" && extension != ".npz")
    throw InputError(source.file.string(), 0,
                     fmt::format("unknown extension '{}', allowed: .csv, .npz", extension));
  if (source.kind == MeasurementSource::Kind::joints)
    return read_joint_measurements(source, model, start_time);
  const bool has_rotations = source.kind == MeasurementSource::Kind::poses;
  const bool is_points = source.kind == MeasurementSource::Kind::surface_points;
  if (is_points && extension != ".csv")
    throw InputError(source.file.string(), 0, "surface points are read from .csv files");
  const std::vector<Row> rows =
      extension == ".csv" ? read_table(source.file, has_rotations, is_points, only_body_of(source, model))
                          : read_archive(source.file, has_rotations);
  const auto fail = [&](const Row& row, const std::string& message) {
    throw InputError(source.file.string(), row.line, fmt::format("{}: {}", row.place, message));
  };
  std::map<std::string, int> bodies;
  std::vector<std::string> names;
  for (int b = 0; b < model.body_count(); ++b) {
    names.push_back(model.bodies[static_cast<std::size_t>(b)].name);
    bodies.emplace(names.back(), b);
  }
  for (const std::string& name : source.bodies) {
    if (!std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.body == name; }))
      throw InputError(source.file.string(), 0, fmt::format("there is no measurement of body '{}'", name));
  }
  std::vector<Measurement> measurements;
  std::map<int, std::pair<double, int>> last;  // of each body: time, how many
  for (const Row& row : rows) {
    const bool is_listed =
        std::find(source.bodies.begin(), source.bodies.end(), row.body) != source.bodies.end();
    if (!source.bodies.empty() && !is_listed) continue;
    const auto body = bodies.find(row.body);
    if (body == bodies.end()) {
      const std::string closest = closest_word(row.body, names);
      fail(row, fmt::format("the scene has no body '{}'{}", row.body,
                            closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
    }
    if (source.bodies.empty() && model.bodies[static_cast<std::size_t>(body->second)].fixed) continue;
    const auto [entry, is_first] = last.try_emplace(body->second, start_time, 0);
    const double before = entry->second.first;
    const bool is_out_of_order = is_points ? row.time < before : row.time <= before;
    if (is_first ? row.time < start_time : is_out_of_order) {
      fail(row, is_first
                    ? fmt::format("time {} lies before the start of the scene, {} s", row.time, start_time)
                    : fmt::format("time {} does not lie after {}, the one before", row.time, before));
    }
    entry->second = {row.time, entry->second.second + 1};
    if (is_points) {
      add_point(row, body->second, source, measurements);
      continue;
    }
    MeasuredPose pose;
    pose.body = body->second;
    pose.p_WA = row.position;
    pose.is_measured = row.is_measured;
    if (has_rotations) pose.q_WA = rotation_of(source.file, row);
    pose.position_noise = source.position_noise;
    pose.rotation_noise = source.rotation_noise;
    measurements.push_back({row.time, pose, {}});
    if (row.line > 0) measurements.back().lines = {row.line};
  }
  if (measurements.empty())
    throw InputError(source.file.string(), 0, "there is no measurement of a moving body");
  for (const auto& [body, seen] : last) {
    if (!is_points && seen.second < 2) {
      throw InputError(source.file.string(), 0,
                       fmt::format("body '{}' is measured once, at least two times are needed",
                                   names[static_cast<std::size_t>(body)]));
    }
  }
  std::stable_sort(measurements.begin(), measurements.end(),
                   [](const Measurement& a, const Measurement& b) { return a.time < b.time; });
  return measurements;
}

void write_measurements(const std::filesystem::path& path, const Model& model, const MeasuredMotion& motion) {
  std::vector<Measurement> measurements;
  bool has_rotations = false, is_of_joints = false;
  for (const Measurement& measurement : motion.measurements) {
    if (measurement.is_goal) continue;
    measurements.push_back(measurement);
    is_of_joints |= std::holds_alternative<MeasuredJoint>(measurement.what);
    if (const auto* pose = std::get_if<MeasuredPose>(&measurement.what))
      has_rotations |= pose->q_WA.has_value();
  }
  if (is_of_joints) {
    write_file(path, joint_table(model, measurements));
    return;
  }
  std::string text = "time,body,position_x,position_y,position_z";
  if (has_rotations) text += ",orientation_w,orientation_x,orientation_y,orientation_z";
  text += '\n';
  const auto add = [&](double time, int body, const Vec3<double>& p) {
    text += fmt::format("{:.9g},{},{:.9g},{:.9g},{:.9g}", time,
                        csv_field(model.bodies[at(body)].name, CsvQuotes::always), p.x(), p.y(), p.z());
  };
  for (const Measurement& measurement : measurements) {
    if (const auto* pose = std::get_if<MeasuredPose>(&measurement.what)) {
      add(measurement.time, pose->body, pose->p_WA);
      if (pose->q_WA) {
        const Quat<double>& q = *pose->q_WA;
        text += fmt::format(",{:.9g},{:.9g},{:.9g},{:.9g}", q.w(), q.x(), q.y(), q.z());
      }
      text += '\n';
    } else if (const auto* points = std::get_if<SurfacePoints>(&measurement.what)) {
      for (Eigen::Index i = 0; i < points->p_W.cols(); ++i) {
        add(measurement.time, points->body, points->p_W.col(i));
        text += '\n';
      }
    }
  }
  write_file(path, text);
}

}  // namespace abut
