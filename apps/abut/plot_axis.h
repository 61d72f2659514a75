/// Numbers along the axis of a plot, and how many samples of a curve it can show.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace abut {

/// At most about `most` round numbers (1, 2 or 5 times a power of ten apart) within [lowest, highest]; powers
/// of ten of a logarithmic axis, whose bounds are > 0. None if the bounds are not finite or not in this
/// order.
[[nodiscard]] std::vector<double> axis_ticks(double lowest, double highest, int most,
                                             bool logarithmic = false);

/// A tick as short as tells it from its neighbours, `spacing` away.
[[nodiscard]] std::string tick_text(double tick, double spacing);

/// A curve thinned to what a plot of that many pixels can show: the first and last sample, and the least and
/// largest of each pixel column. Where a value is not finite the curve is broken. Indices into the samples,
/// ascending, at most three a column and two.
[[nodiscard]] std::vector<std::size_t> visible_samples(std::span<const float> y, int pixels);
[[nodiscard]] std::vector<std::size_t> visible_samples(std::span<const double> y, int pixels);

}  // namespace abut
