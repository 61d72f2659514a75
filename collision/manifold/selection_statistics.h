/// How many edges and vertices of two bodies touch at a time, by Monte Carlo: what |E_b| and |V_b| have to
/// be.
///
/// A sample is a random relative pose of two bodies that collide: a uniform rotation, a uniform direction
/// along which they are brought together until they touch, and a push into each other. Of it are counted
///   edge pairs  best buddies among all pairs of edges (each is the other's closest edge, by the exact
///               distance of segments) whose witness point lies inside the other body: as many edges of
///               either body as there have to be among its |E_b| selected ones
///   vertices    contact points inside the other body and deeper than each of their neighbours in the mesh:
///               |V_b|
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       supplement II-A. Best buddies that do not touch are not counted here: there are dozens in any pose.
#pragma once

#include <vector>

#include "collision/manifold/mesh_edges.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "engine/random.h"

namespace abut {

struct SelectionCounts {
  int edge_pairs = 0;
  int vertices_A = 0, vertices_B = 0;
};

/// Prepared once for two bodies, const afterwards; they must outlive it.
class SelectionSampler {
 public:
  /// @param depth  greatest push into each other, relative to the size of the smaller body, > 0
  /// Throws std::invalid_argument if both bodies are unbounded, or neither has anything to touch the other
  /// with.
  SelectionSampler(const Body& A, const Body& B, double depth);

  /// A pose of B in A's frame at which they collide. Throws std::runtime_error if none is found in 1000
  /// attempts.
  [[nodiscard]] Pose<double> colliding_pose(Random& random) const;

  [[nodiscard]] SelectionCounts counts(const Pose<double>& X_AB) const;

 private:
  struct Side {
    explicit Side(const Body& of);

    const Body* body;
    ShapeSdf sdf;
    std::vector<MeshEdge> edges;
    std::vector<std::vector<int>> neighbours;  // of each contact point
    double reach = 0.0;                        // from the origin [m]; infinite with a half-space
  };

  /// Least distance of a contact point of either body to the other's solid [m].
  [[nodiscard]] double gap(const Pose<double>& X_AB) const;

  Side A_, B_;
  double depth_;  // [m]
};

/// The least value that is not below a share `quantile` of the values (nearest rank); 0 if there are none.
[[nodiscard]] int quantile_of(std::vector<int> values, double quantile);

}  // namespace abut
