#include "tests/benchmarks/dynamics_tables/warning_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "tests/benchmarks/dynamics_tables/prediction_check.h"

namespace abut::tables {
namespace {

using namespace abut::test;

constexpr double k_part = 0.01;        ///< of a parameter, or of its natural scale
constexpr double k_negligible = 1e-5;  ///< change of a loss [sizes, or their speeds sqrt(g size)]
constexpr double k_gravity = 9.81;
constexpr std::size_t k_tape_bytes = std::size_t{64} << 20;

double speed_of(const Body& body) { return std::sqrt(k_gravity * body.size); }

/// L = w . p or w . v of a body at the end.
struct Loss {
  std::size_t body = 0;
  bool is_velocity = false;
  Vec3<double> w = Vec3<double>::UnitX();

  [[nodiscard]] double value(const State& state) const {
    return w.dot(is_velocity ? Vec3<double>(state.V_WB[body].tail<3>()) : state.X_WB[body].p);
  }
  void add_gradient(StateTangent& bar) const { (is_velocity ? bar.twist : bar.pose)[body].tail<3>() += w; }
};

/// Along the displacement of the body, or, in 3 of 10 scenes, along its velocity at the end.
Loss drawn_loss(const WarningScene& made, const Trajectory& trajectory, Random& random) {
  Loss loss;
  loss.body = static_cast<std::size_t>(made.body);
  loss.is_velocity = random.uniform() < 0.3;
  const State &first = trajectory.states.front(), &last = trajectory.states.back();
  const Vec3<double> along = loss.is_velocity ? Vec3<double>(last.V_WB[loss.body].tail<3>())
                                              : last.X_WB[loss.body].p - first.X_WB[loss.body].p;
  if (along.norm() > 1e-6) loss.w = along.normalized();
  return loss;
}

/// A change of a scene by k_part of one of its parameters.
struct Change {
  std::string parameter;
  std::size_t body = 0;
  Vec6<double> d = Vec6<double>::Zero();  ///< of a place, velocity or force

  [[nodiscard]] TestScene made(TestScene scene, double t) const {
    Body& changed = scene.model.bodies[body];
    if (parameter == "place")
      scene.state.X_WB[body] = retract<double>(scene.state.X_WB[body], Vec6<double>(t * d));
    if (parameter == "velocity") scene.state.V_WB[body] += t * d;
    if (parameter == "force") changed.external_wrench += t * d;
    if (parameter == "mass") {
      changed.mass *= 1.0 + t * k_part;
      changed.inertia *= 1.0 + t * k_part;
    }
    if (parameter == "friction") {
      for (Body& any : scene.model.bodies) any.material.friction *= 1.0 + t * k_part;
    }
    return scene;
  }

