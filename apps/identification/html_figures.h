/// Figures of the page about a search.
#pragma once

#include <string>

#include "apps/identification/identification_report.h"

namespace abut {

// Each is a <figure>, or a sentence where there is nothing to show.

/// The loss of each start over its iterations, on a logarithmic axis.
[[nodiscard]] std::string loss_figure_html(const IdentificationReport& report);

/// Correlations of the estimates: the larger a mark the stronger, squares > 0 and discs < 0. Nothing without
/// two estimates.
[[nodiscard]] std::string correlation_figure_html(const IdentificationReport& report);

/// Residuals of all series over time, in standard deviations.
[[nodiscard]] std::string residual_figure_html(const IdentificationReport& report);

/// How often residuals of a size are, against the normal density. Nothing without residuals.
[[nodiscard]] std::string histogram_figure_html(const IdentificationReport& report);

/// What was measured and what is simulated, a figure for each series. Where there are many, those that fit
/// worst are shown and the rest is folded away, by motion.
[[nodiscard]] std::string fit_figures_html(const IdentificationReport& report);

}  // namespace abut
