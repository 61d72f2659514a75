/// The smooth contact manifold of one pair of bodies at many relative poses, in float or double.
///
/// Contacts come in the frame of A, whose origin and axes stand for the world: X_WA = 1, X_WB = X_AB. A pose
/// of the batch does not depend on the others, nor on how many threads there are: results are the same bit
/// for bit. Instruction sets are chosen at run time (engine/instruction_set.h); results of two of them
/// differ by rounding.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collision/manifold/contact.h"
#include "collision/manifold/kernel/body_features.h"
#include "collision/manifold/kernel/pair_buffers.h"
#include "engine/check.h"
#include "engine/contact_config.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/smooth.h"

namespace abut {

/// Which contacts are computed.
///   active  those with weight: activity > 0 (vertices), > 1e-7 (edges)
///   all     every vertex and every pair of selected edges, whatever its weight
enum class ManifoldScope { active, all };

/// The contacts at one pose of a batch: views of its numbers.
template <typename T>
class ManifoldView {
 public:
  ManifoldView(const T* columns, int stride, std::span<const int> counts, const BodyFeatures<T>& A,
               const BodyFeatures<T>& B, ManifoldOrder order)
      : columns_(columns), stride_(stride), counts_(counts), A_(&A), B_(&B), order_(order) {}

  [[nodiscard]] int size() const { return counts_[0] + counts_[1] + counts_[2] + counts_[3]; }
  /// Contacts of A's vertices, of B's, at witness points on A's edges, on B's; in this order.
  [[nodiscard]] std::span<const int> counts() const { return counts_; }
  /// What was computed, and may be asked for.
  [[nodiscard]] ManifoldOrder order() const { return order_; }

  [[nodiscard]] ContactKind kind(int i) const {
    return i < counts_[0] + counts_[1] ? ContactKind::vertex_sdf : ContactKind::edge_edge;
  }
  /// Whether the witness point on B's edge counts (edge contacts), not that on A's.
  [[nodiscard]] bool on_B(int i) const { return i >= counts_[0] + counts_[1] + counts_[2]; }
  [[nodiscard]] Vec3<T> point(int i) const {
    return {at(k_point, i), at(k_point + 1, i), at(k_point + 2, i)};
  }
  [[nodiscard]] T signed_distance(int i) const { return at(k_distance, i); }
  /// From A to B.
  [[nodiscard]] Vec3<T> normal(int i) const {
    return {at(k_normal, i), at(k_normal + 1, i), at(k_normal + 2, i)};
  }
  [[nodiscard]] T activity(int i) const { return at(k_activity, i); }
  /// Index of the contact point (vertex contacts) or of the edge in mesh_edges() of the body; -1 if none.
  [[nodiscard]] int feature_A(int i) const { return feature(*A_, k_place_A, i); }
  [[nodiscard]] int feature_B(int i) const { return feature(*B_, k_place_B, i); }

  // Derivatives by left perturbations [rotation; translation] of the poses of A, then of B, each about its
  // origin. Of points and activities they need ManifoldOrder::complete.

  /// (12)
  [[nodiscard]] Eigen::Matrix<T, 1, 12> distance_jacobian(int i) const {
    ABUT_ASSERT(order_ >= ManifoldOrder::distance_gradient);
    return row(k_distance_by_poses, i);
  }
  /// (3, 12)
  [[nodiscard]] Eigen::Matrix<T, 3, 12> normal_jacobian(int i) const {
    ABUT_ASSERT(order_ >= ManifoldOrder::jacobian);
    return rows(k_normal_by_poses, i);
  }
  /// (3, 12)
  [[nodiscard]] Eigen::Matrix<T, 3, 12> point_jacobian(int i) const {
    ABUT_ASSERT(order_ >= ManifoldOrder::complete);
    return rows(k_point_by_poses, i);
  }
  /// (12)
  [[nodiscard]] Eigen::Matrix<T, 1, 12> activity_jacobian(int i) const {
    ABUT_ASSERT(order_ >= ManifoldOrder::complete);
    return row(k_activity_by_poses, i);
  }

  /// A whole column (ManifoldColumn), one number a contact.
  [[nodiscard]] std::span<const T> column(int c) const {
    return {columns_ + static_cast<std::ptrdiff_t>(c) * stride_, static_cast<std::size_t>(size())};
  }

 private:
  [[nodiscard]] T at(int c, int i) const { return columns_[static_cast<std::ptrdiff_t>(c) * stride_ + i]; }
  [[nodiscard]] Eigen::Matrix<T, 1, 12> row(int first, int i) const {
    Eigen::Matrix<T, 1, 12> r;
    for (int c = 0; c < 12; ++c) r[c] = at(first + c, i);
    return r;
  }
  [[nodiscard]] Eigen::Matrix<T, 3, 12> rows(int first, int i) const {
    Eigen::Matrix<T, 3, 12> J;
    for (int r = 0; r < 3; ++r) J.row(r) = row(first + 12 * r, i);
    return J;
  }
  [[nodiscard]] int feature(const BodyFeatures<T>& body, int c, int i) const {
    const auto place = static_cast<std::ptrdiff_t>(at(c, i));
    if (place < 0) return -1;
    const auto k = static_cast<std::size_t>(place);
    return kind(i) == ContactKind::vertex_sdf ? body.points.point[k] : body.edges.edge[k];
  }

