#include "apps/abut/trajectory_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <unistd.h>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/control.h"
#include "engine/csv_table.h"
#include "engine/input_error.h"
#include "engine/npz.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

/// Throws about `path` unless files can be made in the folder, or the folder itself where it is not there
/// yet.
void require_writable(const fs::path& path, fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(path.string(), 0,
                     fmt::format("cannot be written: '{}' is not a folder", folder.string()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InputError(path.string(), 0,
                     fmt::format("cannot be written: no permission to write in '{}'", folder.string()));
  }
}

}  // namespace

void require_output_path(const fs::path& path, const std::vector<std::string>& extensions) {
  const std::string extension = path.extension().string();
  if (std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) {
    throw InputError(path.string(), 0,
                     fmt::format("cannot be written: unknown extension '{}', allowed: {}", extension,
                                 fmt::join(extensions, ", ")));
  }
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw InputError(path.string(), 0, "cannot be written: it is a folder");
  require_writable(path, fs::absolute(path).parent_path());
}

void require_output_folder(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_directory(path, ignored))
    throw InputError(path.string(), 0, "cannot be written: it is a file, not a folder");
  require_writable(path, fs::absolute(path));
}

void make_folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw InputError(path.string(), 0,
                     fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
  }
}

const std::vector<std::string>& texts_of(const fs::path& path, std::string_view name, const NpzArray& array) {
  if (!std::holds_alternative<std::vector<std::string>>(array.values)) {
    throw InputError(path.string(), 0,
                     fmt::format("'{}' holds numbers, expected strings: a file of an older version of abut "
                                 "must be made again",
                                 name));
  }
  return array.texts();
}

