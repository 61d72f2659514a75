/// What contacts are made of, for those who want to see why bodies touch as they do.
#pragma once

#include <vector>

#include "engine/types.h"

namespace abut {

/// The factors of a contact's activity, each in [0, 1]; 1 where a kind of contact does not have one.
/// The activity is their product.
struct ContactIndicators {
  double penetration = 1;  ///< S(1/2 - d/(8 tau_p)): how deep it lies
  double window = 1;       ///< of two edges: W_A W_B P, whether they pass each other between their ends
  double cone = 1;         ///< of two edges: G_A G_B, whether the normal lies in both normal cones; of a
                           ///< vertex: w of closest_features.h
  double gate = 1;         ///< of two edges: F and both gates, whether they are the surfaces nearby
  double share = 1;        ///< of an edge in a solid: what its neighbours leave of it; of witness points and
                           ///< patches of convex parts: their weights
  double selection = 1;    ///< of the vertex, or of both edges, among the K that reach deepest; and what
                           ///< flush faces leave of it
};

/// What Contact does not say.
struct ContactInspection {
  bool known = false;  ///< not of blended contacts
  ContactIndicators indicators;
  /// Of two edges: on these, or on the capsules around them. Of others on the surface of the owner's ball,
  /// and where the solid's is along the normal (of a distance that is not metric, to first order) [m].
  Vec3<double> witness_A_W = Vec3<double>::Zero(), witness_B_W = Vec3<double>::Zero();
};

/// A vertex or an edge that could touch, and how much of it is chosen.
struct ContactCandidate {
  int body = -1, other = -1;  ///< whose it is, and what it could touch
  int feature = -1;           ///< contact point, or edge of the body
  bool is_edge = false;
  double weight = 0;                            ///< (0, 1] of the soft choice
  Vec3<double> start_W = Vec3<double>::Zero();  ///< the point, or the edge's start [m]
  Vec3<double> end_W = Vec3<double>::Zero();    ///< the edge's end, or the point again [m]
};

struct ManifoldInspection {
  std::vector<ContactInspection> contacts;  ///< one for each contact of the manifold
  std::vector<ContactCandidate>
      candidates;  ///< of the pairs that have contacts; of vertices where a choice is made
};

}  // namespace abut
