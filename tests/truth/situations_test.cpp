// The truth suite: ordinary situations whose outcome mechanics gives (docs/truth.md).
//
// What is not known to be wrong must be right within its tolerance. What is known to be wrong, in situations/marks.txt,
// must be wrong: a mark that no longer holds fails the test, and `abut_truth_table --table marks` writes the marks anew.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "tests/support/samples.h"
#include "tests/truth/situations/run.h"
#include "tests/truth/situations/spinning_ellipsoid.h"

namespace {

using namespace abut::truth;

/// Below this many tolerances a case that is marked as wrong counts as right: rounding differs between machines.
constexpr double k_right_again = 0.9;

const Marks& marks() {
  static const Marks all = read_marks(ABUT_SOURCE_DIR "/tests/truth/situations/marks.txt");
  return all;
}

constexpr std::array k_families{"slide", "roll",      "rest",  "stack",  "fall",   "enter",
                                "pass",  "tip",       "rock",  "bounce", "strike", "hang",
                                "spin",  "turn over", "carry", "pinch",  "wedge"};
std::string family_of(const std::string& name) { return name.substr(0, name.find(':')); }

/// One in so many of the drawn cells of laws and detectors other than the default is run where not all samples are.
constexpr std::size_t k_other_share = 3;

/// All cases of a family; or a fifth of its cells, with one size and step each, in turn, and a third of that of laws and
/// detectors other than the default.
std::vector<Case> drawn_cases(const std::string& family) {
  constexpr std::size_t share = abut::test::k_sample_share;
  const bool all = abut::test::draws_all_samples();
  std::vector<Case> drawn;
  std::string row;
  std::size_t index = 0;  // of a situation with a kind
  for (const Case& at : cases(family + ":")) {
    const std::string name = at.situation->name + at.kind;
    if (name != row) {
      row = name;
      ++index;
    }
    const auto column = static_cast<std::size_t>(at.column - columns().data());
    const std::vector<Scale>& scales = at.column->scales;
    const std::size_t turn = index / share;
    const bool is_in_turn =
        scale_name(at) == scale_name({at.situation, at.kind, at.column, scales[turn % scales.size()]});
    if (all || (abut::test::is_drawn(index + column) && is_in_turn &&
                (column == 0 || (turn + column) % k_other_share == 0)))
      drawn.push_back(at);
  }
  return drawn;
}

void check_family(const std::string& family) {
  std::vector<std::string> wrong, right_again;
  const std::vector<Case> drawn = drawn_cases(family);
  for (const Case& at : drawn) {
    const Outcome outcome = run(at);
    const std::string text =
        fmt::format("{} | {}: {:.6g}, right is {:.6g}, {:.3g} tolerances {}", cell_name(at), scale_name(at),
                    outcome.measured, outcome.exact, outcome.error, outcome.failure);
    if (is_marked(marks(), at)) {
      if (outcome.verdict != Verdict::is_wrong && outcome.error < k_right_again) right_again.push_back(text);
    } else if (outcome.verdict == Verdict::is_wrong) {
      wrong.push_back(text);
    }
  }
  REQUIRE(!drawn.empty());
  INFO(fmt::format("wrong:\n{}\nright, but marked as wrong:\n{}", fmt::join(wrong, "\n"),
                   fmt::join(right_again, "\n")));
  CHECK(wrong.empty());
  CHECK(right_again.empty());
}

}  // namespace

TEST_CASE("situations: slide", "[truth][value][nightly]") { check_family("slide"); }
TEST_CASE("situations: roll", "[truth][value][nightly]") { check_family("roll"); }
TEST_CASE("situations: rest", "[truth][value][nightly]") { check_family("rest"); }
TEST_CASE("situations: stack", "[truth][value][nightly]") { check_family("stack"); }
TEST_CASE("situations: fall", "[truth][value][nightly]") { check_family("fall"); }
TEST_CASE("situations: enter", "[truth][value][nightly]") { check_family("enter"); }
TEST_CASE("situations: pass", "[truth][value][nightly]") { check_family("pass"); }
TEST_CASE("situations: tip", "[truth][value][nightly]") { check_family("tip"); }
TEST_CASE("situations: rock", "[truth][value][nightly]") { check_family("rock"); }
TEST_CASE("situations: bounce", "[truth][value][nightly]") { check_family("bounce"); }
TEST_CASE("situations: strike", "[truth][value][nightly]") { check_family("strike"); }
TEST_CASE("situations: hang", "[truth][value][nightly]") { check_family("hang"); }
TEST_CASE("situations: spin", "[truth][value][nightly]") { check_family("spin"); }
TEST_CASE("situations: turn over", "[truth][value][nightly]") { check_family("turn over"); }
TEST_CASE("situations: carry", "[truth][value][nightly]") { check_family("carry"); }
TEST_CASE("situations: pinch", "[truth][value][nightly]") { check_family("pinch"); }
TEST_CASE("situations: wedge", "[truth][value][nightly]") { check_family("wedge"); }

