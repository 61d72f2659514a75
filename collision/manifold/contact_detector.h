/// Contacts of every pair of bodies, and their derivatives with respect to poses and shapes.
///
/// A pair of the manifold has contacts of up to three kinds, each in its own file: the contact points of one
/// body at the other's signed distance function (vertex_sdf.h), edges of both meshes at each other
/// (edge_contacts.h), and edges of one mesh through the other's solid (edge_sdf.h). ContactConfig says which,
/// and which pairs have another detector (detectors/other_detectors.h).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "collision/broad_phase.h"
#include "collision/detectors/other_detectors.h"
#include "collision/manifold/candidate_pair.h"
#include "collision/manifold/contact_inspection.h"
#include "collision/manifold/contact_manifold.h"
#include "collision/manifold/edge_contacts.h"
#include "collision/manifold/edge_sdf.h"
#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/pair_patch.h"
#include "collision/manifold/slid_vertices.h"
#include "collision/manifold/vertex_sdf.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// What the contacts of one pair have in common at one state.
struct PairContacts {
  int body_A = -1, body_B = -1;
  PointWeights vertices[2];   ///< of A, of B
  FeatureSelection edges[2];  ///< likewise
  PairPatch patch;
  bool is_manifold = true;  ///< otherwise the selections and flush faces mean nothing

  /// What flush faces leave of the weights of edges.
  [[nodiscard]] double edges_left() const {
    return vertices[0].flush.edges_left * vertices[1].flush.edges_left;
  }
};

/// First derivatives of contacts, one by one and what pairs share. Keeps its memory from one use to the next.
struct ManifoldLinearization {
  /// Where a contact's derivatives are: `index` counts the contacts of its kind.
  struct Place {
    std::size_t pair = 0, index = 0;
  };
  ContactList contacts;
  std::vector<Place> places;
  std::vector<PairContacts> pairs;  ///< the first `pair_count` are in use
  std::size_t pair_count = 0;
  std::vector<VertexSdfLinearization> vertices;       ///< not for a single VJP
  std::vector<VertexSdfLinearization> vertex_values;  ///< memory, for a single VJP
  std::vector<SlidVertexLinearization> slid_vertices;
  std::vector<EdgeSdfLinearization> edges_in_solids;
  std::vector<EdgeSdfLinearization> linearized;
  std::vector<PointContact> point_contacts;  ///< of other detectors
  OtherDetectorScratch other_scratch;
  std::vector<ContactFeature> features;  ///< of the contacts
  std::vector<KnownWeights> known;       ///< of each pair of features: given, where contacts are known
  NearPoints near;
  VertexVjpMemory vertex_memory;
  SolidJacobians solid_jacobians;  ///< of vertices, if asked for
  EdgeSdfScratch chords;
  EdgeContactMemory edge_memory;
  std::vector<ContactBar> bars;  ///< memory of vjp()
  FlushFacesDot flush_dot[2];    ///< memory of jvp()

  /// Whether a contact that another detector than the manifold found has derivatives of one side only, or the
  /// mean of both.
  [[nodiscard]] bool is_near_kink(std::size_t contact) const {
    const Place& place = places[contact];
    return !pairs[place.pair].is_manifold && point_contacts[place.index].is_near_kink;
  }
};

/// Scratch of one thread; allocates only while it grows.
struct DetectorScratch {
  BroadPhase broad_phase;
  std::vector<WorldBox> boxes;
  FeatureSelection vertex_selection, edge_selection[2];
  NearPoints near;
  PairScratch<double> pair;
  EdgeSdfScratch chords;
  OtherDetectorScratch other;
  std::vector<PointContact> point_contacts;
};

/// Prepared once for a model, const afterwards; the model must outlive it.
class ContactDetector {
 public:
  /// @param prepared  of a model whose bodies, one by one, may have the same geometry: this one takes over
  ///                  what was prepared for them. It need not outlive this one
  /// Throws std::invalid_argument where a detector refuses a pair (engine/detector_choice.h).
  ContactDetector(const Model& model, const ContactConfig& config, const ContactDetector* prepared = nullptr);
  ContactDetector(const ContactDetector&) = delete;
  ContactDetector& operator=(const ContactDetector&) = delete;

