#include "engine/law_settings.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include <catch2/catch.hpp>

#include "engine/config_fields.h"
#include "engine/input_error.h"
#include "engine/mesh_shapes.h"
#include "engine/scene_io.h"
#include "tests/support/mesh_files.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

using Catch::Contains;

/// A value other than the default, as a scene file has it.
std::string other_value(std::string_view key) {
  static const std::map<std::string_view, std::string> k_words{
      {"push_out", "\"split\""},    {"solref", "[0.03, 0.9]"},     {"solimp", "[0.1, 0.9, 0.002, 0.4, 3]"},
      {"passive_impacts", "false"}, {"adaptive_substeps", "true"}, {"restitution", "0.5"},
      {"max_iterations", "77"}};
  const auto word = k_words.find(key);
  return word == k_words.end() ? "0.3" : word->second;
}

const std::string k_floor = "[[body]]\nname = \"floor\"\n[[body.primitive]]\nkind = \"half_space\"\n";
const std::string k_ball = "[[body.primitive]]\nkind = \"sphere\"\nradius = 0.1\nposition = [0, 0, 1]\n";
const std::string k_joint = "[[joint]]\nname = \"j\"\nkind = \"ball\"\nbody_B = \"ball\"\n";

/// A scene with the key in line `line`: of [simulation], of a body or of a pair.
enum class Place { simulation, body, pair };
std::string scene_with(ContactLaw law, Place place, const std::string& setting, bool has_joint, int& line) {
  std::string text = "[simulation]\nlaw = \"" + std::string(to_string(law)) + "\"\n";
  const auto put = [&](Place here) {
    if (here != place) return;
    line = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    text += setting + "\n";
  };
  put(Place::simulation);
  text += k_floor + "[[body]]\nname = \"ball\"\ndensity = 1000\n";
  put(Place::body);
  text += k_ball + "[[pair]]\nbodies = [\"ball\", \"floor\"]\n";
  put(Place::pair);
  if (has_joint) text += k_joint;
  return text;
}

}  // namespace

TEST_CASE("law_settings: the table has every setting of a step and of a material once", "[engine][value]") {
  std::multiset<std::string_view> keys;
  for (const LawSetting& setting : law_settings()) keys.insert(setting.key);
  std::set<std::string_view> expected{"push_out",  "solref",           "solimp",     "friction",
                                      "stiffness", "dissipation_time", "restitution"};
  for (const StepConfigField& field : step_config_fields()) expected.insert(field.key);
  CHECK(std::set(keys.begin(), keys.end()) == expected);
  CHECK(keys.size() == expected.size());
  for (const LawSetting& setting : law_settings()) {
    CAPTURE(setting.key);
    CHECK(std::count(setting.use.begin(), setting.use.end(), SettingUse::honoured) > 0);
  }
}

TEST_CASE("law_settings: a scene that sets what its law ignores is refused at the key, and no other",
          "[engine][value]") {
  const test::TemporaryFolder folder;
  for (const auto& [word, law] : contact_laws()) {
    for (const LawSetting& setting : law_settings()) {
      const SettingUse use = setting_use(setting.key, law);
      for (const bool has_joint : {false, true}) {
        for (const Place place : {Place::simulation, Place::body, Place::pair}) {
          if ((place == Place::simulation) == setting.is_of_material) continue;
          int line = 0;
          const std::string text = scene_with(
              law, place, std::string(setting.key) + " = " + other_value(setting.key), has_joint, line);
          const auto file = folder.write("scene.toml", text);
          CAPTURE(word, text);
          if (is_honoured(use, has_joint)) {
            CHECK_NOTHROW(read_scene(file));
            continue;
          }
          CHECK_THROWS_WITH(read_scene(file), Contains("scene.toml:" + std::to_string(line) + ": ") &&
                                                  Contains(std::string(setting.key)) &&
                                                  Contains("ignored by the law '" + std::string(word) + "'"));
        }
      }
    }
  }
}

TEST_CASE("law_settings: the refusal names the laws that honour the setting", "[engine][value]") {
  const test::TemporaryFolder folder;
  int line = 0;
  const auto bounce =
      folder.write("a.toml", scene_with(ContactLaw::penalty, Place::body, "restitution = 0.5", false, line));
  CHECK_THROWS_WITH(
      read_scene(bounce),
      Contains("body[1].restitution") && Contains("honoured by 'smooth_coulomb' and 'lcp'; leave it out, or "
                                                  "choose another law"));
  const auto factor = folder.write(
      "b.toml", scene_with(ContactLaw::penalty, Place::simulation, "near_rigid_factor = 0.2", false, line));
  CHECK_THROWS_WITH(read_scene(factor), Contains("in a scene without joints"));
}

TEST_CASE("law_settings: a default that is written out is never refused", "[engine][value]") {
  const test::TemporaryFolder folder;
  int line = 0;
  for (const auto& [place, setting] :
       {std::pair{Place::body, "restitution = 0"}, std::pair{Place::pair, "restitution = 0.0"},
        std::pair{Place::simulation, "push_out = \"bias\""},
        std::pair{Place::simulation, "tangential_factor = 0.001"},
        std::pair{Place::body, "stiffness = inf"}}) {
    const auto file =
        folder.write("scene.toml", scene_with(ContactLaw::impedance, place, setting, false, line));
    CAPTURE(setting);
    CHECK_NOTHROW(read_scene(file));
  }
}

TEST_CASE("law_settings: a material that comes from an asset is refused where the scene names the asset",
          "[engine][value]") {
  const test::TemporaryFolder folder;
  folder.write("brick/mesh.obj", test::obj_text(box_mesh({1, 2, 3}, 1)));
  folder.write("brick/body.toml",
               "density = 1000\nmesh = \"mesh.obj\"\n[material]\nrestitution = 0.4\n[[primitive]]\n"
               "kind = \"superquadric\"\nsemi_axes = [1, 2, 3]\nexponents = [0.1, 0.1]\n");
  const std::string text = "[simulation]\nlaw = \"penalty\"\n[[body]]\nname = \"b\"\nasset = \"brick\"\n";
  CHECK_THROWS_WITH(read_scene(folder.write("scene.toml", text)), Contains("scene.toml:5: ") &&
                                                                      Contains("restitution = 0.4") &&
                                                                      Contains("set restitution = 0 here"));
  CHECK_NOTHROW(read_scene(folder.write("scene.toml", text + "restitution = 0\n")));
}

TEST_CASE("law_settings: reset_ignored leaves what require_honoured accepts", "[engine][value]") {
  for (const auto& [word, law] : contact_laws()) {
    CAPTURE(word);
    StepConfig config;
    config.law = law;
    config.push_out = PushOut::split;
    config.near_rigid_factor = 0.2;
    config.tangential_factor = 0.01;
    config.impedance.impratio = 3.0;
    config.penetration_limit = 1.0;
    CHECK_THROWS_AS(require_honoured(Model(), config), std::invalid_argument);
    reset_ignored(false, config);
    CHECK_NOTHROW(require_honoured(Model(), config));
    CHECK(config.penetration_limit == 1.0);
  }
}

TEST_CASE("law_settings: the table of docs/scene_format.md is that of the code", "[engine][value]") {
  std::ifstream page(ABUT_SOURCE_DIR "/docs/scene_format.md");
  const std::string text((std::istreambuf_iterator<char>(page)), std::istreambuf_iterator<char>());
  CHECK_THAT(text, Contains(law_settings_table()));
}
