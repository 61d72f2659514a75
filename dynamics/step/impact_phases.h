/// Impacts with restitution, one after the other within a step.
///
/// The step is divided into phases, at whose ends impacts act; within a phase velocities are constant and
/// positions follow them:
///     v_0           what the law makes of the step, of whose contacts those that are impacts take part by
///                   q = 1 - s(u*) alone (contact_laws/impact.h): at s = 1 not at all, and those that recede
///                   at its start hardly or not (rows/contact_rows.h)
///     D(t)          the way of a body so far, D' = v_k
///     t_k           when the next pair of bodies closes; pairs that close within 1e-6 h close together
///     v_k           what the impact makes of v_{k-1} (solver/impact_solver.h), at the poses start + D(t_k)
///     v+ = v_n,     displacement  D(h) - h v_n
/// Contacts are evaluated again at each impact, and their approach with the velocities after it tells what
/// closes next: whatever a body that has been struck comes to meet, or that v_0 itself brings back. Where they are evaluated at the time at
/// which a pair was foreseen to close and have not closed, or have closed already, as surfaces are curved and
/// bodies turn, this is a *look*: nothing acts, and the time is foreseen again, by Newton's method.
///
/// Contacts of a pair that approach and are near take part in its impact, by kappa (contact_laws/impact.h).
/// What answers in the same solve: other contacts of the pair, and of *loaded* pairs,
/// which carried
///     x = W sum gamma_n/(g h)
/// in v_0, as the floor under a box does; both so far as they touch and do not approach as an impact,
///     q = S(2 - d/(0.4 g h^2)) (1 - s(w)) [S(50 x - 9) unless of the pair].
/// A pair that only touches hands the blow on: it is then approached, and closes at the same time. One that
/// closes for the twelfth time in a row, each within h/100 of the one before, answers as a loaded one, which
/// ends the endless bounces of a light body between heavy ones. A contact that is still closed must
/// approach the faster to close again, the more often its pair has. Bodies to which nothing of this leads from the
/// impact are left alone.
///
/// Momentum is kept by every impact, and angular momentum about any point, as both bodies receive it at one
/// point of their poses then and travel on along their velocities. After k_most_impacts for each body of a
/// group what is left closes at once, without restitution, and so does what closes after that. A group that
/// ends with more energy than v_0 would leave it goes through the step again with less restitution: 0.999, 0.99,
/// 0.95, 0.8, 0.5 and 0 times e, until it does not.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/contact_laws/impact.h"
#include "dynamics/motion/free_motion.h"
#include "dynamics/rows/contact_rows.h"
#include "dynamics/rows/joint_constraints.h"
#include "dynamics/rows/joint_rows.h"
#include "dynamics/solver/disjoint_sets.h"
#include "dynamics/solver/island_solver.h"
#include "dynamics/step/step_derivatives.h"
#include "dynamics/step/tree_motion.h"
#include "engine/config.h"

