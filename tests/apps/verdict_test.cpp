#include "apps/identification/verdict.h"

#include <catch2/catch.hpp>

#include <string>

#include "apps/identification/identification_report.h"
#include "tests/apps/identification_report_case.h"

namespace abut::test {
namespace {

using Catch::Contains;
using VerdictStatus = Verdict::Status;

/// A search that found two numbers, with 118 degrees of freedom.
IdentificationReport good_report() {
  IdentificationReport report = sample_report();
  report.estimates = {report.estimates[0], report.estimates[3]};
  report.open_directions.clear();
  report.warnings.clear();
  report.unknowns = 2;
  return report;
}

std::string checks_of(const IdentificationReport& report) {
  std::string all;
  for (const std::string& check : verdict_of(report).checks) all += check + '\n';
  return all;
}

}  // namespace

TEST_CASE("verdict_of: small errors of the model are no failure, large ones are no answer", "[apps][value]") {
  IdentificationReport report = good_report();
  CHECK(verdict_of(report).status == VerdictStatus::explained);
  CHECK_FALSE(verdict_of(report).has_doubts);
  report.reduced_chi_square = 1.9;  // beyond the quantile, and less than what counts
  CHECK(verdict_of(report).status == VerdictStatus::explained);
  CHECK(verdict_of(report).has_doubts);
  report.reduced_chi_square = 2.1;
  CHECK(verdict_of(report).status == VerdictStatus::not_explained);
  report.residuals = 5;  // of three degrees of freedom, 2.1 is no surprise
  CHECK(verdict_of(report).is_answer());
  report.reduced_chi_square = 1e-9;
  CHECK(verdict_of(report).is_answer());
}

TEST_CASE("verdict_of: a robust loss and intervals of the residuals have their own measures",
          "[apps][value]") {
  IdentificationReport report = good_report();
  report.loss = "cauchy of width 3";
  report.reduced_chi_square = k_nan;
  report.residual_check.typical_size = 1.05;
  CHECK(verdict_of(report).status == VerdictStatus::explained);
  report.residual_check.typical_size = 2.0;
  CHECK(verdict_of(report).status == VerdictStatus::not_explained);
  report.intervals = IntervalBasis::residuals;
  report.residual_check.serial_pairs = 100;
  report.residual_check.serial_correlation = 0.1;
  CHECK(verdict_of(report).is_answer());  // noise of another size
  report.residual_check.typical_size = 3.0;
  report.residual_check.serial_correlation = 0.9;
  CHECK(verdict_of(report).status == VerdictStatus::not_explained);
  report = good_report();
  report.reduced_chi_square = k_nan;
  CHECK(verdict_of(report).status == VerdictStatus::unchecked);
}

TEST_CASE("verdict_of: names what to check, units and outliers first", "[apps][value]") {
  IdentificationReport report = good_report();
  report.reduced_chi_square = 100.0;
  CHECK_THAT(checks_of(report), Contains("noise 10 times as large") && Contains("position_noise"));
  report.residual_check.serial_pairs = 100;
  report.residual_check.serial_correlation = 0.97;
  CHECK_THAT(checks_of(report), Contains("serial correlation 0.97") && !Contains("starts = 8"));
  report.starts.resize(1);
  CHECK_THAT(checks_of(report), Contains("starts = 8"));
  report.residual_check.outliers = {{"motion_1.csv:17", "position.x of 'box' at 0.3 s", 950.0}};
  report.residual_check.outlier_count = 1;
  report.residual_check.measurement_count = 100;
  CHECK_THAT(checks_of(report), Contains("motion_1.csv:17 (position.x of 'box' at 0.3 s, 950 standard") &&
                                    Contains("loss = \"cauchy\""));
  report.suspected_units = {"positions look like millimetres: multiplied by 0.001, ..."};
  REQUIRE(verdict_of(report).checks.size() == 1);
  CHECK_THAT(verdict_of(report).checks.front(), Contains("millimetres"));
  CHECK_THAT(text_of(report).substr(0, 40), Contains("Not explained"));
}

TEST_CASE("verdict_of: bounds, impossible numbers, early ends and nothing told are no answers",
          "[apps][value]") {
  IdentificationReport report = good_report();
  report.estimates[0].state = EstimateRow::State::at_bound;
  report.estimates[0].value = 10.0;
  CHECK(verdict_of(report).status == VerdictStatus::at_bound);
  CHECK_THAT(checks_of(report), Contains("body.box.mass lies at its upper bound, 10"));
  report.implausible = {"body.box.friction = 19.9: no two materials have a friction above 3"};
  CHECK(verdict_of(report).status == VerdictStatus::implausible);
  CHECK_THAT(verdict_of(report).headline, Contains("19.9"));
  report.status = "max_iterations";
  CHECK(verdict_of(report).status == VerdictStatus::unfinished);
  report.status = "failed";
  CHECK(verdict_of(report).status == VerdictStatus::failed);
  report = good_report();
  for (EstimateRow& row : report.estimates) row.state = EstimateRow::State::open;
  CHECK(verdict_of(report).status == VerdictStatus::undetermined);
}

TEST_CASE("verdict_of: a plan is reached where every goal is", "[apps][value]") {
  IdentificationReport report = good_report();
  report.question = "optimize";
  report.estimates[0].state = EstimateRow::State::at_bound;  // of a plan, a bound is a limit
  report.goals = {{"push", "position of 'drill' at 0.8 s", "m", 0.0009, 0.001},
                  {"push", "rotation of 'drill' at 0.8 s", "rad", 0.003, 0.01}};
  CHECK(verdict_of(report).status == VerdictStatus::reached);
  report.goals[1].error = 0.011;
  report.starts.resize(1);
  const Verdict missed = verdict_of(report);
  CHECK(missed.status == VerdictStatus::not_reached);
  CHECK_THAT(missed.headline, Contains("1 of 2 goals is missed"));
  CHECK_THAT(checks_of(report), Contains("starts = 12"));
  report.goals[1].error = k_nan;
  CHECK(verdict_of(report).status == VerdictStatus::not_reached);
}

}  // namespace abut::test
