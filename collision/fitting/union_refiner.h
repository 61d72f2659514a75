/// The state of a joint refinement: a shape, the grid points that it is compared at, and its steps.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/free_primitive.h"
#include "collision/fitting/superquadric_merging.h"
#include "collision/fitting/union_refinement.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// One primitive fewer: `first` is left out, or, if there is a `second`, `merged` takes the place of both.
struct PrimitiveRemoval {
  int first = 0;
  int second = -1;
  Primitive merged = {};
  double change = k_infinity;  ///< of the cost, before anything else moves [m^2]
};

/// Minimizes the cost of refine_union() over grid points near the surface.
class UnionRefiner {
 public:
  /// Both must outlive it.
  UnionRefiner(const Shape& shape, const DistanceGrid& grid, const UnionRefinementOptions& options);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  void set_shape(const Shape& shape);

  /// The shape's distances on the grid, where they are within the band.
  [[nodiscard]] std::vector<double> distances() const;

  /// Chooses grid points near the zero set of the grid or of the shape, given distances().
  void choose_samples(const std::vector<double>& distances);

  /// Sum of squared residuals of a shape [m^2].
  [[nodiscard]] double cost_of(const Shape& shape) const;

  /// Root mean square of the residuals [m].
  [[nodiscard]] double error() const;

  /// Levenberg-Marquardt steps until the cost settles; returns how many were accepted.
  int descend(int most_steps, const std::function<void()>& after_step = {});

  /// Leaves out primitives as long as the cost does not rise; and, while there are too many, removes the
  /// cheapest one. Counts both in the report.
  void prune(UnionRefinementReport& report);

  /// The removal by which the cost rises least; with an infinite change if only one added primitive is left.
  [[nodiscard]] PrimitiveRemoval cheapest_removal() const;
  void remove(const PrimitiveRemoval& removal);

  /// By how much the cost rises with another primitive in place of `first` and, unless it is -1, of
  /// `second` > first [m^2].
  [[nodiscard]] double change_by(int first, int second, const Primitive& other) const;

 private:
  /// A sum of squares about the current shape.
  struct NormalEquations {
    std::map<std::pair<int, int>, SuperquadricMatrix> JJ;  // of pairs of primitives i >= j
    std::vector<PrimitiveTangent> Je;
  };

  template <typename Work>
  void for_each_part(const Work& work) const;
  [[nodiscard]] int chunk_count() const;
  [[nodiscard]] std::vector<double> distances_at_samples(const ShapeSdf& sdf) const;
  [[nodiscard]] double residual(double distance, std::size_t sample) const;
  [[nodiscard]] std::vector<Eigen::Index> points_near(const ShapeSdf& sdf) const;
  [[nodiscard]] PrimitiveRemoval least_useful() const;
  [[nodiscard]] PrimitiveRemoval cheapest_merge() const;
  [[nodiscard]] NormalEquations normal_equations() const;
  [[nodiscard]] Eigen::VectorXd solve(const NormalEquations& equations, double damping) const;
  [[nodiscard]] double damped(const SuperquadricMatrix& block, int a, double damping) const;
  [[nodiscard]] bool move(Shape& shape, const Eigen::VectorXd& change) const;

  const DistanceGrid& grid_;
  const UnionRefinementOptions& options_;
  double h_, T_;  // spacing and truncation [m]
  Shape shape_;
  Points points_{3, 0};
  std::vector<double> targets_;  // truncated distances
};

}  // namespace abut
