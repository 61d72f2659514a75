/// Motion of a link of a kinematic tree with its parent, among the moving bodies of a step:
///     V = X V_parent + S d,    X V_parent = [w; v + w x r],
/// with twists [w; v] in W about the centres of mass, the axes S of its joint and the joint's rates d. Velocities of
/// all links that their joints allow are v_0 + J d, for any v_0 of them; block factorizations never form J.
///
/// With F the sum of what acts on a link, joints apart, joints answer by the reaction -F summed over its subtree:
/// motions J d are those that F does work on.
#pragma once

#include <span>
#include <vector>

#include "engine/growable_vector.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

struct LinkMotion {
  using Axes = Eigen::Matrix<double, 6, 3>;
  using Rates = Eigen::Vector3d;

  int slot = -1;            ///< of the link
  int parent = -1;          ///< slot of its parent; -1: of infinite mass
  int rates = 0;            ///< number of columns of S that count; the others are 0
  bool slides = false;      ///< its joint is a slider
  bool base_moves = false;  ///< its parent is of infinite mass and moves
  Vec3<double> r{0, 0, 0};  ///< from the parent's centre of mass to its own [m], if that moves
  Axes S = Axes::Zero();

  /// X V_parent.
  [[nodiscard]] Vec6<double> carried(const Vec6<double>& V_parent) const {
    return stack<double>(V_parent.head<3>(), point_velocity(V_parent, r));
  }
  /// X' F: a wrench about the link's centre of mass, about that of its parent.
  [[nodiscard]] Vec6<double> on_parent(const Vec6<double>& F) const {
    const Vec3<double> f = F.tail<3>();
    return stack<double>(F.head<3>() + r.cross(f), f);
  }
  /// d of a twist S d; what the joint does not allow is left out.
  [[nodiscard]] Rates rates_of(const Vec6<double>& V) const { return dual_axes().transpose() * V; }
  /// A wrench F with S' F = y.
  [[nodiscard]] Vec6<double> wrench_of(const Rates& y) const { return dual_axes() * y; }

 private:
  /// S, orthonormal in its turning or its sliding part, without the rest.
  [[nodiscard]] Axes dual_axes() const {
    Axes dual = S;
    if (slides) {
      dual.topRows<3>().setZero();
    } else {
      dual.bottomRows<3>().setZero();
    }
    return dual;
  }
};

/// dL/d of the numbers of a link's motion, or how they change.
struct LinkMotionBar {
  Vec3<double> r{0, 0, 0};
  LinkMotion::Axes S = LinkMotion::Axes::Zero();

  LinkMotionBar& operator+=(const LinkMotionBar& other) {
    r += other.r;
    S += other.S;
    return *this;
  }
};

/// Links with their parents before them; none of free roots.
using LinkMotions = std::vector<LinkMotion>;

/// v <- reference + J d, with the rates d of v - reference.
void allow(const LinkMotions& links, const GrowableVector& reference, GrowableVector& v);

/// VJP of change = J d by J, d fixed: adds scale times the gradient of g . (J d).
void motion_vjp(const LinkMotions& links, const GrowableVector& g, const GrowableVector& change, double scale,
                std::span<LinkMotionBar> bars);

/// dJ d: how an allowed change of velocities moves along a direction of J, its rates held fixed. Slots that are no
/// links stay 0.
void motion_jvp(const LinkMotions& links, std::span<const LinkMotionBar> dots, const GrowableVector& change,
                GrowableVector& out);

/// out -= f, for impulses f on the links with J' f = dJ' F.
void subtract_reaction_jvp(const LinkMotions& links, std::span<const LinkMotionBar> dots,
                           const GrowableVector& F, GrowableVector& out);

}  // namespace abut
