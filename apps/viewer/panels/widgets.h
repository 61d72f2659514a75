/// Small parts that panels are made of.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include "apps/picture/colours.h"
#include "engine/model.h"

namespace abut::viewer {

// Text -----------------------------------------------------------------------------------------------------

inline const ImVec4 k_good_colour{0.20f, 0.75f, 0.52f, 1.0f}, k_doubtful_colour{0.95f, 0.68f, 0.15f, 1.0f},
    k_bad_colour{0.95f, 0.45f, 0.30f, 1.0f};

/// A line that wraps at the window's edge; names of the user's may contain '%'.
void show_text(const std::string& line);
void show_text(const ImVec4& colour, const std::string& line);
/// Of less weight than the rest.
void show_note(const std::string& line);
template <typename... Values>
void show(fmt::format_string<Values...> format, Values&&... values) {
  show_text(fmt::format(format, std::forward<Values>(values)...));
}

/// Of the item before, wrapped.
void tooltip(const std::string& words);

[[nodiscard]] ImU32 packed(const Colour& colour);

/// "12.3 mm", with a prefix that leaves 1 to 3 digits before the point, of a number in SI units.
[[nodiscard]] std::string with_prefix(double value, const char* unit);

// Values that the user changes -----------------------------------------------------------------------------

/// How a number is shown. The default stands beside it on a small button that brings it back, as a right
/// click does, and is marked on the slider.
struct SliderOptions {
  const char* unit = "";
  double lowest = 0.0, highest = 1.0;  ///< of the slider; other values can be typed after Ctrl + click
  bool logarithmic = false;
  std::optional<double> standard{};  ///< the default, if there is one
  const char* help = "";
  std::span<const double> marks{};  ///< places that are marked, too
  bool whole = false;               ///< a whole number
  const char* id = nullptr;         ///< its ImGui id, where the label is not enough of one
};

/// One line: label, slider, default. Returns whether the user has changed the value.
[[nodiscard]] bool slider(const char* label, double& value, const SliderOptions& options);
[[nodiscard]] bool slider(const char* label, int& value, const SliderOptions& options);
/// Checkbox whose default a right click brings back.
[[nodiscard]] bool checkbox(const char* label, bool& value, bool standard, const std::string& help);
/// Checkbox with the key that does the same in its tooltip.
bool checkbox_with_key(const char* label, bool& value, const std::string& key, const std::string& help);
/// One line: label and a list to choose from. Without a default with `standard` < 0.
[[nodiscard]] bool combo(const char* label, int& choice, std::span<const char* const> names, int standard,
                         const std::string& help);
/// A body by its name; `none` is what -1 is called, null where a body is needed.
[[nodiscard]] bool body_combo(const char* label, const Model& model, int& body, const char* none,
                              const std::string& help = {});
/// A line to type in.
[[nodiscard]] bool text_field(const char* label, const char* hint, std::string& text,
                              const std::string& help);

/// A colour scale of `colour_at(x)`, x from 0 to 1, with words at its two ends and in the middle.
void colour_bar(Colour (*colour_at)(double x), const char* low, const char* middle, const char* high);
/// A small square of a colour with a word beside it.
void colour_key(const Colour& colour, const char* word);

/// A button as wide as `columns` of them fit beside each other.
[[nodiscard]] bool wide_button(const char* label, int columns = 1);

}  // namespace abut::viewer
