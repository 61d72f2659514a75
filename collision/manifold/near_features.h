/// Contact points and edges of a body that may be near another's solid, remembered from one time step to the
/// next.
///
/// A list is made for a range and a *slack*: it has every point that comes nearer than the range while no
/// point moves more than the slack, in the solid's frame, and every primitive that matters to such points.
/// As long as that holds it is kept, so that the search for what is near is done once in many steps; it is
/// made again when the bodies have moved farther, whatever the reason. Distances are always those of the
/// poses at hand, and a list that is too long does not change them: results do not depend on what is
/// remembered.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collision/manifold/kernel/body_features.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Two ends of an edge, as numbers of contact points.
struct EdgeEnds {
  int start, end;
};

/// A body as the search sees it; const once made.
class FeatureColumns {
 public:
  FeatureColumns(const Points& points, const ShapeSdf& sdf);

  std::vector<double> coordinates[3];          ///< of the contact points in B, filled up to whole packs [m]
  std::vector<PrimitiveBound<double>> bounds;  ///< of the solid's primitives
  int count = 0;                               ///< contact points
  double reach = 0.0;                          ///< of them from the origin [m]
};

/// What the search asks for.
struct NearQuery {
  const FeatureColumns* owner = nullptr;
  std::span<const EdgeEnds> edges{};  ///< of the owner, if they matter
  bool all_edges = false;             ///< also those that are far
  const FeatureColumns* solid = nullptr;
  const ShapeSdf* sdf = nullptr;  ///< of the solid
  Pose<double> X_SO;              ///< owner in the frame of the solid
  double range = 0.0;             ///< [m]
  double size = 0.0;              ///< unit of the slack: that of the smaller body [m]
};

/// Allocates only while it grows.
class NearFeatures {
 public:
  /// Forgets.
  void clear() { slack_ = -1.0; }

  /// Brings the list up to date and samples the solid at its points.
  void update(const NearQuery& query);

  struct NearEdge {
    int edge;
    int start, end;  ///< places in points(), -1 for those that are far
  };

  [[nodiscard]] const std::vector<int>& points() const { return points_; }     ///< ascending
  [[nodiscard]] const std::vector<NearEdge>& edges() const { return edges_; }  ///< ascending
  /// phi of the i-th of points() [m]; if it is above the range, how far above means nothing.
  [[nodiscard]] double distance(std::size_t i) const { return samples_[i]; }
  [[nodiscard]] Vec3<double> normal(std::size_t i) const {
    const std::size_t stride = samples_.size() / 4;
    return {samples_[stride + i], samples_[2 * stride + i], samples_[3 * stride + i]};
  }

 private:
  void list(const NearQuery& query);

  Pose<double> X_SO_, last_X_SO_;      // of the list, of the last query
  double slack_ = -1.0, range_ = 0.0;  // of the list; negative: there is none
  bool has_edges_ = false;
  std::vector<int> points_;
  std::vector<NearEdge> edges_;
  std::vector<double> coordinates_[3];
  std::vector<int> first_, primitives_, places_;
  std::vector<double> samples_, lower_;
};

/// What is remembered of pairs of bodies; pairs that are not asked for between begin() and end() are
/// forgotten. Allocates only while it grows.
class PairMemory {
 public:
  using Sides = std::array<NearFeatures, 2>;

  PairMemory() = default;
  PairMemory(const PairMemory&) {}  // memories are no part of anything's value
  PairMemory& operator=(const PairMemory&) { return *this = PairMemory(); }
  PairMemory(PairMemory&&) = default;
  PairMemory& operator=(PairMemory&&) = default;
  ~PairMemory() = default;

  /// @param detector  a number that no other detector has: what others have left here is forgotten
  void begin(std::uint64_t detector);
  /// Pairs have to be asked for in ascending order.
  [[nodiscard]] Sides& of(int body_A, int body_B);
  void end();

 private:
  struct Entry {
    std::pair<int, int> bodies;
    std::unique_ptr<Sides> sides;
  };
  void forget(std::size_t until);

  std::uint64_t detector_ = 0;
  std::vector<Entry> kept_, now_;
  std::size_t next_ = 0;  // of kept_
  std::vector<std::unique_ptr<Sides>> unused_;
};

}  // namespace abut
