#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dynamics/rollout/shape_change.h"
#include "engine/body_io.h"
#include "tests/support/close.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;

/// All that a rollout depends on.
struct Inputs {
  test::TestScene scene;
  Controls controls;
};

/// A loss of the states k = N and k = N/2: sums of coordinates with random weights, an orientation R entering
/// as a . R b, so that nothing cancels and every gradient is exact.
class Loss {
 public:
  Loss(Random& random, int bodies, int steps) : steps_(steps) {
    for (std::vector<Term>* terms : {&last_, &middle_}) {
      for (int b = 0; b < bodies; ++b) {
        terms->push_back({test::random_vector(random), test::random_vector(random, 0.3), random.unit_vector(),
                          test::random_vector<6>(random, 0.1)});
      }
    }
  }

  [[nodiscard]] double value(int k, const State& state) const {
    double sum = 0.0;
    for_terms(k, [&](std::size_t b, const Term& t) {
      sum += t.p.dot(state.X_WB[b].p) + t.a.dot(state.X_WB[b].q * t.b) + t.V.dot(state.V_WB[b]);
    });
    return sum;
  }
  void gradient(int k, const State& state, StateTangent& bar) const {
    for_terms(k, [&](std::size_t b, const Term& t) {
      bar.pose[b] += stack<double>((state.X_WB[b].q * t.b).cross(t.a), t.p);
      bar.twist[b] += t.V;
    });
  }

 private:
  struct Term {
    Vec3<double> p, a, b;
    Vec6<double> V;
  };
  template <typename F>
  void for_terms(int k, const F& f) const {
    const auto visit = [&](const std::vector<Term>& terms) {
      for (std::size_t b = 0; b < terms.size(); ++b) f(b, terms[b]);
    };
    if (k == steps_) visit(last_);
    if (k == steps_ / 2) visit(middle_);
  }

  std::vector<Term> last_, middle_;
  int steps_;
};

double loss_of_rollout(const Inputs& inputs, const StepConfig& config, int steps, const Loss& loss) {
  const Stepper stepper(inputs.scene.model, config);
  State end;
  double sum = steps / 2 == 0 ? loss.value(0, inputs.scene.state) : 0.0;
  const StepReport report = simulate(stepper, inputs.scene.state, steps, inputs.controls, end,
                                     [&](int k, const State& state, const StepReport&) {
                                       sum += loss.value(k + 1, state);
                                       return true;
                                     });
  return report.status == StepStatus::ok ? sum : std::nan("");
}

/// A direction in the space of inputs, and the slope of the loss along it by the adjoint.
struct Group {
  std::string name;
  double slope;
  std::function<void(Inputs&, double)> move;
};

