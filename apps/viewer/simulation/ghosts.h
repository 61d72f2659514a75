/// Bodies of another motion, or of measurements, beside those of the simulation: seen through, at each time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/identification/experiment.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut::viewer {

/// Where a body's asset frame A was at a time. NaN: what was not measured, taken from the simulation.
struct GhostPose {
  double time = 0.0;  ///< [s]
  Pose<double> X_WA;
};

/// Points that were seen on surfaces at a time.
struct GhostPoints {
  double time = 0.0;               ///< [s]
  Points points_W = Points(3, 0);  ///< (3, n) [m]
  double noise = 0.0;              ///< standard deviation along the normals, the largest of them [m]
};

struct Ghosts {
  std::string name;                             ///< "measured", for a legend
  std::vector<std::vector<GhostPose>> of_body;  ///< in the order of time; none: that body has no ghost
  std::vector<GhostPoints> points;              ///< in the order of time

  [[nodiscard]] bool empty() const { return of_body.empty() && points.empty(); }
};

/// Of all bodies of a trajectory, its states in the order of time.
[[nodiscard]] Ghosts motion_ghosts(const Model& model, std::span<const State> states, std::string name);
/// Of measured poses, those that are wanted included, of surface points, and of joints: bodies of mechanisms that are
/// held, as far as their other joints are as at the start.
[[nodiscard]] Ghosts measured_ghosts(const Model& model, const State& start,
                                     std::span<const Measurement> measurements, std::string name);

struct BodyGhost {
  int body = -1;
  Pose<double> X_WB;
  bool is_passing = false;  ///< SimulationCore::set_passing_ghosts()
};
/// At a time, between two poses on the way from one to the other; before the first and after the last as
/// there.
///
/// @param now  of the simulation
[[nodiscard]] std::vector<BodyGhost> ghosts_at(const Ghosts& ghosts, const Model& model, const State& now);
/// Corners of boxes around the bodies wherever the ghosts are (3, n) [m].
[[nodiscard]] Points ghost_extent_W(const Ghosts& ghosts, const Model& model, const State& now);
/// The points that were seen last, up to half a second ago; null if there are none.
[[nodiscard]] const GhostPoints* ghost_points_at(const Ghosts& ghosts, double time);

}  // namespace abut::viewer
