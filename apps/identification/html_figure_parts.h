/// What figures of the page are put together from.
#pragma once

#include <string>
#include <string_view>

#include "apps/identification/svg_plot.h"

namespace abut {

/// Of figures that stand two in a row.
inline constexpr double k_figure_width = 400, k_figure_height = 260;

/// What stands where there is nothing to draw.
[[nodiscard]] std::string nothing_html(std::string_view sentence);

/// A sample of how something is drawn, and what it is. The text is HTML.
[[nodiscard]] std::string key_html(std::string_view drawing, std::string_view text);

/// A mark, for key_html().
[[nodiscard]] std::string mark_sample(PlotMark mark, std::string_view css_class);

/// A <figure> with its title above and its keys below.
[[nodiscard]] std::string figure_html(std::string_view title, const std::string& drawing,
                                      const std::string& keys, std::string_view css_class = "");

}  // namespace abut
