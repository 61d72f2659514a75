/// One time step of a model, and the same step backwards.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/free_motion.h"
#include "dynamics/gradient.h"
#include "dynamics/island_solver.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

enum class StepStatus { ok, not_converged, non_finite };

[[nodiscard]] const char* to_string(StepStatus status);

/// What a step did. `body` and `contact` point at the culprit of a failure, -1 where there is none.
struct StepReport {
  StepStatus status = StepStatus::ok;
  int contacts = 0;              ///< with a weight > 0
  double max_penetration = 0.0;  ///< of those contacts, at the start of the step [m], >= 0
  int iterations = 0;            ///< Newton iterations of all passes, of the island that took most
  double residual = 0.0;         ///< relative residual of the worst pass
  int body = -1;
  ContactFeature contact;  ///< of the deepest contact of `body`, if it has any
};

/// What the adjoint needs of a step besides the states before and after it.
struct StepRecord {
  std::vector<ContactFeature> features;   ///< of the contacts with a weight > 0
  std::vector<ContactClusters> clusters;  ///< of each pair that has such, if any pair is reduced
  std::vector<Eigen::VectorXd> passes;    ///< velocities after each pass
  StepReport report;
};

/// Working memory of one thread. Forget it (a fresh one) before an unrelated rollout: it holds warm starts.
struct StepScratch {
  DetectorScratch detector;
  ContactManifold manifold;
  MassMatrix mass;
  FreeMotion free;
  ContactRows rows;
  JointRows joints;
  IslandScratch solver;
  ContactSolution solution;
  std::vector<double> margins;
  ManifoldLinearization linearization;
  std::vector<ContactBar> contact_bars;
};

/// Prepared once for a model, const afterwards; the model must outlive it.
class Stepper {
 public:
  /// Throws std::invalid_argument for a bad config or model.
  Stepper(const Model& model, const StepConfig& config);

  /// One step of h seconds under the wrenches of `control`. `next` may not be `state`. Never throws; a failed
  /// step leaves `next` as far as it got. With `record`, what the way back needs.
  StepReport step(const State& state, const Control& control, State& next, StepScratch& scratch,
                  StepRecord* record = nullptr) const;

  /// The step backwards: from dL/d(next) to dL/d(state), which is overwritten; adds to dL/d(wrenches of this
  /// step), one per body, and to the gradient with respect to the model. Throws std::logic_error for a record
  /// of a failed step.
  void step_vjp(const State& state, const Control& control, const State& next, const StepRecord& record,
                const StateTangent& next_bar, StateTangent& state_bar, std::span<Vec6<double>> wrench_bar,
                ModelGradient& model_bar, StepScratch& scratch) const;

  /// Contacts of a state whose activity is not zero, reduced where pairs ask for it. None if the state is not
  /// finite.
  void contacts(const State& state, StepScratch& scratch, ContactManifold& manifold) const;

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const StepConfig& config() const { return config_; }
  [[nodiscard]] const ContactDetector& detector() const { return detector_; }
  /// tau_d [s] of materials that give none.
  [[nodiscard]] double default_dissipation_time() const { return solver_.law().default_dissipation_time(); }
  [[nodiscard]] double acceleration_scale() const { return acceleration_scale_; }
  [[nodiscard]] RowSettings row_settings() const;
  [[nodiscard]] JointSettings joint_settings() const;

 private:
  /// [m/s] of any point of a body that others may touch, at the twist V.
  [[nodiscard]] double largest_speed(const State& state, int body, const Vec6<double>& V) const;

  const Model* model_;
  StepConfig config_;
  double acceleration_scale_;
  ContactDetector detector_;
  IslandSolver solver_;
};

/// Kinetic plus potential energy [J] of the bodies of finite mass (gravity and constant forces; not that of
/// contacts and joints).
[[nodiscard]] double mechanical_energy(const Model& model, const State& state);

}  // namespace abut
