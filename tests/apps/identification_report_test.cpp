#include "apps/identification/identification_report.h"

#include <catch2/catch.hpp>

#include <limits>
#include <string>

#include "apps/identification/html_report.h"
#include "apps/identification/number_text.h"
#include "tests/apps/identification_report_case.h"

namespace abut::test {

using Catch::Contains;

TEST_CASE("rounded_text: to the second digit of the uncertainty, whatever the sizes", "[apps][value]") {
  CHECK(rounded_text(0.123456, 0.0123) == "0.123");
  CHECK(rounded_text(-9.8121, 0.0052) == "-9.8121");
  CHECK(rounded_text(56789.0, 1234.0) == "56800");
  CHECK(rounded_text(0.3, 12.0) == "0");
  CHECK(rounded_text(-0.001, 0.5) == "0.00");  // no "-0.00"
  CHECK(rounded_text(2.1345e-5, 6.3e-7) == "2.134e-05");
  CHECK(rounded_text(1.5e9, 2e7) == "1.500e+09");
  CHECK(rounded_text(1.0, 1e-15) == "1");
  CHECK(rounded_text(0.25, 0.0) == "0.25");
  CHECK(rounded_text(0.25, k_infinity) == "0.25");
  CHECK(rounded_text(k_nan, 1.0) == "-");
  CHECK(number_text(-0.0) == "0");
  CHECK(number_text(k_infinity) == "-");
}

TEST_CASE("text_of: every number with its interval, what is not told, warnings and starts", "[apps][value]") {
  const IdentificationReport report = sample_report();
  const std::string text = text_of(report);
  CHECK_THAT(text, Contains("identify 4 unknowns by 120 residuals of 2 motions"));
  CHECK_THAT(text, Contains("converged: it no longer changes"));
  CHECK_THAT(text, Contains("1.02 per degree of freedom"));
  for (const EstimateRow& row : report.estimates) CHECK_THAT(text, Contains(row.name));
  CHECK_THAT(text, Contains("0.4123") && Contains("0.0061") && Contains("0.4062") && Contains("0.4184"));
  CHECK_THAT(text, Contains("not told") && Contains("at its bound"));
  CHECK_THAT(text, Contains("body.box.volume"));
  for (const std::string& sentence : report.open_directions) CHECK_THAT(text, Contains("- " + sentence));
  for (const std::string& sentence : report.warnings) CHECK_THAT(text, Contains("- " + sentence));
  CHECK_THAT(text, Contains("best"));
  CHECK_THAT(text, !Contains("inf") && !Contains("nan"));
}

TEST_CASE("text_of: says nothing of what there is not", "[apps][value]") {
  IdentificationReport report = sample_report();
  report.starts.resize(1);
  report.derived.clear();
  report.open_directions.clear();
  report.warnings.clear();
  report.estimates.resize(1);
  report.estimates[0].truth.reset();
  report.reduced_chi_square = k_nan;
  const std::string text = text_of(report);
  CHECK_THAT(text, !Contains("derived") && !Contains("best") && !Contains("truth") && !Contains("state"));
  CHECK_THAT(text, !Contains("Warnings") && !Contains("do not tell") && !Contains("chi square"));
  CHECK_FALSE(text_of(IdentificationReport{}).empty());
}

TEST_CASE("text_of: what was chosen is given in full, with how near it came", "[apps][value]") {
  IdentificationReport report = sample_report();
  report.question = "optimize";
  report.goals = {{"push", "position of 'drill' at 0.8 s", "m", 0.0002, 0.001}};
  report.estimates = {told_row("control.drill.force.x", 4.478376, 7.3, 4.0)};
  report.open_directions = {"little is told of control.drill.force.x"};
  const std::string text = text_of(report);
  CHECK_THAT(text, Contains("4.47838") && Contains("off by 0.0002 m, tolerance 0.001"));
  CHECK_THAT(text, Contains("Reached: the goal is within tolerance"));
  for (const char* of_data : {"residual", "measure", "noise", "chi"}) CHECK_THAT(text, !Contains(of_data));
  CHECK_THAT(text, Contains("What the goals leave open") && !Contains("per degree of freedom"));
  const std::string page = html_report(report);
  CHECK_THAT(page, Contains("4.47838") && Contains("off by 0.0002 m"));
  for (const char* of_data : {"esidual", "easure", "noise", "chi square"})
    CHECK_THAT(page, !Contains(of_data));
  CHECK_THAT(page, Contains("What the goals leave open"));
}

TEST_CASE("json_of: a report comes back from its text, with null for what is not finite", "[apps][value]") {
  const IdentificationReport report = sample_report();
  const Json json = json_of(report);
  CHECK(Json::parse(json.dump()) == json);
  for (const char* key : {"title",
                          "experiment",
                          "scene",
                          "question",
                          "status",
                          "message",
                          "method",
                          "jacobian",
                          "jacobian_reason",
                          "loss",
                          "intervals",
                          "motions",
                          "residuals",
                          "unknowns",
                          "evaluations",
                          "jacobians",
                          "seconds",
                          "initial_cost",
                          "cost",
                          "condition",
                          "reduced_chi_square",
                          "estimates",
                          "derived",
                          "warnings",
                          "open_directions",
                          "iterations",
                          "correlation",
                          "starts",
                          "series"}) {
    CAPTURE(key);
    CHECK(json.contains(key));
  }
  CHECK(json.size() == 35);
  CHECK(json["verdict"]["status"] == "at_bound");
  CHECK(json["estimates"][0]["half_width_95"] == report.estimates[0].half_width_95());
  CHECK(json["estimates"][0]["value"] == report.estimates[0].value);
  CHECK(json["estimates"][0]["truth"] == *report.estimates[0].truth);
  CHECK(json["estimates"][0]["state"] == "told");
  CHECK(json["estimates"][1]["state"] == "open");
  CHECK(json["estimates"][1]["deviation"].is_null());
  CHECK(json["estimates"][1]["lower_95"].is_null());
  CHECK(json["estimates"][1]["truth"].is_null());
  CHECK(json["estimates"][2]["state"] == "at_bound");
  CHECK(json["correlation"].size() == 4);
  CHECK(json["correlation"][0][3] == report.correlation(0, 3));
  CHECK(json["open_directions"][0] == report.open_directions[0]);
  CHECK(json["iterations"].size() == report.iterations.size());
  CHECK(json["iterations"][0]["accepted"] == true);
  CHECK(json["starts"][1]["is_best"] == true);
  CHECK(json["series"][0]["measured"].size() == report.series[0].measured.size());
  CHECK(json["series"][0]["simulated"][1] == report.series[0].simulated[1]);

  IdentificationReport odd = report;
  odd.cost = k_nan;
  odd.condition = k_infinity;
  odd.series[0].residual[0] = -k_infinity;
  odd.correlation(0, 1) = k_nan;
  odd.iterations[0].gradient = k_nan;
  const Json odd_json = json_of(odd);
  CHECK(odd_json["cost"].is_null());
  CHECK(odd_json["condition"].is_null());
  CHECK(odd_json["series"][0]["residual"][0].is_null());
  CHECK(odd_json["correlation"][0][1].is_null());
  CHECK(odd_json["iterations"][0]["gradient"].is_null());

  const Json empty = json_of(IdentificationReport{});
  CHECK(empty["estimates"].is_array());
  CHECK(empty["series"].is_array());
  CHECK(empty["open_directions"].is_array());
  CHECK(empty["correlation"].is_array());
}

}  // namespace abut::test
