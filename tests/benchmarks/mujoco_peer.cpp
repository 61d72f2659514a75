#include "mujoco_peer.h"

#ifdef ABUT_HAVE_MUJOCO

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace abut::benchmarks {
namespace {

constexpr std::size_t k_parts = 18;        // convex parts of a body
constexpr std::size_t k_part_points = 30;  // of their hulls

std::string vector_text(const Vec3<double>& v) { return fmt::format("{} {} {}", v.x(), v.y(), v.z()); }

std::string pose_text(const Pose<double>& X) {
  return fmt::format("pos=\"{}\" quat=\"{} {} {} {}\"", vector_text(X.p), X.q.w(), X.q.x(), X.q.y(), X.q.z());
}

/// 2 a b c eps1 eps2 B(eps1/2 + 1, eps1) B(eps2/2, eps2/2) [m^3].
double superquadric_volume(const std::array<double, 5>& p) {
  return 2.0 * p[0] * p[1] * p[2] * p[3] * p[4] * std::beta(0.5 * p[3] + 1.0, p[3]) *
         std::beta(0.5 * p[4], 0.5 * p[4]);
}

/// Points of the surface, far from each other in units of the semi-axes: of a grid of angles, always the one
/// that is farthest from those there are, beginning with the one farthest from the centre.
std::vector<Vec3<double>> surface_points(const std::array<double, 5>& parameters) {
  constexpr int k_latitudes = 24, k_longitudes = 48;  // multiples of 8: corners are among them
  const auto power = [](double x, double exponent) {
    return std::copysign(std::pow(std::abs(x), exponent), x);
  };
  const double eps1 = parameters[3], eps2 = parameters[4];
  std::vector<Vec3<double>> grid;
  for (int i = 0; i <= k_latitudes; ++i) {
    const double latitude = std::numbers::pi * (static_cast<double>(i) / k_latitudes - 0.5);
    for (int j = 0; j < k_longitudes; ++j) {
      const double longitude = 2.0 * std::numbers::pi * j / k_longitudes;
      const double ring = power(std::cos(latitude), eps1);
      grid.emplace_back(ring * power(std::cos(longitude), eps2), ring * power(std::sin(longitude), eps2),
                        power(std::sin(latitude), eps1));
    }
  }
  std::vector<double> nearest(grid.size());
  std::transform(grid.begin(), grid.end(), nearest.begin(),
                 [](const Vec3<double>& p) { return p.squaredNorm(); });
  std::vector<Vec3<double>> points;
  for (std::size_t k = 0; k < k_part_points; ++k) {
    const auto farthest =
        static_cast<std::size_t>(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
    const Vec3<double> point = grid[farthest];
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const double squared = (grid[i] - point).squaredNorm();
      nearest[i] = k == 0 ? squared : std::min(nearest[i], squared);
    }
    points.push_back(point.cwiseProduct(Vec3<double>(parameters[0], parameters[1], parameters[2])));
  }
  return points;
}

/// The text of a model, in MuJoCo's format.
class ModelText {
 public:
  ModelText(const Model& model, const StepConfig& config, const State& initial) {
    for (std::size_t b = 0; b < model.bodies.size(); ++b) add_body(model.bodies[b], initial.X_WB[b]);
    const std::size_t most_contacts = std::max<std::size_t>(500, 20 * model.bodies.size());
    text_ = fmt::format(
        "<mujoco>\n<compiler angle=\"radian\"/>\n<option timestep=\"{}\" gravity=\"{}\"/>\n"
        "<size njmax=\"{}\" nconmax=\"{}\"/>\n<asset>\n{}</asset>\n<worldbody>\n{}</worldbody>\n</mujoco>\n",
        config.h, vector_text(model.gravity), 4 * most_contacts, most_contacts, meshes_, bodies_);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add_body(const Body& body, const Pose<double>& X_WB) {
    bodies_ += fmt::format("<body {}>\n", pose_text(X_WB));
    if (!body.fixed) {
      const Mat3<double>& I = body.inertia;
      bodies_ += fmt::format(
          "<freejoint/>\n<inertial pos=\"0 0 0\" mass=\"{}\" fullinertia=\"{} {} {} {} {} {}\"/>\n",
          body.mass, I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2));
    }
    for (const Primitive* primitive : parts(body)) {
      if (primitive->operation != PrimitiveOperation::add)
        throw std::runtime_error("MuJoCo subtracts no primitives");
      bodies_ += fmt::format("<geom {} {} friction=\"{}\"/>\n", geom_text(*primitive),
                             pose_text(primitive->X_BP), body.material.friction);
    }
    bodies_ += "</body>\n";
  }

  [[nodiscard]] static std::vector<const Primitive*> parts(const Body& body) {
    std::vector<const Primitive*> parts;
    for (const Primitive& primitive : body.shape.primitives) parts.push_back(&primitive);
    while (parts.size() > k_parts) {
      parts.erase(std::min_element(parts.begin(), parts.end(), [](const Primitive* a, const Primitive* b) {
        return superquadric_volume(a->parameters) < superquadric_volume(b->parameters);
      }));
    }
    return parts;
  }

  std::string geom_text(const Primitive& primitive) {
    const std::array<double, 5>& p = primitive.parameters;
    switch (primitive.kind) {
      case PrimitiveKind::half_space:
        return "type=\"plane\" size=\"0 0 1\"";
      case PrimitiveKind::sphere:
        return fmt::format("type=\"sphere\" size=\"{}\"", p[0]);
      case PrimitiveKind::capsule:
        return fmt::format("type=\"capsule\" size=\"{} {}\"", p[0], p[1]);
      case PrimitiveKind::rounded_box:
        return fmt::format("type=\"box\" size=\"{} {} {}\"", p[0], p[1], p[2]);
      case PrimitiveKind::convex_polyhedron:
      case PrimitiveKind::oriented_point_cloud:
      case PrimitiveKind::extruded_superquadric:
      case PrimitiveKind::cone:
      case PrimitiveKind::torus:
      case PrimitiveKind::padded_polygon:
        throw std::invalid_argument("this kind of primitive is not translated for MuJoCo");
      case PrimitiveKind::superquadric:
        break;
    }
    return fmt::format("type=\"mesh\" mesh=\"{}\"", mesh_name(p));
  }

  /// Bodies of one asset share its meshes.
  const std::string& mesh_name(const std::array<double, 5>& parameters) {
    std::string& name = mesh_names_[parameters];
    if (!name.empty()) return name;
    name = fmt::format("part{}", mesh_names_.size());
    std::vector<std::string> points;
    for (const Vec3<double>& point : surface_points(parameters)) points.push_back(vector_text(point));
    meshes_ += fmt::format("<mesh name=\"{}\" vertex=\"{}\"/>\n", name, fmt::join(points, " "));
    return name;
  }

  std::map<std::array<double, 5>, std::string> mesh_names_;
  std::string meshes_, bodies_, text_;
};

mjModel* load(const std::string& text) {
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "model.xml", static_cast<int>(text.size()));
  std::memcpy(files->filedata[0], text.data(), text.size());
  std::array<char, 1000> error{};
  mjModel* model = mj_loadXML("model.xml", files.get(), error.data(), static_cast<int>(error.size()));
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error(fmt::format("MuJoCo does not load the model: {}", error.data()));
  return model;
}

}  // namespace

