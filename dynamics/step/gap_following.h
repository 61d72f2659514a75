/// Gaps followed along the motion of a step to where they close.
///
/// A row continues the distance of its contact linearly, as if its plane had no end. A contact that is apart,
/// d > 0, and closes,
///     u = n.(relative velocity U at x) < 0,
/// is therefore evaluated where the velocities at the start of the step lead by the time
///     tau = a h (b - ramp(b - 1)),   b = (d - e)/(-u h),   1/e = 100/d + 100/tau_p,
/// which is when its plane is reached but for e, or else the end of the step. Its row has the normal and area
/// n', area' of its feature there, and continues the distance d' there with the same velocity:
///     distance  d' - tau u' + b (h^2 - tau^2)/2 n'.U_t,   u' = n'.U,
///     weight    (1 - a) w + a S(w/0.001) w'.
/// Where the plane goes on, d' = d + tau u, and nothing changes. Where it ends, as past an edge, w' = 0, or d'
/// stays and u' is about 0: d' + (h - tau) u' > 0, nothing is in the way. U_t is the rate of U of a vertex, as the
/// other body sees it, by the turning of both bodies alone (of other features 0): a vertex of a rolling wheel turns away
/// from the floor before it comes there. The amounts
///     b = S(-u h/(0.03 tau_p) - 1) S(20 x),   x = 1/2 - (d + h u)/(8 tau),   a = b S(50 d/(-u h))
/// let following set in smoothly: not for contacts at rest, which close by less than 0.03 tau_p, nor for those
/// without a share (contact_rows.h). What has no weight at the start is not there to be followed: S(w/0.001).
///
/// e keeps a contact off the surface: the distance of a solid with sharp edges has kinks there, and vertices of
/// aligned bodies would land just on them.
///
/// Before its plane, a vertex of a box that slides on two flush tables is nearest to the side of the second one,
/// whose top it lies micrometres above or below; and where edges are rounded, their tangent planes lead into what comes
/// along. So vertices on edges of their mesh that meet a convex solid, those with -m < d <= 0 too, are evaluated at
/// the end of the step as well. The distance d_1 and u_1 = n_1.U there count with the share
///     s = a_1 C S((d_1 + m)/(m/2)) S((u_1/u + 0.4)/0.2),   m = tau_p/20,
///     a_1 = S(-u h/(0.003 tau_p) - 1) S(20 x) S((d + m)/(m/2)):
/// along a straight path the distance of a convex solid is convex, so what is not below its surface at the end and
/// still closes has not been in it. C (edge_vertices.h) says whether the vertex can touch with the normal n_1: not with
/// that of the side of a box on which another one of the same outline comes down. The row is the mean of both
/// places, with the shares 1 - s and s. An overlap by less than m is none, so that steps of micrometres stop nothing.
#pragma once

#include <span>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/motion/mass_matrix.h"
#include "dynamics/rows/contact_rows.h"
#include "dynamics/step/edge_vertices.h"
#include "dynamics/step/step_derivatives.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// tau, a and b, with their derivatives.
struct FollowingTime {
  double value = 0.0;                                         ///< tau [s]
  double by_distance = 0.0, by_velocity = 0.0;                ///< with respect to d, u
  double amount = 0.0;                                        ///< a
  double amount_by_distance = 0.0, amount_by_velocity = 0.0;  ///< likewise
  double turning = 0.0;                                       ///< b
  double turning_by_distance = 0.0, turning_by_velocity = 0.0;

  /// @param d, u   [m], [m/s]; tau and a are 0 unless d > 0 (-m) and u < 0
  /// @param band   4 tau, the d + h u from which on a contact has no share [m]
  /// @param depth  m: the end of the step and a_1; 0: tau and a [m]
  FollowingTime(double d, double u, double h, double tau_p, double band, double depth = 0.0);
  FollowingTime() = default;
};
/// m, as a multiple of tau_p.
inline constexpr double k_followed_depth = 0.05;

/// s/a_1, and its derivatives with respect to d_1, u_1/u and C.
struct PassedShare {
  double value = 0.0, by_distance = 0.0, by_closing = 0.0, by_facing = 0.0;
  /// @param depth  m [m]
  PassedShare(double distance, double closing, double facing, double depth);
  PassedShare() = default;
};