  /// All contacts whose penetration [m] is below 4 tau_p + margin_A + margin_B. `margins` [m, >= 0] has one
  /// entry per body or is empty; a margin covers the way a body may travel before it is asked again. What
  /// pairs ask for as a reduction is noted, not done.
  void detect(std::span<const Pose<double>> X_WB, std::span<const double> margins, DetectorScratch& scratch,
              ContactManifold& manifold) const;

  /// The same of some pairs alone, in their order, each with its own reach.
  void detect_pairs(std::span<const Pose<double>> X_WB, std::span<const CandidatePair> pairs,
                    DetectorScratch& scratch, ContactManifold& manifold) const;

  /// The contact of a feature, wherever its bodies are now.
  [[nodiscard]] Contact contact(std::span<const Pose<double>> X_WB, const ContactFeature& feature) const;

  /// The contacts of features (in their order) together with their first derivatives. Features of a pair
  /// should come one after the other. With LinearizeFor::vjp_of_known `linearization.contacts` and
  /// `known` are only read.
  void linearize(std::span<const Pose<double>> X_WB, std::span<const ContactFeature> features,
                 ManifoldLinearization& linearization, LinearizeFor what_for = LinearizeFor::both) const;

  /// Adds dL/d(poses) given dL/d(outputs of each linearized contact); with `geometry` (one entry per body)
  /// also dL/d(shapes). Contacts of other detectors than the manifold have none: has_shape_derivatives().
  void vjp(std::span<const Pose<double>> X_WB, std::span<const ContactBar> bars,
           ManifoldLinearization& linearization, std::span<Vec6<double>> pose_bar,
           std::span<GeometryGradient> geometry = {}) const;

  /// The same but for what normals of edges contribute to dL/d(shapes): sums of many calls are passed on
  /// together, by finish_geometry().
  void add_vjp(std::span<const Pose<double>> X_WB, std::span<const ContactBar> bars,
               ManifoldLinearization& linearization, std::span<Vec6<double>> pose_bar,
               std::span<GeometryGradient> geometry) const;
  /// @param geometry  of that body
  void finish_geometry(int body, GeometryGradient& geometry) const {
    finish_face_normals(edge_body(body), geometry);
  }

  /// JVP: how the linearized contacts change along tangents of the poses. Overwrites `dots`, one per contact.
  void jvp(std::span<const Pose<double>> X_WB, std::span<const Vec6<double>> pose_dot,
           ManifoldLinearization& linearization, std::span<ContactBar> dots) const;

  /// What the contacts of a manifold that detect() found at these poses are made of, and the vertices and
  /// edges of their pairs that could have been more. Overwrites `inspection`; `memory` may be any, used
  /// before or not, and what was linearized in it is lost.
  void inspect(std::span<const Pose<double>> X_WB, const ContactManifold& manifold,
               ManifoldLinearization& memory, ManifoldInspection& inspection) const;

  /// Whether what is prepared for a body is that of `other`.
  [[nodiscard]] bool shares(int body, const ContactDetector& other) const {
    const auto b = static_cast<std::size_t>(body);
    return b < other.bodies_.size() && bodies_[b] == other.bodies_[b];
  }

  [[nodiscard]] const ShapeSdf& sdf(int body) const { return bodies_[static_cast<std::size_t>(body)]->sdf; }

  /// Distance from the centre of mass within which a body's contact points, their balls and its (bounded)
  /// solid lie [m].
  [[nodiscard]] double reach(int body) const { return bodies_[static_cast<std::size_t>(body)]->reach; }

  /// Whether every pair that may touch has the manifold: contacts of the others have no derivatives by
  /// shapes.
  [[nodiscard]] bool has_shape_derivatives() const { return !others_; }
  [[nodiscard]] const Model& model() const { return *model_; }
  /// The size of the smaller body [m].
  [[nodiscard]] double pair_size(int body_A, int body_B) const {
    return std::min(model_body(body_A).size, model_body(body_B).size);
  }
  /// A pair with no contacts yet.
  [[nodiscard]] ContactPair make_pair(int body_A, int body_B) const;