namespace abut {

/// What a pair carried in v_0.
struct PhaseLoad {
  int body_A = -1, body_B = -1;
  double value = 0.0;  ///< x
};

/// The trees of the model in a substep.
struct TreesOfStep {
  const TreeMotion* motion = nullptr;  ///< null: there are none
  const TreeStep* step = nullptr;
  TreeMotionMemory* memory = nullptr;
};

/// What the phases of a substep start from.
struct PhasesStart {
  const State& state;
  double h;    ///< [s]
  double lag;  ///< see MotionLag [s]
  const MassMatrix& mass;
  const FreeMotion& free;
  const JointRows& joints;
  const GrowableVector& v_rest;          ///< v_0
  std::span<const CandidatePair> pairs;  ///< that may take part
  std::span<const PhaseLoad> loads;
  TreesOfStep trees;
};

/// Earlier closings of a pair that is foreseen to close.
struct PairPast {
  double since = 0.0;  ///< when it was seen first with velocities that still hold [s]
  int closings = 0;    ///< n (contact_laws/impact.h)
};

/// A pair of bodies that may take part.
struct PhasePair {
  int body_A = -1, body_B = -1;
  int slot_A = -1, slot_B = -1;
  double margin = 0.0;  ///< see CandidatePair [m]
  int group = -1;       ///< of bodies that impacts may tie to each other
  double load = 0.0;
  int closings = 0;           ///< one soon after the other, so far ...
  double last_closing = 0.0;  ///< ... up to this time [s]
  double time = 0.0;          ///< when it closes [s]; infinite: it does not
  double since = 0.0;         ///< when it was seen first with velocities that still hold [s]
  int event = -1;             ///< that foresaw this
};

/// An impact, a look, or the start of a group.
struct PhaseEvent {
  double time = 0.0;  ///< t_k [s]
  int group = -1;
  bool is_start = false;
  bool is_look = false;
  bool is_last = false;  ///< closes what is left
  double restitution_share =
      1.0;                   ///< of that of its pairs: 0 of the last one, less than 1 where energy would rise
  bool is_repeated = false;  ///< a pair closes so often that it answers impacts of others from now on
  bool is_near_order = false;  ///< another pair of the same bodies closes nearly at the same time
  bool is_unsettled = false;   ///< its time was still changing from look to look
  int first = -1;  ///< the pair whose time it is, and the event that foresaw it; -1: that of the last impact
  int foreseen_by = -1;
  int last_impact = -1;                  ///< the one before it, or the start of the group
  std::vector<int> pairs;                ///< whose contacts are evaluated, see PhasePair, ...
  std::vector<PairPast> past;            ///< ... and what these had been through
  std::vector<int> closing;              ///< those whose impact it is, or that are looked for
  std::vector<ContactFeature> features;  ///< of the evaluated pairs
  GrowableVector way;                    ///< D of all bodies
  GrowableVector v_before, v_lead;
  ContactRows rows;  ///< of pairs that take part, with the velocities before it
  JointRows joints;
  std::vector<int> joint_groups;  ///< of the step, that these are
  ContactSolution solution;       ///< its velocity is that of all bodies; of a start v_0
  IslandLinearization islands;    ///< where asked for
  ContactRows rows_after;         ///< of the evaluated pairs, with the velocities after it

  [[nodiscard]] bool has_impact() const { return !is_start && !is_look; }
};

/// Working memory of one thread, and the phases of the last substep.
struct PhasesMemory {
  double h = 0.0;  ///< of the substep [s]
  std::vector<PhasePair> pairs;
  std::vector<PhaseEvent> events;  ///< the first event_count, group by group
  std::size_t event_count = 0;
  GrowableVector velocity;      ///< v_n
  GrowableVector displacement;  ///< D(h) - h v_n
  GrowableVector phase_speeds;  ///< see ContactSolution
  int impacts = 0;
  int iterations = 0;
  double residual = 0.0;
  bool converged = true;
  bool has_negative_determinant = false;
  bool is_cut_short = false;  ///< a group came to its last impact

  State state;  ///< of a phase
  GrowableVector way, acceleration;
  ManifoldLinearization contacts;
  DetectorScratch detector;
  ContactManifold manifold;
  ContactManifold added;  ///< pairs that are evaluated after those of the manifold, at the same poses
  std::vector<CandidatePair> candidates;
  std::vector<ContactPair> contact_pairs;
  DisjointSets sets;  ///< of slots
  std::vector<int> group_of_slot;
  std::vector<char> takes_part, is_closing;  ///< of slots, of pairs
  std::vector<impact::PairImpact> members, members_bar;
  std::vector<int> member_rows;
  std::vector<int> brought_back;    ///< see ImpactPhases::find_brought_back()
  bool has_closed_members = false;  ///< some were closed when their velocities began to hold
  IslandMemory solver;

