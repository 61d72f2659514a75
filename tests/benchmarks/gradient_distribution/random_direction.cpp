#include "tests/benchmarks/gradient_distribution/random_direction.h"

#include <cmath>
#include <set>
#include <span>

#include <Eigen/Cholesky>

#include "dynamics/rollout/shape_change.h"
#include "engine/control.h"

namespace abut::benchmarks {
namespace {

Vec6<double> random_six(Random& random, double first, double last) {
  Vec6<double> x;
  for (Eigen::Index i = 0; i < 6; ++i) x[i] = random.uniform(-1.0, 1.0) * (i < 3 ? first : last);
  return x;
}

/// [m], 1 for a half-space
double length_of(const Body& body) { return std::isfinite(body.size) ? body.size : 1.0; }

/// L S L^T for I = L L^T and a small symmetric S, so that I + dI stays positive definite.
Mat3<double> random_inertia_change(const Body& body, Random& random) {
  constexpr double k_scale = 0.3;
  Mat3<double> S;
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index j = i; j < 3; ++j) S(i, j) = S(j, i) = k_scale * random.uniform(-1.0, 1.0);
  }
  const Mat3<double> L = body.inertia.llt().matrixL();
  const Mat3<double> change = L * S * L.transpose();
  return 0.5 * (change + change.transpose());
}

}  // namespace

RandomDirection::RandomDirection(const RolloutInputs& nominal, const Stepper& stepper, int steps,
                                 Random& random)
    : initial_(nominal.model.body_count()),
      controls_(static_cast<std::size_t>(steps), zero_control(nominal.model)),
      bodies_(nominal.model.bodies.size()) {
  const double g = stepper.acceleration_scale(), rate = 1.0 / (steps * stepper.config().h);
  const auto either = [&](double scale) { return scale * random.uniform(-1.0, 1.0); };
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Body& body = nominal.model.bodies[b];
    const Material& material = body.material;
    BodyChange& change = bodies_[b];
    const double length = length_of(body), speed = std::sqrt(g * length), weight = body.mass * g;
    initial_.pose[b] = random_six(random, 1.0, length);
    change.friction = either(material.friction);
    if (std::isfinite(material.stiffness)) change.compliance = either(1.0 / material.stiffness);
    change.dissipation_time = either(material.dissipation_time);
    for (const Primitive& primitive : body.shape.primitives) {
      PrimitiveChange& of = change.shape.emplace_back();
      of.pose = random_six(random, 1.0, length);
      for (int i = 0; i < parameter_count(primitive.kind); ++i)
        of.parameters.push_back(either(primitive.parameters[static_cast<std::size_t>(i)]));
    }
    if (body.fixed) continue;
    initial_.twist[b] = random_six(random, speed / length, speed);
    for (Control& control : controls_) control.wrenches[b] = random_six(random, weight * length, weight);
    change.mass = either(body.mass);
    change.inertia = random_inertia_change(body, random);
    change.linear_damping = either(rate);
    change.angular_damping = either(rate);
    change.external_wrench = random_six(random, weight * length, weight);
  }
  gravity_ = random_six(random, g, g).head<3>();
}

RolloutInputs RandomDirection::moved(const RolloutInputs& nominal, double h) const {
  RolloutInputs inputs = nominal;
  inputs.controls = controls_;
  for (Control& control : inputs.controls) {
    for (Vec6<double>& wrench : control.wrenches) wrench *= h;
  }
  inputs.model.gravity += h * gravity_;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const BodyChange& change = bodies_[b];
    Body& body = inputs.model.bodies[b];
    inputs.initial.X_WB[b] = retract<double>(inputs.initial.X_WB[b], h * initial_.pose[b]);
    inputs.initial.V_WB[b] += h * initial_.twist[b];
    body.mass += h * change.mass;
    body.inertia += h * change.inertia;
    body.linear_damping += h * change.linear_damping;
    body.angular_damping += h * change.angular_damping;
    body.external_wrench += h * change.external_wrench;
    Material& material = body.material;
    material.friction += h * change.friction;
    if (change.compliance != 0.0)
      material.stiffness = 1.0 / (1.0 / material.stiffness + h * change.compliance);
    material.dissipation_time += h * change.dissipation_time;
    std::vector<Primitive> primitives = body.shape.primitives;
    for (std::size_t p = 0; p < primitives.size(); ++p) {
      const PrimitiveChange& of = change.shape[p];
      primitives[p].X_BP = retract<double>(primitives[p].X_BP, h * of.pose);
      for (std::size_t i = 0; i < of.parameters.size(); ++i)
        primitives[p].parameters[i] += h * of.parameters[i];
    }
    body = with_primitives(body, primitives);
  }
  return inputs;
}