/// One random direction for every kind of input. Steps are relative to the size of what they change.
std::vector<Group> groups_of(const Inputs& inputs, const StepConfig& config, const Gradient& gradient,
                             Random& random) {
  const Model& model = inputs.scene.model;
  const std::size_t bodies = model.bodies.size();
  std::vector<Vec6<double>> d6;
  std::vector<double> d1, d2;
  for (std::size_t b = 0; b < bodies; ++b) {
    d6.push_back(test::random_vector<6>(random));
    d1.push_back(random.uniform(-1.0, 1.0));
    d2.push_back(random.uniform(-1.0, 1.0));
  }
  std::vector<Group> groups;
  /// A group from, per body, its part of the slope and what to do to it.
  const auto add = [&](std::string name, const std::function<double(std::size_t)>& slope,
                       const std::function<void(Inputs&, std::size_t, double)>& move) {
    double sum = 0.0;
    for (std::size_t b = 0; b < bodies; ++b) sum += slope(b);
    groups.push_back({std::move(name), sum, [=](Inputs& in, double step) {
                        for (std::size_t b = 0; b < bodies; ++b) move(in, b, step);
                      }});
  };
  const auto is_moving = [&model](std::size_t b) { return !model.bodies[b].fixed; };
  const auto& bars = gradient.model.bodies;

  // The floor's pose is among these: its tilt and height have gradients as well.
  add(
      "position",
      [&](std::size_t b) { return 0.1 * gradient.initial.pose[b].tail<3>().dot(d6[b].tail<3>()); },
      [=](Inputs& in, std::size_t b, double step) {
        in.scene.state.X_WB[b].p += 0.1 * step * d6[b].tail<3>();
      });
  add(
      "orientation", [&](std::size_t b) { return gradient.initial.pose[b].head<3>().dot(d6[b].head<3>()); },
      [=](Inputs& in, std::size_t b, double step) {
        Pose<double>& X = in.scene.state.X_WB[b];
        X.q = exp_quaternion<double>(step * d6[b].head<3>()) * X.q;
      });
  add(
      "twist", [&](std::size_t b) { return is_moving(b) ? gradient.initial.twist[b].dot(d6[b]) : 0.0; },
      [=](Inputs& in, std::size_t b, double step) {
        if (is_moving(b)) in.scene.state.V_WB[b] += step * d6[b];
      });
  add(
      "mass", [&](std::size_t b) { return is_moving(b) ? 0.3 * bars[b].mass * d1[b] : 0.0; },
      [=](Inputs& in, std::size_t b, double step) { in.scene.model.bodies[b].mass += 0.3 * step * d1[b]; });
  const auto inertia_direction = [=, &model](std::size_t b) -> Mat3<double> {
    const Vec3<double> x = d6[b].head<3>(), y = d6[b].tail<3>();
    return 0.03 * model.bodies[b].inertia.trace() * (x * y.transpose() + y * x.transpose());
  };
  std::vector<Mat3<double>> dI;
  for (std::size_t b = 0; b < bodies; ++b) dI.push_back(inertia_direction(b));
  add(
      "inertia",
      [&](std::size_t b) { return is_moving(b) ? bars[b].inertia.cwiseProduct(dI[b]).sum() : 0.0; },
      [=](Inputs& in, std::size_t b, double step) { in.scene.model.bodies[b].inertia += step * dI[b]; });
  add(
      "density",
      [&](std::size_t b) {
        return is_moving(b) ? 0.3 * bars[b].density * d2[b] * model.bodies[b].mass / model.bodies[b].volume
                            : 0.0;
      },
      [=](Inputs& in, std::size_t b, double step) {
        if (is_moving(b))
          set_mass(in.scene.model.bodies[b], in.scene.model.bodies[b].mass * (1.0 + 0.3 * step * d2[b]));
      });
  // A friction of 0 is at a bound: central differences would need one below it (gradient_bounds_test.cpp).
  std::vector<double> friction_change;
  for (std::size_t b = 0; b < bodies; ++b)
    friction_change.push_back(model.bodies[b].material.friction > 0.0 ? 0.3 * d1[b] : 0.0);
  add(
      "friction", [&](std::size_t b) { return bars[b].friction * friction_change[b]; },
      [=](Inputs& in, std::size_t b, double step) {
        in.scene.model.bodies[b].material.friction += step * friction_change[b];
      });
  const auto is_compliant = [&model](std::size_t b) {
    return std::isfinite(model.bodies[b].material.stiffness);
  };
  std::vector<bool> compliant;
  for (std::size_t b = 0; b < bodies; ++b) compliant.push_back(is_compliant(b));
  add(
      "stiffness",
      [&](std::size_t b) {
        const double k = model.bodies[b].material.stiffness;
        return compliant[b] ? 0.3 * k * bars[b].stiffness * d1[b] : 0.0;
      },
      [=](Inputs& in, std::size_t b, double step) {
        if (compliant[b]) in.scene.model.bodies[b].material.stiffness *= 1.0 + 0.3 * step * d1[b];
      });
  if (config.law != ContactLaw::penalty && setting_use("stiffness", config.law) == SettingUse::honoured) {
    // Of rigid bodies too, around 1/k = 0. (The penalty law has another stiffness there.)
    add(
        "compliance", [&](std::size_t b) { return 1e-6 * bars[b].compliance * d2[b]; },
        [=](Inputs& in, std::size_t b, double step) {
          double& k = in.scene.model.bodies[b].material.stiffness;
          k = 1.0 / (1.0 / k + 1e-6 * step * d2[b]);
        });
  }
  add(
      "dissipation time",
      [&](std::size_t b) {
        return 0.3 * bars[b].dissipation_time * d1[b] * model.bodies[b].material.dissipation_time;
      },
      [=](Inputs& in, std::size_t b, double step) {
        in.scene.model.bodies[b].material.dissipation_time *= 1.0 + 0.3 * step * d1[b];
      });
  add(
      "damping",
      [&](std::size_t b) { return bars[b].linear_damping * d1[b] + bars[b].angular_damping * d2[b]; },
      [=](Inputs& in, std::size_t b, double step) {
        in.scene.model.bodies[b].linear_damping += step * d1[b];
        in.scene.model.bodies[b].angular_damping += step * d2[b];
      });
  add(
      "external wrench",
      [&](std::size_t b) { return is_moving(b) ? 0.3 * bars[b].external_wrench.dot(d6[b]) : 0.0; },
      [=](Inputs& in, std::size_t b, double step) {
        in.scene.model.bodies[b].external_wrench += 0.3 * step * d6[b];
      });

  {
    const Vec3<double> direction = test::random_vector(random, 3.0);
    groups.push_back({"gravity", gradient.model.gravity.dot(direction),
                      [=](Inputs& in, double step) { in.scene.model.gravity += step * direction; }});
  }
  {
    const std::size_t steps = inputs.controls.size();
    std::vector<std::vector<Vec6<double>>> direction(steps);
    double slope = 0.0;
    for (std::size_t k = 0; k < steps; ++k) {
      for (std::size_t b = 0; b < bodies; ++b) {
        direction[k].push_back(
            stack<double>(test::random_vector(random, 0.01), test::random_vector(random, 0.3)));
        slope += gradient.controls[k].wrenches[b].dot(direction[k][b]);
      }
    }
    groups.push_back({"control", slope, [=](Inputs& in, double step) {
                        for (std::size_t k = 0; k < steps; ++k) {
                          for (std::size_t b = 0; b < bodies; ++b)
                            in.controls[k].wrenches[b] += step * direction[k][b];
                        }
                      }});
  }
  if (!model.pair_overrides.empty()) {
    const Vec3<double> d = test::random_vector(random, 0.3);
    const PairOverride& pair = model.pair_overrides.front();
    const PairGradient& bar = gradient.model.pairs.front();
    const auto product = [](double value, double slope) { return std::isnan(value) ? 0.0 : value * slope; };
    groups.push_back({"pair override",
                      d[0] * pair.friction * bar.friction + d[1] * product(pair.stiffness, bar.stiffness) +
                          d[2] * product(pair.dissipation_time, bar.dissipation_time),
                      [=](Inputs& in, double step) {
                        PairOverride& p = in.scene.model.pair_overrides.front();
                        p.friction *= 1.0 + step * d[0];
                        p.stiffness *= 1.0 + step * d[1];
                        p.dissipation_time *= 1.0 + step * d[2];
                      }});
  }

  // Shape: the SDF alone, the contact points alone, and parameters with the points following the surface.
  std::vector<std::vector<PrimitiveGradient>> shape_direction(bodies);
  std::vector<Points> point_direction(bodies);
  for (std::size_t b = 0; b < bodies; ++b) {
    for (const Primitive& primitive : model.bodies[b].shape.primitives) {
      PrimitiveGradient direction;
      direction.values.assign(primitive.values.size(), 0.0);
      for (std::size_t i = 0; i < parameter_count(primitive); ++i) {
        const double unit = is_length(primitive.kind, i) ? 0.01 * model.bodies[b].size : 0.1;
        shape_parameter(direction, primitive.kind, i) = random.uniform(-1.0, 1.0) * unit;
      }
      direction.pose = test::random_vector<6>(random, 0.02);
      shape_direction[b].push_back(direction);
    }
    point_direction[b] = Points::Zero(3, model.bodies[b].contact_points.cols());
    for (Eigen::Index i = 0; i < point_direction[b].cols(); ++i)
      point_direction[b].col(i) = test::random_vector(random, 0.01);
  }
  const auto moved_primitives = [shape_direction](const Body& body, std::size_t b, double step) {
    std::vector<Primitive> primitives = body.shape.primitives;
    for (std::size_t l = 0; l < primitives.size(); ++l) {
      const PrimitiveGradient& direction = shape_direction[b][l];
      for (std::size_t i = 0; i < parameter_count(primitives[l]); ++i) {
        shape_parameter(primitives[l], primitives[l].kind, i) +=
            step * shape_parameter(direction, primitives[l].kind, i);
      }
      primitives[l].X_BP = retract<double>(primitives[l].X_BP, step * direction.pose);
    }
    return primitives;
  };
  const auto shape_slope = [&](const std::vector<PrimitiveGradient>& bar, std::size_t b) {
    double sum = 0.0;
    for (std::size_t l = 0; l < bar.size(); ++l) {
      const Primitive& primitive = model.bodies[b].shape.primitives[l];
      for (std::size_t i = 0; i < parameter_count(primitive); ++i) {
        sum += shape_parameter(bar[l], primitive.kind, i) *
               shape_parameter(shape_direction[b][l], primitive.kind, i);
      }
      sum += bar[l].pose.dot(shape_direction[b][l].pose);
    }
    return sum;
  };
  add(
      "signed distance function", [&](std::size_t b) { return shape_slope(bars[b].geometry.primitives, b); },
      [=](Inputs& in, std::size_t b, double step) {
        Body& body = in.scene.model.bodies[b];
        body.shape.primitives = moved_primitives(body, b, step);
      });
  add(
      "contact points",
      [&](std::size_t b) {
        return bars[b].geometry.contact_points.cwiseProduct(point_direction[b]).sum() +
               0.01 * d1[b] * bars[b].geometry.contact_radius;
      },
      [=](Inputs& in, std::size_t b, double step) {
        in.scene.model.bodies[b].contact_points += step * point_direction[b];
        in.scene.model.bodies[b].contact_radius += 0.01 * step * d1[b];
      });
  add(
      "shape", [&](std::size_t b) { return shape_slope(bars[b].shape, b); },
      [=](Inputs& in, std::size_t b, double step) {
        Body& body = in.scene.model.bodies[b];
        body = with_primitives(body, moved_primitives(body, b, step));
      });
  return groups;
}