TEST_CASE("situations: have names of their own, a source and a tolerance, and are in a family that is tested",
          "[truth][property]") {
  std::set<std::string> names;
  for (const Situation& situation : situations()) {
    CAPTURE(situation.name);
    CHECK(names.insert(situation.name).second);
    CHECK_FALSE(situation.quantity.empty());
    CHECK_FALSE(situation.source.empty());
    CHECK_FALSE(situation.tolerance.empty());
    CHECK_FALSE(situation.kinds.empty());
    CHECK(std::count(k_families.begin(), k_families.end(), family_of(situation.name)) == 1);
  }
  CHECK(situations().size() >= 120);
}

TEST_CASE("situations: every mark of what is wrong is of a case that is run, and has a reason",
          "[truth][property]") {
  std::map<std::string, std::string> scales;
  for (const Case& at : cases()) scales[cell_name(at)] += " " + scale_name(at) + " ";
  const std::vector<Reason> reasons = read_reasons(ABUT_SOURCE_DIR "/tests/truth/situations/reasons.txt");
  for (const auto& [cell, marked] : marks()) {
    CAPTURE(cell, marked);
    REQUIRE(scales.contains(cell));
    std::size_t begin = marked.find_first_not_of(' ');
    while (begin != std::string::npos) {
      const std::size_t end = marked.find(' ', begin);
      CHECK(scales.at(cell).find(" " + marked.substr(begin, end - begin) + " ") != std::string::npos);
      begin = marked.find_first_not_of(' ', end);
    }
    CHECK(reason_of(reasons, cell) != nullptr);
  }
}

TEST_CASE("situations: the outcomes of tops, eggs and celts are those of their equations of motion",
          "[truth][value]") {
  using abut::Vec3;
  const auto turned = [](double angle, const Vec3<double>& axis) {
    return Eigen::Quaterniond(Eigen::AngleAxisd(angle, axis));
  };
  SECTION("a tippe top turns over") {
    SpinningEllipsoid top{.semi_axes = Vec3<double>::Ones(),
                          .center_of_mass = 0.3,
                          .inertia = 0.4 * abut::Mat3<double>::Identity(),
                          .friction = 0.3};
    top.q = turned(0.1, Vec3<double>::UnitY());
    top.p = Vec3<double>(0.0, 0.0, 1.0) - 0.3 * (top.q * Vec3<double>::UnitZ());
    top.w.z() = 12.0;
    top.run(60.0);
    CHECK((top.q * Vec3<double>::UnitZ()).z() < -0.95);
  }
  SECTION("an egg stands up") {
    const Vec3<double> axes(0.7, 0.7, 1.0);
    SpinningEllipsoid egg{.semi_axes = axes, .inertia = ellipsoid_inertia(axes), .friction = 0.2};
    egg.q = turned(0.05, Vec3<double>::UnitX()) * turned(-0.5 * EIGEN_PI, Vec3<double>::UnitX());
    egg.p.z() = 0.7;
    egg.w.z() = 15.0;
    egg.run(60.0);
    CHECK(egg.p.z() > 0.99);
  }
  SECTION("a celt spins in the same direction at the end, whatever its first one") {
    const double direction = GENERATE(1.0, -1.0);
    const Vec3<double> axes(1.0, 0.4, 0.3);
    const abut::Mat3<double> R = turned(0.15, Vec3<double>::UnitZ()).toRotationMatrix();
    SpinningEllipsoid celt{
        .semi_axes = axes, .inertia = R * ellipsoid_inertia(axes) * R.transpose(), .friction = 1.0};
    celt.p.z() = 0.3;
    celt.w = Vec3<double>(0.0, 0.05, 0.5 * direction);
    celt.v = -celt.w.cross(Vec3<double>(0.0, 0.0, -0.3));
    celt.run(60.0);
    CAPTURE(direction);
    CHECK(celt.w.z() == Approx(0.475).margin(0.06));
  }
}

TEST_CASE("situations: a checker of outcomes finds one that is wrong", "[truth][property]") {
  Situation situation = situations().front();
  const auto right = situation.build;
  const Case at{&situation, situation.kinds.front(), &columns().front(), {}};
  CHECK(run(at).verdict == Verdict::is_true);
  situation.build = [&](const std::string& kind, const Scale& scale) {
    abut::truth::Setup setup = right(kind, scale);
    setup.exact += 2.5 * setup.tolerance;
    return setup;
  };
  CHECK(run(at).verdict == Verdict::is_wrong);
}