std::string mujoco_version() { return mj_versionString(); }

MujocoPeer::MujocoPeer(const Model& model, const StepConfig& config, const State& initial)
    : model_(load(ModelText(model, config, initial).text())), data_(mj_makeData(model_.get())) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!model.bodies[b].fixed) moving_.push_back(static_cast<int>(b));
  }
}

void MujocoPeer::set_poses(std::span<const Pose<double>> X_WB) const {
  mjtNum* q = data_->qpos;
  for (const int body : moving_) {
    const Pose<double>& X = X_WB[static_cast<std::size_t>(body)];
    for (const double x : {X.p.x(), X.p.y(), X.p.z(), X.q.w(), X.q.x(), X.q.y(), X.q.z()}) *q++ = x;
  }
}

void MujocoPeer::reset(const State& state) const {
  mj_resetData(model_.get(), data_.get());
  set_poses(state.X_WB);
  mjtNum* v = data_->qvel;
  for (const int body : moving_) {
    const auto b = static_cast<std::size_t>(body);
    const Vec3<double> w_B = state.X_WB[b].q.conjugate() * Vec3<double>(state.V_WB[b].head<3>());
    for (int i = 0; i < 3; ++i) *v++ = state.V_WB[b][3 + i];  // v in W, then w in B
    for (int i = 0; i < 3; ++i) *v++ = w_B[i];
  }
}

bool MujocoPeer::has_warned() const {
  return std::any_of(std::begin(data_->warning), std::end(data_->warning),
                     [](const mjWarningStat& warning) { return warning.number > 0; });
}

}  // namespace abut::benchmarks

#else

namespace abut::benchmarks {

std::string mujoco_version() { return {}; }

}  // namespace abut::benchmarks

#endif