 private:
  struct BodyGeometry {
    ShapeSdf sdf;
    std::vector<MeshEdge> edges;
    BodyFeatures<double> features;
    Eigen::AlignedBox3d box;  // of the solid, the mesh and the contact points with their radius, in B
    double reach = 0;
    explicit BodyGeometry(const Body& body);
  };

  [[nodiscard]] bool has_solid(int body) const { return !model_body(body).shape.primitives.empty(); }
  [[nodiscard]] const Body& model_body(int body) const {
    return model_->bodies[static_cast<std::size_t>(body)];
  }
  [[nodiscard]] const BodyGeometry& geometry(int body) const {
    return *bodies_[static_cast<std::size_t>(body)];
  }
  [[nodiscard]] BoundedSolid bounded_solid(int body) const {
    return {&sdf(body), geometry(body).features.bounds.data()};
  }
  [[nodiscard]] EdgeBody edge_body(int body) const {
    return {&model_body(body), bounded_solid(body), geometry(body).edges};
  }
  void append_pair(std::span<const Pose<double>> X_WB, const CandidatePair& candidate,
                   DetectorScratch& scratch, ContactManifold& manifold) const;
  /// Leaves of the contacts that the kernel appended for a pair what Body::selected_vertices and
  /// selected_edges do.
  void choose_contacts(const ContactConfig& config, std::span<const Pose<double>> X_WB,
                       DetectorScratch& scratch, ContactPair& pair, ContactBlock<double>& block) const;

  [[nodiscard]] PairQuery pair_query(int body_A, int body_B, const ContactConfig& config,
                                     std::span<const Pose<double>> X_WB) const;
  void append_other_contacts(const PairQuery& query, double reach, DetectorScratch& scratch,
                             ContactList& contacts) const;
  /// Contacts and places of features of one pair, from the place `begin` on.
  void linearize_other(const PairQuery& query, std::span<const ContactFeature> features, std::size_t begin,
                       ManifoldLinearization& out) const;

  [[nodiscard]] ContactConfig pair_config(int body_A, int body_B) const {
    return model_->pair_overrides.empty() ? config_ : contact_config_of(*model_, config_, body_A, body_B);
  }
  [[nodiscard]] VertexSdfQuery vertex_query(int owner, int solid, const ContactConfig& config,
                                            std::span<const Pose<double>> X_WB) const;
  /// Of the contact points of `owner`, or of its edges.
  [[nodiscard]] SelectionQuery selection_query(int owner, int solid, bool of_edges,
                                               const ContactConfig& config,
                                               std::span<const Pose<double>> X_WB) const;
  [[nodiscard]] FlushQuery flush_query(int owner, int solid, const ContactConfig& config,
                                       std::span<const Pose<double>> X_WB) const;
  [[nodiscard]] EdgeSdfQuery edge_sdf_query(int owner, int solid, const ContactConfig& config,
                                            std::span<const Pose<double>> X_WB) const;
  [[nodiscard]] PatchQuery patch_query(int body_A, int body_B, const ContactConfig& config,
                                       std::span<const Pose<double>> X_WB) const;
  /// The selections, the flush faces and the patch of a pair.
  ///
  /// @param known  of contacts that are known: what makes constant weights and areas of them is left out
  void prepare(std::span<const Pose<double>> X_WB, const ContactConfig& config,
               ManifoldLinearization& linearization, PairContacts& pair,
               const KnownWeights* known = nullptr) const;

  const Model* model_;
  ContactConfig config_;
  double largest_distance_ratio_ = 1.0;
  std::vector<std::shared_ptr<const BodyGeometry>> bodies_;
  std::unique_ptr<const OtherDetectors> others_;  ///< null if all pairs have the manifold
};

/// Throws std::invalid_argument unless every contact point lies at -contact_radius of its own body's SDF,
/// within `tolerance` of the body's size and what the smoothing tau of its union takes off a sharp crease, tau log k of
/// k <= 4 primitives (names the body, the point and its distance).
void require_points_on_surface(const Body& body, double tolerance = 1e-3);

}  // namespace abut