struct Comparison {
  double error = std::numeric_limits<double>::infinity();  ///< of the best estimate, relative to the slope
                                                           ///< (and to 1e-3 of the largest group's)
  bool is_resolved = false;  ///< two of the estimates agree with each other to 1e-5
};

/// Central differences of several steps, each also extrapolated from its neighbour (Richardson), until one
/// agrees to 1e-8 or they are used up. Where a rollout is chaotic only the smallest ones are in the linear
/// range.
Comparison compare(const Group& group, const Inputs& inputs, const StepConfig& config, int steps,
                   const Loss& loss, double scale) {
  const double reference = std::abs(group.slope) + scale;
  Comparison result;
  std::map<int, double> slopes;  // by the exponent of the step
  std::vector<double> estimates;
  const auto consider = [&](double estimate) {
    for (const double other : estimates)
      result.is_resolved = result.is_resolved || std::abs(estimate - other) <= 1e-5 * reference;
    estimates.push_back(estimate);
    const double error = std::abs(estimate - group.slope) / reference;
    if (error < result.error) result.error = error;
  };
  for (const int exponent : {-5, -6, -7, -4, -8, -9}) {
    const double step = std::pow(10.0, exponent);
    const auto at = [&](double s) {
      Inputs moved = inputs;
      group.move(moved, s);
      return loss_of_rollout(moved, config, steps, loss);
    };
    slopes[exponent] = (at(step) - at(-step)) / (2.0 * step);
    consider(slopes[exponent]);
    if (slopes.contains(exponent + 1)) consider((100.0 * slopes[exponent] - slopes[exponent + 1]) / 99.0);
    if (result.error <= 1e-8) {
      result.is_resolved = true;
      break;
    }
  }
  return result;
}

