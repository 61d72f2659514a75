#include <string>

#include <catch2/catch.hpp>

#include "dynamics/parameters/scene_parameter.h"
#include "engine/law_settings.h"
#include "engine/scene_io.h"
#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;

const std::string k_body_tables =
    "[[body]]\nname = \"floor\"\n[[body.primitive]]\nkind = \"half_space\"\n"
    "[[body]]\nname = \"box\"\ndensity = 500\nposition = [0, 0, 0.1]\n[[body.primitive]]\nkind = "
    "\"rounded_box\"\n"
    "half_extents = [0.1, 0.1, 0.1]\nedge_radius = 0.005\n";

TEST_CASE("abut: what the law of a scene ignores cannot be set from outside either", "[apps][value]") {
  const TemporaryFolder folder;
  const std::string text = "[simulation]\nlaw = \"penalty\"\n" + k_body_tables;
  const Scene scene = read_scene(folder.write("scene.toml", text));
  for (const char* name : {"body.box.restitution", "pair.floor.box.restitution",
                           "simulation.near_rigid_factor", "simulation.tangential_factor"}) {
    CHECK_THROWS_WITH(find_parameter(scene, name),
                      Contains(name) && Contains("ignored by the law 'penalty'"));
  }
  CHECK_NOTHROW(find_parameter(scene, "body.box.stiffness"));
  const std::string table =
      folder.write("batch.toml", "scene = \"scene.toml\"\n[grid]\n\"body.box.restitution\" = [0.1, 0.2]\n");
  const ProgramResult result = run_program({"run", "--batch", table});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("batch.toml:3: ") && Contains("ignored by the law 'penalty'"));
}

TEST_CASE("abut laws: prints the table", "[apps][value]") {
  const ProgramResult result = run_program({"laws"});
  CHECK(result.exit_code == 0);
  CHECK(result.out == law_settings_table());
}

}  // namespace
}  // namespace abut::test
