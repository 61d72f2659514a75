/// The contacts of one pair of bodies, at one state or many, in single or double precision: for those who
/// want contacts and not a simulation. They come from the function that finds a simulation's
/// (kernel/pair_kernels.h).
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "collision/manifold/contact_block.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "engine/contact_config.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut {

using PosePair = std::array<Pose<double>, 2>;  ///< X_WA, X_WB

/// Const and safe to share between threads; T is float or double.
template <typename T>
class PairManifold {
 public:
  /// Throws std::invalid_argument for a bad configuration, and for what is done with whole simulations only:
  /// selected vertices and edges, edge_sdf, reductions, other detectors.
  PairManifold(const Body& A, const Body& B, const ContactConfig& config);
  PairManifold(const PairManifold&) = delete;
  PairManifold& operator=(const PairManifold&) = delete;

  /// The contacts at one state. Allocates only while scratch and block grow. Throws std::invalid_argument for
  /// a pose that is not finite.
  void find(const PosePair& X_W, ManifoldOrder order, PairScratch<T>& scratch, ContactBlock<T>& block) const;

  /// Those at many: blocks[i] of X_W[i].
  ///
  /// @param threads  > 0, or 0 for as many as the machine has
  void find(std::span<const PosePair> X_W, ManifoldOrder order, int threads,
            std::vector<ContactBlock<T>>& blocks) const;

  /// tau_p [m].
  [[nodiscard]] T activity_smoothing() const { return problem_->activity_smoothing; }

 private:
  struct Geometry {
    explicit Geometry(const Body& body);
    ShapeSdf sdf;
    std::vector<MeshEdge> edges;
    BodyFeatures<T> features;
  };
  Geometry A_, B_;
  std::unique_ptr<const PairProblem<T>> problem_;
};

extern template class PairManifold<float>;
extern template class PairManifold<double>;

}  // namespace abut
