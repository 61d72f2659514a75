#include <cmath>

#include <catch2/catch.hpp>

#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/shape_change.h"
#include "dynamics/simulator.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

using namespace abut;
using namespace abut::test;

TEST_CASE("Stepper: numbers whose squares overflow are a failed step, not an energy of NaN",
          "[dynamics][value]") {
  TestScene scene = stack_scene(1, 0.1, 1.0);
  scene.body(1).external_wrench[5] = 1e300;
  const Simulator simulator(scene.model, {});
  CHECK(simulator.rollout(scene.state, 3).failure.status == StepStatus::non_finite);
  scene.X_WB(1).q.coeffs().setConstant(std::nan(""));
  CHECK(simulator.contacts(scene.state).contacts.empty());
}

TEST_CASE("with_primitives: the corners of a box with sharp edges follow its extents",
          "[dynamics][derivative]") {
  const Body box = make_box({0.1, 0.2, 0.3}, 0.0, 2, 1000.0);
  std::vector<Primitive> primitives = box.shape.primitives;
  primitives[0].parameters[0] *= 1.5;
  const Body longer = with_primitives(box, primitives);
  for (Eigen::Index i = 0; i < box.contact_points.cols(); ++i) {
    const Vec3<double> expected =
        Vec3<double>(box.contact_points.col(i)).cwiseProduct(Vec3<double>(1.5, 1.0, 1.0));
    CHECK(close(Vec3<double>(longer.contact_points.col(i)), expected, 1e-15, 1e-16));
  }
}
