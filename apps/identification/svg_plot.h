/// Plots as inline SVG: axes with round ticks, curves, marks and bars.
///
/// Colours are left to the style sheet of the page around them: everything that is drawn is named by a class.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace abut {

/// What a plot shows along one side.
struct PlotAxis {
  double lowest = 0.0, highest = 1.0;
  bool logarithmic = false;  ///< lowest > 0
  std::string title;         ///< "time [s]"
};

/// Numbers that are to fit into a plot. What is not finite is left out, and what is <= 0 of a logarithmic
/// axis.
class PlotRange {
 public:
  explicit PlotRange(bool logarithmic = false) : logarithmic_(logarithmic) {}
  void add(double value);
  void add(std::span<const double> values) {
    for (const double value : values) add(value);
  }
  /// With a little room around the numbers, and some where all are the same; from one power of ten to another
  /// on a logarithmic axis. [-1, 1] or [0.1, 1] without any number.
  [[nodiscard]] PlotAxis axis(std::string title) const;

 private:
  bool logarithmic_;
  bool is_empty_ = true;
  double least_ = 0.0, most_ = 0.0;
};

enum class PlotMark { dot, square, diamond, triangle, cross };

/// The path of a mark at a place. Dots and squares are strokes without length: the style sheet gives them
/// their size and the shape of their ends.
[[nodiscard]] std::string mark_path(PlotMark mark, double x, double y);
/// "dot", "square", ...: the class of marks in the style sheet.
[[nodiscard]] const char* to_string(PlotMark mark);

/// What is drawn later lies on top. Points that are not finite break a curve and leave no mark; what lies
/// outside of the axes is cut off.
class SvgPlot {
 public:
  /// @param width, height  in units of the drawing, about the pixels it is to be shown with
  SvgPlot(double width, double height, PlotAxis x, PlotAxis y);

  /// Where a value is drawn. Not far outside of the drawing, whatever the value; NaN stays NaN.
  [[nodiscard]] double x_of(double value) const;
  [[nodiscard]] double y_of(double value) const;

  /// A stripe from one value of y to another.
  void band(double from, double to, std::string_view css_class);
  /// Lines across the plot.
  void line_at_x(double value, std::string_view css_class);
  void line_at_y(double value, std::string_view css_class);
  void curve(std::span<const double> x, std::span<const double> y, std::string_view css_class);
  void marks(std::span<const double> x, std::span<const double> y, PlotMark mark, std::string_view css_class);
  /// From y - deviation to y + deviation.
  void error_bars(std::span<const double> x, std::span<const double> y, std::span<const double> deviation,
                  std::string_view css_class);
  /// A bar from 0 to `height` between two values of x.
  void bar(double from, double to, double height, std::string_view css_class);
  /// @param description  what is to be seen, for those who cannot see it
  [[nodiscard]] std::string svg(std::string_view description) const;

 private:
  double width_, height_;
  PlotAxis x_, y_;
  double left_, right_, top_, bottom_;  // of the area within the axes
  std::string inside_;                  // of that area, cut off at its edges
};

}  // namespace abut
