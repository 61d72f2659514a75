#include "collision/manifold/contact_detector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

#include <spdlog/fmt/fmt.h>

#include "collision/manifold/kernel/manifold_kernels.h"
#include "engine/check.h"
#include "engine/smooth.h"

namespace abut {
namespace {

/// S(1/2 - d/(8 tau_p)): at 0 for d = 4 tau_p, at 1 for d = -4 tau_p.
double activity(double distance, double tau) { return smoothstep5(0.5 - distance / (8.0 * tau)); }
double activity_d_distance(double distance, double tau) {
  return -smoothstep5_dx(0.5 - distance / (8.0 * tau)) / (8.0 * tau);
}

Eigen::AlignedBox3d contact_point_box(const Body& body) {
  Eigen::AlignedBox3d box;
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
    const Vec3<double> p = body.contact_points.col(i);
    const Vec3<double> r = Vec3<double>::Constant(body.contact_radius);
    box.extend(p - r);
    box.extend(p + r);
  }
  return box;
}

bool is_bounded(const Eigen::AlignedBox3d& box) { return box.min().allFinite() && box.max().allFinite(); }

/// The box in W around a box in B, grown by `margin`.
WorldBox world_box(const Eigen::AlignedBox3d& box, const Mat3<double>& R, const Vec3<double>& p,
                   double margin) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (box.isEmpty()) return {};
  if (!is_bounded(box)) return {Vec3<double>::Constant(-infinity), Vec3<double>::Constant(infinity)};
  const Vec3<double> center = R * box.center() + p;
  const Vec3<double> half = R.cwiseAbs() * (0.5 * box.sizes()) + Vec3<double>::Constant(margin);
  return {center - half, center + half};
}

/// What a contact is made of, before it is oriented from A to B.
Contact make_contact(const ContactFeature& feature, const Body& owner, int point, const Vec3<double>& x_W,
                     double sdf, const Vec3<double>& normal_W, double tau) {
  Contact contact;
  contact.feature = feature;
  contact.signed_distance = sdf - owner.contact_radius;
  contact.point_W = x_W - (owner.contact_radius + 0.5 * contact.signed_distance) * normal_W;
  contact.normal_AB_W = feature.feature_B >= 0 ? normal_W : Vec3<double>(-normal_W);
  contact.penetration = contact.signed_distance;
  contact.activity = activity(contact.signed_distance, tau);
  contact.area = owner.contact_areas[static_cast<std::size_t>(point)];
  return contact;
}

}  // namespace

ContactDetector::BodyGeometry::BodyGeometry(const Body& body)
    : sdf(body.shape), box(contact_point_box(body)) {
  if (!box.isEmpty()) {
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      reach = std::max(reach, body.contact_points.col(i).norm() + body.contact_radius);
    }
  }
  if (body.shape.primitives.empty()) return;
  box.extend(sdf.bounds());
  if (!is_bounded(sdf.bounds())) return;
  reach = std::max(reach, sdf.bounds().min().cwiseAbs().cwiseMax(sdf.bounds().max().cwiseAbs()).norm());
}

ContactDetector::ContactDetector(const Model& model, const ContactConfig& config)
    : model_(&model), config_(config) {
  bodies_.reserve(model.bodies.size());
  for (const Body& body : model.bodies) {
    bodies_.emplace_back(body);
    largest_distance_ratio_ = std::max(largest_distance_ratio_, bodies_.back().sdf.distance_ratio());
  }
  edge_bodies_.reserve(model.bodies.size());
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    edge_bodies_.emplace_back(model.bodies[b], bodies_[b].sdf);
  for (const Body& body : model.bodies) {
    require(body.selected_vertices == 0,
            fmt::format("body '{}': selected_vertices is {}, but a simulation uses all contact points: 0",
                        body.name, body.selected_vertices));
  }
  for (int A = 0; A < model.body_count(); ++A) {
    for (int B = A + 1; B < model.body_count(); ++B) {
      const ContactConfig pair = pair_config(A, B);
      const auto refuse = [&](bool refused, std::string_view what) {
        require(!refused,
                fmt::format("bodies '{}' and '{}': {}", model.bodies[static_cast<std::size_t>(A)].name,
                            model.bodies[static_cast<std::size_t>(B)].name, what));
      };
      refuse(pair.fidelity == Fidelity::paper,
             "fidelity \"paper\" is for the experiments of the paper; a simulation needs \"corrected\"");
      refuse(pair.edge_sdf, "edge_sdf is true, but a simulation takes no contacts of edges with a solid");
      refuse(pair.reduction != Reduction::none,
             "a reduction is set, but a simulation takes all contacts: \"none\"");
    }
  }
}

