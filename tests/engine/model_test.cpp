#include "engine/model.h"

#include <catch2/catch.hpp>

#include "tests/support/malformed.h"

using namespace abut;

TEST_CASE("Model: bodies and joints are found by name, and unknown names answered with what there is",
          "[engine][value]") {
  Model model;
  for (const char* name : {"floor", "ball", "box, tilted"}) model.bodies.emplace_back().name = name;
  model.joints.emplace_back().name = "elbow";
  CHECK(model.body("floor") == 0);
  CHECK(model.body("box, tilted") == 2);
  CHECK(model.joint("elbow") == 0);
  using Catch::Contains;
  CHECK_THROWS_WITH(model.body("bal"), Contains("there is no body 'bal'; did you mean 'ball'?") &&
                                           Contains("(there are 'floor', 'ball', 'box, tilted')"));
  CHECK_THROWS_WITH(model.body("Zebra"), Contains("'Zebra' (there are") && !Contains("did you mean"));
  CHECK_THROWS_WITH(model.body(""), Contains("there is no body ''"));
  CHECK_THROWS_WITH(model.joint("elbows"), Contains("no joint 'elbows'; did you mean 'elbow'?"));
  CHECK_THROWS_WITH(Model().joint("a"), Contains("there are no joints"));
  model.bodies.resize(50);
  CHECK_THROWS_WITH(model.body("Zebra"), Contains("and 30 more"));
}
