#include "apps/viewer/lens.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "apps/viewer/contact_description.h"

namespace abut::viewer {
namespace {

BodyPair pair_of(const ContactFeature& feature) { return {feature.body_A, feature.body_B}; }

bool touches(const BodyPair& pair, const ContactSet& set, const ContactDisplay& display) {
  return std::any_of(set.contacts.begin(), set.contacts.end(), [&](const ContactView& view) {
    return is_shown(view, display) && pair_of(view.contact.feature) == pair;
  });
}

std::optional<BodyPair> heaviest_pair(const ContactSet& set, const ContactDisplay& display, int body) {
  std::map<BodyPair, std::pair<double, double>> weights;  // force, activity
  for (const ContactView& view : set.contacts) {
    const ContactFeature& feature = view.contact.feature;
    if (!is_shown(view, display) || (body >= 0 && feature.body_A != body && feature.body_B != body)) continue;
    auto& [newtons, activity] = weights[pair_of(feature)];
    newtons += view.has_force ? view.force.force_B_W.norm() : 0.0;
    activity += view.contact.activity;
  }
  const auto heaviest = std::max_element(weights.begin(), weights.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
  return heaviest == weights.end() ? std::nullopt : std::optional(heaviest->first);
}

/// Half the height of what is to be seen around `centre` [m].
double radius_around(const Vec3<double>& centre, std::span<const ContactView> contacts) {
  constexpr double k_margin = 1.35;
  double radius = 0.0;
  for (const ContactView& view : contacts) {
    const Contact& contact = view.contact;
    radius = std::max({radius, k_margin * (contact.point_W - centre).norm(),
                       4.0 * std::abs(contact.signed_distance), std::sqrt(std::max(0.0, contact.area))});
  }
  return radius;
}

Vec3<double> nearest_to(const Vec3<double>& p, std::span<const ContactView> contacts) {
  return std::min_element(contacts.begin(), contacts.end(),
                          [&](const ContactView& a, const ContactView& b) {
                            return (a.contact.point_W - p).squaredNorm() <
                                   (b.contact.point_W - p).squaredNorm();
                          })
      ->contact.point_W;
}

}  // namespace

std::optional<Lens> lens_on(const Frame& frame, const ContactSet& set, const ContactDisplay& display,
                            const Selection& selection, const GlyphScale& scale, double points, double zoom) {
  const ContactView* pinned = nullptr;
  for (auto pin = selection.pinned.rbegin(); pin != selection.pinned.rend() && !pinned; ++pin) {
    const auto found = std::find_if(set.contacts.begin(), set.contacts.end(), [&](const ContactView& view) {
      return Selection::same(view.contact.feature, pin->feature);
    });
    if (found != set.contacts.end()) pinned = &*found;
  }
  std::optional<BodyPair> pair;
  if (pinned) pair = pair_of(pinned->contact.feature);
  if (!pair && selection.pair && touches(*selection.pair, set, display)) pair = selection.pair;
  if (!pair && selection.body >= 0) pair = heaviest_pair(set, display, selection.body);
  if (!pair) pair = heaviest_pair(set, display, -1);
  if (!pair) return std::nullopt;

  Lens lens;
  std::tie(lens.body_A, lens.body_B) = *pair;
  Vec3<double> centre = Vec3<double>::Zero();
  double weight = 0.0;
  for (const ContactView& view : set.contacts) {
    if (!is_shown(view, display) || pair_of(view.contact.feature) != *pair) continue;
    lens.contacts.push_back(view);
    centre += view.contact.activity * view.contact.point_W;
    weight += view.contact.activity;
  }
  for (const ContactForce& force : set.other_forces) {
    if (pair_of(force.feature) == *pair) lens.other_forces.push_back(force);
  }
  if (pinned) {
    centre = pinned->contact.point_W;
  } else if (weight > 0.0) {
    centre /= weight;
  } else {
    centre = lens.contacts.front().contact.point_W;
  }
  if (!centre.allFinite()) return std::nullopt;
  constexpr double k_least_magnification = 3.0, k_least_size = 0.01;  // [-], of the smaller body
  const Model& model = frame.model->model();
  const auto size_of = [&](int body) { return model.bodies[static_cast<std::size_t>(body)].size; };
  const double size = std::min(size_of(lens.body_A), size_of(lens.body_B));
  double radius = radius_around(centre, lens.contacts);
  if (std::isfinite(size)) radius = std::max(radius, k_least_size * size);
  const auto largest = [&] { return 0.5 * points * scale.point_at(centre) / k_least_magnification; };
  if (radius > largest() && !pinned) centre = nearest_to(centre, lens.contacts);  // or there might be none
  lens.radius = (radius > 0.0 ? std::min(radius, largest()) : largest()) / zoom;
  lens.camera = scale.camera;
  lens.camera.orthographic = true;
  lens.camera.target = centre;
  lens.camera.distance = lens.radius / std::tan(0.5 * lens.camera.vertical_angle);
  return lens;
}

double magnification(const Lens& lens, const GlyphScale& scale, double points) {
  return scale.point_at(lens.camera.target) / (2.0 * lens.radius / points);
}

Rectangle lens_area(const Rectangle& scene, float text_scale) {
  constexpr float k_share = 0.45f, k_largest = 260.0f, k_margin = 10.0f;
  const float side =
      std::floor(std::min(k_share * std::min(scene.width, scene.height), k_largest * text_scale));
  const float margin = std::min(k_margin * text_scale, 0.1f * side);
  return {std::floor(scene.x + scene.width - margin - side), std::floor(scene.y + margin), side, side};
}

}  // namespace abut::viewer
