/// The contact kernel: all contacts of a pair of bodies at one state, lanes at a time; one compilation of
/// pair_kernel.h for each instruction set.
#pragma once

#include <cstdint>
#include <vector>

#include "collision/manifold/contact_block.h"
#include "collision/manifold/convex_edges.h"
#include "collision/manifold/kernel/body_features.h"
#include "engine/contact_config.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// A pair of bodies and its settings in metres. The bodies must outlive it.
template <typename T>
struct PairProblem {
  const BodyFeatures<T>* bodies[2];
  bool vertices[2];  ///< whether the vertices of A, of B carry contacts
  bool edge_edge;
  bool may_lie_flush[2];                                  ///< faces of A on B, of B on A (flush_faces.h)
  T flush_distance, flush_normal, flush_away, flush_gap;  ///< FlushBand: v [m], u, w [m], v/2 [m]
  T reach;               ///< distance from which on contacts are left out [m]
  T activity_smoothing;  ///< tau_p [m]
  T cone_width;          ///< w_c of normal cones of vertices [rad]
  T inverse_area;        ///< 1/the smallest area of a contact point of both [1/m^2]
  T cone_cos, cone_sin;  ///< of the angle by which cone_smoothing widens normal cones
  T entry_shift[2];      ///< how far from their crossings edges of A, of B enter the other's wedges [m]
  ConvexEdgeSettings<T> edges;
  ConvexEdgeSettings<float> edge_search;

  /// @param size      of the smaller body [m]
  /// @param inradius  of the thinner body [m]
  PairProblem(const BodyFeatures<T>& A, const BodyFeatures<T>& B, const ContactConfig& config, double size,
              double inradius, double reach);
};

/// Poses of both bodies in the frame C, with the axes of W and the origin midway between theirs, so that
/// nothing depends on which is A; and of each in the frame of the other.
template <typename T>
struct PairPoses {
  struct Map {
    Mat3<T> R;
    Vec3<T> p;  ///< [m]
  };
  Map in_center[2];
  Map in_other[2];

  PairPoses(const Pose<double>& X_WA, const Pose<double>& X_WB);
};

/// Pairs of edges, or of groups of them: of A, of B.
struct EdgePairList {
  std::int32_t* of[2];
  int count = 0;
};

/// Columns of what the weight of a vertex contact is made of.
enum VertexNumber {
  k_vertex_strict,  ///< C(w_r)
  k_vertex_wide,    ///< C(w_p)
  k_vertex_flush,   ///< what flush faces leave of it
  k_vertex_share,   ///< b of the patch's sums, but for C(w_p)
  k_vertex_weight,  ///< w of closest_features.h
  k_vertex_floor,   ///< f
  k_vertex_numbers
};

/// So many pairs, or a few more, are divided or tested at once.
inline constexpr int k_edge_pairs_at_once = 1024;

/// Memory of the search for pairs of edges. Frame A.
struct EdgeSearchScratch {
  EdgeSearchScratch() = default;
  EdgeSearchScratch(const EdgeSearchScratch&) = delete;  // its pointers lead into its own vectors
  EdgeSearchScratch& operator=(const EdgeSearchScratch&) = delete;
  EdgeSearchScratch(EdgeSearchScratch&&) = default;
  EdgeSearchScratch& operator=(EdgeSearchScratch&&) = default;

  float* bounds[2][k_edge_levels];  ///< those of EdgeBlocks, packs after packs
  float* cones[2];                  ///< EdgeCone of each edge of near blocks, likewise
  std::uint8_t* near_blocks[2];     ///< given: whether the edges of a block may touch the other body
  EdgePairList block_pairs, quarter_pairs;
  EdgePairList edge_pairs;  ///< found

  void prepare(const EdgeBlocks& A, const EdgeBlocks& B);

 private:
  std::vector<float> numbers_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::int32_t> indices_;
};

/// Memory of one thread; nothing is allocated while a kernel runs.
template <typename T>
struct PairScratch {
  PairScratch() = default;
  PairScratch(const PairScratch&) = delete;  // its pointers lead into its own vectors
  PairScratch& operator=(const PairScratch&) = delete;
  PairScratch(PairScratch&&) = default;
  PairScratch& operator=(PairScratch&&) = default;

  // Points near a solid, with the primitives that matter to packs of them.
  T* list[4];
  std::uint64_t* list_primitives;
  // What flush faces make of the points in PointBlocks: weights and area factors.
  T* weights;
  T* area_factors;
  std::int32_t* contact_of_point[2];
  // The faces that lie flush, and the solid at supports in FaceSupports: distance and normal.
  std::int32_t* flush_faces;
  T* at_supports[4];
  bool faces_change;  ///< found: whether a face of the pair lies between flush and not
  // Contact points that touch the other body: by the body, A or B, and by place, at rest or slid.
  T* touching[2][2][4];
  std::uint64_t* touching_primitives[2][2];
  // What the weights of vertices are made of, contact by contact.
  T* vertices[k_vertex_numbers];
  T patch;  ///< found: P of the pair (closest_features.h)
  std::uint32_t* kept;
  std::uint16_t* nearby;
  T* lower;
  EdgeSearchScratch search;
  // Pairs with weight, until their gates are known.
  T* candidates[14];  ///< CandidateColumn
  std::int32_t* candidate_edges[2];
  int candidate_room = 0;
  bool lacks_candidate_room = false;  ///< why the kernel had no room: of the candidates, or else of the block

  /// Makes room for a problem, and for as many candidates as there was before at least. Keeps nothing.
  /// (Lists of pairs need the same room for every problem.)
  void prepare(const PairProblem<T>& problem);
  /// Doubles the room for candidates, to as many as there can be at most.
  void grow(const PairProblem<T>& problem);

 private:
  std::vector<T> numbers_;
  std::vector<std::uint64_t> masks_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint16_t> nearby_;
  std::vector<std::int32_t> indices_;
};

/// One compilation. Appends as much as the order of the block says, its points from the origin of C; says
/// whether there was room in scratch and block. If not, nothing is appended.
template <typename T>
using PairKernelFunction = bool (*)(const PairProblem<T>&, const PairPoses<T>&, PairScratch<T>&,
                                    ContactBlock<T>&);

struct PairKernels {
  PairKernelFunction<float> find_float;
  PairKernelFunction<double> find_double;

  [[nodiscard]] static PairKernels base();
  [[nodiscard]] static PairKernels avx2();
  [[nodiscard]] static PairKernels avx512();
};

/// Appends all contacts of a pair to a block, by the kernel for instruction_set(). Every one of them is found
/// here, those of a simulation too. For derivatives the origin of the block is that of C (center_of()).
template <typename T>
void find_pair_contacts(const PairProblem<T>& problem, const Pose<double>& X_WA, const Pose<double>& X_WB,
                        PairScratch<T>& scratch, ContactBlock<T>& block);

/// Origin of the frame C in W.
[[nodiscard]] inline Vec3<double> center_of(const Pose<double>& X_WA, const Pose<double>& X_WB) {
  return 0.5 * (X_WA.p + X_WB.p);
}

extern template struct PairProblem<float>;
extern template struct PairProblem<double>;
extern template struct PairPoses<float>;
extern template struct PairPoses<double>;
extern template struct PairScratch<float>;
extern template struct PairScratch<double>;

}  // namespace abut
