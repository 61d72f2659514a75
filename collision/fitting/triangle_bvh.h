/// Bounding volume hierarchy of a triangle mesh: nearest points, winding numbers, rays, overlaps.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/check.h"
#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// The triangles of a mesh, sorted into boxes within boxes, four to a node.
///
/// The tree is a copy: it does not refer to the mesh that it was made of. Any triangles will do, with area or
/// without, closed or not. Building it takes O(n log n) and depends on the mesh alone. Queries are const,
/// take O(log n) for points near the surface, never allocate, and may run on any number of threads.
///
/// Memory: 72 bytes a triangle for its corners, 4 for its index, and about 70 for the nodes.
///
/// Signs: triangles are counter-clockwise seen from outside, and winding numbers 1 inside.
class TriangleBvh {
 public:
  /// The point of the mesh that is nearest to a query point.
  struct Nearest {
    int triangle = -1;                          ///< of the mesh; -1: there is none within the bound
    double distance = k_infinity;               ///< [m]
    Vec3<double> point = Vec3<double>::Zero();  ///< of that triangle [m]
    int slot = -1;                              ///< of that triangle in the tree: a hint for the next query
  };

  /// How far a search may end before the nearest point is found.
  struct Accuracy {
    double exact_below = k_infinity;  ///< distances below this one are exact [m]
    double far_tolerance = 0.0;       ///< larger ones are at most 1 + far_tolerance times the exact one, >= 0
  };

  TriangleBvh() = default;
  /// Throws std::invalid_argument for a mesh without triangles, an index out of range or a coordinate that is
  /// not finite.
  explicit TriangleBvh(const TriangleMesh& mesh);

  [[nodiscard]] int triangle_count() const { return static_cast<int>(triangle_of_slot_.size()); }
  /// The box around all triangles [m].
  [[nodiscard]] const Eigen::AlignedBox3d& bounds() const { return bounds_; }
  /// Memory that the tree holds [bytes].
  [[nodiscard]] std::size_t memory() const;

  /// The nearest point of the mesh. Never allocates, throws for no p; NaN in, no triangle out.
  [[nodiscard]] Nearest nearest(const Vec3<double>& p) const { return nearest(p, {}, {-1, -1, -1}); }
  /// The same with triangles to try first (`slot` of earlier answers; negative: none), which change the time
  /// that the search takes, and, if some are equally near or the accuracy is limited, which of them is found.
  [[nodiscard]] Nearest nearest(const Vec3<double>& p, const Accuracy& accuracy,
                                const std::array<int, 3>& hints) const;

  /// The generalised winding number of p: the solid angle of the mesh seen from p, by 4 pi,
  ///
  ///   w(p) = 1/(4 pi) sum over triangles of  int n.(x - p)/|x - p|^3 dA.
  ///
  /// Of a closed surface it is 1 inside and 0 outside; holes make it a harmonic function that still tells
  /// inside from outside at 1/2. Triangles further from p than `opening` times the radius of the ball around
  /// them enter by the Taylor series of the kernel about their centroid, up to the first moment (relative
  /// error O(opening^-2)); the others by their solid angle (Van Oosterom and Strackee 1983).
  ///
  /// @see  Barill et al. (2018), "Fast winding numbers for soups and clouds".
  [[nodiscard]] double winding_number(const Vec3<double>& p, double opening = 2.0) const;

  /// How many triangles the ray from `origin` along `direction` passes through, and the first distance in
  /// units of |direction|.
  struct Crossings {
    int count = 0;
    double first = k_infinity;
    int triangle = -1;  ///< of the mesh, at that distance; -1: none
  };
  [[nodiscard]] Crossings crossings(const Vec3<double>& origin, const Vec3<double>& direction) const;

  /// Calls visit(triangle) for each triangle whose bounding box meets the given one; and for others that come
  /// within 1e-5 of the size of the mesh.
  template <typename Visit>
  void visit_overlaps(const Eigen::AlignedBox3d& box, const Visit& visit) const;

 private:
  // Children of a node: lanes of each array. Coordinates of floats are those of to_unit(), in which the mesh
  // has size 1 whatever its own is; boxes are slightly too large.
  struct alignas(16) Node {
    float lower[3][4], upper[3][4];
    float normal[3][4], low[4], high[4];  // the slab low <= normal.x <= high: thin where the surface is flat
    std::int32_t child[4];                // >= 0: a node; < 0: ~(8 first + count) of the slots of a leaf
  };
  // Of the triangles of each child: centroid, squared radius of the ball about it around them, area vector
  // sum A n, and the symmetric part of sum A n d^T, d being their centroids from c.
  struct alignas(16) Moments {
    float center[3][4], squared_radius[4], dipole[3][4], second[6][4];
  };
  struct Item;
  struct Range {
    int first = 0, last = 0;
  };
  static constexpr int k_leaf = 4;                 // triangles, at most
  static constexpr int k_stack = 256;              // see split()
  static constexpr float k_margin = 2e-6f;         // of boxes; covers the rounding to float
  static constexpr float k_shrink = 1.0f - 4e-6f;  // of squared distances from boxes: the same for far points

  static constexpr bool is_leaf(std::int32_t child) { return child < 0; }
  static constexpr int first_of(std::int32_t child) { return ~child / 8; }
  static constexpr int count_of(std::int32_t child) { return ~child % 8; }

  int split(std::vector<Item>& items, Range range, int depth) const;
  std::int32_t build(std::vector<Item>& items, Range range, int depth);
  Range add_moments(std::int32_t node);
  [[nodiscard]] Vec3<double> to_unit(const Vec3<double>& x) const { return scale_ * (x - center_); }
  /// The same, kept finite: points far away come nearer, and so not farther from any box.
  [[nodiscard]] Vec3<float> query(const Vec3<double>& x) const {
    return to_unit(x).cwiseMax(-1e4).cwiseMin(1e4).cast<float>();
  }
  [[nodiscard]] const Vec3<double>& corner(int slot, int i) const { return corners_[3 * at(slot) + at(i)]; }

  Eigen::AlignedBox3d bounds_;
  Vec3<double> center_ = Vec3<double>::Zero();
  double scale_ = 1.0;       // by the size [1/m]
  std::vector<Node> nodes_;  // the first is the root
  std::vector<Moments> moments_;
  std::vector<Vec3<double>> corners_;  // three a slot
  std::vector<int> triangle_of_slot_;
};

template <typename Visit>
void TriangleBvh::visit_overlaps(const Eigen::AlignedBox3d& box, const Visit& visit) const {
  if (nodes_.empty()) return;
  const Vec3<float> lower = query(box.min()), upper = query(box.max());
  std::array<std::int32_t, k_stack> stack;
  int size = 0;
  stack[at(size++)] = 0;
  while (size > 0) {
    const Node& node = nodes_[at(stack[at(--size)])];
    for (int lane = 0; lane < 4; ++lane) {
      bool meets = true;
      for (int k = 0; k < 3; ++k)
        meets = meets && lower[k] <= node.upper[k][lane] && upper[k] >= node.lower[k][lane];
      if (!meets) continue;
      const std::int32_t child = node.child[lane];
      if (is_leaf(child)) {
        for (int i = 0; i < count_of(child); ++i) visit(triangle_of_slot_[at(first_of(child) + i)]);
      } else {
        ABUT_ASSERT(size < k_stack);
        stack[at(size++)] = child;
      }
    }
  }
}

}  // namespace abut
