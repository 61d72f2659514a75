/// One time step of a model, and the same step backwards and along a direction.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collision/manifold/contact.h"
#include "dynamics/step/step_derivatives.h"
#include "dynamics/step/step_record.h"
#include "dynamics/step/step_report.h"
#include "dynamics/step/step_scratch.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

class ContactDetector;
class ContactList;
class GapFollowing;
class ImpactPhases;
class IslandSolver;
class TapePool;
class TreeMotion;
enum class LinearizeFor;
struct ContactClusters;
struct ContactManifold;
struct ContactPair;
struct ContactProblem;
struct ContactProblemBar;
struct ContactProblemDot;
struct FollowingMemory;
struct ContactForce;
struct JointForce;
struct JointSettings;
struct LinearizedSubstep;
struct ManifoldLinearization;
struct MotionLag;
struct PhasesStart;
struct RowSettings;
struct SolvedSubstep;
struct TreeStep;

/// Prepared once for a model, const afterwards; the model must outlive it.
class Stepper {
 public:
  /// Throws std::invalid_argument for a bad config or model, and for settings that the law ignores
  /// (law_settings.h).
  ///
  /// @param prepared  whose detector shares what it can, see ContactDetector
  Stepper(const Model& model, const StepConfig& config, const Stepper* prepared = nullptr);
  ~Stepper();

  /// One step of h seconds under the wrenches and commands of `control`. `next` may not be `state`. Never throws; a failed
  /// step leaves `next` as far as it got. With `record`, what its derivatives need; how much of that is on
  /// the tape changes them by rounding alone.
  StepReport step(const State& state, const Control& control, State& next, StepScratch& scratch,
                  StepRecord* record = nullptr, Tape tape = Tape::lean) const;

  /// The step backwards, for one loss or several, which share what does not depend on them: from dL/d(next)
  /// to dL/d(state), the control of this step and the model, whose geometry is complete after
  /// ContactDetector::finish_geometry() only. Throws std::logic_error for a record of a failed step.
  KinkCount step_vjp(const State& state, const Control& control, const State& next, const StepRecord& record,
                     std::span<const StepBar> bars, StepScratch& scratch) const;

  /// The JVPs of a step that was recorded, along one direction or several: from changes of the state, the
  /// control and the model to d(next). Throws std::logic_error for a record of a failed step;
  /// std::invalid_argument for push-out of kind "split".
  void step_jvp(const State& state, const Control& control, const State& next, const StepRecord& record,
                std::span<const StepDirection> directions, StepScratch& scratch) const;

  /// False for push-out of kind "split", which step_jvp() refuses and step_vjp() does not.
  [[nodiscard]] bool has_jvp() const;

  /// Contacts of a state whose activity is not zero, reduced where pairs ask for it. None if the state is not
  /// finite.
  void contacts(const State& state, StepScratch& scratch, ContactManifold& manifold) const;

  /// What the contacts of a recorded step did, overwritten; contacts of the state that it started from.
  /// Throws std::logic_error for a record of a failed step.
  void contact_forces(const State& state, const Control& control, const StepRecord& record,
                      StepScratch& scratch, std::vector<ContactForce>& forces) const;

  /// What the joints of a recorded step did, one per joint, overwritten; as contact_forces().
  void joint_forces(const State& state, const Control& control, const StepRecord& record,
                    StepScratch& scratch, std::vector<JointForce>& forces) const;

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const StepConfig& config() const { return config_; }
  [[nodiscard]] const ContactDetector& detector() const { return *detector_; }
  /// tau_d [s] of materials that give none.
  [[nodiscard]] double default_dissipation_time() const;
  [[nodiscard]] double acceleration_scale() const { return acceleration_scale_; }
  /// For a substep of h seconds; all smoothing is that of the config's time step.
  [[nodiscard]] RowSettings row_settings(double h) const;
  [[nodiscard]] RowSettings row_settings() const;

  /// For a substep of h seconds: errors are taken back over the whole step. Has no commands.
  [[nodiscard]] JointSettings joint_settings(double h) const;
  [[nodiscard]] JointSettings joint_settings() const;

 private:
  [[nodiscard]] MotionLag lag_of(double h) const;