double rounded_to_digits(double x, int digits) {
  const std::string text = fmt::format("{:.{}g}", x, digits);
  double rounded = x;  // what from_chars leaves where no double is near: text of nan or inf
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

double time_after(double start_time, double time_step, std::size_t steps) {
  return rounded_to_digits(start_time + static_cast<double>(steps) * time_step,
                           std::numeric_limits<double>::digits10);
}

void TrajectoryFile::add(const State& state, double time, double energy, int contacts) {
  time_.push_back(time);
  energy_.push_back(energy);
  contacts_.push_back(contacts);
  for (std::size_t b = 0; b < model_->bodies.size(); ++b) {
    const Pose<double>& X_WB = state.X_WB[b];
    const Vec3<double> p_WA = X_WB * model_->bodies[b].p_BA;
    const Vec6<double>& V = state.V_WB[b];
    position_.insert(position_.end(), p_WA.begin(), p_WA.end());
    orientation_.insert(orientation_.end(), {X_WB.q.w(), X_WB.q.x(), X_WB.q.y(), X_WB.q.z()});
    angular_velocity_.insert(angular_velocity_.end(), V.begin(), V.begin() + 3);
    linear_velocity_.insert(linear_velocity_.end(), V.begin() + 3, V.end());
  }
  for (const int joint : joints_) {
    joint_coordinate_.push_back(joint_coordinate(*model_, joint, state));
    joint_rate_.push_back(joint_rate(model_->joints[static_cast<std::size_t>(joint)], state));
  }
  motor_force_.resize(motor_force_.size() + motors_.size());
  write_motor_forces(state, motors_.size(), motor_force_.data() + motor_force_.size() - motors_.size());
}

void TrajectoryFile::write(const fs::path& path) const {
  make_folder_of(path);
  path.extension() == ".npz" ? write_npz(path) : write_csv(path);
}

void TrajectoryFile::require_room(const fs::path& path, int steps) const {
  if (path.extension() != ".npz") return;
  const double bytes_a_row =
                   8.0 * (3.0 + 13.0 * model_->body_count() + 2.0 * static_cast<double>(joints_.size()) +
                          static_cast<double>(motors_.size())),
               rows = steps + 1.0;
  if (rows * bytes_a_row < k_largest_npz) return;
  throw InputError(
      path.string(), 0,
      fmt::format("cannot be written: {} steps need {:.1f} GiB, more than the 4 GiB of an archive", steps,
                  rows * bytes_a_row / (1024.0 * 1024.0 * 1024.0)));
}

void TrajectoryFile::write_npz(const fs::path& path) const {
  const std::size_t rows = time_.size(), n = model_->bodies.size();
  NpzWriter writer;
  writer.add("time", time_, std::array{rows});
  writer.add("position", position_, std::array{rows, n, std::size_t{3}});
  writer.add("orientation_wxyz", orientation_, std::array{rows, n, std::size_t{4}});
  writer.add("linear_velocity", linear_velocity_, std::array{rows, n, std::size_t{3}});
  writer.add("angular_velocity", angular_velocity_, std::array{rows, n, std::size_t{3}});
  const std::vector<std::string> joint_names = names_of(*model_, joints_);
  if (!joints_.empty()) {
    writer.add("joint_coordinate", joint_coordinate_, std::array{rows, joints_.size()});
    writer.add("joint_rate", joint_rate_, std::array{rows, joints_.size()});
    writer.add("joint_names", joint_names, std::array{joints_.size()});
  }
  if (!motors_.empty()) {
    writer.add("motor_force", motor_force_, std::array{rows, motors_.size()});
    writer.add("motor_names", motors_, std::array{motors_.size()});
  }
  writer.add("energy", energy_, std::array{rows});
  writer.add("contacts", contacts_, std::array{rows});

  std::vector<std::string> names;
  for (const Body& body : model_->bodies) names.push_back(body.name);
  writer.add("body_names", names, std::array{n});
  writer.add("scene", scene_.string());
  writer.write(path);
}

void TrajectoryFile::write_csv(const fs::path& path) const {
  const std::size_t n = model_->bodies.size();
  std::vector<std::string> names;
  for (const Body& body : model_->bodies) names.push_back(csv_field(body.name));
  AtomicFile file(path);
  file.write(
      "time,body,position_x,position_y,position_z,orientation_w,orientation_x,orientation_y,orientation_z,"
      "linear_velocity_x,linear_velocity_y,linear_velocity_z,"
      "angular_velocity_x,angular_velocity_y,angular_velocity_z,energy,contacts");
  for (const std::string& name : names_of(*model_, joints_)) {
    for (const char* const what : {"coordinate", "rate"})
      file.write("," + csv_field(fmt::format("joint.{}.{}", name, what)));
  }
  for (const std::string& name : motors_) file.write("," + csv_field(fmt::format("motor.{}.force", name)));
  file.write("\n");
  for (std::size_t t = 0; t < time_.size(); ++t) {
    std::string of_joints;
    for (std::size_t k = t * joints_.size(); k < (t + 1) * joints_.size(); ++k)
      of_joints += fmt::format(",{},{}", joint_coordinate_[k], joint_rate_[k]);
    for (std::size_t k = t * motors_.size(); k < (t + 1) * motors_.size(); ++k)
      of_joints += fmt::format(",{}", motor_force_[k]);
    for (std::size_t b = 0; b < n; ++b) {
      const std::size_t k = t * n + b;
      const auto numbers = [](const std::vector<double>& values, std::size_t index, std::size_t count) {
        return fmt::join(std::span(values).subspan(index * count, count), ",");
      };
      file.write(fmt::format("{},{},{},{},{},{},{},{}{}\n", time_[t], names[b], numbers(position_, k, 3),
                             numbers(orientation_, k, 4), numbers(linear_velocity_, k, 3),
                             numbers(angular_velocity_, k, 3), energy_[t], contacts_[t], of_joints));
    }
  }
  file.commit();
}

RecordedTrajectory::RecordedTrajectory(fs::path path, const Model& model)
    : path_(std::move(path)), model_(&model), arrays_(read_npz(path_)) {
  times_ = std::min(find("position", 3, true)->shape[0], find("orientation_wxyz", 4, true)->shape[0]);
  require_names();
  for (const char* velocity : {"linear_velocity", "angular_velocity"}) {
    if (const NpzArray* array = find(velocity, 3, false)) times_ = std::min(times_, array->shape[0]);
  }
}

void RecordedTrajectory::require_names() const {
  const auto found = arrays_.find("body_names");
  if (found == arrays_.end()) return;
  std::vector<std::string> expected;
  for (const Body& body : model_->bodies) expected.push_back(body.name);
  const std::vector<std::string> names = texts_of(path_, found->first, found->second);
  if (names == expected) return;
  throw InputError(path_.string(), 0,
                   fmt::format("is of bodies '{}', the scene has '{}': not a trajectory of this scene",
                               fmt::join(names, "', '"), fmt::join(expected, "', '")));
}

int RecordedTrajectory::contacts(std::size_t frame) const {
  const auto found = arrays_.find("contacts");
  if (found == arrays_.end() || !std::holds_alternative<std::vector<std::int64_t>>(found->second.values))
    return 0;
  const std::vector<std::int64_t>& counts = found->second.integers();
  constexpr std::int64_t k_most = 1'000'000'000;
  return frame < counts.size() ? static_cast<int>(std::clamp<std::int64_t>(counts[frame], 0, k_most)) : 0;
}

const NpzArray* RecordedTrajectory::find(const std::string& name, std::size_t width, bool needed) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) {
    if (needed) throw InputError(path_.string(), 0, fmt::format("there is no array '{}'", name));
    return nullptr;
  }
  const auto n = static_cast<std::size_t>(model_->body_count());
  const auto& shape = found->second.shape;
  if (shape.size() != 3 || shape[0] == 0 || shape[1] != n || shape[2] != width) {
    throw InputError(
        path_.string(), 0,
        fmt::format("'{}' has shape ({}), expected (times, {}, {}): not a trajectory of this scene", name,
                    fmt::join(shape, ", "), n, width));
  }
  if (!std::holds_alternative<std::vector<double>>(found->second.values))
    throw InputError(path_.string(), 0, fmt::format("'{}' holds integers, expected numbers", name));
  return &found->second;
}

