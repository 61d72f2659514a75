#include "engine/model_validation.h"

#include <cmath>
#include <string_view>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/parameters.h"

namespace abut {
namespace {

void validate_inertia(const Body& body) {
  if (body.fixed) return;
  require(range_of(ParameterKind::mass).contains(body.mass),
          fmt::format("body '{}': mass {} is not positive", body.name, body.mass));
  require(body.inertia.allFinite() && body.inertia.isApprox(body.inertia.transpose()) &&
              body.inertia.llt().info() == Eigen::Success,
          fmt::format("body '{}': inertia is not symmetric positive definite", body.name));
}

void validate_friction(double friction, std::string_view where) {
  require(range_of(ParameterKind::friction).contains(friction),
          fmt::format("{}: friction = {}, allowed: >= 0 and finite", where, friction));
}

void validate_restitution(double restitution, std::string_view where) {
  require(range_of(ParameterKind::restitution).contains(restitution),
          fmt::format("{}: restitution = {}, allowed: in [0, 1]", where, restitution));
}

/// The collision kernels index by these without checks of their own.
void validate_flat_faces(const Body& body, std::string_view where) {
  const Eigen::Index points = body.contact_points.cols(), area_vectors = body.contact_area_vectors.cols();
  require(area_vectors == 0 || area_vectors == points,
          fmt::format("{}: {} contact area vectors for {} contact points", where, area_vectors, points));
  for (std::size_t i = 0; i < body.flat_faces.size(); ++i) {
    const FlatFace& face = body.flat_faces[i];
    require(!face.factors.empty() && face.factors.size() <= face.points.size(),
            fmt::format("{}: flat face {} has {} factors for {} points, allowed: 1 to as many as points",
                        where, i, face.factors.size(), face.points.size()));
    for (const int point : face.points)
      require(point >= 0 && point < points,
              fmt::format("{}: flat face {} has contact point {} of {}", where, i, point, points));
  }
}

void validate_body(const Body& body) {
  const std::string where = fmt::format("body '{}'", body.name);
  validate_inertia(body);
  validate_friction(body.material.friction, where);
  validate_restitution(body.material.restitution, where);
  require(body.contact_areas.size() == static_cast<std::size_t>(body.contact_points.cols()),
          fmt::format("{}: {} contact areas for {} contact points", where, body.contact_areas.size(),
                      body.contact_points.cols()));
  validate_flat_faces(body, where);
  require(body.fixed || body.oscillation.frequency == 0.0,
          fmt::format("{}: only a fixed body can oscillate", where));
}

void validate_pair(const PairOverride& pair, const Model& model) {
  const std::string where =
      fmt::format("pair of '{}' and '{}'", model.bodies[static_cast<std::size_t>(pair.body_A)].name,
                  model.bodies[static_cast<std::size_t>(pair.body_B)].name);
  if (!std::isnan(pair.friction)) validate_friction(pair.friction, where);
  if (!std::isnan(pair.restitution)) validate_restitution(pair.restitution, where);
}

}  // namespace

void validate(const Model& model) {
  for (const Body& body : model.bodies) validate_body(body);
  for (const PairOverride& pair : model.pair_overrides) validate_pair(pair, model);
  for (const Joint& joint : model.joints) validate(joint, model);
  for (const Coupling& coupling : model.couplings) validate(coupling, model);
}

}  // namespace abut