std::vector<double> RandomDirection::derivatives(const Gradient& gradient) const {
  enum Kind {
    pose,
    twist,
    controls,
    mass,
    inertia,
    friction,
    compliance,
    dissipation_time,
    linear_damping,
    angular_damping,
    external_wrench,
    gravity,
    shape_parameters,
    shape_poses,
    kinds
  };
  std::vector<double> sum(kinds, 0.0);
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const BodyChange& change = bodies_[b];
    const BodyGradient& bar = gradient.model.bodies[b];
    sum[pose] += gradient.initial.pose[b].dot(initial_.pose[b]);
    sum[twist] += gradient.initial.twist[b].dot(initial_.twist[b]);
    for (std::size_t k = 0; k < controls_.size(); ++k)
      sum[controls] += gradient.controls[k].wrenches[b].dot(controls_[k].wrenches[b]);
    sum[mass] += bar.mass * change.mass;
    sum[inertia] += bar.inertia.cwiseProduct(change.inertia).sum();
    sum[friction] += bar.friction * change.friction;
    sum[compliance] += bar.compliance * change.compliance;
    sum[dissipation_time] += bar.dissipation_time * change.dissipation_time;
    sum[linear_damping] += bar.linear_damping * change.linear_damping;
    sum[angular_damping] += bar.angular_damping * change.angular_damping;
    sum[external_wrench] += bar.external_wrench.dot(change.external_wrench);
    for (std::size_t p = 0; p < change.shape.size(); ++p) {
      const PrimitiveChange& of = change.shape[p];
      sum[shape_poses] += bar.shape[p].pose.dot(of.pose);
      for (std::size_t i = 0; i < of.parameters.size(); ++i)
        sum[shape_parameters] += bar.shape[p].parameters[i] * of.parameters[i];
    }
  }
  sum[gravity] = gradient.model.gravity.dot(gravity_);
  return sum;
}

RandomLoss::RandomLoss(const Trajectory& nominal, const Stepper& stepper, Random& random)
    : nominal_(nominal) {
  const Model& model = stepper.model();
  const int steps = nominal.step_count();
  for (const int k : std::set<int>{steps, 2 * steps / 3, steps / 3}) {
    if (k == 0) continue;
    Term term{k, StateTangent(model.body_count())};
    const double importance = k == steps ? 1.0 : 0.5;
    for (std::size_t b = 0; b < model.bodies.size(); ++b) {
      if (model.bodies[b].fixed) continue;
      const double length = length_of(model.bodies[b]),
                   speed = std::sqrt(stepper.acceleration_scale() * length);
      term.weights.pose[b] = random_six(random, importance, importance / length);
      term.weights.twist[b] = random_six(random, importance * length / speed, importance / speed);
    }
    terms_.push_back(std::move(term));
  }
}

double RandomLoss::value(int k, const State& state) const {
  double sum = 0.0;
  for (const Term& term : terms_) {
    if (term.step != k) continue;
    const State& from = nominal_.states[static_cast<std::size_t>(k)];
    for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
      sum += term.weights.pose[b].dot(difference<double>(state.X_WB[b], from.X_WB[b])) +
             term.weights.twist[b].dot(state.V_WB[b] - from.V_WB[b]);
    }
  }
  return sum;
}

void RandomLoss::add_gradient(int k, StateTangent& bar) const {
  for (const Term& term : terms_) {
    if (term.step != k) continue;
    for (std::size_t b = 0; b < bar.pose.size(); ++b) {
      bar.pose[b] += term.weights.pose[b];
      bar.twist[b] += term.weights.twist[b];
    }
  }
}

}  // namespace abut::benchmarks
