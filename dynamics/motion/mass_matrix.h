/// The block-diagonal mass matrix of the moving bodies, velocities stacked as [w; v] per body, and how those of them
/// that are links of trees move with each other.
#pragma once

#include <span>
#include <vector>

#include "dynamics/motion/link_motion.h"
#include "engine/growable_vector.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// Moving bodies that are fixed to each other.
struct RigidGroups {
  std::vector<std::vector<int>> bodies;  ///< of each group, two or more
  std::vector<int> group_of_body;        ///< -1: it is in none
};

class MassMatrix {
 public:
  /// World inertia of every moving body at `state`. No links.
  ///
  /// @param groups  must outlive it and its copies; null: there are none
  void update(const Model& model, const State& state, const RigidGroups* groups = nullptr);
  /// The links, whole trees: for the caller to fill in.
  [[nodiscard]] LinkMotions& links() { return links_; }
  [[nodiscard]] const LinkMotions& links() const { return links_; }

  /// Some of the slots of another, in their order, and some of its links, whose slots count within these. Does not
  /// know slot() and inverse_mass() of bodies.
  ///
  /// @param local_slot  of each slot
  void select(const MassMatrix& whole, std::span<const int> slots, std::span<const int> links,
              std::span<const int> local_slot);

  [[nodiscard]] int slot(int body) const { return slots_[static_cast<std::size_t>(body)]; }
  [[nodiscard]] int body(int slot) const { return bodies_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] int slot_count() const { return static_cast<int>(bodies_.size()); }
  [[nodiscard]] int size() const { return 6 * slot_count(); }
  /// 1/m of a body together with those that it is fixed to; 0 of one of infinite mass [1/kg]
  [[nodiscard]] double inverse_mass(int body) const {
    const int s = slot(body);
    return s < 0 ? 0.0 : inverse_mass_[static_cast<std::size_t>(s)];
  }
  /// Calls f(slot) for a moving body and those fixed to it.
  template <typename F>
  void each_fixed_together(int body, const F& f) const {
    if (slot(body) < 0) return;
    const int group = groups_ == nullptr ? -1 : groups_->group_of_body[static_cast<std::size_t>(body)];
    if (group < 0) {
      f(slot(body));
      return;
    }
    for (const int other : groups_->bodies[static_cast<std::size_t>(group)]) f(slot(other));
  }
  [[nodiscard]] double mass(int slot) const { return mass_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] double total_mass() const;
  [[nodiscard]] const Mat3<double>& inertia_W(int slot) const {
    return inertia_W_[static_cast<std::size_t>(slot)];
  }
  [[nodiscard]] const Mat3<double>& inverse_inertia_W(int slot) const {
    return inverse_inertia_W_[static_cast<std::size_t>(slot)];
  }

  /// The (6, 6) block of a slot.
  [[nodiscard]] Mat6<double> block(int slot) const;

  void multiply(const GrowableVector& v, GrowableVector& out) const;  ///< out = M v
  void solve(const GrowableVector& f, GrowableVector& out) const;     ///< out = M^-1 f
  [[nodiscard]] double inverse_norm(
      const GrowableVector& f) const;  ///< sqrt(f^T M^-1 f), as if nothing were tied

 private:
  std::vector<int> slots_, bodies_;
  std::vector<double> mass_, inverse_mass_;
  const RigidGroups* groups_ = nullptr;
  std::vector<Mat3<double>> inertia_W_, inverse_inertia_W_;
  LinkMotions links_;
};

}  // namespace abut
