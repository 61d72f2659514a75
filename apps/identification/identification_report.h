/// What a search has found, ready to be shown: as text, as JSON and (html_report.h) as a page.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "apps/abut/report.h"
#include "apps/identification/identifiability.h"
#include "apps/identification/residual_check.h"

namespace abut {

/// A number that was found.
struct EstimateRow {
  enum class State { told, open, at_bound };
  std::string name, unit;  ///< "body.box.mass", "kg"; no unit: ""
  State state = State::told;
  double value = 0;
  double deviation = std::numeric_limits<double>::infinity();  ///< standard deviation; infinite where open
  double lower_95 = -std::numeric_limits<double>::infinity();  ///< 95 % interval; infinite where open
  double upper_95 = std::numeric_limits<double>::infinity();
  double initial = 0;
  std::optional<double> truth, lower_bound, upper_bound, prior_mean, prior_deviation;
  std::string of;  ///< of a derived number: the estimate that it is shown beside; "": none

  /// Half the width of the 95 % interval: what "+-" stands for wherever it is written.
  [[nodiscard]] double half_width_95() const { return 0.5 * (upper_95 - lower_95); }
};

/// How near a goal was reached, in one of its quantities.
struct GoalRow {
  std::string motion, what;  ///< "push", "position of 'drill' at 0.8 s"
  std::string unit;
  double error = 0, tolerance = 1;  ///< lengths of the vectors; of an overlap the largest depth

  [[nodiscard]] bool is_reached() const { return error <= tolerance; }
  [[nodiscard]] std::string text() const;
};

/// One component of what was measured of a body or joint in a motion, and of what is simulated at the solution.
struct ComparedSeries {
  std::string motion, body, joint;                ///< one of the latter two is empty
  std::string quantity, unit;                     ///< "position.x", "m"
  std::vector<double> time, measured, deviation;  ///< the latter is the noise stated
  std::vector<double> residual;                   ///< (simulated - measured)/deviation at these times
  std::vector<double> simulated_time, simulated;  ///< the curve, at every step

  [[nodiscard]] std::string subject() const { return body.empty() ? "joint " + joint : body; }
};

struct IterationRow {
  int start = 0, stage = 0, number = 0;
  double smoothing = 1;  ///< factor of the stage's smoothing
  double cost = 0, gradient = 0, step = 0, contacts = 0, seconds = 0;
  bool accepted = true;
};

struct StartRow {
  int number = 0;
  std::string status;  ///< "converged", ...
  double initial_cost = 0, cost = 0;
  int iterations = 0;
  bool is_best = false;
};

struct IdentificationReport {
  std::string title;              ///< of the experiment
  std::string experiment, scene;  ///< files
  std::string question;           ///< "identify" or "optimize"
  std::string status, message;    ///< of the best start
  std::string method, jacobian;   ///< "least_squares", "forward"
  std::string jacobian_reason;    ///< why that way, in a sentence
  std::string loss;               ///< "square", "huber of width 3"
  IntervalBasis intervals = IntervalBasis::stated;
  int motions = 0, residuals = 0, unknowns = 0;
  int evaluations = 0, jacobians = 0;
  double seconds = 0;
  double initial_cost = 0, cost = 0;
  double reduced_chi_square = std::numeric_limits<double>::quiet_NaN();
  double condition = 0;
  std::vector<EstimateRow> estimates;
  std::vector<EstimateRow> derived;          ///< what follows: elements of an inertia, friction of a pair
  Eigen::MatrixXd correlation;               ///< of the estimates, in their order
  std::vector<GoalRow> goals;                ///< of `abut optimize`
  std::vector<std::string> open_directions;  ///< sentences about what the motions do not tell
  std::vector<std::string> warnings;         ///< of the gradient's health, and what else is to be known
  ResidualCheck residual_check;              ///< of `abut identify`
  std::vector<std::string> suspected_units;  ///< sentences: which factor would explain the measurements
  std::vector<std::string> implausible;      ///< sentences about numbers and motions that are none
  std::vector<std::string> notes;            ///< about the data, and where the search had to begin elsewhere
  std::vector<IterationRow> iterations;
  std::vector<StartRow> starts;
  std::vector<ComparedSeries> series;
};

/// Whether goals were sought, not what explains data.
[[nodiscard]] bool is_optimization(const IdentificationReport& report);
/// The estimates, each followed by the derived numbers that are shown beside it.
[[nodiscard]] std::vector<EstimateRow> with_derived(const IdentificationReport& report);
/// The derived numbers that stand by themselves.
[[nodiscard]] std::vector<EstimateRow> derived_alone(const IdentificationReport& report);

/// The verdict (verdict.h) first, then tables for a terminal.
[[nodiscard]] std::string text_of(const IdentificationReport& report);

/// Everything, numbers that are not finite as null.
[[nodiscard]] Json json_of(const IdentificationReport& report);

}  // namespace abut
