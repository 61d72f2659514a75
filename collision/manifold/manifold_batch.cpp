#include "collision/manifold/manifold_batch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "collision/manifold/kernel/pair_kernels.h"
#include "engine/check.h"

namespace abut {
namespace {

/// Poses that a thread takes at a time.
constexpr int k_chunk = 16;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

template <typename T>
RelativePose<T> relative_pose(const Pose<double>& X_AB) {
  return {X_AB.rotation().template cast<T>(), X_AB.p.template cast<T>()};
}

}  // namespace

void require_batch_settings(const Body& A, const Body& B, const ContactConfig& config) {
  validate(config);
  require(A.selected_vertices == 0 && B.selected_vertices == 0,
          "batches are evaluated with all contact points (selected_vertices = 0)");
  require(!config.edge_sdf && config.reduction == Reduction::none,
          "batches are evaluated without edge_sdf and without a reduction");
  require(config.fidelity == Fidelity::corrected, "batches are evaluated with fidelity \"corrected\" only");
}

template <typename T>
PairManifold<T>::PairManifold(const Body& A, const Body& B, const ContactConfig& config, ManifoldScope scope)
    : A_(A), B_(B), problem_(A_, B_, config, scope == ManifoldScope::all), id_(next_id()) {
  require_batch_settings(A, B, config);
}

template <typename T>
void PairManifold<T>::evaluate(const Pose<double>& X_AB, ManifoldOrder order, PairBuffers<T>& buffers) const {
  require(X_AB.q.coeffs().allFinite() && X_AB.p.allFinite(), "a pose of B in A is not finite");
  // Kernels keep places of pairs in T.
  constexpr double k_most_pairs = 1.0 / std::numeric_limits<T>::epsilon();
  const PairKernels& kernels = pair_kernels();
  const RelativePose<T> pose = relative_pose<T>(X_AB);
  while (!kernels.run(problem_, order, pose, buffers)) {
    const int pairs = buffers.selected[0].count * buffers.selected[1].padded;
    require(pairs < k_most_pairs, "more pairs of selected edges than numbers of this precision can count");
    buffers.grow(pairs + pairs / 4);  // many edges at equal distances take part together: not twice as much
  }
}

template <typename T>
void PairManifold<T>::evaluate(std::span<const Pose<double>> X_AB, ManifoldOrder order, int threads,
                               ManifoldBatch<T>& batch) const {
  require(threads >= 0, "the number of threads must be >= 0");
  const std::size_t chunks = (X_AB.size() + k_chunk - 1) / k_chunk;
  batch.A_ = &A_;
  batch.B_ = &B_;
  batch.poses_.resize(X_AB.size());
  batch.chunks_.resize(chunks);
  const int columns = column_count(order);
  std::atomic<std::size_t> next{0};
  const auto work = [&](PairBuffers<T>& buffers) {
    for (std::size_t chunk = next++; chunk < chunks; chunk = next++) {
      std::vector<T>& numbers = batch.chunks_[chunk];
      numbers.clear();
      for (std::size_t i = chunk * k_chunk; i < std::min(X_AB.size(), (chunk + 1) * k_chunk); ++i) {
        evaluate(X_AB[i], order, buffers);
        auto& result = batch.poses_[i];
        result.chunk = chunk;
        result.begin = numbers.size();
        result.stride = buffers.contacts;
        std::copy(std::begin(buffers.count), std::end(buffers.count), result.counts.begin());
        for (int c = 0; c < columns; ++c) {
          const T* column = buffers.columns + static_cast<std::ptrdiff_t>(c) * buffers.capacity;
          numbers.insert(numbers.end(), column, column + buffers.contacts);
        }
      }
    }
  };

  const int wanted =
      threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int count = std::min(wanted, static_cast<int>(std::max<std::size_t>(1, chunks)));
  if (batch.manifold_ != id_ || batch.order_ != order) batch.buffers_.clear();
  batch.manifold_ = id_;
  batch.order_ = order;
  while (static_cast<int>(batch.buffers_.size()) < count) batch.buffers_.push_back(make_buffers(order));

  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto guarded = [&](int thread) {
    try {
      work(batch.buffers_[static_cast<std::size_t>(thread)]);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < count; ++i) helpers.emplace_back(guarded, i);
  guarded(0);
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
  batch.contacts_ = 0;
  for (auto& result : batch.poses_) {
    result.first_contact = batch.contacts_;
    batch.contacts_ += result.stride;
  }
}

template <typename T>
ManifoldView<T> ManifoldBatch<T>::operator[](int pose) const {
  const PoseResult& result = poses_[static_cast<std::size_t>(pose)];
  return {chunks_[result.chunk].data() + result.begin, result.stride, result.counts, *A_, *B_, order_};
}

template <typename T>
T mean_distance_gradient(const ManifoldView<T>& manifold, Eigen::Matrix<T, 12, 1>& gradient) {
  gradient.setZero();
  const int count = manifold.size();
  if (count == 0) return T(0);
  const auto mean = [&](int c) {
    const std::span<const T> column = manifold.column(c);
    T sum[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= column.size(); i += 8) {
      for (std::size_t k = 0; k < 8; ++k) sum[k] += column[i + k];
    }
    for (; i < column.size(); ++i) sum[0] += column[i];
    return (((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]))) /
           static_cast<T>(count);
  };
  for (int c = 0; c < 12; ++c) gradient[c] = mean(k_distance_by_poses + c);
  return mean(k_distance);
}

namespace {

/// Where the derivatives of the eight outputs begin, in the order of ContactNumbers.
constexpr int k_by_poses[8] = {k_point_by_poses,       k_point_by_poses + 12, k_point_by_poses + 24,
                               k_distance_by_poses,    k_normal_by_poses,     k_normal_by_poses + 12,
                               k_normal_by_poses + 24, k_activity_by_poses};

template <typename T>
void require_complete(const ManifoldView<T>& manifold, Eigen::Index rows) {
  require(manifold.order() == ManifoldOrder::complete,
          "derivatives of whole contacts need a manifold that was evaluated with ManifoldOrder::complete");
  require(rows == manifold.size(), "derivatives of contacts need as many rows as there are contacts");
}

template <typename T>
[[nodiscard]] Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>> column_of(const ManifoldView<T>& manifold,
                                                                              int c) {
  return {manifold.column(c).data(), manifold.size()};
}

template <typename T>
void require_complete(const ManifoldBatch<T>& batch, Eigen::Index poses, Eigen::Index contacts) {
  require(poses == batch.size(), "derivatives of a batch need a column for each of its poses");
  require(contacts == batch.contacts(), "derivatives of a batch need a row for each of its contacts");
}

}  // namespace

template <typename T>
void manifold_jvp(const ManifoldView<T>& manifold, const PosePairTangent<same_t<T>>& tangent,
                  Eigen::Ref<ContactNumbers<same_t<T>>> dots) {
  require_complete(manifold, dots.rows());
  for (int output = 0; output < 8; ++output) {
    dots.col(output).setZero();
    for (int c = 0; c < 12; ++c) dots.col(output) += tangent[c] * column_of(manifold, k_by_poses[output] + c);
  }
}

template <typename T>
PosePairTangent<T> manifold_vjp(const ManifoldView<T>& manifold,
                                const Eigen::Ref<const ContactNumbers<same_t<T>>>& bars) {
  require_complete(manifold, bars.rows());
  PosePairTangent<T> pose_bar = PosePairTangent<T>::Zero();
  for (int output = 0; output < 8; ++output) {
    for (int c = 0; c < 12; ++c)
      pose_bar[c] += column_of(manifold, k_by_poses[output] + c).dot(bars.col(output));
  }
  return pose_bar;
}

template <typename T>
void manifold_jvp(const ManifoldBatch<T>& batch,
                  const Eigen::Ref<const Eigen::Matrix<same_t<T>, 12, Eigen::Dynamic>>& tangents,
                  Eigen::Ref<ContactNumbers<same_t<T>>> dots) {
  require_complete(batch, tangents.cols(), dots.rows());
  for (int pose = 0; pose < batch.size(); ++pose) {
    const ManifoldView<T> manifold = batch[pose];
    manifold_jvp<T>(manifold, tangents.col(pose),
                    dots.middleRows(batch.first_contact(pose), manifold.size()));
  }
}

template <typename T>
void manifold_vjp(const ManifoldBatch<T>& batch, const Eigen::Ref<const ContactNumbers<same_t<T>>>& bars,
                  Eigen::Ref<Eigen::Matrix<same_t<T>, 12, Eigen::Dynamic>> pose_bars) {
  require_complete(batch, pose_bars.cols(), bars.rows());
  for (int pose = 0; pose < batch.size(); ++pose) {
    const ManifoldView<T> manifold = batch[pose];
    pose_bars.col(pose) =
        manifold_vjp<T>(manifold, bars.middleRows(batch.first_contact(pose), manifold.size()));
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): types need none
#define ABUT_MANIFOLD_DERIVATIVES(T)                                                              \
  template void manifold_jvp(const ManifoldView<T>&, const PosePairTangent<T>&,                   \
                             Eigen::Ref<ContactNumbers<T>>);                                      \
  template PosePairTangent<T> manifold_vjp(const ManifoldView<T>&,                                \
                                           const Eigen::Ref<const ContactNumbers<T>>&);           \
  template void manifold_jvp(const ManifoldBatch<T>&,                                             \
                             const Eigen::Ref<const Eigen::Matrix<T, 12, Eigen::Dynamic>>&,       \
                             Eigen::Ref<ContactNumbers<T>>);                                      \
  template void manifold_vjp(const ManifoldBatch<T>&, const Eigen::Ref<const ContactNumbers<T>>&, \
                             Eigen::Ref<Eigen::Matrix<T, 12, Eigen::Dynamic>>);
ABUT_MANIFOLD_DERIVATIVES(float)
ABUT_MANIFOLD_DERIVATIVES(double)
// NOLINTEND(bugprone-macro-parentheses)

template float mean_distance_gradient(const ManifoldView<float>&, Eigen::Matrix<float, 12, 1>&);
template double mean_distance_gradient(const ManifoldView<double>&, Eigen::Matrix<double, 12, 1>&);
template class ManifoldBatch<float>;
template class ManifoldBatch<double>;
template class PairManifold<float>;
template class PairManifold<double>;

}  // namespace abut