double ContactDetector::activity_smoothing(int body_A, int body_B) const {
  return pair_config(body_A, body_B).activity_smoothing *
         std::min(model_->bodies[static_cast<std::size_t>(body_A)].size,
                  model_->bodies[static_cast<std::size_t>(body_B)].size);
}

bool ContactDetector::collide(int body_A, int body_B) const {
  const auto a = static_cast<std::size_t>(body_A), b = static_cast<std::size_t>(body_B);
  if (model_->bodies[a].fixed && model_->bodies[b].fixed) return false;
  for (const PairOverride& pair : model_->pair_overrides) {
    if (pair.body_A == body_A && pair.body_B == body_B) return pair.collide;
  }
  return true;
}

void ContactDetector::detect(std::span<const Pose<double>> X_WB, std::span<const double> margins,
                             DetectorScratch& scratch, ContactManifold& manifold) const {
  manifold.clear();
  const auto margin = [&](int body) {
    return margins.empty() ? 0.0 : margins[static_cast<std::size_t>(body)];
  };
  scratch.boxes.resize(bodies_.size());
  double widest = config_.activity_smoothing;
  for (const PairOverride& pair : model_->pair_overrides)
    widest = std::max(widest, pair.contact.activity_smoothing.value_or(0.0));
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const double size = model_->bodies[b].size;
    const double band = std::isfinite(size) ? 4.0 * widest * size : 0.0;
    // A solid's distance may be smaller than the true one, by as much as its distance_ratio.
    const double grown = largest_distance_ratio_ * (margin(static_cast<int>(b)) + band) +
                         (largest_distance_ratio_ - 1.0) * model_->bodies[b].contact_radius;
    scratch.boxes[b] = world_box(bodies_[b].box, X_WB[b].rotation(), X_WB[b].p, grown);
  }
  for (const auto& [A, B] : scratch.broad_phase.overlapping_pairs(scratch.boxes)) {
    if (!collide(A, B)) continue;
    ContactPair pair{A, B, static_cast<int>(manifold.contacts.size()), 0, activity_smoothing(A, B)};
    const double reach = 4.0 * pair.activity_smoothing + margin(A) + margin(B);
    const ContactConfig config = pair_config(A, B);
    if (config.vertex_contacts != VertexContacts::none)
      append_contacts(A, B, X_WB, reach, pair.activity_smoothing, scratch, manifold);
    if (config.vertex_contacts == VertexContacts::both)
      append_contacts(B, A, X_WB, reach, pair.activity_smoothing, scratch, manifold);
    if (const EdgeContacts edges = edge_contacts(A, B); config.edge_edge && edges.possible()) {
      const auto a = static_cast<std::size_t>(A), b = static_cast<std::size_t>(B);
      scratch.edge_pair.body_A = A;
      scratch.edge_pair.body_B = B;
      edges.prepare(X_WB[a], X_WB[b], scratch.edge_pair);
      edges.append(X_WB[a], X_WB[b], reach, scratch.edge_pair, manifold.contacts);
    }
    pair.end = static_cast<int>(manifold.contacts.size());
    if (pair.end > pair.begin) manifold.pairs.push_back(pair);
  }
}

