/// A report of a search that never was, with some of everything.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "apps/identification/identification_report.h"
#include "engine/random.h"

namespace abut::test {

inline constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

inline EstimateRow told_row(const std::string& name, double value, double deviation, double initial) {
  EstimateRow row;
  row.name = name;
  row.value = value;
  row.deviation = deviation;
  row.lower_95 = value - 1.96 * deviation;
  row.upper_95 = value + 1.96 * deviation;
  row.initial = initial;
  return row;
}

/// Measured and simulated alike, but for a residual of up to 2 standard deviations.
inline ComparedSeries sample_series(const std::string& motion, const std::string& quantity, int count,
                                    Random& random) {
  ComparedSeries series;
  series.motion = motion;
  series.body = "box";
  series.quantity = quantity;
  series.unit = "m";
  for (int i = 0; i < count; ++i) {
    const double t = 0.01 * i, simulated = std::sin(3.0 * t), residual = random.uniform(-2.0, 2.0);
    series.time.push_back(t);
    series.deviation.push_back(0.01);
    series.residual.push_back(residual);
    series.measured.push_back(simulated - 0.01 * residual);
    series.simulated_time.push_back(t);
    series.simulated.push_back(simulated);
  }
  return series;
}

inline IdentificationReport sample_report() {
  IdentificationReport report;
  report.title = "A box and a ball";
  report.experiment = "throw.toml";
  report.scene = "scene.toml";
  report.question = "identify";
  report.status = "converged";
  report.message = "it no longer changes";
  report.method = "least_squares";
  report.jacobian = "forward";
  report.jacobian_reason = "there are few unknowns";
  report.loss = "square";
  report.motions = 2;
  report.residuals = 120;
  report.unknowns = 4;
  report.evaluations = 9;
  report.jacobians = 7;
  report.seconds = 1.5;
  report.initial_cost = 1e4;
  report.cost = 59.0;
  report.reduced_chi_square = 1.02;
  report.condition = 31.0;
  report.estimates = {told_row("body.box.mass", 0.4123, 0.0031, 1.0),
                      told_row("body.box.friction", 0.3, 0.1, 0.5), told_row("body.ball.mass", 2.0, 0.0, 1.0),
                      told_row("simulation.gravity.z", -9.8121, 0.0052, -9.0)};
  EstimateRow& mass = report.estimates[0];
  mass.unit = "kg";
  mass.truth = 0.41;
  mass.lower_bound = 0.01;
  mass.upper_bound = 10.0;
  mass.prior_mean = 0.5;
  mass.prior_deviation = 0.2;
  EstimateRow& friction = report.estimates[1];
  friction.state = EstimateRow::State::open;
  friction.deviation = friction.upper_95 = k_infinity;
  friction.lower_95 = -k_infinity;
  report.estimates[2].state = EstimateRow::State::at_bound;
  report.derived = {told_row("body.box.volume", 0.001, 1e-5, 0.0)};
  report.correlation = Eigen::MatrixXd::Identity(4, 4);
  report.correlation(0, 3) = report.correlation(3, 0) = -0.7;
  report.open_directions = {"nothing is told of body.box.friction"};
  report.warnings = {"the gradient of step 7 is large"};
  for (int start = 0; start < 2; ++start) {
    for (int i = 0; i < 6; ++i) {
      IterationRow row;
      row.start = start;
      row.stage = i / 3;
      row.number = i % 3;
      row.smoothing = i < 3 ? 10.0 : 1.0;
      row.cost = 59.0 + 1e4 * std::pow(0.1, i) * (2.0 - start);
      row.accepted = i != 4;
      report.iterations.push_back(row);
    }
  }
  report.starts = {{0, "max_iterations", 2e4, 60.0, 6, false}, {1, "converged", 1e4, 59.0, 6, true}};
  Random random(1);
  for (const char* motion : {"first.csv", "second.csv"}) {
    for (const char* quantity : {"position.x", "position.y", "rotation.x"})
      report.series.push_back(sample_series(motion, quantity, 20, random));
  }
  return report;
}

}  // namespace abut::test