struct Distribution {
  std::vector<double> errors;  ///< worst group of each scene
  int unresolved = 0, comparisons = 0, failed_steps = 0, non_finite = 0;
  int at_kinks = 0;             ///< scenes that are off by more than 1e-4, and whose health names kinks
  int chaotic = 0;              ///< scenes with unresolved groups, and whose health warns of chaos
  int unresolved_in_chaos = 0;  ///< unresolved groups of these
  std::string worst;
};

/// `groups_per_scene`: how many of the groups are compared, in turn, so that all have their share.
/// `selected_vertices`: of bodies that have more.
Distribution compare_scenes(int scenes, int steps, std::size_t groups_per_scene, std::uint64_t seed,
                            const ContactConfig& contact = {}, int selected_vertices = 0,
                            const std::vector<Body>& instead_of_boxes = {},
                            std::optional<ContactLaw> law = {}) {
  Distribution result;
  double worst = 0.0;
  std::size_t next_group = 0;
  for (int i = 0; i < scenes; ++i) {
    Random random(seed + static_cast<std::uint64_t>(i));
    test::RandomSceneOptions options;
    options.aligned = i % 4 == 3;
    options.gravity = i % 10 != 9;
    options.instead_of_boxes = instead_of_boxes;
    Inputs inputs{test::random_contact_scene(random, options), {}};
    const int bodies = inputs.scene.model.body_count();
    for (Body& body : inputs.scene.model.bodies) {
      if (body.contact_points.cols() > selected_vertices) body.selected_vertices = selected_vertices;
    }
    StepConfig config;
    config.contact = contact;
    config.law = i % 3 == 2 ? ContactLaw::penalty : ContactLaw::smooth_coulomb;
    if (law) config.law = *law;
    config.h = config.law == ContactLaw::penalty ? 2.5e-4 : 5e-3;
    config.tolerance = 1e-12;
    config.acceleration_scale = 9.81;  // its default follows gravity, which is one of the inputs
    if (i % 5 == 4) {
      inputs.scene.model.pair_overrides.push_back({0, 1, random.uniform(0.1, 0.9),
                                                   std::pow(10.0, random.uniform(3.5, 4.5)),
                                                   random.uniform(0.002, 0.05), true});
    }
    for (int k = 0; k < steps; ++k) {
      Control control;
      for (int b = 0; b < bodies; ++b) {
        control.wrenches.push_back(
            stack<double>(test::random_vector(random, 0.01), test::random_vector(random, 0.3)));
      }
      inputs.controls.push_back(std::move(control));
    }
    inputs.scene = test::without_ignored(std::move(inputs.scene), config.law);
    const Loss loss(random, bodies, steps);
    const Stepper stepper(inputs.scene.model, config);
    const Trajectory trajectory = rollout(stepper, inputs.scene.state, steps, inputs.controls);
    if (!trajectory.ok()) {
      ++result.failed_steps;
      continue;
    }
    const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State& state, StateTangent& bar) {
      loss.gradient(k, state, bar);
    });
    const std::vector<Group> groups = groups_of(inputs, config, gradient, random);
    double largest = 0.0;
    for (const Group& group : groups) {
      largest = std::max(largest, std::abs(group.slope));
      if (!std::isfinite(group.slope)) ++result.non_finite;
    }
    double worst_of_scene = 0.0;
    int unresolved = 0;
    for (std::size_t g = 0; g < std::min(groups_per_scene, groups.size()); ++g) {
      const Group& group = groups[next_group++ % groups.size()];
      const Comparison c = compare(group, inputs, config, steps, loss, 1e-3 * largest + 1e-12);
      ++result.comparisons;
      if (!c.is_resolved) ++unresolved;
      worst_of_scene = std::max(worst_of_scene, c.error);
      if (c.error > worst) {
        worst = c.error;
        result.worst = group.name + " of scene " + std::to_string(i) +
                       (config.law == ContactLaw::penalty ? " (penalty)" : "");
      }
    }
    if (worst_of_scene > 1e-4 && gradient.health.contacts_near_kink > 0) {
      ++result.at_kinks;
    } else {
      result.errors.push_back(worst_of_scene);
      result.unresolved += unresolved;
      if (unresolved > 0 && gradient.health.growth_over_free > AdjointOptions{}.chaos_warning) {
        ++result.chaotic;
        result.unresolved_in_chaos += unresolved;
      }
    }
  }
  std::sort(result.errors.begin(), result.errors.end());
  return result;
}

}  // namespace

