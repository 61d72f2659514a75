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

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "collision/manifold/contact.h"
#include "collision/manifold/edge_edge.h"
#include "collision/manifold/edge_normals.h"
#include "collision/manifold/geometry_gradient.h"
#include "collision/manifold/kernel/derivative_kernels.h"
#include "collision/manifold/kernel/detection_kernels.h"
#include "collision/manifold/near_features.h"
#include "collision/manifold/neighbour_weights.h"
#include "collision/manifold/soft_selection.h"
#include "collision/manifold/solid_bars.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/model.h"

namespace abut {

/// A body as edge contacts see it.
struct EdgeBody {
  /// @param features  of its contact points and its solid
  EdgeBody(const Body& body, const ShapeSdf& sdf, const FeatureColumns& features);
  /// Of a body of the same geometry as one that is prepared.
  EdgeBody(const Body& of, const EdgeBody& prepared) : EdgeBody(prepared) { body = &of; }

  /// Makes these its edges.
  void set_edges(std::vector<MeshEdge> of_mesh);
  /// @param X_WO  of this body
  [[nodiscard]] Edge<double> edge_in_world(int edge, const Pose<double>& X_WO) const;
  [[nodiscard]] BoundedSolid solid() const { return {sdf, features->bounds.data()}; }

  const Body* body;
  const ShapeSdf* sdf;
  const FeatureColumns* features;
  std::vector<MeshEdge> edges;  ///< none if the body has no edge contacts
  std::vector<EdgeEnds> ends;   ///< of these
  int selected = 0;             ///< K
};

/// Adds to dL/d(contact points, primitives) what dL/d(normals of edges) contributes, and sets that to 0. An
/// edge's normal does not depend on the pose, so that this needs to be done but once for sums over many
/// poses.
void pass_on_edge_normals(const EdgeBody& body, GeometryGradient& geometry);

/// The selected edges of a body of a pair.
struct EdgeSelection {
  SoftSelection<double> selection;
  std::vector<int> edges;             ///< ascending
  std::vector<EdgeEnds> ends;         ///< places among the near points, -1: far
  std::vector<double> metrics;        ///< clamped [m]; none if all edges are selected
  std::vector<double> weights;        ///< with 0 for what fills the columns up
  std::vector<double> columns;        ///< EdgeColumns in W
  std::size_t stride = 0;             ///< of the columns
  std::vector<double> point_metrics;  ///< memory: of the near points, clamped [m]

  [[nodiscard]] EdgeColumns edge_columns() const { return {columns.data(), static_cast<int>(stride)}; }
  [[nodiscard]] Edge<double> edge(std::size_t i) const {
    const auto at = [&](std::size_t c) { return columns[c * stride + i]; };
    return {{at(0), at(1), at(2)}, {at(3), at(4), at(5)}, {at(6), at(7), at(8)}};
  }
};

/// Everything about the edges of one pair at one state. Keeps its memory from one use to the next.
struct EdgePair {
  struct Side : EdgeSelection {
    std::vector<int> place;                        ///< of each edge of the body in `edges`, -1: none
    std::vector<std::array<double, 2>> distances;  ///< of the ends of these edges, less the radius [m]
    std::vector<std::array<double, 2>> slopes;     ///< of their clamped distances; 0 where they do not matter
  };
  int body_A = -1, body_B = -1;
  Side sides[2];
  std::size_t rows = 0, columns = 0;  ///< edges of A; of B, filled up to whole packs
  /// (rows, columns); distances less both radii.
  std::vector<double> softened, interior, clash, nearness, slopes, by_row, by_column;
  std::vector<double> row_sums, column_sums;
  std::vector<double> points[2][3];  ///< witness points in W

  /// Row and column of a feature; -1 where its edge is not selected.
  [[nodiscard]] std::pair<int, int> place_of(const ContactFeature& feature) const {
    return {sides[0].place[static_cast<std::size_t>(feature.feature_A)],
            sides[1].place[static_cast<std::size_t>(feature.feature_B)]};
  }
  [[nodiscard]] Vec3<double> point(int side, std::size_t at) const {
    return {points[side][0][at], points[side][1][at], points[side][2][at]};
  }

  /// dL/d of what the contacts say, per pair of edges and side.
  struct Bars {
    std::vector<double> distance, penetration[2], weight[2], point[3], normal[3];
    std::vector<double> sdf[2];  ///< of the other solid at the witness points, where known [m]
    bool any = false;
  } bars;

  struct Memory {
    SolidBars solids[2];
    std::vector<int> rows, columns;
    std::vector<std::ptrdiff_t> places;
    std::array<std::vector<double>, 3> coordinates[2];  // of witness points in the solids' frames
    std::vector<double> samples[2], normals;
    std::vector<double> softened, interior, clash, of_edges[2], sums[2], weights, metrics;
    std::vector<double> pairs, edges[2];
    std::vector<std::pair<std::size_t, std::size_t>> witnesses[2];  // pair of edges, place among the bars
    std::vector<std::pair<int, std::size_t>> ends[2];               // point, place among the bars
  } memory;
};

/// Memory of EdgeContacts::detect(). Allocates only while it grows.
struct EdgeSearch {
  struct Side : EdgeSelection {
    std::vector<int> first, primitives;  ///< the other solid's, near witness points
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
  ///
  /// @param near  brought up to date by near_query(); not used of a side that selects_all()
  void prepare(const Pose<double>& X_WA, const Pose<double>& X_WB, const PairMemory::Sides& near,
               EdgePair& pair) const;

  /// What prepare() and detect() have to know of the contact points of a body.
  [[nodiscard]] NearQuery near_query(int side, const Pose<double>& X_WA, const Pose<double>& X_WB) const;

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
              std::pair<int, int> bodies, EdgeSearch& search, std::vector<Contact>& contacts) const;

  /// The contacts of features, overwritten; weight 0 where edges are not selected.
  void contacts(const Pose<double>& X_WA, const Pose<double>& X_WB, std::span<const ContactFeature> features,
                EdgePair& pair, std::span<Contact> contacts) const;

  /// Notes dL/d(outputs of a contact of this pair) in `pair.bars`.
  void add_bar(const Contact& contact, const ContactBar& bar, EdgePair& pair) const;

  /// Adds dL/d(poses), and dL/d(shapes) if there is a `geometry`, from what was noted; of the normals of
  /// edges only GeometryGradient::edge_normals.
  void vjp(const Pose<double>& X_WA, const Pose<double>& X_WB, EdgePair& pair, Vec6<double>& pose_A_bar,
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
  /// What a contact says of its place, from witness points and n.
  void set_geometry(const Vec3<double>& e_A, const Vec3<double>& e_B, const Vec3<double>& n,
                    Contact& contact) const;
  void select(int side, const Pose<double>& X_WO, const NearFeatures& near, bool whole_packs,
              EdgeSelection& s) const;
  [[nodiscard]] EdgePairMatrices matrices(EdgePair& pair) const;

  const EdgeBody *A_, *B_;
  EdgeEdgeSettings<double> settings_;
  NeighbourSettings<double> neighbours_;
  double size_, activity_smoothing_, band_, largest_metric_, clamp_width_;  ///< [m]
};

}  // namespace abut
