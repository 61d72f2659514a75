#include "engine/model_validation.h"

#include <limits>

#include <catch2/catch.hpp>

namespace abut {
namespace {

using Catch::Contains;

Model two_bodies() {
  Model model;
  model.bodies.resize(2);
  model.bodies[0].name = "floor";
  model.bodies[1].name = "ball";
  return model;
}

TEST_CASE("validate(Model): names body, value and range of a material", "[engine][value]") {
  CHECK_NOTHROW(validate(two_bodies()));
  const double bad =
      GENERATE(-1e-12, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  CAPTURE(bad);
  Model model = two_bodies();
  model.bodies[1].material.friction = bad;
  CHECK_THROWS_WITH(validate(model), Contains("body 'ball': friction = ") && Contains(">= 0"));
  model = two_bodies();
  model.bodies[1].material.restitution = bad;
  CHECK_THROWS_WITH(validate(model), Contains("body 'ball': restitution = ") && Contains("[0, 1]"));
}

TEST_CASE("validate(Model): a pair may keep what its materials give", "[engine][value]") {
  Model model = two_bodies();
  model.pair_overrides.push_back({0, 1});
  CHECK_NOTHROW(validate(model));
  model.pair_overrides[0].restitution = 1.1;
  CHECK_THROWS_WITH(validate(model), Contains("pair of 'floor' and 'ball': restitution = 1.1"));
}

TEST_CASE("validate(Model): a mass is positive unless the body is fixed", "[engine][value]") {
  Model model = two_bodies();
  model.bodies[1].mass = 0.0;
  CHECK_THROWS_WITH(validate(model), Contains("body 'ball': mass 0"));
  model.bodies[1].fixed = true;
  CHECK_NOTHROW(validate(model));
}

TEST_CASE("validate(Model): flat faces and area vectors fit the contact points", "[engine][value]") {
  const auto with_face = [](std::vector<int> points, std::vector<double> factors) {
    Model model = two_bodies();
    Body& body = model.bodies[1];
    body.contact_points = Points::Zero(3, 4);
    body.contact_areas.assign(4, 1.0);
    body.flat_faces = {{{0, 1, 2}, {1.0, 1.0, 1.0}}, {std::move(points), std::move(factors)}};
    return model;
  };
  CHECK_NOTHROW(validate(with_face({0, 1, 3}, {1.0, 1.0})));
  CHECK_THROWS_WITH(validate(with_face({0, 4, 3}, {1.0, 1.0})),
                    "body 'ball': flat face 1 has contact point 4 of 4");
  CHECK_THROWS_WITH(validate(with_face({0, 1, -1}, {1.0, 1.0})),
                    "body 'ball': flat face 1 has contact point -1 of 4");
  CHECK_THROWS_WITH(validate(with_face({0, 1}, {1.0, 1.0, 1.0})),
                    "body 'ball': flat face 1 has 3 factors for 2 points, allowed: 1 to as many as points");
  CHECK_THROWS_AS(validate(with_face({0, 1, 2}, {})), std::invalid_argument);
  Model model = with_face({0, 1, 3}, {1.0, 1.0});
  model.bodies[1].contact_area_vectors = Points::Zero(3, 3);
  CHECK_THROWS_WITH(validate(model), "body 'ball': 3 contact area vectors for 4 contact points");
}

}  // namespace
}  // namespace abut
