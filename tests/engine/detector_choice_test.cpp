#include "engine/detector_choice.h"

#include <catch2/catch.hpp>

#include <string>

#include "engine/input_error.h"
#include "engine/scene_io.h"
#include "tests/support/temporary_folder.h"

namespace abut {
namespace {

/// A floor and a body, and what stands before and after them.
std::string scene_of(const std::string& detector, const std::string& primitive,
                     const std::string& after = "") {
  return "[simulation.contact]\ndetector = \"" + detector +
         "\"\n"
         "[[body]]\nname = \"floor\"\n[[body.primitive]]\nkind = \"half_space\"\n"
         "[[body]]\nname = \"thing\"\nmass = 1\ncenter_of_mass = [0, 0, 0]\ninertia = [1e-3, 1e-3, 1e-3, 0, "
         "0, 0]\nvolume = 1e-3\n"
         "[body.contact]\npoints = [[0, 0, -0.03]]\n[[body.primitive]]\n" +
         primitive + "\n" + after;
}

std::string error_of(const std::string& text) {
  const test::TemporaryFolder folder;
  folder.write("scene.toml", text);
  try {
    (void)read_scene(folder.path() / "scene.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

const std::string k_ball = "kind = \"sphere\"\nradius = 0.1";
const std::string k_cylinder = "kind = \"cylinder\"\nradius = 0.1\nhalf_length = 0.1";
const std::string k_torus = "kind = \"torus\"\nradius = 0.1\ntube_radius = 0.03";

TEST_CASE("detector_choice: what a detector cannot take is refused at its line, with what can",
          "[engine][errors]") {
  CHECK(error_of(scene_of("gjk", k_ball)).empty());
  CHECK(error_of(
            scene_of("proximity_qp", k_ball, "[[pair]]\nbodies = [\"floor\", \"thing\"]\ncollide = false\n"))
            .empty());

  const std::string cylinder = error_of(scene_of("proximity_qp", k_cylinder));
  CAPTURE(cylinder);
  CHECK(cylinder.find("scene.toml:2: simulation.contact.detector") != std::string::npos);
  CHECK(cylinder.find("body 'thing'") != std::string::npos);
  CHECK(cylinder.find("is a superquadric") != std::string::npos);
  CHECK(cylinder.find("\"gjk\"") != std::string::npos);

  const std::string torus = error_of(scene_of("gjk", k_torus));
  CAPTURE(torus);
  CHECK(torus.find("body 'thing'") != std::string::npos);
  CHECK(torus.find("is a torus") != std::string::npos);
  CHECK(torus.find("\"frank_wolfe\"") != std::string::npos);

  const std::string of_pair =
      error_of(scene_of("manifold", k_torus,
                        "[[pair]]\nbodies = [\"floor\", \"thing\"]\n[pair.contact]\ndetector = \"gjk\"\n"));
  CAPTURE(of_pair);
  CHECK(of_pair.find("scene.toml:22: pair[0].contact.detector") != std::string::npos);
}

TEST_CASE("detector_choice: numbers of detectors are checked, and words", "[engine][errors]") {
  const auto with = [](const std::string& line) {
    return error_of("[simulation.contact]\n" + line + "\n" + scene_of("gjk", k_ball).substr(21));
  };
  CHECK(with("witness_epsilon = 1e-3").empty());
  for (const char* const bad :
       {"witness_epsilon = 0", "witness_epsilon = 1e6", "witness_samples = 2147483647", "witness_samples = 1",
        "witness_seed = -1", "qp_padding = 1", "qp_relaxation = 0", "search_iterations = 0",
        "cluster_angle = 3.2", "witness_derivative = \"jacobian\""}) {
    CAPTURE(bad);
    CHECK(with(bad).find("scene.toml:2") != std::string::npos);
  }
  CHECK(error_of(scene_of("gilbert", k_ball)).find("gjk") != std::string::npos);
}

}  // namespace
}  // namespace abut
