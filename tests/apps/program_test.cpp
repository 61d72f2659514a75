#include <catch2/catch.hpp>

#include "apps/abut/progress_bar.h"
#include "apps/abut/report.h"
#include "tests/apps/program.h"

namespace abut::test {
namespace {

using Catch::Contains;

const std::vector<std::string> k_verbs{"run", "contacts", "gradcheck", "gradient", "mesh", "snapshot"};

TEST_CASE("abut: without a verb it shows its help and ends with code 2", "[apps][value]") {
  const ProgramResult result = run_program({});
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  for (const std::string& verb : k_verbs) CHECK_THAT(result.err, Contains(verb));
}

TEST_CASE("abut: --help and --version end well", "[apps][value]") {
  const ProgramResult help = run_program({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.err.empty());
  CHECK_THAT(help.out, Contains("Examples:") && Contains("Exit codes") && Contains("scene_format.md"));
  for (const std::string& verb : k_verbs) CHECK_THAT(help.out, Contains(verb));

  const ProgramResult version = run_program({"--version"});
  CHECK(version.exit_code == 0);
  const std::string expected = std::string("abut ") + ABUT_VERSION + "\nmanifold kernels: ";
  CHECK((version.out == expected + "sse2\n" || version.out == expected + "avx2\n" ||
         version.out == expected + "avx512\n"));
}

TEST_CASE("abut: the help of a verb explains its options, with units and examples", "[apps][value]") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"run",
       {"SCENE", "--steps N", "--dt H", "--out FILE", "--json", "--quiet", "[s]", ".npz", ".csv",
        "Examples:"}},
      {"contacts", {"SCENE", "--json", "[m]", "Examples:"}},
      {"gradient", {"SCENE", "--loss COORDINATE:BODY", "--wrt", "--steps N", "--json", "[m]", "Examples:"}},
      {"gradcheck", {"SCENE", "--steps N", "--samples P", "--seed S", "--json", "unresolved", "Examples:"}}};
  for (const auto& [verb, parts] : cases) {
    const ProgramResult help = run_program({verb, "--help"});
    CAPTURE(help.out);
    CHECK(help.exit_code == 0);
    CHECK(help.err.empty());
    for (const std::string& part : parts) CHECK_THAT(help.out, Contains(part));
  }
}

TEST_CASE("abut: an unknown verb is answered with the nearest one", "[apps][value]") {
  const ProgramResult close = run_program({"gradchek", "scene.toml"});
  CHECK(close.exit_code == 2);
  CHECK_THAT(close.err, Contains("unknown verb 'gradchek', did you mean 'gradcheck'?"));
  const ProgramResult far = run_program({"simulate"});
  CHECK(far.exit_code == 2);
  CHECK_THAT(far.err, Contains("unknown verb 'simulate'") && Contains("run, contacts, fit") &&
                          !Contains("did you mean"));
}

TEST_CASE("abut: an instruction set that is not there is bad input, named with the choices",
          "[apps][value]") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--version"}, {"run", "none.toml"}}) {
    const ProgramResult result =
        run_executable(ABUT_EXECUTABLE, arguments, {{"ABUT_INSTRUCTION_SET", "foo"}});
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(line_count(result.err) == 1);
    CHECK_THAT(result.err,
               Contains("ABUT_INSTRUCTION_SET is 'foo'") && Contains("sse2") && !Contains("internal error"));
  }
}

TEST_CASE("abut: bad usage is one line that says where help is", "[apps][value]") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"run"}, "SCENE is required"},
      {{"contacts"}, "SCENE is required"},
      {{"--nonsense"}, "--nonsense"},
      {{"run", "a.toml", "b.toml"}, "b.toml"}};
  for (const auto& [arguments, message] : cases) {
    const ProgramResult result = run_program(arguments);
    CAPTURE(arguments, result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Contains(message) && Contains("--help"));
    CHECK(line_count(result.err) == 1);
  }
}

TEST_CASE("duration_text: as few letters as tell it", "[apps][value]") {
  CHECK(duration_text(0.04) == "0.04 s");
  CHECK(duration_text(0.996) == "1.0 s");
  CHECK(duration_text(9.94) == "9.9 s");
  CHECK(duration_text(9.96) == "10 s");
  CHECK(duration_text(59.4) == "59 s");
  CHECK(duration_text(59.6) == "1 min 0 s");
  CHECK(duration_text(3599.7) == "1 h 0 min");
  CHECK(duration_text(7500.0) == "2 h 5 min");
}

TEST_CASE("Table: columns line up, without blanks at the ends of lines", "[apps][value]") {
  Table table({"name", "n"});
  table.add({"a", "1000"});
  table.add({"longer", "1"});
  CHECK(table.text() == "  name       n\n  ------------\n  a       1000\n  longer     1\n");
}

TEST_CASE("failure_text: names step, time, body, contact and reason", "[apps][value]") {
  Model model;
  for (const char* name : {"floor", "ball"}) model.bodies.emplace_back().name = name;
  StepReport report;
  report.status = StepStatus::not_converged;
  report.residual = 3.25e-5;
  report.iterations = 300;
  report.body = 1;
  report.step = 136;
  StepConfig config;
  CHECK(failure_text(model, config, 0.274, report) ==
        "step 137 (to t = 0.274 s) failed with law smooth_coulomb: not converged, relative residual 3.25e-05 "
        "after "
        "300 Newton iterations, allowed: 1.00e-09; body 'ball', which touches nothing; try a smaller "
        "time_step, a larger max_iterations, or masses that differ less");
  report.status = StepStatus::non_finite;
  report.contact = {ContactKind::vertex_sdf, 0, 1, -1, 5};
  report.step = 0;
  report.law = ContactLaw::penalty;
  CHECK(
      failure_text(model, config, 0.002, report) ==
      "step 1 (to t = 0.002 s) failed with law penalty: the state is no longer finite; body 'ball', deepest "
      "contact with 'floor' at contact point 5 of 'ball'; try a smaller time_step, and look for forces that "
      "are too large for the mass of the body");
}

TEST_CASE("failure_text: tells each status with its number and limit, and each kind of contact",
          "[apps][value]") {
  Model model;
  for (const char* name : {"floor", "ball"}) model.bodies.emplace_back().name = name;
  StepConfig config;
  config.speed_limit = 40.0;
  config.penetration_limit = 0.25;
  StepReport report;
  report.step = 4;
  report.body = 1;
  report.max_speed = 51.5;
  report.penetration = 0.75;
  report.status = StepStatus::too_fast;
  report.contact = {ContactKind::edge_edge, 0, 1, 7, 5};
  CHECK_THAT(failure_text(model, config, 0.01, report),
             Catch::Contains("speed of 51.5 m/s, allowed: 40 m/s; body 'ball'") &&
                 Catch::Contains("at edge 7 of 'floor' and edge 5 of 'ball'") &&
                 Catch::Contains("larger speed_limit"));
  report.status = StepStatus::too_deep;
  report.contact = {ContactKind::edge_sdf, 0, 1, -1, 9};
  CHECK_THAT(failure_text(model, config, 0.01, report),
             Catch::Contains("0.75 of the size of the smaller body, allowed: 0.25; body 'ball'") &&
                 Catch::Contains("along edge 4 of 'ball'") && Catch::Contains("larger penetration_limit"));
  report.contact = {ContactKind::blended, 0, 1, -1, -1};
  CHECK_THAT(failure_text(model, config, 0.01, report), Catch::Contains("at a mean of several contacts"));
}

}  // namespace
}  // namespace abut::test