  [[nodiscard]] double predicted(const Model& model, const Gradient& gradient) const {
    const Body& changed = model.bodies[body];
    const BodyGradient& bar = gradient.model.bodies[body];
    if (parameter == "place") return d.dot(gradient.initial.pose[body]);
    if (parameter == "velocity") return d.dot(gradient.initial.twist[body]);
    if (parameter == "force") return d.dot(bar.external_wrench);
    if (parameter == "mass")
      return k_part * (changed.mass * bar.mass + changed.inertia.cwiseProduct(bar.inertia).sum());
    double sum = 0.0;
    for (std::size_t b = 0; b < model.bodies.size(); ++b)
      sum += k_part * model.bodies[b].material.friction * gradient.model.bodies[b].friction;
    return sum;
  }
};

/// Changes of all parameters that a scene has, in random order.
std::vector<Change> drawn_changes(const WarningScene& made, Random& random) {
  const auto b = static_cast<std::size_t>(made.body);
  const Model& model = made.scene.model;
  const Body& body = model.bodies[b];
  const Vec6<double>& V = made.scene.state.V_WB[b];
  std::vector<Change> changes{{"velocity", b}, {"mass", b}, {"force", b}};
  if (model.joints.empty()) changes.push_back({"place", b});
  if (std::any_of(model.bodies.begin(), model.bodies.end(),
                  [](const Body& any) { return any.material.friction > 0.0; }))
    changes.push_back({"friction", b});
  for (std::size_t i = changes.size(); i > 1; --i) std::swap(changes[i - 1], changes[random.integer(i)]);
  for (Change& change : changes) {
    const Vec3<double> along = Vec3<double>(random.normal(), random.normal(), 0.0).normalized();
    const bool is_at_rest = V.tail<3>().norm() < 1e-3 * speed_of(body);
    if (change.parameter == "velocity")
      change.d = is_at_rest ? moving_at(k_part * speed_of(body) * along) : Vec6<double>(k_part * V);
    if (change.parameter == "place") change.d.tail<3>() = k_part * body.size * along;
    if (change.parameter == "force") {
      const Vec3<double> f = body.external_wrench.tail<3>();
      change.d.tail<3>() = k_part * (f.norm() > 0.0 ? f : Vec3<double>(body.mass * k_gravity * along));
    }
  }
  return changes;
}

/// NaN if the rollout fails.
double end_loss(const TestScene& scene, const StepConfig& config, int steps, const Loss& loss) {
  State end;
  const StepReport report = simulate(Stepper(scene.model, config), scene.state, steps, {}, end);
  return report.status == StepStatus::ok ? loss.value(end) : std::numeric_limits<double>::quiet_NaN();
}

double off(double predicted, double simulated, double negligible) {
  if (std::isnan(simulated)) return 1.0;
  return std::abs(predicted - simulated) / std::max({std::abs(predicted), std::abs(simulated), negligible});
}

/// Contacts that begin after the first step: those of a vertex or edge that was not in contact in the step before.
int contacts_begun(const Trajectory& trajectory) {
  std::set<std::array<int, 4>> before;
  int begun = 0;
  for (std::size_t k = 0; k < trajectory.records.size(); ++k) {
    std::set<std::array<int, 4>> now;
    for (const SubstepRecord& substep : trajectory.records[k].substeps) {
      for (const ContactFeature& f : substep.features)
        now.insert({f.body_A, f.body_B, f.feature_A, f.feature_B});
    }
    if (k > 0)
      begun += static_cast<int>(std::count_if(
          now.begin(), now.end(), [&](const auto& contact) { return !before.contains(contact); }));
    before = std::move(now);
  }
  return begun;
}

void add_indicators(const Trajectory& trajectory, const GradientHealth& health, double prediction_error,
                    WarningSample& sample) {
  double worst_share = 0.0;
  for (const KinkCount& kinks : health.kinks) {
    if (kinks.near_kink > 0)
      worst_share = std::max(worst_share, static_cast<double>(kinks.near_kink) / kinks.contacts);
  }
  int impacts = 0, cut_short = 0;
  for (const StepRecord& record : trajectory.records) {
    impacts += record.report.impacts;
    cut_short += record.report.are_impacts_cut_short;
  }
  sample.indicators = {
      {"growth in a step", health.largest_growth},
      {"growth relative to free motion", health.growth_over_free},
      {"norm of the adjoint, start : end", health.adjoint_norm.front() / health.adjoint_norm.back()},
      {"share of a step's contacts near a kink", worst_share},
      {"share of all contacts near a kink", health.share_near_kink()},
      {"steps on branches", health.steps_on_branches},
      {"steps that lack restitution", health.steps_lacking_restitution},
      {"steps with impacts cut short", cut_short},
      {"impacts", impacts},
      {"contacts that begin", contacts_begun(trajectory)},
      {"prediction error", prediction_error},
      {"second difference", off(sample.ahead, sample.behind, sample.negligible)}};
}

}  // namespace

bool WarningSample::is_wrong() const {
  return std::max(off(predicted, ahead, negligible), off(predicted, behind, negligible)) > 0.5;
}

std::optional<WarningSample> warning_sample(int index, std::uint64_t seed) {
  const WarningScene made = warning_scene(index, seed);
  const TestScene& scene = made.scene;
  Random random(~(seed + 1000003 * static_cast<std::uint64_t>(index)));
  std::optional<Stepper> stepper;
  try {
    stepper.emplace(scene.model, made.config);
  } catch (
      const std::invalid_argument&) {  // a detector without such shapes, a law without restitution or joints
    return std::nullopt;
  }
  const Trajectory trajectory = rollout(*stepper, scene.state, made.steps, {}, {}, k_tape_bytes);
  if (!trajectory.ok()) return std::nullopt;
  const Loss loss = drawn_loss(made, trajectory, random);
  const LossGradient loss_gradient = [&](int k, const State&, StateTangent& bar) {
    if (k == made.steps) loss.add_gradient(bar);
  };
  const Gradient gradient = adjoint(*stepper, trajectory, loss_gradient, {.mask = {.shapes = false}});

  WarningSample sample;
  sample.family = made.family;
  const Body& body = scene.model.bodies[loss.body];
  sample.negligible = k_negligible * (loss.is_velocity ? speed_of(body) : body.size);
  const double here = loss.value(trajectory.states.back());
  for (const Change& change : drawn_changes(made, random)) {
    sample.parameter = change.parameter;
    sample.predicted = change.predicted(scene.model, gradient);
    sample.ahead = end_loss(change.made(scene, 1.0), made.config, made.steps, loss) - here;
    sample.behind = here - end_loss(change.made(scene, -1.0), made.config, made.steps, loss);
    const double most =
        std::max({std::abs(sample.predicted), std::abs(sample.ahead), std::abs(sample.behind)});
    if (!(most <= sample.negligible)) break;
  }
  add_indicators(trajectory, gradient.health,
                 check_prediction(*stepper, trajectory, loss_gradient, gradient).error(), sample);
  return sample;
}

}  // namespace abut::tables
