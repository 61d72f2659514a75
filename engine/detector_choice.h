/// Which pairs of bodies may touch, and which detectors can find their contacts.
#pragma once

#include <optional>
#include <string>

#include "engine/contact_config.h"
#include "engine/model.h"

namespace abut {

/// Faces that a polyhedron may have for DetectorKind::proximity_qp.
inline constexpr int k_most_qp_faces = 16;

/// Whether two bodies, body_A < body_B, may touch at all: by their masses, the model's pairs and joints.
[[nodiscard]] bool may_touch(const Model& model, int body_A, int body_B);

/// Why a detector cannot find the contacts of two bodies: the body, what of it is in the way, and which
/// detectors can. Empty if it can.
[[nodiscard]] std::string detector_refusal(const Body& A, const Body& B, DetectorKind detector);

/// Whether a pair of bodies that may touch has another detector than the manifold.
///
/// @param defaults  settings where a pair has none of its own
[[nodiscard]] bool needs_other_detectors(const Model& model, const ContactConfig& defaults);

struct RefusedPair {
  int body_A = -1, body_B = -1;
  std::string why;
};

/// The first pair of bodies that may touch and whose detector refuses them.
[[nodiscard]] std::optional<RefusedPair> first_refused_pair(const Model& model,
                                                            const ContactConfig& defaults);

/// Throws std::invalid_argument with RefusedPair::why if there is one.
void require_detectable(const Model& model, const ContactConfig& defaults);

}  // namespace abut
