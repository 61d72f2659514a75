#include "collision/overlap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "collision/broad_phase.h"
#include "collision/manifold/contact_detector.h"
#include "collision/manifold/kernel/point_kernels.h"
#include "engine/detector_choice.h"
#include "engine/instruction_set.h"
#include "engine/random.h"

namespace abut {
namespace {

// Steps of the search, in sizes of the common box.
constexpr double k_first_step = 0.1, k_coarse_step = 1e-3, k_last_step = 4e-6;

// The most that a climb is believed to rise once its steps of some length lead no higher, in such steps.
constexpr double k_most_rise = 4.0;

// A climb that comes nearer than this to where one before has led, in steps, leads there, too.
constexpr double k_near = 0.5;

WorldBox world_box(const ShapeSdf& sdf, const Pose<double>& X_WB) {
  const Eigen::AlignedBox3d& box = sdf.bounds();
  const auto infinite = Vec3<double>::Constant(std::numeric_limits<double>::infinity());
  if (box.isEmpty()) return {};
  if (!box.min().allFinite() || !box.max().allFinite()) return {-infinite, infinite};
  const Vec3<double> centre = X_WB * Vec3<double>(box.center());
  const Vec3<double> half = X_WB.rotation().cwiseAbs() * Vec3<double>(0.5 * box.sizes());
  return {centre - half, centre + half};
}

/// Two solids, to be searched for the deepest point that they share; A is asked first, so it is the simpler
/// one.
class Search {
 public:
  Search(const ShapeSdf& A, const ShapeSdf& B, const Pose<double>& X_WA, const Pose<double>& X_WB,
         const WorldBox& common)
      : A_(A), B_(B), X_AW_(X_WA.inverse()), X_BW_(X_WB.inverse()), common_(common) {}

  /// A point that try_seeds() is to try.
  void add_seed(const Vec3<double>& x_W) { seeds_.push_back(x_W); }

  void try_seeds() {
    find_distances(A_, X_AW_, distances_A_);
    if (!keeps_starts_) drop_seeds_by_A();
    find_distances(B_, X_BW_, distances_B_);
    for (std::size_t i = 0; i < seeds_.size(); ++i) {
      const double a = distances_A_[i], b = distances_B_[i];
      const double value = a < 0.0 && b < 0.0 ? -(a + b) : -std::max({a, b, 0.0});
      if (keeps_starts_) starts_.push_back({value, seeds_[i]});
      if (value > best_.value) best_ = {value, seeds_[i]};
    }
    seeds_.clear();
  }

  /// Adds the centres of cells that fill the common box. Returns half the diagonal of a cell.
  double add_lattice() {
    constexpr int k_cells = 5;
    const Vec3<double> cell = common_.sizes() / k_cells;
    for (int k = 0; k < k_cells; ++k) {
      for (int j = 0; j < k_cells; ++j) {
        for (int i = 0; i < k_cells; ++i)
          add_seed(common_.min() + cell.cwiseProduct(Vec3<double>(i + 0.5, j + 0.5, k + 0.5)));
      }
    }
    return 0.5 * cell.norm();
  }

  /// From the best few seeds uphill, as a climb may end on a ridge, and on from where the best of them leads;
  /// only as long as that may come to more than `least` [m].
  void climb(double least) {
    constexpr std::size_t k_starts = 4;
    keeps_starts_ = false;
    const std::size_t count = std::min(starts_.size(), k_starts);
    std::partial_sort(starts_.begin(), starts_.begin() + static_cast<std::ptrdiff_t>(count), starts_.end(),
                      [](const Sample& a, const Sample& b) { return a.value > b.value; });
    for (std::size_t i = 0; i < count; ++i) {
      best_ = starts_[i];
      climb_by_steps(k_first_step, k_coarse_step, std::max(least, highest_.value));
      if (best_.value > highest_.value) highest_ = best_;
    }
    best_ = highest_;
    highest_ = {};
    climb_by_steps(k_coarse_step, k_last_step, least);
  }

  /// Of the best point: the depth where it lies in both solids; else, not above 0, how far it is from that.
  [[nodiscard]] double value() const { return best_.value; }
  [[nodiscard]] const Vec3<double>& point() const { return best_.point; }

 private:
  struct Sample {
    double value = -std::numeric_limits<double>::infinity();
    Vec3<double> point = Vec3<double>::Zero();
  };

  /// From the best point so far uphill: along fixed directions in axes that turn from round to round, as the
  /// depth has ridges which no fixed axes climb.
  ///
  /// @param first, last  the longest and the shortest step, in sizes of the common box
  /// @param least        the value that is to be exceeded [m]
  void climb_by_steps(double first, double last, double least) {
    const double size = common_.sizes().maxCoeff();
    Random random(1);
    for (double step = first * size; step > last * size;) {
      const double before = best_.value;
      const Mat3<double> R = random.quaternion().toRotationMatrix();
      const Vec3<double> start = best_.point;
      for (int axis = 0; axis < 3; ++axis) {
        add_seed(start + step * R.col(axis));
        add_seed(start - step * R.col(axis));
      }
      for (int corner = 0; corner < 8; ++corner) {
        const Vec3<double> direction((corner & 1) != 0 ? 1.0 : -1.0, (corner & 2) != 0 ? 1.0 : -1.0,
                                     (corner & 4) != 0 ? 1.0 : -1.0);
        add_seed(start + step / std::sqrt(3.0) * (R * direction));
      }
      try_seeds();
      if (best_.value > before) continue;
      if (best_.value + k_most_rise * step < least) return;
      if (best_.value <= highest_.value && (best_.point - highest_.point).norm() < k_near * step) return;
      step *= 0.5;
    }
  }