struct FollowedGap {
  /// A place to which a contact is followed, and its row there.
  struct Place {
    double share = 0.0;  ///< of the contact's row; of what has none, nothing else is used but the time
    FollowingTime time;
    Contact there;              ///< but for the point, with distance and weight of the row
    double turning_time = 0.0;  ///< b (h^2 - tau^2)/2 [s^2]
    double closing = 0.0;       ///< u' [m/s]
    // The derivatives of its row's weight with respect to w', w and a.
    double weight_by_there = 0.0, weight_by_start = 0.0, weight_by_amount = 0.0;

    [[nodiscard]] bool is_evaluated_at(double at) const { return share > 0.0 && time.value == at; }
  };
  Contact start;               ///< at the start of the step
  int contact = -1;            ///< its place in the list
  Vec3<double> velocity;       ///< U [m/s]
  Vec3<double> turning_away;   ///< U_t [m/s^2]
  double start_closing = 0.0;  ///< u [m/s]
  Place places[2];             ///< before its plane, and at the end of the step
  PassedShare passed;          ///< of the second place
  VertexFacing facing;         ///< there

  [[nodiscard]] bool is_evaluated_at(double time) const {
    return places[0].is_evaluated_at(time) || places[1].is_evaluated_at(time);
  }
  /// The place with the larger share.
  [[nodiscard]] const Place& place() const { return places[places[1].share > places[0].share ? 1 : 0]; }
};

/// Memory of GapFollowing, and the contact that it followed last.
struct FollowingMemory {
  std::vector<Pose<double>> X_WB;  ///< of the step, two of them moved
  ManifoldLinearization there;
  std::vector<ContactFeature> features;
  std::vector<Vec6<double>> poses;
};

class GapFollowing {
 public:
  /// The model and the detector must outlive it.
  GapFollowing(const Model& model, const ContactDetector& detector);

  /// Follows contacts of the pairs: overwrites their numbers in `contacts`, but for their points, until
  /// restore(), and `gaps`.
  void follow(const State& state, const MassMatrix& mass, const RowSettings& settings,
              std::span<const ContactPair> pairs, ContactList& contacts, std::vector<FollowedGap>& gaps,
              FollowingMemory& memory) const;
  static void restore(std::span<const FollowedGap> gaps, ContactList& contacts);

  /// From dL/d(followed contacts) to dL/d(contacts at the start), in place, and to state and shapes: adds. h is
  /// constant.
  ///
  /// @param geometry  memory
  void vjp(const State& state, const MassMatrix& mass, double h, std::span<const FollowedGap> gaps,
           std::span<ContactBar> contacts, const StepBar& bar, std::vector<GeometryGradient>& geometry,
           FollowingMemory& memory) const;

  /// JVP, in place, for a constant h.
  void jvp(const State& state, const MassMatrix& mass, double h, std::span<const FollowedGap> gaps,
           const StateTangent& state_dot, std::span<ContactBar> contacts, FollowingMemory& memory) const;

  /// The poses of a step at which the contact of a gap is evaluated.
  [[nodiscard]] std::span<const Pose<double>> poses(const State& state, const MassMatrix& mass, double h,
                                                    const FollowedGap& gap, FollowingMemory& memory) const;

 private:
  /// The bodies of a gap during the step.
  struct Motion;
  [[nodiscard]] Motion motion_of(const State& state, const MassMatrix& mass, double h,
                                 const ContactFeature& feature) const;
  /// memory.X_WB after a time of that motion.
  static void move(const State& state, const Motion& motion, double time, FollowingMemory& memory);
  /// The contacts of features of a pair after a time: memory.there.
  void linearize(const State& state, const Motion& motion, std::span<const ContactFeature> features,
                 double time, LinearizeFor what_for, FollowingMemory& memory) const;
  /// Sets the contact of each place of the gaps that is evaluated at that time; leaves memory.X_WB there.
  void find_contacts(const State& state, const Motion& motion, double time, std::span<FollowedGap> gaps,
                     FollowingMemory& memory) const;
  /// Turns the contact of a gap at one of its places into the row there, without its share.
  static void set_row(double h, FollowedGap& gap, int which);
  /// The rows of the gaps of a pair at their places, most of them at the end of the step, and their shares.
  ///
  /// @param depth  m [m]
  void evaluate(const State& state, const Motion& motion, double h, double depth, std::span<FollowedGap> gaps,
                FollowingMemory& memory) const;
  /// Whether a feature is a vertex on an edge of its mesh, at a convex solid.
  [[nodiscard]] bool may_pass(const ContactFeature& feature) const;

  const Model* model_;
  const ContactDetector* detector_;
  EdgeVertices edge_vertices_;
};

}  // namespace abut