TEST_CASE("adjoint: agrees with differences on random contact scenes", "[dynamics][derivative][nightly]") {
  const auto [steps, groups_per_scene] = GENERATE(table<int, std::size_t>({{1, 99}, {10, 99}, {100, 6}}));
  const int scenes = test::samples(200);
  const Distribution d = compare_scenes(scenes, steps, groups_per_scene, 1000);
  const std::size_t n = d.errors.size();
  REQUIRE(static_cast<double>(n) + d.at_kinks >= 0.99 * scenes);
  const double median = d.errors[n / 2], p99 = d.errors[n - 1 - n / 100], largest = d.errors.back();
  CAPTURE(steps, n, d.comparisons, d.unresolved, d.failed_steps, median, p99, largest, d.worst, d.at_kinks,
          d.chaotic, d.unresolved_in_chaos);
  CHECK(d.non_finite == 0);
  CHECK(d.failed_steps == 0);
  CHECK(d.at_kinks <= 1 + scenes / 50);
  // In chaos no step of a difference is short enough for the curvature and long enough for rounding; the groups of such
  // a scene are unresolved together, so that scenes are counted.
  CHECK(d.chaotic <= scenes / 20);
  CHECK(median <= 1e-7);
  CHECK(p99 <= 1e-4);
  CHECK(d.unresolved - d.unresolved_in_chaos <= d.comparisons / 100);
}