void ContactDetector::append_contacts(int owner, int solid, std::span<const Pose<double>> X_WB, double reach,
                                      double tau, DetectorScratch& scratch, ContactManifold& manifold) const {
  const auto o = static_cast<std::size_t>(owner), s = static_cast<std::size_t>(solid);
  const Body& body = model_->bodies[o];
  const ShapeSdf& sdf = bodies_[s].sdf;
  const auto count = static_cast<int>(body.contact_points.cols());
  if (count == 0 || model_->bodies[s].shape.primitives.empty()) return;

  // The points in the solid's frame, and those of them that its bounds do not rule out.
  const Pose<double> X_SO = X_WB[s].inverse() * X_WB[o];
  const Mat3<double> R_SO = X_SO.rotation();
  if (scratch.points_S.cols() < count) scratch.points_S.resize(3, count);
  scratch.points_S.leftCols(count).noalias() = R_SO * body.contact_points;
  scratch.points_S.leftCols(count).colwise() += X_SO.p;
  const double union_depth =
      model_->bodies[s].shape.union_smoothing *
      std::log(static_cast<double>(std::max<std::size_t>(1, model_->bodies[s].shape.primitives.size())));
  const double grown = sdf.distance_ratio() * (reach + body.contact_radius + union_depth);
  const Vec3<double> low = sdf.bounds().min() - Vec3<double>::Constant(grown);
  const Vec3<double> high = sdf.bounds().max() + Vec3<double>::Constant(grown);
  scratch.candidates.clear();
  for (int i = 0; i < count; ++i) {
    const double x = scratch.points_S(0, i), y = scratch.points_S(1, i), z = scratch.points_S(2, i);
    if (x >= low.x() && x <= high.x() && y >= low.y() && y <= high.y() && z >= low.z() && z <= high.z()) {
      scratch.candidates.push_back(i);
    }
  }
  const std::size_t candidates = scratch.candidates.size();
  if (candidates == 0) return;
  const bool owner_is_A = owner < solid;
  ContactFeature feature{ContactKind::vertex_sdf, std::min(owner, solid), std::max(owner, solid), -1, -1};
  const Mat3<double> R_WS = X_WB[s].rotation(), R_WO = X_WB[o].rotation();
  for (int axis = 0; axis < 3; ++axis) {
    scratch.coordinates[axis].resize(candidates);
    for (std::size_t i = 0; i < candidates; ++i)
      scratch.coordinates[axis][i] = scratch.points_S(axis, scratch.candidates[i]);
  }
  scratch.samples.resize(k_sample_normal_columns * candidates);
  manifold_kernels().sample_points(sdf, SdfOrder::normal, scratch.coordinates[0].data(),
                                   scratch.coordinates[1].data(), scratch.coordinates[2].data(),
                                   static_cast<int>(candidates), scratch.samples.data());
  for (std::size_t i = 0; i < candidates; ++i) {
    const auto number = [&](std::size_t column) { return scratch.samples[column * candidates + i]; };
    const double distance = number(k_sample_distance);
    if (!(distance - body.contact_radius < reach)) continue;
    const int point = scratch.candidates[i];
    (owner_is_A ? feature.feature_A : feature.feature_B) = point;
    const Vec3<double> normal_S(number(k_sample_normal), number(k_sample_normal + 1),
                                number(k_sample_normal + 2));
    const Vec3<double> x_W = R_WO * body.contact_points.col(point) + X_WB[o].p;
    manifold.contacts.push_back(make_contact(feature, body, point, x_W, distance, R_WS * normal_S, tau));
  }
}

Contact ContactDetector::contact(std::span<const Pose<double>> X_WB, const ContactFeature& feature) const {
  std::vector<Contact> contacts;
  std::vector<ContactLinearization> linearizations;
  std::vector<EdgePair> edge_pairs;
  linearize(X_WB, {&feature, 1}, contacts, linearizations, &edge_pairs);
  return contacts.front();
}

