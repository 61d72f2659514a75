#include "apps/identification/search.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "apps/identification/repetition.h"
#include "apps/identification/report_builder.h"
#include "apps/identification/verdict.h"
#include "engine/input_error.h"
#include "engine/lie.h"
#include "tests/apps/identification_case.h"

namespace abut::test {
namespace {

using Catch::Contains;

/// An experiment file whose measurements were made with noise.
struct FileCase {
  IdentificationCase made;
  ExperimentFile file;

  explicit FileCase(const std::vector<std::string>& unknowns = {"body.box, tilted.friction",
                                                                "simulation.gravity.z"})
      : made(unknowns, 2, 11) {
    file.path = made.folder.write("experiment.toml", "# the experiment\n");
    file.scene = made.folder.path() / "scene.toml";
    file.experiment = made.experiment;
    file.data.resize(file.experiment.motions.size());
    for (Unknown& unknown : file.experiment.unknowns) {
      unknown.truth = unknown.initial;
      unknown.initial *= 0.7;
    }
  }
};

}  // namespace

TEST_CASE("search: several starts and stages of smoothing end at one place, on any number of threads",
          "[apps][determinism]") {
  FileCase c;
  c.file.search.starts = 4;
  c.file.search.seed = 5;
  c.file.search.continuation = {20.0, 1.0};
  SearchOptions one, three;
  three.threads = 3;
  const SearchResult a = search(c.file, one), b = search(c.file, three);
  REQUIRE(a.starts.size() == 4);
  CHECK(a.is_whole);
  std::set<double> guesses;
  for (std::size_t s = 0; s < 4; ++s) {
    CHECK(a.starts[s].x == b.starts[s].x);
    CHECK(a.starts[s].is_done);
    CHECK(a.starts[s].stage == 1);
    guesses.insert(a.starts[s].initial_cost);
  }
  CHECK(guesses.size() == 4);
  CHECK(a.best == b.best);
  // The least is lower than the noise leaves at the truth.
  const MotionFit fit(c.file.experiment);
  const Eigen::VectorXd at_truth = fit.evaluate(fit.unknowns().truth(), MotionFit::Want::residuals).residuals;
  CHECK(a.starts[static_cast<std::size_t>(a.best)].cost < fit.cost_of(at_truth, {}));
  for (const StartState& start : a.starts)
    CHECK(a.starts[static_cast<std::size_t>(a.best)].cost <= start.cost);
  CHECK(a.iterations.size() == b.iterations.size());
  CHECK(a.iterations.back().stage == 1);
}

TEST_CASE("search: what was stopped goes on, to the same place", "[apps][value]") {
  FileCase c;
  c.file.search.starts = 2;
  c.file.search.tolerance = 1e-12;
  const SearchResult whole = search(c.file, {});
  SearchOptions options;
  options.checkpoint = c.made.folder.path() / "checkpoint.json";
  int seen = 0;
  options.progress = [&](const StageIteration&) { return ++seen < 4; };
  const SearchResult part = search(c.file, options);
  CHECK_FALSE(part.is_whole);
  CHECK(part.starts[0].x.size() > 0);
  CHECK(part.starts[1].x.size() == 0);

  SearchOptions go_on;
  go_on.checkpoint = options.checkpoint;
  go_on.resume = true;
  const SearchResult rest = search(c.file, go_on);
  CHECK(rest.is_whole);
  for (std::size_t s = 0; s < 2; ++s) {
    CHECK(rest.starts[s].is_done);
    CHECK((rest.starts[s].x - whole.starts[s].x).norm() < 1e-4);
    CHECK(rest.starts[s].initial_cost == whole.starts[s].initial_cost);
  }
  CHECK(rest.starts[0].iterations >= 3);

  c.made.folder.write("experiment.toml", "# another experiment\n");
  CHECK_THROWS_WITH(search(c.file, go_on), Contains("checkpoint.json") && Contains("another experiment"));
  c.made.folder.write("checkpoint.json", "{\"key\": 1");
  CHECK_THROWS_WITH(search(c.file, go_on), Contains("checkpoint.json") && Contains("no checkpoint"));
}

TEST_CASE("search: a changed asset or mesh is another search, whatever byte it is", "[apps][value]") {
  FileCase c;
  const std::string text = k_scene + "[[body]]\nname = \"stone\"\nfixed = true\nasset = \"stone\"\n";
  c.made.folder.write("scene.toml", text);
  const std::string body =
      "mass = 1\n[[primitive]]\nkind = \"sphere\"\nradius = 0.1\norientation = [1, 0, 0, 0]\n";
  std::filesystem::create_directory(c.made.folder.path() / "stone");
  c.made.folder.write("stone/body.toml", body);
  SearchOptions options;
  options.checkpoint = c.made.folder.path() / "checkpoint.json";
  options.progress = [](const StageIteration&) { return false; };
  CHECK_FALSE(search(c.file, options).is_whole);
  options.resume = true;
  CHECK_NOTHROW(search(c.file, options));
  // A sphere that is turned: no sum of what it is made of is another one.
  c.made.folder.write(
      "stone/body.toml",
      "mass = 1\n[[primitive]]\nkind = \"sphere\"\nradius = 0.1\norientation = [0, 1, 0, 0]\n");
  CHECK_THROWS_WITH(search(c.file, options), Contains("another asset"));
  c.made.folder.write("stone/body.toml", body);
  CHECK_NOTHROW(search(c.file, options));
}

TEST_CASE("search: counts the time steps that it simulates", "[apps][value]") {
  FileCase c;
  std::atomic<std::int64_t> steps{0};
  SearchOptions options;
  options.steps = &steps;
  options.progress = [](const StageIteration&) { return false; };
  (void)search(c.file, options);
  CHECK(steps.load() >= 2 * 37);  // of both motions, at the guess
}

TEST_CASE("search: what began in segments ends with whole motions", "[apps][value]") {
  FileCase c;
  c.file.search.tolerance = 1e-12;
  const SearchResult whole = search(c.file, {});
  c.file.experiment.shooting.segments = 4;
  const SearchResult result = search(c.file, {});
  CHECK(result.starts[0].stage == 1);
  REQUIRE(result.starts[0].x.size() == 2);
  CHECK((result.starts[0].x - whole.starts[0].x).norm() < 1e-4);
  const IdentificationReport report = build_report(c.file, result, Question::identify, 1);
  CHECK(report.estimates.size() == 2);
  CHECK(report.residuals == 2 * 10 * 9);
}

TEST_CASE("build_report: the interval of an orientation is that of its rotation vector", "[apps][property]") {
  // Far from none, components of a rotation vector move more than the turns about the axes.
  IdentificationCase made({"body.ball.mass"}, 1);
  Unknown turned;
  turned.kind = Unknown::Kind::orientation;
  turned.name = "body.box, tilted.orientation";
  turned.body = 1;
  turned.initial_orientation = exp_quaternion(Vec3<double>(0.1, 0.2, 2.8));
  turned.true_orientation = turned.initial_orientation;
  made.experiment.scene.initial.X_WB[1].p.z() += 5.0;
  made.experiment.unknowns = {turned};
  std::erase_if(made.experiment.motions[0].measurements,
                [](const Measurement& measurement) { return body_of(measurement) != 1; });
  made.has_noise = true;
  ExperimentFile file;
  file.path = made.folder.write("experiment.toml", "");
  file.scene = made.folder.path() / "scene.toml";
  file.data.resize(1);
  constexpr int k_repetitions = 60;
  Eigen::Vector3d squares = Eigen::Vector3d::Zero(), stated = squares;
  for (int r = 0; r < k_repetitions; ++r) {
    made.noise = Random(100 + static_cast<std::uint64_t>(r));
    made.measure();
    file.experiment = made.experiment;
    const IdentificationReport report = build_report(file, search(file, {}), Question::identify, 1);
    REQUIRE(report.estimates.size() == 3);
    for (int i = 0; i < 3; ++i) {
      const EstimateRow& row = report.estimates[static_cast<std::size_t>(i)];
      squares[i] += std::pow(row.value - *row.truth, 2) / k_repetitions;
      stated[i] += row.deviation / k_repetitions;
    }
  }
  for (int i = 0; i < 3; ++i) CHECK(std::sqrt(squares[i]) == Approx(stated[i]).epsilon(0.25));
  CHECK(stated[0] > 1.2 * stated[2]);
}

TEST_CASE("build_report: says what was found, how well, and what is not right", "[apps][value]") {
  FileCase c;
  c.file.experiment.unknowns[0].lower = 0.05;
  c.file.experiment.unknowns[0].upper = 1.5;
  const SearchResult result = search(c.file, {});
  const IdentificationReport report = build_report(c.file, result, Question::identify, 1);
  CHECK(report.status == "converged");
  CHECK(report.jacobian == "forward");
  CHECK_THAT(report.jacobian_reason, Contains("forward 1.5") && Contains("adjoint 90"));
  REQUIRE(report.estimates.size() == 2);
  const EstimateRow& friction = report.estimates[0];
  CHECK(friction.name == "body.box, tilted.friction");
  CHECK(friction.lower_bound == 0.05);
  CHECK(friction.truth.has_value());
  CHECK(friction.initial == Approx(0.7 * *friction.truth));
  CHECK(friction.upper_95 - friction.value == Approx(1.96 * friction.deviation).epsilon(1e-3));
  CHECK(report.estimates[1].unit == "m/s^2");
  CHECK(report.reduced_chi_square == Approx(1.0).margin(0.4));
  CHECK(report.correlation.rows() == 2);
  CHECK(report.iterations.size() == result.iterations.size());
  REQUIRE(report.series.size() == 2u * (6u + 3u));  // of the ball no rotations
  for (const ComparedSeries& series : report.series) {
    CHECK(series.time.size() == 10);
    CHECK(series.measured.size() == 10);
    CHECK(series.residual.size() == 10);
    CHECK(series.simulated.size() == series.simulated_time.size());
  }
  CHECK(verdict_of(report).is_answer());
  // The friction that acts is that of the pair: the harmonic mean.
  REQUIRE(report.derived.size() == 1);  // it never touches the ball
  const EstimateRow& acting = report.derived.front();
  const double floor = c.file.experiment.scene.model.bodies[0].material.friction;
  CHECK(acting.name == "friction of 'floor' and 'box, tilted'");
  CHECK(acting.of == friction.name);
  CHECK(acting.value == Approx(2.0 * friction.value * floor / (friction.value + floor)));
  CHECK(acting.deviation ==
        Approx(2.0 * std::pow(floor / (friction.value + floor), 2) * friction.deviation).epsilon(1e-6));

  for (MeasuredMotion& motion : c.file.experiment.motions) {
    for (Measurement& measurement : motion.measurements)
      std::get<MeasuredPose>(measurement.what).position_noise *= 0.1;
  }
  const IdentificationReport surprised = build_report(c.file, search(c.file, {}), Question::identify, 1);
  const Verdict verdict = verdict_of(surprised);
  CHECK(verdict.status == Verdict::Status::not_explained);
  CHECK_THAT(verdict.reasons.front(), Contains("larger than stated"));

  c.file.experiment.scene.config.step.speed_limit = 1e-3;
  const IdentificationReport failed = build_report(c.file, search(c.file, {}), Question::identify, 1);
  CHECK(failed.status == "failed");
  CHECK_THAT(failed.message, Contains("speed"));
  CHECK(failed.estimates.empty());
}

TEST_CASE("build_report: an inertia is told by its elements, too", "[apps][value]") {
  IdentificationCase made({"body.ball.mass", "body.box, tilted.inertia.log_x", "body.box, tilted.inertia.xy",
                           "body.box, tilted.mass"},
                          2, 3);
  ExperimentFile file;
  file.experiment = made.experiment;
  file.data.resize(2);
  file.path = made.folder.write("experiment.toml", "");
  file.scene = made.folder.path() / "scene.toml";
  const IdentificationReport report = build_report(file, search(file, {}), Question::identify, 1);
  REQUIRE(report.derived.size() == 6);
  CHECK(report.derived[0].name == "body.box, tilted.inertia xx");
  CHECK(report.derived[0].deviation > 0.0);
  CHECK(std::isfinite(report.derived[3].upper_95));
}

TEST_CASE("repeat_experiment: counts truths in their intervals, the same on any number of threads",
          "[apps][determinism]") {
  FileCase c;
  const RepetitionReport one = repeat_experiment(c.file, 6, {}, 3, 1, {}),
                         two = repeat_experiment(c.file, 6, {}, 3, 2, {});
  CHECK(one.repetitions == 6);
  CHECK(one.failed == 0);
  REQUIRE(one.rows.size() == 2);
  for (std::size_t r = 0; r < 2; ++r) {
    CHECK(one.rows[r].mean == two.rows[r].mean);
    CHECK(one.rows[r].told == 6);
    CHECK(one.rows[r].inside >= 4);
    CHECK(one.rows[r].mean_error <= one.rows[r].largest_error);
    CHECK(one.rows[r].mean_error < 4.0 * one.rows[r].deviation);
    CHECK(one.rows[r].initial_error == Approx(0.3 * std::abs(one.rows[r].truth)));
  }
  CHECK(one.mean_chi_square == Approx(1.0).margin(0.2));
  CHECK_THAT(text_of(one), Contains("6 repetitions, 0 failed") && Contains("simulation.gravity.z"));
  CHECK(json_of(one)["unknowns"][1]["inside_95"] == one.rows[1].inside);
  int seen = 0;
  CHECK(repeat_experiment(c.file, 6, {}, 3, 1, [&](int) { return ++seen < 2; }).repetitions == 2);
}

TEST_CASE("repeat_experiment: intervals from residuals hold the truth where noise is not as stated",
          "[apps][property]") {
  constexpr int k_repetitions = 30;
  FileCase c;
  const auto inside = [&](const DataFlaws& flaws, IntervalBasis basis, RobustLoss::Kind loss) {
    c.file.search.intervals = basis;
    c.file.search.loss = {loss, 3.0};
    const RepetitionReport report = repeat_experiment(c.file, k_repetitions, flaws, 5, 2, {});
    CHECK(report.failed == 0);
    int sum = 0;
    for (const RepetitionRow& row : report.rows) {
      CHECK(row.told == k_repetitions);
      sum += row.inside;
    }
    return sum;
  };
  // Of 60: with 95 % each, 51 or fewer in one of a thousand cases.
  constexpr int k_least = 52;
  const auto square = RobustLoss::Kind::square, cauchy = RobustLoss::Kind::cauchy;
  CHECK(inside({}, IntervalBasis::stated, square) >= k_least);
  CHECK(inside({}, IntervalBasis::residuals, square) >= k_least);
  DataFlaws louder, quieter, wild;
  louder.noise_factor = 4.0;
  quieter.noise_factor = 0.1;
  wild.outliers = 0.1;
  CHECK(inside(louder, IntervalBasis::stated, square) < 40);
  CHECK(inside(louder, IntervalBasis::residuals, square) >= k_least);
  CHECK(inside(quieter, IntervalBasis::stated, square) == 2 * k_repetitions);
  CHECK(inside(quieter, IntervalBasis::residuals, square) >= k_least);
  CHECK(inside(wild, IntervalBasis::stated, square) < 40);
  CHECK(inside(wild, IntervalBasis::residuals, cauchy) >= k_least);
}

}  // namespace abut::test