  const T* columns_;
  int stride_;
  std::span<const int> counts_;
  const BodyFeatures<T>*A_, *B_;
  ManifoldOrder order_;
};

/// (n, 8) numbers of n contacts that stand for a change of their outputs, or dL/d of these: columns are
/// point (3), signed distance, normal (3) and activity, as in ManifoldColumn.
template <typename T>
using ContactNumbers = Eigen::Matrix<T, Eigen::Dynamic, 8>;
/// (12) tangents [rotation; translation] of the poses of A, then of B, or dL/d of these.
template <typename T>
using PosePairTangent = Eigen::Matrix<T, 12, 1>;

/// Results of a batch. Memory is kept from one evaluation to the next.
template <typename T>
class ManifoldBatch {
 public:
  [[nodiscard]] int size() const { return static_cast<int>(poses_.size()); }
  [[nodiscard]] ManifoldView<T> operator[](int pose) const;

  /// Contacts of all poses, and of those before one.
  [[nodiscard]] int contacts() const { return contacts_; }
  [[nodiscard]] int first_contact(int pose) const {
    return poses_[static_cast<std::size_t>(pose)].first_contact;
  }

 private:
  template <typename>
  friend class PairManifold;
  struct PoseResult {
    std::size_t chunk = 0, begin = 0;
    int stride = 0;
    int first_contact = 0;
    std::array<int, k_sections> counts{};
  };
  const BodyFeatures<T>*A_ = nullptr, *B_ = nullptr;
  std::vector<PoseResult> poses_;
  int contacts_ = 0;
  std::vector<std::vector<T>> chunks_;  ///< columns of runs of poses, in order
  std::vector<PairBuffers<T>>
      buffers_;  ///< of each thread, for the manifold and order of the last evaluation
  std::uint64_t manifold_ = 0;
  ManifoldOrder order_ = ManifoldOrder::value;
};

/// Throws std::invalid_argument for a bad configuration, and for what batches do not follow: selected
/// vertices, edges against solids, reductions, fidelity "paper".
void require_batch_settings(const Body& A, const Body& B, const ContactConfig& config);

/// A pair of bodies made ready. Const and safe to share between threads; T is float or double.
template <typename T>
class PairManifold {
 public:
  /// Throws std::invalid_argument if the configuration does not fit the bodies.
  PairManifold(const Body& A, const Body& B, const ContactConfig& config,
               ManifoldScope scope = ManifoldScope::active);
  PairManifold(const PairManifold&) = delete;
  PairManifold& operator=(const PairManifold&) = delete;

  /// The manifolds at poses of B in A.
  ///
  /// Throws std::invalid_argument for a pose that is not finite.
  ///
  /// @param threads  > 0, or 0 for as many as the machine has
  void evaluate(std::span<const Pose<double>> X_AB, ManifoldOrder order, int threads,
                ManifoldBatch<T>& batch) const;

  /// One manifold, by buffers of the caller's; allocates nothing once they are large enough.
  void evaluate(const Pose<double>& X_AB, ManifoldOrder order, PairBuffers<T>& buffers) const;
  [[nodiscard]] PairBuffers<T> make_buffers(ManifoldOrder order) const {
    return PairBuffers<T>(problem_, order);
  }
  [[nodiscard]] ManifoldView<T> view(const PairBuffers<T>& buffers) const {
    return {buffers.columns, buffers.capacity, buffers.count, A_, B_, buffers.order()};
  }

  [[nodiscard]] const BodyFeatures<T>& A() const { return A_; }
  [[nodiscard]] const BodyFeatures<T>& B() const { return B_; }

 private:
  BodyFeatures<T> A_, B_;
  PairProblem<T> problem_;
  std::uint64_t id_;  ///< of no other manifold in this program, > 0
};

/// dL/d(poses of A, of B) of L = mean of the signed distances of all contacts; 0 without any. The contacts
/// must have been evaluated with derivatives. Returns the mean.
template <typename T>
T mean_distance_gradient(const ManifoldView<T>& manifold, Eigen::Matrix<T, 12, 1>& gradient);

/// JVP of a manifold evaluated with ManifoldOrder::complete: how its contacts change along tangents of both
/// poses. Allocates nothing; 96 products a contact.
///
/// @param dots  (n, 8), overwritten
/// Throws std::invalid_argument if the order or the number of rows is another.
template <typename T>
void manifold_jvp(const ManifoldView<T>& manifold, const PosePairTangent<same_t<T>>& tangent,
                  Eigen::Ref<ContactNumbers<same_t<T>>> dots);

/// VJP of the same: dL/d(poses of A, of B) from dL/d(contacts).
///
/// @param bars  (n, 8)
template <typename T>
[[nodiscard]] PosePairTangent<T> manifold_vjp(const ManifoldView<T>& manifold,
                                              const Eigen::Ref<const ContactNumbers<same_t<T>>>& bars);

/// Of a whole batch: contacts of all poses one after the other (ManifoldBatch::first_contact).
///
/// @param tangents  (12, poses)
/// @param dots      (contacts, 8), overwritten
template <typename T>
void manifold_jvp(const ManifoldBatch<T>& batch,
                  const Eigen::Ref<const Eigen::Matrix<same_t<T>, 12, Eigen::Dynamic>>& tangents,
                  Eigen::Ref<ContactNumbers<same_t<T>>> dots);

/// @param bars       (contacts, 8)
/// @param pose_bars  (12, poses), overwritten
template <typename T>
void manifold_vjp(const ManifoldBatch<T>& batch, const Eigen::Ref<const ContactNumbers<same_t<T>>>& bars,
                  Eigen::Ref<Eigen::Matrix<same_t<T>, 12, Eigen::Dynamic>> pose_bars);

extern template class ManifoldBatch<float>;
extern template class ManifoldBatch<double>;
extern template class PairManifold<float>;
extern template class PairManifold<double>;

}  // namespace abut
