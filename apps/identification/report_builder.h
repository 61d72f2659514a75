/// From what a search has found to what is shown of it.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "apps/identification/experiment_io.h"
#include "apps/identification/identification_report.h"
#include "apps/identification/search.h"

namespace abut {

/// What was asked of a file.
enum class Question { identify, optimize };

/// What a search of the file is for: an experiment of goals alone has nothing to explain. Throws InputError
/// where there is no goal to reach.
[[nodiscard]] Question question_of(const ExperimentFile& file, Question asked);

/// Of the best start of a search; intervals are of its least squares, see identifiability.h. Where all starts
/// failed it has a status, a message and no estimates.
[[nodiscard]] IdentificationReport build_report(const ExperimentFile& file, const SearchResult& result,
                                                Question question, int threads);

/// Warnings of the states that the motions start from at x (find_start_warnings()), a sentence each: the
/// worst motion for each pair of bodies that overlaps and each joint. Throws std::invalid_argument as
/// UnknownSpace::inputs().
[[nodiscard]] std::vector<std::string> start_warning_texts(const MotionFit& fit, const Eigen::VectorXd& x);

}  // namespace abut