  /// `state` with the joints of trees closed, if there are any: scratch.closed, and scratch.solved.trees begins.
  const State& close_joints(const State& state, double h, TreeStep& trees, StepMemory& scratch) const;
  /// Free velocities of all that moves, from closed joints on.
  void free_motion(const State& state, const Control& control, double h, bool records, SolvedSubstep& solved,
                   StepMemory& scratch) const;
  /// One solve over h seconds, as step().
  StepReport substep(const State& state, const Control& control, double h, State& next, StepMemory& scratch,
                     SubstepRecord* record, Tape tape = Tape::lean) const;
  /// What a recorded substep was made of, with derivatives of its contacts: scratch.linearized, but for its
  /// motion and islands.
  void restore(const State& state, const Control& control, const SubstepRecord& record, LinearizeFor what_for,
               StepMemory& scratch) const;
  /// The same with all derivatives.
  void linearize(const State& state, const Control& control, const State& next, const SubstepRecord& record,
                 LinearizeFor what_for, StepMemory& scratch) const;
  /// As step_vjp(), after linearize().
  ///
  /// @param shares_pairs  after find_pair_jacobians(), for a loss by the state alone
  void substep_vjp(const State& state, const Control& control, const State& next, const SubstepRecord& record,
                   const StepBar& bar, StepMemory& scratch, bool shares_pairs) const;
  // share_pairs.cpp
  /// Whether losses can share what the contacts of pairs contribute: by what is asked for, and by the law and
  /// the contacts, after linearize().
  [[nodiscard]] static bool may_share_pairs(std::span<const StepBar> bars, const StepRecord& record);
  [[nodiscard]] bool can_share_pairs(const LinearizedSubstep& at) const;
  /// scratch.vjp.pairs
  void find_pair_jacobians(const State& state, const SubstepRecord& record, StepMemory& scratch) const;

  /// As step_jvp(), after linearize().
  void substep_jvp(const State& state, const Control& control, const State& next, const SubstepRecord& record,
                   const StepDirection& direction, StepMemory& scratch) const;
  [[nodiscard]] ContactProblem problem_of(const SolvedSubstep& solved, double h) const;
  [[nodiscard]] PhasesStart phases_start(const State& state, double h, const SolvedSubstep& solved,
                                         std::span<const CandidatePair> pairs, StepMemory& scratch) const;
  /// The impacts after the solve of a substep.
  ///
  /// @param manifold    at the start, null where it is not known
  /// @param linearizes  them, for their derivatives
  void run_phases(const State& state, double h, std::span<const CandidatePair> pairs,
                  const ContactManifold* manifold, bool linearizes, SolvedSubstep& solved,
                  StepMemory& scratch) const;
  /// The rows of a substep, with gaps followed (gap_following.h). Leaves `contacts` as they are.
  ///
  /// @param clusters  see make_rows()
  void make_contact_rows(const State& state, double h, std::span<const ContactPair> pairs,
                         std::span<const ContactClusters> clusters, ContactList& contacts,
                         FollowingMemory& memory, SolvedSubstep& solved) const;
  /// Reactions of trees in the contact problem and its impacts: M (v - v_free) without the impulses that act.
  void find_reaction(const State& start, const SubstepRecord& part, const GrowableVector& end_velocity,
                     StepMemory& memory, GrowableVector& reaction) const;
  /// Adds what motors gave in a substep to scratch.motor_impulses.
  void add_motor_impulses(const Control& control, double h, StepMemory& scratch) const;
  /// The rows of joints.
  void make_joint_rows(const State& state, const Control& control, double h, SolvedSubstep& solved,
                       StepMemory& scratch) const;
  /// How far contacts are looked for: scratch.margins.
  void set_margins(const State& state, double h, StepMemory& scratch) const;

  // substeps.cpp
  StepReport divided_step(const State& state, const Control& control, State& next, StepMemory& scratch,
                          StepRecord* record, Tape tape) const;
  /// Adds those of the substep from `state` on, the last that was linearized.
  void count_kinks(const State& state, const SubstepRecord& record, StepMemory& scratch,
                   KinkCount& kinks) const;
  void count_kinks_of_phases(const State& state, const SubstepRecord& record, StepMemory& scratch,
                             KinkCount& kinks) const;
  /// Whether the contact of a vertex lies near a kink of the other body's signed distance.
  [[nodiscard]] bool is_near_kink_of_shape(std::span<const Pose<double>> X_WB, const ContactFeature& feature,
                                           double signed_distance) const;
  /// [m/s] of any point of a body that others may touch, at the twist V.
  [[nodiscard]] double largest_speed(const State& state, int body, const Vec6<double>& V) const;

  const Model* model_;
  StepConfig config_;
  double acceleration_scale_;
  std::unique_ptr<const ContactDetector> detector_;
  std::unique_ptr<const IslandSolver> solver_;
  std::unique_ptr<const GapFollowing> following_;  ///< null: the law does not continue gaps
  std::unique_ptr<const ImpactPhases> phases_;     ///< null: there are no impacts
  std::unique_ptr<const TreeMotion> trees_;        ///< null: no rigid joint holds any body
  std::vector<int> free_hinges_;                   ///< that no tree holds
  std::size_t motor_count_;
  std::unique_ptr<const TapePool> tapes_;
};

/// Kinetic plus potential energy [J] of the bodies of finite mass (gravity and constant forces), of the armature and
/// of the springs of joints' coordinates; not that of contacts, motors and what holds joints together.
[[nodiscard]] double mechanical_energy(const Model& model, const State& state);

}  // namespace abut