void ContactDetector::linearize(std::span<const Pose<double>> X_WB, std::span<const ContactFeature> features,
                                std::vector<Contact>& contacts,
                                std::vector<ContactLinearization>& linearizations,
                                std::vector<EdgePair>* edge_pairs) const {
  contacts.resize(features.size());
  linearizations.resize(features.size());
  std::size_t used_pairs = 0;
  for (std::size_t i = 0; i < features.size();) {
    if (const ContactFeature& feature = features[i]; feature.kind == ContactKind::edge_edge) {
      require(edge_pairs != nullptr, "contacts of edges need a place for their pairs");
      const auto a = static_cast<std::size_t>(feature.body_A), b = static_cast<std::size_t>(feature.body_B);
      const EdgeContacts edges = edge_contacts(feature.body_A, feature.body_B);
      const bool is_same_pair = used_pairs > 0 && (*edge_pairs)[used_pairs - 1].body_A == feature.body_A &&
                                (*edge_pairs)[used_pairs - 1].body_B == feature.body_B;
      if (!is_same_pair) {
        if (edge_pairs->size() <= used_pairs) edge_pairs->emplace_back();
        EdgePair& pair = (*edge_pairs)[used_pairs++];
        pair.body_A = feature.body_A;
        pair.body_B = feature.body_B;
        pair.bars.any = false;
        edges.prepare(X_WB[a], X_WB[b], pair);
      }
      contacts[i] = edges.contact(X_WB[a], X_WB[b], (*edge_pairs)[used_pairs - 1], feature);
      linearizations[i] = {};
      linearizations[i].edge_pair = static_cast<int>(used_pairs) - 1;
      linearizations[i].tau = activity_smoothing(feature.body_A, feature.body_B);
      ++i;
      continue;
    }
    // Contacts on the same solid, many at a time.
    constexpr std::size_t k_most = 32;
    const auto solid_of = [&](std::size_t k) {
      return features[k].feature_A >= 0 ? features[k].body_B : features[k].body_A;
    };
    std::size_t end = i + 1;
    while (end < features.size() && end < i + k_most && features[end].kind == ContactKind::vertex_sdf &&
           solid_of(end) == solid_of(i)) {
      ++end;
    }
    const int solid = solid_of(i);
    const auto s = static_cast<std::size_t>(solid);
    const Pose<double>& X_WS = X_WB[s];
    const Mat3<double> R_WS = X_WS.rotation();

    const std::size_t many = end - i;
    double x_S[3][k_most], samples[k_sample_columns * k_most];
    for (std::size_t k = i; k < end; ++k) {
      ContactLinearization& at = linearizations[k];
      at.edge_pair = -1;
      at.owner = features[k].feature_A >= 0 ? features[k].body_A : features[k].body_B;
      at.solid = solid;
      at.sign = features[k].feature_B >= 0 ? 1.0 : -1.0;
      const auto o = static_cast<std::size_t>(at.owner);
      const Body& owner = model_->bodies[o];
      const int point = std::max(features[k].feature_A, features[k].feature_B);
      at.radius = owner.contact_radius;
      at.tau = activity_smoothing(features[k].body_A, features[k].body_B);
      const Vec3<double> v = owner.contact_points.col(point);
      at.arm_O = X_WB[o].q * v;
      at.arm_S = at.arm_O + X_WB[o].p - X_WS.p;
      at.x_S = R_WS.transpose() * at.arm_S;
      for (int axis = 0; axis < 3; ++axis) x_S[axis][k - i] = at.x_S[axis];
    }
    manifold_kernels().sample_points(bodies_[s].sdf, SdfOrder::jacobian, x_S[0], x_S[1], x_S[2],
                                     static_cast<int>(many), samples);
    for (std::size_t k = i; k < end; ++k) {
      const auto number = [&](int column) {
        return samples[static_cast<std::size_t>(column) * many + (k - i)];
      };
      ContactLinearization& at = linearizations[k];
      Mat3<double> jacobian;
      Vec3<double> gradient, normal;
      for (int row = 0; row < 3; ++row) {
        gradient[row] = number(k_sample_gradient + row);
        normal[row] = number(k_sample_normal + row);
        for (int column = 0; column < 3; ++column)
          jacobian(row, column) = number(k_sample_normal_jacobian + 3 * row + column);
      }
      at.normal = R_WS * normal;
      at.gradient = R_WS * gradient;
      at.normal_jacobian = R_WS * jacobian * R_WS.transpose();
      at.distance = number(k_sample_distance) - at.radius;
      const int point = std::max(features[k].feature_A, features[k].feature_B);
      contacts[k] = make_contact(features[k], model_->bodies[static_cast<std::size_t>(at.owner)], point,
                                 at.arm_S + X_WS.p, number(k_sample_distance), at.normal, at.tau);
    }
    i = end;
  }
  if (edge_pairs != nullptr) edge_pairs->resize(used_pairs);
}

