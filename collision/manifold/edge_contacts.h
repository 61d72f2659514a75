/// Edge-edge contacts of a pair of bodies for the simulation: in double precision, with the way back to poses
/// and shapes.
///
/// Each pair of selected edges (k of A, l of B) has two contacts, at the witness point on either edge. They
/// share point, signed distance and normal; each has its own
///   penetration   phi of the other body at its witness point, less its own contact radius
///   weight        gamma_con gamma_cl nn_kl,  nn by row for the edge of A, by column for that of B
/// A body has edge contacts if its contact points are the vertices of its mesh; with a contact radius r they
/// are capsules: metrics and penetrations are less by r, signed distances by |n| r, and the contact point
/// lies midway between the capsules' surfaces. Edges of flat faces are left out (MeshEdgeOptions).
///
/// @see  edge_edge.h, neighbour_weights.h, soft_selection.h, edge_normals.h for the formulas.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact.h"
#include "collision/manifold/edge_edge.h"
#include "collision/manifold/edge_normals.h"
#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/kernel/detection_kernels.h"
#include "collision/manifold/near_features.h"
#include "collision/manifold/neighbour_weights.h"
#include "collision/manifold/point_distances.h"
#include "collision/manifold/soft_selection.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/model.h"

namespace abut {

/// A body as edge contacts see it.
struct EdgeBody {
  EdgeBody(const Body& body, const ShapeSdf& sdf);

  const Body* body;
  const ShapeSdf* sdf;
  std::vector<MeshEdge> edges;  ///< none if the body has no edge contacts
  std::vector<EdgeEnds> ends;   ///< of these
  int selected = 0;             ///< K
  bool normals_of_faces = false;
};

/// Everything about the edges of one pair at one state. Keeps its memory from one use to the next.
struct EdgePair {
  struct Side {
    std::vector<double> distances;  ///< of each contact point, less the radius; large where far [m]
    std::vector<double> metrics;    ///< of each edge, clamped [m]
    SoftSelection<double> selection;
    std::vector<int> edges;              ///< selected
    std::vector<double> weights;         ///< of these
    std::vector<Edge<double>> geometry;  ///< of these, in W
  };
  int body_A = -1, body_B = -1;
  Side sides[2];
  NeighbourWeights<double> neighbours;
  std::vector<double> softened, interior, clash;  ///< (n_A, n_B); distances less both radii
  Points points[2];                               ///< witness points in W
  std::vector<double> matrices[6];                ///< memory of `neighbours`
  struct Memory {
    NearPoints near;
    std::vector<double> columns[2];
  } memory;

  [[nodiscard]] Vec3<double> point(int side, std::size_t at) const {
    return points[side].col(static_cast<Eigen::Index>(at));
  }

  /// dL/d of what the contacts say, per pair of edges and side.
  struct Bars {
    std::vector<double> distance, penetration[2], weight[2];
    std::vector<Vec3<double>> point, normal;
    bool any = false;
  } bars;
};

/// Memory of EdgeContacts::detect(). Allocates only while it grows.
struct EdgeSearch {
  struct Side {
    std::vector<double> point_metrics;     ///< of the near points, clamped [m]
    std::vector<double> metrics;           ///< of near edges [m]
    std::vector<int> edges;                ///< of these, then those that are selected
    std::vector<double> weights, columns;  ///< of these
    std::vector<int> first, primitives;    ///< the other solid's, near witness points
    std::vector<double> lower, samples;
    std::vector<double> points[3];  ///< witness points in W
  };
  Side sides[2];
  std::vector<int> rows, columns;
  std::vector<double> pairs, normals;
};

class EdgeContacts {
 public:
  EdgeContacts(const EdgeBody& A, const EdgeBody& B, const ContactConfig& config,
               NeighbourTail tail = NeighbourTail::ends);

  [[nodiscard]] bool possible() const { return !A_->edges.empty() && !B_->edges.empty(); }

  /// Selects edges and relates all pairs of them.
  void prepare(const Pose<double>& X_WA, const Pose<double>& X_WB, EdgePair& pair) const;

  /// How near to the other's solid points of a body matter [m].
  [[nodiscard]] double range(int side) const {
    return largest_metric_ + clamp_width_ + body(side).body->contact_radius;
  }
  /// Whether all edges of a body are selected, wherever they are.
  [[nodiscard]] bool selects_all(int side) const {
    return static_cast<std::size_t>(body(side).selected) >= body(side).edges.size();
  }

  /// Appends the contacts with weight whose penetration is below `reach` [m]; the same as those of prepare().
  /// The tail of the neighbours' weights has to end.
  ///
  /// @param near  features of A near B's solid, and of B near A's, up to range()
  void detect(const Pose<double>& X_WA, const Pose<double>& X_WB, double reach, const PairMemory::Sides& near,
              const BoundedSolid (&solids)[2], std::pair<int, int> bodies, EdgeSearch& search,
              std::vector<Contact>& contacts) const;

  /// The contact of a feature; weight 0 if its edges are not selected.
  [[nodiscard]] Contact contact(const Pose<double>& X_WA, const Pose<double>& X_WB, const EdgePair& pair,
                                const ContactFeature& feature) const;

  /// Notes dL/d(outputs of a contact of this pair) in `pair.bars`.
  void add_bar(const Contact& contact, const ContactBar& bar, EdgePair& pair) const;

  /// Adds dL/d(poses), and dL/d(shapes) if there is a `geometry`, from what was noted.
  void vjp(const Pose<double>& X_WA, const Pose<double>& X_WB, const EdgePair& pair, Vec6<double>& pose_A_bar,
           Vec6<double>& pose_B_bar, GeometryGradient* geometry_A, GeometryGradient* geometry_B) const;

  /// JVP by the shapes alone: how the contacts of features change along changes of both geometries. What
  /// penetration and weight change by is there, not yet the activity. Features whose edges are not selected
  /// do not change.
  [[nodiscard]] std::vector<ContactBar> shape_jvp(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                                  const EdgePair& pair,
                                                  std::span<const ContactFeature> features,
                                                  const GeometryGradient& geometry_A_dot,
                                                  const GeometryGradient& geometry_B_dot) const;

  /// The signed distance of two edges by their numbers, selected or not, with its derivatives by both poses.
  [[nodiscard]] DistanceHessian distance_hessian(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                                 int edge_A, int edge_B) const;

 private:
  [[nodiscard]] const EdgeBody& body(int side) const { return side == 0 ? *A_ : *B_; }
  [[nodiscard]] double radii() const { return A_->body->contact_radius + B_->body->contact_radius; }
  /// From the middle between the edges to that between the surfaces, along n (from B to A) [m].
  [[nodiscard]] double midway() const { return 0.5 * (B_->body->contact_radius - A_->body->contact_radius); }
  [[nodiscard]] Contact make_contact(const Pose<double>& X_WA, const Pose<double>& X_WB, const EdgePair& pair,
                                     std::size_t k, std::size_t l, int side) const;
  void select(int side, const Pose<double>& X_WO, const NearFeatures& near, EdgeSearch::Side& s) const;

  const EdgeBody *A_, *B_;
  EdgeEdgeSettings<double> settings_;
  NeighbourSettings<double> neighbours_;
  double activity_smoothing_, band_, largest_metric_, clamp_width_;  ///< [m]
};

}  // namespace abut