std::vector<Pose<double>> RecordedTrajectory::poses(std::size_t frame) const {
  const std::vector<double>&positions = find("position", 3, true)->doubles(),
        &orientations = find("orientation_wxyz", 4, true)->doubles();
  const std::size_t n = model_->bodies.size();
  std::vector<Pose<double>> X_WB;
  for (std::size_t b = 0; b < n; ++b) {
    const double* p = &positions[3 * (frame * n + b)];
    const double* q = &orientations[4 * (frame * n + b)];
    const Pose<double> X_WA{Quat<double>(q[0], q[1], q[2], q[3]), Vec3<double>(p[0], p[1], p[2])};
    if (!X_WA.p.allFinite() || !(std::abs(X_WA.q.norm() - 1.0) < 1e-3)) {
      throw InputError(path_.string(), 0,
                       fmt::format("the pose of body {} in frame {} is not finite or no pose", b, frame));
    }
    const Vec3<double> p_AB = -model_->bodies[b].p_BA;  // the axes of A and B are the same
    X_WB.push_back(X_WA.normalized() * Pose<double>{Quat<double>::Identity(), p_AB});
  }
  return X_WB;
}

void RecordedTrajectory::read_turns(std::size_t frame, State& state) const {
  const auto found = arrays_.find("joint_coordinate");
  const std::vector<int> joints = joints_with_coordinate(*model_);
  if (found == arrays_.end() || !std::holds_alternative<std::vector<double>>(found->second.values)) return;
  const NpzArray& array = found->second;
  if (array.shape.size() != 2 || array.shape[0] <= frame || array.shape[1] != joints.size()) {
    throw InputError(
        path_.string(), 0,
        fmt::format("'joint_coordinate' has shape ({}), expected ({}, {}): not a trajectory of this scene",
                    fmt::join(array.shape, ", "), times_, joints.size()));
  }
  state.hinge_angles.assign(model_->joints.size(), 0.0);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const double q = array.doubles()[frame * joints.size() + i];
    if (!std::isfinite(q)) {
      throw InputError(path_.string(), 0,
                       fmt::format("the coordinate of joint {} in frame {} is not finite", i, frame));
    }
    state.hinge_angles[static_cast<std::size_t>(joints[i])] = q;
  }
}

State RecordedTrajectory::state(std::size_t frame) const {
  State state;
  state.X_WB = poses(frame);
  const std::size_t n = model_->bodies.size();
  state.V_WB.assign(n, Vec6<double>::Zero());
  const NpzArray *linear = find("linear_velocity", 3, false), *angular = find("angular_velocity", 3, false);
  for (std::size_t b = 0; b < n; ++b) {
    const auto set = [&](const NpzArray* array, int first) {
      if (array == nullptr) return;
      for (int i = 0; i < 3; ++i) {
        const double v = array->doubles()[3 * (frame * n + b) + static_cast<std::size_t>(i)];
        if (!std::isfinite(v)) {
          throw InputError(path_.string(), 0,
                           fmt::format("the velocity of body {} in frame {} is not finite", b, frame));
        }
        state.V_WB[b][first + i] = v;
      }
    };
    set(angular, 0);
    set(linear, 3);
  }
  read_turns(frame, state);
  const auto time = arrays_.find("time");
  if (time != arrays_.end() && std::holds_alternative<std::vector<double>>(time->second.values) &&
      frame < time->second.doubles().size() && std::isfinite(time->second.doubles()[frame])) {
    state.time = time->second.doubles()[frame];
  }
  return state;
}

fs::path scene_of_trajectory(const fs::path& path) {
  const auto arrays = read_npz(path);
  const auto found = arrays.find("scene");
  std::vector<std::string> names;
  if (found != arrays.end()) names = texts_of(path, found->first, found->second);
  if (names.size() != 1 || names[0].empty())
    throw InputError(path.string(), 0, "does not say of which scene it is a trajectory");
  return names[0];
}

}  // namespace abut
