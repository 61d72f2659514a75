/// Contacts of every pair of bodies, and their derivatives with respect to poses and shapes.
///
/// A body touches others with balls of its `contact_radius` at its `contact_points`, and is touched at its
/// signed distance function. Both directions of a pair are one code path: the *owner* O carries the point v,
/// the *solid* S the function phi:
///     x_W = X_WO v,   x_S = X_WS^-1 x_W,   d = phi_S(x_S) - r_O,   n = R_WS n_S(x_S) (out of S),
///     point = x_W - (r_O + d/2) n,   activity = S(1/2 - d/(8 tau_p)),   S = smoothstep5.
/// The point midway between the surfaces is shared by both bodies, so their impulses balance. Edges of two
/// meshes meet in edge_contacts.h.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "collision/broad_phase.h"
#include "collision/manifold/contact.h"
#include "collision/manifold/edge_contacts.h"
#include "collision/manifold/geometry_gradient.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// First derivatives of a contact: what its JVP and VJP need, all in W.
struct ContactLinearization {
  int owner = -1, solid = -1;               ///< of a vertex contact
  int edge_pair = -1;                       ///< of an edge contact: which of the edge pairs
  double sign = 1;                          ///< normal_AB = sign * n: +1 if the owner is B
  double radius = 0;                        ///< r_O [m]
  double tau = 0;                           ///< tau_p of the pair [m]
  double distance = 0;                      ///< d [m]
  Vec3<double> x_S = Vec3<double>::Zero();  ///< v in the solid's frame
  Vec3<double> arm_O = Vec3<double>::Zero(), arm_S = Vec3<double>::Zero();  ///< x_W - p_WO, x_W - p_WS
  Vec3<double> normal = Vec3<double>::Zero();                               ///< n, out of the solid
  Vec3<double> gradient = Vec3<double>::Zero();                             ///< dd/dx
  Mat3<double> normal_jacobian = Mat3<double>::Zero();                      ///< dn/dx
};

/// Scratch of one thread; allocates only while it grows.
struct DetectorScratch {
  EdgePair edge_pair;
  BroadPhase broad_phase;
  std::vector<WorldBox> boxes;
  std::vector<int> candidates;
  Points points_S;
  std::vector<double> coordinates[3], samples;
};

/// Prepared once for a model, const afterwards; the model must outlive it.
class ContactDetector {
 public:
  ContactDetector(const Model& model, const ContactConfig& config);
  ContactDetector(const ContactDetector&) = delete;
  ContactDetector& operator=(const ContactDetector&) = delete;

  /// All contacts with signed distance < 4 tau_p + margin_A + margin_B. `margins` [m, >= 0] has one entry per
  /// body or is empty; a margin covers the way a body may travel before it is asked again.
  void detect(std::span<const Pose<double>> X_WB, std::span<const double> margins, DetectorScratch& scratch,
              ContactManifold& manifold) const;

  /// The contact of a feature, wherever its bodies are now.
  [[nodiscard]] Contact contact(std::span<const Pose<double>> X_WB, const ContactFeature& feature) const;

  /// The contacts of features (in order) together with their first derivatives. Features of edges share what
  /// `edge_pairs` says of their pair of bodies, and need it.
  void linearize(std::span<const Pose<double>> X_WB, std::span<const ContactFeature> features,
                 std::vector<Contact>& contacts, std::vector<ContactLinearization>& linearizations,
                 std::vector<EdgePair>* edge_pairs = nullptr) const;

  /// d(outputs of a contact) for a left perturbation [rotation; translation] of the poses.
  [[nodiscard]] static ContactBar jvp(const ContactLinearization& at, const Vec6<double>& pose_O,
                                      const Vec6<double>& pose_S);

  /// Adds dL/d(poses) given dL/d(outputs of a contact); with `geometry` (one entry per body) also
  /// dL/d(shape).
  void vjp(const ContactLinearization& at, const ContactFeature& feature, const ContactBar& bar,
           std::span<const Pose<double>> X_WB, std::span<Vec6<double>> pose_bar,
           std::span<GeometryGradient> geometry = {}) const;

  /// Notes dL/d(outputs of an edge contact); edge_vjp() goes the rest of the way for all at once.
  void add_edge_bar(EdgePair& pair, const ContactFeature& feature, const ContactBar& bar) const;
  void edge_vjp(std::span<const EdgePair> pairs, std::span<const Pose<double>> X_WB,
                std::span<Vec6<double>> pose_bar, std::span<GeometryGradient> geometry = {}) const;

  [[nodiscard]] const ShapeSdf& sdf(int body) const { return bodies_[static_cast<std::size_t>(body)].sdf; }

  /// Distance from the centre of mass within which a body's contact points, their balls and its (bounded)
  /// solid lie [m].
  [[nodiscard]] double reach(int body) const { return bodies_[static_cast<std::size_t>(body)].reach; }

  /// tau_p of a pair [m].
  [[nodiscard]] double activity_smoothing(int body_A, int body_B) const;

 private:
  struct BodyGeometry {
    ShapeSdf sdf;
    Eigen::AlignedBox3d box;  // of the solid and of the contact points with their radius, in B
    double reach = 0;
    explicit BodyGeometry(const Body& body);
  };

  void append_contacts(int owner, int solid, std::span<const Pose<double>> X_WB, double reach, double tau,
                       DetectorScratch& scratch, ContactManifold& manifold) const;
  [[nodiscard]] bool collide(int body_A, int body_B) const;

  [[nodiscard]] ContactConfig pair_config(int body_A, int body_B) const {
    return model_->pair_overrides.empty() ? config_ : contact_config_of(*model_, config_, body_A, body_B);
  }
  [[nodiscard]] EdgeContacts edge_contacts(int body_A, int body_B) const {
    return {edge_bodies_[static_cast<std::size_t>(body_A)], edge_bodies_[static_cast<std::size_t>(body_B)],
            pair_config(body_A, body_B)};
  }

  const Model* model_;
  ContactConfig config_;
  double largest_distance_ratio_ = 1.0;
  std::vector<BodyGeometry> bodies_;
  std::vector<EdgeBody> edge_bodies_;
};

/// Throws std::invalid_argument unless every contact point lies at -contact_radius of its own body's SDF,
/// within `tolerance` of the body's size (names the body, the point and its distance).
void require_points_on_surface(const Body& body, double tolerance = 1e-3);

}  // namespace abut