  /// Those that cannot be better than the best, whatever B says.
  void drop_seeds_by_A() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < seeds_.size(); ++i) {
      if (distances_A_[i] >= std::max(0.0, -best_.value)) continue;
      distances_A_[kept] = distances_A_[i];
      seeds_[kept++] = seeds_[i];
    }
    seeds_.resize(kept);
  }

  /// At all seeds.
  void find_distances(const ShapeSdf& sdf, const Pose<double>& X_SW, std::vector<double>& out) {
    const std::size_t count = seeds_.size();
    const Mat3<double> R = X_SW.rotation();
    for (std::vector<double>& axis : coordinates_) axis.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3<double> x = R * seeds_[i] + X_SW.p;
      for (int axis = 0; axis < 3; ++axis) coordinates_[axis][i] = x[axis];
    }
    out.resize(count);
    chosen_kernels<PointKernels>().sample_points(sdf, SdfOrder::distance, coordinates_[0].data(),
                                                 coordinates_[1].data(), coordinates_[2].data(),
                                                 static_cast<int>(count), out.data());
  }

  const ShapeSdf &A_, &B_;
  Pose<double> X_AW_, X_BW_;
  WorldBox common_;
  std::vector<Vec3<double>> seeds_;
  std::vector<double> coordinates_[3], distances_A_, distances_B_;
  Sample best_, highest_;       ///< of this climb, and where those before have led
  std::vector<Sample> starts_;  ///< all seeds before the climb
  bool keeps_starts_ = true;
};

/// The overlaps of pairs deeper than least(A, B) [m].
template <typename Least>
std::vector<Overlap> overlaps_deeper_than(const ContactDetector& detector, std::span<const Pose<double>> X_WB,
                                          const Least& least) {
  std::vector<Overlap> overlaps;
  std::vector<WorldBox> boxes;
  for (std::size_t b = 0; b < X_WB.size(); ++b) {
    if (!X_WB[b].p.allFinite() || !X_WB[b].q.coeffs().allFinite()) return {};
    boxes.push_back(world_box(detector.sdf(static_cast<int>(b)), X_WB[b]));
  }
  DetectorScratch scratch;
  ContactManifold manifold;
  detector.detect(X_WB, {}, scratch, manifold);
  BroadPhase broad_phase;
  auto contacts = manifold.pairs.begin();
  for (const auto& candidates : broad_phase.overlapping_pairs(boxes)) {
    const int A = candidates.first, B = candidates.second;
    const auto a = static_cast<std::size_t>(A), b = static_cast<std::size_t>(B);
    const WorldBox common = boxes[a].intersection(boxes[b]);
    if (!may_touch(detector.model(), A, B) || !common.sizes().allFinite()) continue;
    const bool A_is_simpler = detector.sdf(A).added() <= detector.sdf(B).added();
    const int first = A_is_simpler ? A : B, second = A_is_simpler ? B : A;
    Search search(detector.sdf(first), detector.sdf(second), X_WB[static_cast<std::size_t>(first)],
                  X_WB[static_cast<std::size_t>(second)], common);
    const double half_cell = search.add_lattice();
    const auto is_before = [&](const ContactPair& pair) {
      return std::pair(pair.body_A, pair.body_B) < std::pair(A, B);
    };
    contacts = std::find_if_not(contacts, manifold.pairs.end(), is_before);
    if (contacts != manifold.pairs.end() && contacts->body_A == A && contacts->body_B == B) {
      for (int i = contacts->begin; i < contacts->end; ++i)
        search.add_seed(manifold.contacts.block().vector(k_contact_point, i));
    }
    search.try_seeds();
    // No point is farther from the lattice than half a cell; distances that are not metric get twice that.
    if (search.value() < -2.0 * half_cell) continue;
    const double needed = least(A, B);
    search.climb(needed);
    if (search.value() > needed) overlaps.push_back({A, B, search.value(), search.point()});
  }
  return overlaps;
}

}  // namespace

std::vector<Overlap> find_overlaps(const ContactDetector& detector, std::span<const Pose<double>> X_WB,
                                   double least) {
  return overlaps_deeper_than(detector, X_WB, [&](int A, int B) { return least * detector.pair_size(A, B); });
}

double deepest_overlap(const ContactDetector& detector, std::span<const Pose<double>> X_WB, double least) {
  double depth = least;
  for (const Overlap& overlap : overlaps_deeper_than(detector, X_WB, [&](int, int) { return least; }))
    depth = std::max(depth, overlap.depth);
  return depth;
}

}  // namespace abut
