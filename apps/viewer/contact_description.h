/// What is said of a contact: its names, its indicators, and the rows of its table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/viewer/display_options.h"
#include "apps/viewer/simulation/frame.h"

namespace abut::viewer {

/// In [0, 1]; the activity alone is known of blended contacts.
[[nodiscard]] double indicator_of(const ContactView& contact, Indicator indicator);
/// The factors whose product is the activity of contacts of a kind; none of blended contacts.
[[nodiscard]] std::span<const Indicator> factors_of(ContactKind kind);
/// By its kind and its indicator.
[[nodiscard]] bool is_shown(const ContactView& contact, const ContactDisplay& display);
/// Share of what friction can hold at most from which on a force counts as sliding: laws smooth the border.
inline constexpr double k_sliding_use = 0.98;
[[nodiscard]] bool slides(const ContactForce& force);

inline constexpr std::size_t k_contact_kinds = 6;
[[nodiscard]] const char* kind_name(ContactKind kind);
/// "v12 | SDF", "e3 | e17", "t5 | SDF"; of convex parts "0 | witness", "0 | patch 2" with the pair of parts.
[[nodiscard]] std::string features_text(const ContactFeature& feature);
[[nodiscard]] std::string bodies_text(const SceneModel& model, const ContactFeature& feature);

/// "12.3 mN": three significant digits, with a prefix that leaves 1 to 3 digits before the point.
[[nodiscard]] std::string three_digits(double value, const char* unit);

/// A line of the table beside a contact.
struct ContactRow {
  std::string name, value;
  std::optional<double> factor{};  ///< in [0, 1], of the activity and what it is the product of
};
[[nodiscard]] std::vector<ContactRow> contact_rows(const SceneModel& model, const ContactView& view);

}  // namespace abut::viewer