void ContactDetector::add_edge_bar(EdgePair& pair, const ContactFeature& feature,
                                   const ContactBar& bar) const {
  EdgeContacts::add_bar(pair, feature, bar, pair.bars);
}

void ContactDetector::edge_vjp(std::span<const EdgePair> pairs, std::span<const Pose<double>> X_WB,
                               std::span<Vec6<double>> pose_bar, std::span<GeometryGradient> geometry) const {
  for (const EdgePair& pair : pairs) {
    const auto a = static_cast<std::size_t>(pair.body_A), b = static_cast<std::size_t>(pair.body_B);
    edge_contacts(pair.body_A, pair.body_B)
        .vjp(X_WB[a], X_WB[b], pair, pair.bars, pose_bar[a], pose_bar[b],
             geometry.empty() ? nullptr : &geometry[a], geometry.empty() ? nullptr : &geometry[b]);
  }
}

ContactBar ContactDetector::jvp(const ContactLinearization& at, const Vec6<double>& pose_O,
                                const Vec6<double>& pose_S) {
  const Vec3<double> theta_O = pose_O.head<3>(), theta_S = pose_S.head<3>();
  const Vec3<double> dx_W = pose_O.tail<3>() + theta_O.cross(at.arm_O);
  const Vec3<double> y = dx_W - pose_S.tail<3>() - theta_S.cross(at.arm_S);
  const Vec3<double> dn = at.normal_jacobian * y + theta_S.cross(at.normal);
  ContactBar d;
  d.signed_distance = at.gradient.dot(y);
  d.normal_AB_W = at.sign * dn;
  d.point_W = dx_W - 0.5 * d.signed_distance * at.normal - (at.radius + 0.5 * at.distance) * dn;
  d.penetration = d.signed_distance;
  d.activity = activity_d_distance(at.distance, at.tau) * d.signed_distance;
  return d;
}

void ContactDetector::vjp(const ContactLinearization& at, const ContactFeature& feature,
                          const ContactBar& bar, std::span<const Pose<double>> X_WB,
                          std::span<Vec6<double>> pose_bar, std::span<GeometryGradient> geometry) const {
  const auto o = static_cast<std::size_t>(at.owner), s = static_cast<std::size_t>(at.solid);
  const double along = bar.point_W.dot(at.normal);
  const double distance_bar = bar.signed_distance + bar.penetration - 0.5 * along +
                              activity_d_distance(at.distance, at.tau) * bar.activity;
  const Vec3<double> normal_bar = at.sign * bar.normal_AB_W - (at.radius + 0.5 * at.distance) * bar.point_W;
  const Vec3<double> y_bar = distance_bar * at.gradient + at.normal_jacobian.transpose() * normal_bar;
  const Vec3<double> x_W_bar = bar.point_W + y_bar;
  pose_bar[o] += stack<double>(at.arm_O.cross(x_W_bar), x_W_bar);
  pose_bar[s] += stack<double>(at.normal.cross(normal_bar) - at.arm_S.cross(y_bar), -y_bar);
  if (geometry.empty()) return;
  const int point = std::max(feature.feature_A, feature.feature_B);
  geometry[o].contact_points.col(point) += X_WB[o].q.conjugate() * x_W_bar;
  geometry[o].contact_radius -= distance_bar + along;
  bodies_[s].sdf.parameter_vjp(at.x_S, distance_bar, X_WB[s].q.conjugate() * normal_bar,
                               geometry[s].primitives);
}

void require_points_on_surface(const Body& body, double tolerance) {
  if (body.shape.primitives.empty()) return;
  const ShapeSdf sdf(body.shape);
  for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
    const double off = sdf.distance<double>(body.contact_points.col(i)) + body.contact_radius;
    if (!(std::abs(off) <= tolerance * body.size)) {
      throw std::invalid_argument(
          fmt::format("body '{}': contact point {} lies {:.3g} m off the surface of its signed distance "
                      "function (at most {:.3g} m)",
                      body.name, i, off, tolerance * body.size));
    }
  }
}

}  // namespace abut
