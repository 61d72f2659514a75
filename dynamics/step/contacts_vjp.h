/// From dL/d(linearized contacts) to poses and shapes.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/step/step_derivatives.h"

namespace abut {

/// Adds to `pose_bar` and, where asked for, to the shapes of the step's model.
///
/// @param geometry  memory
inline void contacts_vjp(const ContactDetector& detector, std::span<const Pose<double>> X_WB,
                         std::span<const ContactBar> bars, const StepBar& step_bar,
                         ManifoldLinearization& contacts, std::span<Vec6<double>> pose_bar,
                         std::vector<GeometryGradient>& geometry) {
  std::vector<BodyGradient>& bodies = step_bar.model->bodies;
  geometry.resize(step_bar.mask.shapes ? bodies.size() : 0);
  for (std::size_t b = 0; b < geometry.size(); ++b) geometry[b] = std::move(bodies[b].geometry);
  detector.add_vjp(X_WB, bars, contacts, pose_bar, geometry);
  for (std::size_t b = 0; b < geometry.size(); ++b) bodies[b].geometry = std::move(geometry[b]);
}

}  // namespace abut
