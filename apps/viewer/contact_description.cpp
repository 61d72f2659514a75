#include "apps/viewer/contact_description.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace abut::viewer {
namespace {

constexpr std::array k_factors_of_vertices{Indicator::penetration, Indicator::cone, Indicator::selection};
constexpr std::array k_factors_of_triangles{Indicator::penetration, Indicator::selection};
constexpr std::array k_factors_of_edges{Indicator::penetration, Indicator::window, Indicator::cone,
                                        Indicator::gate, Indicator::selection};
constexpr std::array k_factors_of_shares{Indicator::penetration, Indicator::share, Indicator::selection};

}  // namespace

double indicator_of(const ContactView& view, Indicator indicator) {
  const ContactIndicators& indicators = view.inspection.indicators;
  if (!view.inspection.known) return view.contact.activity;
  switch (indicator) {
    case Indicator::activity:
      return view.contact.activity;
    case Indicator::penetration:
      return indicators.penetration;
    case Indicator::window:
      return indicators.window;
    case Indicator::cone:
      return indicators.cone;
    case Indicator::gate:
      return indicators.gate;
    case Indicator::share:
      return indicators.share;
    case Indicator::selection:
      return indicators.selection;
  }
  return 0.0;
}

std::span<const Indicator> factors_of(ContactKind kind) {
  switch (kind) {
    case ContactKind::vertex_sdf:
      return k_factors_of_vertices;
    case ContactKind::triangle_sdf:
      return k_factors_of_triangles;
    case ContactKind::edge_edge:
      return k_factors_of_edges;
    case ContactKind::edge_sdf:
    case ContactKind::convex_parts:
      return k_factors_of_shares;
    case ContactKind::blended:
      break;
  }
  return {};
}

bool is_shown(const ContactView& view, const ContactDisplay& display) {
  return display.shows(view.contact.feature.kind) && indicator_of(view, display.indicator) >= display.least;
}

bool slides(const ContactForce& force) {
  return force.friction > 0.0 && force.friction_use() > k_sliding_use;
}

const char* kind_name(ContactKind kind) {
  constexpr const char* k_names[] = {"vertex-SDF",   "edge-edge",    "edge-SDF",
                                     "convex parts", "triangle-SDF", "blended"};
  return k_names[static_cast<std::size_t>(kind)];
}

std::string features_text(const ContactFeature& feature) {
  if (feature.kind == ContactKind::blended) return "-";
  if (feature.kind == ContactKind::convex_parts) {
    return feature.feature_B == 0 ? fmt::format("{} | witness", feature.feature_A)
                                  : fmt::format("{} | patch {}", feature.feature_A, feature.feature_B);
  }
  const char* const letter = feature.kind == ContactKind::vertex_sdf     ? "v"
                             : feature.kind == ContactKind::triangle_sdf ? "t"
                                                                         : "e";
  const auto one = [&](int number) {
    return number < 0 ? std::string("SDF") : fmt::format("{}{}", letter, number);
  };
  return one(feature.feature_A) + " | " + one(feature.feature_B);
}

std::string bodies_text(const SceneModel& model, const ContactFeature& feature) {
  return model.body_name(feature.body_A) + " | " + model.body_name(feature.body_B);
}

std::string three_digits(double value, const char* unit) {
  if (!std::isfinite(value)) return fmt::format("{} {}", value, unit);
  constexpr std::pair<double, const char*> k_prefixes[] = {{1e9, "G"},  {1e6, "M"},  {1e3, "k"}, {1.0, ""},
                                                           {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}};
  if (std::abs(value) < 1e-12) return fmt::format("0 {}", unit);
  const auto* prefix = std::begin(k_prefixes);
  while (std::abs(value) < 0.9995 * prefix->first && prefix + 1 != std::end(k_prefixes)) ++prefix;
  const double number = value / prefix->first;
  const int decimals = std::abs(number) < 9.995 ? 2 : std::abs(number) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}{}", number, decimals, prefix->second, unit);
}

std::vector<ContactRow> contact_rows(const SceneModel& model, const ContactView& view) {
  const Contact& contact = view.contact;
  const auto factor = [](const char* name, double value) {
    return ContactRow{name, fmt::format("{:.3f}", value), std::clamp(value, 0.0, 1.0)};
  };
  std::vector<ContactRow> rows{
      {kind_name(contact.feature.kind), features_text(contact.feature)},
      {"bodies", bodies_text(model, contact.feature)},
      {"distance", three_digits(contact.signed_distance, "m")},
      factor("activity", contact.activity),
  };
  if (view.inspection.known) {
    const char* sign = "= ";
    for (const Indicator indicator : factors_of(contact.feature.kind)) {
      const std::string name = sign + std::string(k_indicator_names[static_cast<std::size_t>(indicator)]);
      rows.push_back(factor(name.c_str(), indicator_of(view, indicator)));
      sign = "× ";
    }
  }
  if (!view.has_force) return rows;
  const double newtons = view.force.force_B_W.norm();
  rows.push_back({"force on B", three_digits(newtons, "N")});
  if (!(newtons > 0.0)) return rows;
  const Vec3<double> direction = view.force.force_B_W / newtons;
  rows.push_back(
      {"direction", fmt::format("{:.2f}, {:.2f}, {:.2f}", direction.x(), direction.y(), direction.z())});
  rows.push_back({"friction", fmt::format("{:.0f} % used: {}", 100.0 * view.force.friction_use(),
                                          slides(view.force) ? "slides" : "sticks")});
  return rows;
}

}  // namespace abut::viewer
