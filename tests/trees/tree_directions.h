/// Directional derivatives of functions of trees, by forward-mode numbers and by differences.
#pragma once

#include <string>
#include <vector>

#include "dynamics/trees/tree_direction.h"
#include "tests/support/gradient_check.h"
#include "tests/support/mechanisms.h"

namespace abut::test {

/// What dynamics of trees depend on, on any scalar.
template <typename S>
struct TreeInputs {
  TreeParameters<S> parameters;
  VecX<S> q, u, a;  ///< a: accelerations, or generalized forces
  std::vector<Vec6<S>> wrenches;
};

struct TreeInputsTangent {
  TreeParametersTangent parameters;
  VecX<double> q, u, a;
  std::vector<Vec6<double>> wrenches;
};

[[nodiscard]] inline TreeInputs<double> random_inputs(Random& random, const TreeCase& c) {
  TreeInputs<double> inputs{c.parameters, c.q, c.u, c.random_rates(random, 1.0), {}};
  for (int i = 0; i < c.trees.link_count(); ++i) inputs.wrenches.push_back(random_vector<6>(random));
  return inputs;
}

/// A random direction; the inertia of massless links stays.
[[nodiscard]] inline TreeInputsTangent random_direction(Random& random, const TreeCase& c) {
  TreeInputsTangent dot{TreeParametersTangent(c.trees),
                        c.random_rates(random, 1.0),
                        c.random_rates(random, 1.0),
                        c.random_rates(random, 1.0),
                        {}};
  for (int i = 0; i < c.trees.link_count(); ++i) {
    LinkTangent& link = dot.parameters.links[at(i)];
    const double mass = c.parameters.links[at(i)].mass;
    link.mass = mass * random.uniform(-1.0, 1.0);
    link.inertia = random_body_inertia(random, mass, 0.1) - random_body_inertia(random, mass, 0.1);
    if (c.trees.links[at(i)].kind != LinkKind::free) {
      link.X_PJ = random_vector<6>(random);
      link.X_CJ = random_vector<6>(random);
    }
    dot.wrenches.push_back(random_vector<6>(random));
  }
  dot.parameters.armature = c.random_rates(random, 0.1);
  dot.parameters.gravity = random_vector(random);
  return dot;
}

/// The inputs moved by t along the direction, on a scalar S of which t is a number.
template <typename S>
[[nodiscard]] TreeInputs<S> moved(const TreeCase& c, const TreeInputs<double>& inputs,
                                  const TreeInputsTangent& dot, const S& t) {
  const auto shifted = [&](const auto& x, const auto& x_dot) {
    return (x.template cast<S>() + t * x_dot.template cast<S>()).eval();
  };
  TreeInputs<S> result;
  result.parameters = inputs.parameters.template cast<S>();
  for (std::size_t i = 0; i < result.parameters.links.size(); ++i) {
    LinkParameters<S>& link = result.parameters.links[i];
    const LinkTangent& link_dot = dot.parameters.links[i];
    link.mass += t * link_dot.mass;
    link.inertia = shifted(inputs.parameters.links[i].inertia, link_dot.inertia);
    link.X_PJ = retract(link.X_PJ, shifted(Vec6<double>::Zero(), link_dot.X_PJ));
    link.X_CJ = retract(link.X_CJ, shifted(Vec6<double>::Zero(), link_dot.X_CJ));
    result.wrenches.push_back(shifted(inputs.wrenches[i], dot.wrenches[i]));
  }
  result.parameters.armature = shifted(inputs.parameters.armature, dot.parameters.armature);
  result.parameters.gravity = shifted(inputs.parameters.gravity, dot.parameters.gravity);
  const VecX<S> q = inputs.q.cast<S>(), d = shifted(VecX<double>::Zero(c.trees.nv), dot.q);
  integrate_coordinates(c.trees, q, d, 1.0, result.q);
  result.u = shifted(inputs.u, dot.u);
  result.a = shifted(inputs.a, dot.a);
  return result;
}

/// Slopes of a loss, a function of TreeInputs on any scalar, along a direction.
struct Slopes {
  double dual = 0.0, jet = 0.0;
  SweptDerivative differences;
};

template <typename Loss>
[[nodiscard]] Slopes slopes(const TreeCase& c, const TreeInputs<double>& inputs, const TreeInputsTangent& dot,
                            const Loss& loss) {
  Slopes result;
  TreeInputs<Dual1> dual;
  dual.parameters = along(inputs.parameters, dot.parameters);
  dual.q = coordinates_along(c.trees, inputs.q, dot.q);
  dual.u = along(inputs.u, dot.u);
  dual.a = along(inputs.a, dot.a);
  for (std::size_t i = 0; i < inputs.wrenches.size(); ++i) {
    dual.wrenches.push_back(along(inputs.wrenches[i], dot.wrenches[i]));
  }
  result.dual = loss(dual).d[0];
  result.jet = loss(moved(c, inputs, dot, Jet<1>(0.0, 0))).v[0];
  result.differences = fd_sweep([&](double t) { return loss(moved(c, inputs, dot, t)); }, 0.0, 0.02);
  return result;
}

}  // namespace abut::test