TEST_CASE("adjoint: agrees with differences over 50 steps of a law with kinks",
          "[dynamics][derivative][nightly]") {
  const ContactLaw law = GENERATE(ContactLaw::convex_cone, ContactLaw::impedance);
  const int scenes = test::samples(80);  // the median of a fifth of 40 is that of the differences' rounding
  const Distribution d = compare_scenes(scenes, 50, 5, 7000, {}, 0, {}, law);
  const std::size_t n = d.errors.size();
  REQUIRE(static_cast<double>(n) >= 0.95 * scenes);
  const double median = d.errors[n / 2], p90 = d.errors[n - 1 - n / 10], largest = d.errors.back();
  CAPTURE(static_cast<int>(law), n, d.comparisons, d.unresolved, d.failed_steps, median, p90, largest,
          d.worst);
  CHECK(d.non_finite == 0);
  CHECK(d.failed_steps == 0);
  CHECK(median <= 1e-7);
  CHECK(p90 <= 1e-5);
  CHECK(d.unresolved <= d.comparisons / 10);
}

TEST_CASE("adjoint: agrees with differences whichever contacts there are",
          "[dynamics][derivative][nightly]") {
  struct Case {
    const char* name;
    ContactConfig contact;
    int selected_vertices = 0;
    std::vector<Body> instead_of_boxes{};
    double unresolved = 0.01;
  };
  std::vector<Case> cases(6);
  cases[0].name = "edges against solids";
  cases[0].contact.edge_sdf = true;
  // An edge that runs through the skeleton of a rounded box finds a kink there: no boxes.
  cases[0].instead_of_boxes = {test::superquadric_of_mass({0.1, 0.08, 0.07}, 0.2, 0.3, 1.0)};
  cases[1].name = "edges against solids only";
  cases[1].contact.edge_sdf = true;
  cases[1].instead_of_boxes = cases[0].instead_of_boxes;
  cases[1].contact.edge_edge = false;
  cases[1].contact.vertex_contacts = VertexContacts::none;
  cases[2].name = "selected vertices";
  cases[2].selected_vertices = 8;
  cases[3].name = "blended";
  cases[3].contact.reduction = Reduction::blend;
  cases[4].name = "clustered";
  cases[4].contact.reduction = Reduction::cluster;
  cases[4].unresolved = 0.05;  // clusters change, and there a rollout has no slope
  cases[5].name = "polyhedra, point clouds, extruded superquadrics";
  for (const char* name : {"dodecahedron", "hex_nut", "ring"})
    cases[5].instead_of_boxes.push_back(
        read_body(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/" + name + "/body.toml"));
  const Case& c = cases[GENERATE(range(std::size_t{0}, std::size_t{6}))];
  const int scenes = std::max(10, test::samples(24));  // one in ten of fewer is none
  const Distribution d =
      compare_scenes(scenes, 5, 99, 5000, c.contact, c.selected_vertices, c.instead_of_boxes);
  const std::size_t n = d.errors.size();
  REQUIRE(static_cast<double>(n) >= 0.9 * scenes);
  const double median = d.errors[n / 2], p90 = d.errors[n - 1 - n / 10], largest = d.errors.back();
  CAPTURE(c.name, n, d.comparisons, d.unresolved, d.failed_steps, median, p90, largest, d.worst);
  CHECK(d.non_finite == 0);
  CHECK(median <= 1e-7);
  CHECK(p90 <= 1e-5);
  CHECK(d.unresolved <= c.unresolved * d.comparisons);
}