  // Of derivatives
  ContactProblemBar problem_bar;
  ContactProblemDot problem_dot;
  EndMotionBar end_bar;
  std::vector<ContactRowBar> rows_dot;
  std::vector<std::vector<ContactRowBar>> after_bars;  ///< of the rows_after of each event
  std::vector<ContactBar> contact_bars;
  std::vector<Vec6<double>> pose_bars;
  GrowableVector velocity_bar, way_bar, acceleration_bar, before_bar;
  std::vector<double> times_bar;                ///< of each event
  std::vector<double> times_dot, closings_dot;  ///< of each event, of pairs
  StateTangent state_dot;
};

/// Where the phases add what they contribute to the gradient of a substep.
struct PhasesBar {
  const StepBar& step;                      ///< its state, model and mask
  GrowableVector& v_rest;                   ///< overwritten
  ContactProblemBar& problem;               ///< v_start, v_free, mass, inertia_W, joints, links
  std::vector<GeometryGradient>& geometry;  ///< memory
};

/// A direction of what the phases of a substep start from.
struct PhasesDirection {
  const StepDirection& step;
  const ContactProblemDot& problem;  ///< v_start, v_free, mass, inertia_W, links
  const GrowableVector& v_rest;
  const JointSettings& joint_settings;
};

/// The rows of a pair, null if it has none.
[[nodiscard]] const RowPair* find_pair(const ContactRows& rows, const PhasePair& pair);

class ImpactPhases {
 public:
  /// Of a law with impacts; the model and the detector must outlive it.
  ///
  /// @param impact_speed  v_thr [m/s]
  /// @param rows          for whole steps
  ImpactPhases(const Model& model, const StepConfig& config, double acceleration_scale, double impact_speed,
               const RowSettings& rows, const ContactDetector& detector);
  ~ImpactPhases();

  /// Speed [m/s] up to which nothing is an impact.
  [[nodiscard]] double least_speed() const { return 0.625 * settings_.threshold; }

  /// Leaves to impacts what is theirs of the rows of a step. False if that is nothing.
  [[nodiscard]] bool set_shares(const GrowableVector& v_free, ContactRows& rows) const;
  /// The way back, from dL/d(answers).
  void shares_vjp(const GrowableVector& v_free, const ContactRows& rows, std::span<ContactRowBar> bars,
                  GrowableVector& v_free_bar) const;
  void shares_jvp(const GrowableVector& v_free, const GrowableVector& v_free_dot, const ContactRows& rows,
                  std::span<ContactRowBar> dots) const;

  /// Pairs of the manifold with contacts that v_0 closes, though they receded at the start of the step, so that
  /// their rows had next to no stiffness in it: overwrites `pairs`. False if there are none.
  ///
  /// @param rows  of v_0
  [[nodiscard]] bool find_brought_back(const PhasesStart& start, const ContactManifold& manifold,
                                       const ContactRows& rows, std::vector<int>& pairs) const;

  /// The pairs that impacts may reach: those of groups of bodies, tied by pairs of the manifold and joints, in
  /// which a row is an impact in part or a contact is brought back. Overwrites `pairs`.
  ///
  /// @param margins       of the manifold
  /// @param brought_back  see find_brought_back()
  void find_pairs(const ContactManifold& manifold, std::span<const double> margins, const MassMatrix& mass,
                  const ContactRows& rows, const JointRows& joints, std::span<const int> brought_back,
                  DisjointSets& sets, std::vector<CandidatePair>& pairs) const;
  /// Of the pairs of rows, from their impulses [N s].
  void find_loads(const ContactRows& rows, std::span<const Vec3<double>> impulses,
                  std::vector<PhaseLoad>& loads) const;

  /// Runs the phases.
  ///
  /// @param manifold    at the start of the step; null: it is found again
  /// @param linearizes  each impact, for vjp() and jvp()
  void run(const PhasesStart& start, const ContactManifold* manifold, PhasesMemory& memory,
           bool linearizes) const;

  /// The way back, after run() with linearizations, from dL/d(velocity, displacement).
  void vjp(const PhasesStart& start, const EndMotionBar& end_bar, PhasesMemory& memory,
           const PhasesBar& bar) const;
  /// The JVP: how velocity and displacement change.
  void jvp(const PhasesStart& start, const PhasesDirection& direction, PhasesMemory& memory,
           EndMotionBar& end_dot) const;

  /// Whether an event that was linearized lies near a kink: another of the same body that nearly precedes it
  /// or its place among those, contacts that close just by the end of the step, the bound of energy, a pair
  /// that is loaded in part, a time that looks did not settle; or the last one, which cuts the phases short.
  [[nodiscard]] bool is_near_kink(const PhaseEvent& event, const PhasesMemory& memory) const;

  /// The impulses on B [N s] of the rows of an impact that was linearized.
  void impulses(const PhasesStart& start, const PhaseEvent& event, PhasesMemory& memory,
                std::vector<Vec3<double>>& impulses) const;

  /// Puts the bodies of the event's pairs, from the pair `first` on, where it finds them: memory.state.
  void set_poses(const PhasesStart& start, const PhaseEvent& event, PhasesMemory& memory,
                 std::size_t first = 0) const;

 private:
  static constexpr double k_near_time = 1e-3;  ///< of the step, between events that may change their order

  class Run;
  class Vjp;
  class Jvp;

  [[nodiscard]] impact::Settings settings_of(double h) const {
    impact::Settings settings = settings_;
    settings.h = h;
    return settings;
  }
  [[nodiscard]] RowSettings row_settings(double h) const {
    RowSettings settings = rows_;
    settings.h = h;
    return settings;
  }
  [[nodiscard]] ContactProblem problem_of(const PhasesStart& start, const PhaseEvent& event) const;
  [[nodiscard]] Vec6<double> way_of(const PhasesStart& start, const PhaseEvent& event, int body) const;
  /// How a row takes part in an impact.
  ///
  /// @param gate  how far it answers, where it touches and does not approach
  void set_part(const impact::Settings& settings, const PhaseEvent& event, bool is_closing, double gate,
                double restitution, const GrowableVector& acceleration, ContactRow& row) const;
  /// q of a row, whether it is hit or answers, and its derivatives by its distance, its gap G and its velocity
  /// of approach w.
  struct AnswersOf {
    double value = 0.0, by_distance = 0.0, by_gap = 0.0, by_velocity = 0.0;
  };
  [[nodiscard]] AnswersOf answers_of(const impact::Settings& settings, const ContactRow& row,
                                     const impact::Approach& approach) const;
  /// The restitution of a row that is hit: that of its pair, less in each other, where normals may contradict:
  ///     e S(2 + G/(1 % of the size of the smaller body)), times the event's share.
  struct RestitutionOf {
    double value = 0.0, by_restitution = 0.0, by_gap = 0.0;
  };
  [[nodiscard]] RestitutionOf restitution_of(const impact::Settings& settings, const ContactRow& row,
                                             const impact::Approach& approach, const PhaseEvent& event,
                                             double restitution) const;
  /// delta of a pair (contact_laws/impact.h) [m].
  [[nodiscard]] double pair_length(const PhasePair& pair) const;
  /// The rows of a pair that close in this step: memory.members and member_rows.
  ///
  /// @param past  with the velocities v
  /// @param rows  at the event's time
  void find_members(const impact::Settings& settings, const PhaseEvent& event, const PairPast& past,
                    const ContactRows& rows, const RowPair& pair, const GrowableVector& v,
                    PhasesMemory& memory) const;

  const Model* model_;
  const ContactDetector* detector_;
  bool is_bounded_;
  impact::Settings settings_;  ///< of whole steps
  RowSettings rows_;
  double touching_;  ///< 0.4 g h^2 [m]
  std::unique_ptr<const IslandSolver> solver_;
};

}  // namespace abut
