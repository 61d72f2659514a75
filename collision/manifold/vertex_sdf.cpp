#include "collision/manifold/vertex_sdf.h"

#include <algorithm>
#include <array>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/facing_area.h"
#include "collision/manifold/kernel/point_kernels.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

/// A of a contact point in W; 0 if it is no vertex of a mesh.
Vec3<double> area_vector(const Body& owner, int point, const Mat3<double>& R_WO) {
  if (owner.contact_area_vectors.cols() == 0) return Vec3<double>::Zero();
  return R_WO * owner.contact_area_vectors.col(point);
}

double area_of(const Body& owner, int point) { return owner.contact_areas[static_cast<std::size_t>(point)]; }

/// What a contact is made of, before it is oriented from A to B.
Contact make_contact(const VertexSdfQuery& query, const VertexSdfLinearization& at, const Vec3<double>& x_W) {
  const bool owner_is_A = query.owner < query.solid;
  Contact contact;
  contact.feature = {ContactKind::vertex_sdf, std::min(query.owner, query.solid),
                     std::max(query.owner, query.solid), owner_is_A ? at.point : -1,
                     owner_is_A ? -1 : at.point};
  contact.signed_distance = at.distance;
  contact.point_W = x_W - (at.radius + 0.5 * at.distance) * at.normal;
  contact.normal_AB_W = owner_is_A ? Vec3<double>(-at.normal) : at.normal;
  contact.weight = at.weight;
  contact.activity = at.weight * activity(at.distance, query.tau);
  contact.area = at.area_factor * at.facing;
  return contact;
}

/// w of closest_features.h, and its derivatives; by_strict and by_wide are those with respect to C(w_r) and C(w_p).
struct ClosestWeight {
  double weight, by_distance, by_patch, by_strict, by_wide, by_arrival = 0.0;
  Vec3<double> by_normal;

  ClosestWeight(const VertexSdfQuery& query, int point, const Mat3<double>& R_WO, const Vec3<double>& n,
                double distance, double patch) {
    PointCones cones = point_cones(query, point, R_WO, n);
    const bool slides = query.sliding->slides(point);
    const double strict_share = !slides && query.is_feature(point) ? 1.0 : 0.0,
                 floor = query.edges->floor[at(point)];
    cones.strict.scale(strict_share);
    const SeedArrival arrival =
        slides ? seed_arrival(*query.sliding, point, R_WO.transpose() * n) : SeedArrival{};
    const double inverse_tau = 1.0 / query.tau;
    const VertexWeight<double> of(cones.strict.value, cones.wide.value, patch,
                                  push_out(distance, inverse_tau), floor * (1.0 - arrival.value));
    weight = of.value;
    by_distance = of.by_push_out * push_out_slope(distance, inverse_tau);
    by_patch = of.by_patch;
    by_strict = strict_share * of.by_strict;
    by_wide = of.by_wide;
    by_arrival = -of.by_floor * floor;
    by_normal = of.by_strict * cones.strict.by_normal + of.by_wide * cones.wide.by_normal +
                by_arrival * (R_WO * arrival.by_normal);
  }
};

/// Whether weights and area factors depend on poses and shapes by selection or flush faces here.
bool may_change(const PointWeights& weights) {
  return !weights.selection.all || !weights.flush.changing.empty();
}

/// dL/dw of a contact, its activity included.
double any_weight_bar(const ContactBar& bar, double distance, double tau) {
  return bar.activity == 0.0 ? bar.weight : bar.weight + activity(distance, tau) * bar.activity;
}

}  // namespace

PointCones point_cones(const VertexSdfQuery& query, int point, const Mat3<double>& R_WO,
                       const Vec3<double>& n_W) {
  PointCones cones;
  const PointEdges<double>& edges = *query.edges;
  if (edges.first.empty()) return cones;
  const Vec3<double> n = R_WO.transpose() * n_W;
  const double inverse_width = 1.0 / query.cone_width;
  for (auto k = at(edges.first[at(point)]); k < at(edges.first[at(point) + 1]); ++k) {
    const Vec3<double> edge(edges.x[k], edges.y[k], edges.z[k]);
    const double rise = edge.dot(n);
    cones.strict.add(edge, rise, inverse_width / k_strict_cone);
    cones.wide.add(edge, rise, inverse_width / k_patch_cone);
  }
  for (NormalCone<double>* const cone : {&cones.strict, &cones.wide})
    cone->by_normal = R_WO * cone->by_normal;
  return cones;
}

void cone_edges_vjp(const VertexSdfQuery& query, int point, const Vec3<double>& n_O, double strict_bar,
                    double wide_bar, Points& points_bar) {
  const PointEdges<double>& edges = *query.edges;
  if (edges.first.empty()) return;
  const std::size_t begin = at(edges.first[at(point)]), end = at(edges.first[at(point) + 1]);
  const double inverse_widths[2] = {1.0 / (k_strict_cone * query.cone_width),
                                    1.0 / (k_patch_cone * query.cone_width)},
               bars[2] = {strict_bar, wide_bar};
  for (int which = 0; which < 2; ++which) {
    const auto edge = [&](std::size_t k) { return Vec3<double>(edges.x[k], edges.y[k], edges.z[k]); };
    double cone = bars[which];
    for (std::size_t k = begin; k < end && cone != 0.0; ++k)
      cone *= cone_factor(edge(k).dot(n_O), inverse_widths[which]);
    for (std::size_t k = begin; k < end && cone != 0.0; ++k) {
      const double rise = edge(k).dot(n_O), rise_bar = cone / cone_factor(rise, inverse_widths[which]) *
                                                       cone_factor_slope(rise, inverse_widths[which]);
      if (rise_bar == 0.0) continue;
      const Vec3<double> vector =
          query.owner_body->contact_points.col(edges.end[k]) - query.owner_body->contact_points.col(point);
      const Vec3<double> vector_bar = rise_bar / vector.norm() * (n_O - rise * edge(k));
      points_bar.col(edges.end[k]) += vector_bar;
      points_bar.col(point) -= vector_bar;
    }
  }
}

bool linearize_vertex_sdf(const VertexSdfQuery& query, const BoundedSolid& solid, const PointWeights& weights,
                          LinearizeFor what_for, std::span<const ContactFeature> features,
                          ContactList& contacts, std::size_t begin,
                          std::span<VertexSdfLinearization> linearizations,
                          std::vector<VertexSdfLinearization>& memory, SolidJacobians& jacobians) {
  constexpr std::size_t k_most = 32;
  if (linearizations.empty() && memory.size() < std::min(k_most, features.size()))
    memory.resize(std::min(k_most, features.size()));
  bool depends_on_patch = false;
  const Body& owner = *query.owner_body;
  const Mat3<double> R_WO = query.X_WO.rotation(), R_WS = query.X_WS.rotation();
  for (std::size_t first = 0; first < features.size(); first += k_most) {
    const std::size_t many = std::min(k_most, features.size() - first);
    double x_S[3][k_most], samples[k_sample_columns * k_most];
    const auto out = linearizations.empty() ? std::span(memory) : linearizations.subspan(first, many);
    for (std::size_t k = 0; k < many; ++k) {
      const ContactFeature& feature = features[first + k];
      VertexSdfLinearization& at = out[k];
      at.owner = query.owner;
      at.solid = query.solid;
      at.point = std::max(feature.feature_A, feature.feature_B);
      at.jacobian = -1;
      at.sign = query.owner > query.solid ? 1.0 : -1.0;
      at.radius = owner.contact_radius;
      at.tau = query.tau;
      at.choice = weights.weight(at.point);
      at.area_factor = weights.area_factor(at.point);
      at.arm_O = R_WO * owner.contact_points.col(at.point);
      at.arm_S = at.arm_O + query.X_WO.p - query.X_WS.p;
      at.x_S = R_WS.transpose() * at.arm_S;
      for (int axis = 0; axis < 3; ++axis) x_S[axis][k] = at.x_S[axis];
    }
    const bool has_derivatives = what_for == LinearizeFor::both;
    const PointKernels kernels = chosen_kernels<PointKernels>();
    const auto sample = measures_to_rims(query) ? kernels.sample_points_to_rims : kernels.sample_points;
    sample(*query.sdf, has_derivatives ? SdfOrder::jacobian : SdfOrder::normal, x_S[0], x_S[1], x_S[2],
           static_cast<int>(many), samples);
    for (std::size_t k = 0; k < many; ++k) {
      const auto number = [&](int column) { return samples[static_cast<std::size_t>(column) * many + k]; };
      VertexSdfLinearization& at = out[k];
      const auto vector = [&](int column) {
        return Vec3<double>(number(column), number(column + 1), number(column + 2));
      };
      at.normal = R_WS * vector(k_sample_normal);
      if (has_derivatives) {
        Mat3<double> jacobian;
        for (int row = 0; row < 3; ++row)
          jacobian.row(row) = vector(k_sample_normal_jacobian + 3 * row).transpose();
        at.gradient = R_WS * vector(k_sample_gradient);
        at.normal_jacobian = R_WS * jacobian * R_WS.transpose();
      }
      at.distance = number(k_sample_distance) - at.radius;
      const ClosestWeight closest(query, at.point, R_WO, at.normal, at.distance, weights.patch);
      at.closest = closest.weight;
      at.closest_by_distance = closest.by_distance;
      at.closest_by_patch = closest.by_patch;
      depends_on_patch |= closest.by_patch != 0.0;
      at.closest_by_normal = closest.by_normal;
      at.closest_by_cones = {closest.by_strict, closest.by_wide};
      at.closest_by_arrival = closest.by_arrival;
      at.weight = at.choice * at.closest;
      at.area_vector = area_vector(owner, at.point, R_WO);
      const double area = area_of(owner, at.point), along = at.area_vector.dot(at.normal);
      const bool has_vectors = owner.contact_area_vectors.cols() > 0;
      at.facing = has_vectors ? facing_area<double>(area, along) : area;
      at.area_by_facing = has_vectors ? facing_area_slope(area, along) : 0.0;
      contacts.set(begin + first + k, make_contact(query, at, at.arm_S + query.X_WS.p));
    }
    if (what_for != LinearizeFor::many_vjps || !solid.sdf->has_vjp_by_lanes()) continue;
    Vec3<double> points[k_most];
    for (std::size_t k = 0; k < many; ++k) points[k] = out[k].x_S;
    const std::size_t place =
        jacobians.add(solid, {points, many}, {samples + k_sample_distance * many, many});
    for (std::size_t k = 0; k < many; ++k) out[k].jacobian = static_cast<int>(place + k);
  }
  return depends_on_patch;
}

ContactBar vertex_sdf_jvp(const VertexSdfLinearization& at, const Vec6<double>& pose_O,
                          const Vec6<double>& pose_S, double choice_dot, double patch_dot,
                          double area_factor_dot) {
  const Vec3<double> theta_O = pose_O.head<3>(), theta_S = pose_S.head<3>();
  const Vec3<double> dx_W = pose_O.tail<3>() + theta_O.cross(at.arm_O);
  const Vec3<double> y = dx_W - pose_S.tail<3>() - theta_S.cross(at.arm_S);
  const Vec3<double> dn = at.normal_jacobian * y + theta_S.cross(at.normal);
  ContactBar d;
  d.signed_distance = at.gradient.dot(y);
  d.normal_AB_W = at.sign * dn;
  d.point_W = dx_W - 0.5 * d.signed_distance * at.normal - (at.radius + 0.5 * at.distance) * dn;
  d.weight = at.closest * choice_dot +
             at.choice * (at.closest_by_distance * d.signed_distance + at.closest_by_patch * patch_dot +
                          at.closest_by_normal.dot(dn - theta_O.cross(at.normal)));
  d.area = at.facing * area_factor_dot -
           at.area_factor * at.area_by_facing *
               (theta_O.cross(at.area_vector).dot(at.normal) + at.area_vector.dot(dn));
  d.activity = at.weight * activity_d_penetration(at.distance, at.tau) * d.signed_distance +
               activity(at.distance, at.tau) * d.weight;
  return d;
}

void vertex_sdf_vjp(const VertexSdfQuery& query, const BoundedSolid& solid,
                    std::span<const ContactFeature> features, const ContactList& contacts, std::size_t begin,
                    std::span<const ContactBar> bars, PointWeights& weights, VertexVjpMemory& memory,
                    Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                    GeometryGradient* geometry_S) {
  using namespace vertex_columns;
  const Body& owner = *query.owner_body;
  const ContactBlock<double>& block = contacts.block();
  const int side = query.owner < query.solid ? 0 : 1;
  const auto feature_of = [&](std::size_t i) {
    return side == 0 ? features[i].feature_A : features[i].feature_B;
  };
  const bool has_area_vectors = owner.contact_area_vectors.cols() > 0, weights_change = may_change(weights);
  const Mat3<double> R_WO = query.X_WO.rotation();
  const double sign = side == 0 ? -1.0 : 1.0;
  const std::size_t count = bars.size();
  ContactColumns& columns = memory.columns;
  columns.resize(count, vertex_columns::k_count);
  for (std::size_t i = 0; i < count; ++i) {
    const int contact = static_cast<int>(begin + i), point = feature_of(i);
    const ContactBar& bar = bars[i];
    const double distance = block.number(k_contact_distance, contact);
    columns.set(k_point, i, owner.contact_points.col(point));
    columns.set(
        k_area_vector, i,
        has_area_vectors ? Vec3<double>(owner.contact_area_vectors.col(point)) : Vec3<double>::Zero());
    columns.set(k_area, i, has_area_vectors ? area_of(owner, point) : 0.0);
    columns.set(k_distance, i, distance);
    columns.set(k_normal, i, block.vector(k_contact_normal, contact));
    columns.set(k_point_bar, i, bar.point_W);
    columns.set(k_normal_bar, i, bar.normal_AB_W);
    const double area_by_facing_bar = block.number(k_contact_area, contact) * bar.area;
    columns.set(k_area_bar, i, area_by_facing_bar);
    double distance_bar = bar.signed_distance;
    if (bar.activity != 0.0)
      distance_bar += block.number(k_contact_weight, contact) * activity_d_penetration(distance, query.tau) *
                      bar.activity;
    const double weight_bar = any_weight_bar(bar, distance, query.tau);
    double closest = 1.0;
    if (weight_bar != 0.0) {
      const ClosestWeight of(query, point, R_WO, sign * block.vector(k_contact_normal, contact), distance,
                             weights.patch);
      const double closest_bar = weight_bar * weights.weight(point);
      closest = of.weight;
      distance_bar += closest_bar * of.by_distance;
      weights.patch_bar += closest_bar * of.by_patch;
      columns.set(k_cone_bar, i, Vec3<double>(closest_bar * of.by_normal));
      if (geometry_O != nullptr) {
        const Vec3<double> n_O = R_WO.transpose() * (sign * block.vector(k_contact_normal, contact));
        cone_edges_vjp(query, point, n_O, closest_bar * of.by_strict, closest_bar * of.by_wide,
                       geometry_O->contact_points);
        if (query.sliding->slides(point))
          seed_arrival_vjp(owner, *query.sliding, point, n_O, closest_bar * of.by_arrival, *geometry_O);
      }
    } else {
      columns.set(k_cone_bar, i, Vec3<double>(Vec3<double>::Zero()));
    }
    columns.set(k_distance_bar, i, distance_bar);
    if (!weights_change) continue;
    weights.add_bars(point, closest * weight_bar, area_by_facing_bar / weights.area_factor(point));
  }
  columns.fill_up(count, k_point, k_point_bar - k_point);
  columns.clear_rest(count, k_point_bar, k_x_S - k_point_bar);

  const DerivativeKernels& kernels = chosen_kernels<DerivativeKernels>();
  const VertexVjp problem{PlainPose(query.X_WO), PlainPose(query.X_WS), owner.contact_radius, sign};
  const int padded = static_cast<int>(columns.stride());
  kernels.vertices_to_solid(problem, columns.column(0), padded);
  const auto three = [&](int c) {
    return std::array{columns.column(c), columns.column(c + 1), columns.column(c + 2)};
  };
  const auto x = three(k_x_S), n_bar = three(k_n_bar), x_bar = three(k_x_bar);
  columns.clear_rest(count, k_x_bar, 3);
  solid_vjp(solid,
            {{x[0], x[1], x[2]},
             padded,
             columns.column(k_phi),
             columns.column(k_phi_bar),
             {n_bar[0], n_bar[1], n_bar[2]},
             {x_bar[0], x_bar[1], x_bar[2]}},
            count, memory.solid,
            geometry_S != nullptr ? std::span<PrimitiveGradient>(geometry_S->primitives)
                                  : std::span<PrimitiveGradient>(),
            measures_to_rims(query));
  VertexVjpSums sums{};
  kernels.vertices_from_solid(problem, columns.column(0), padded, sums);
  for (int k = 0; k < 6; ++k) {
    pose_O_bar[k] += sums.pose_O[k];
    pose_S_bar[k] += sums.pose_S[k];
  }
  if (geometry_O == nullptr) return;
  geometry_O->contact_radius += sums.radius;
  for (std::size_t i = 0; i < count; ++i) {
    geometry_O->contact_points.col(feature_of(i)) += columns.vector(k_by_point, i);
  }
}

void vertex_sdf_vjp(std::span<const VertexSdfLinearization> contacts, const VertexSdfQuery& query,
                    const SolidJacobians& jacobians, std::span<const ContactBar> bars, PointWeights& weights,
                    Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar, GeometryGradient* geometry_O,
                    GeometryGradient* geometry_S) {
  const Mat3<double> R_WS = query.X_WS.rotation(), R_SW = R_WS.transpose(),
                     R_OW = query.X_WO.rotation().transpose();
  const bool weights_change = may_change(weights);
  const auto primitives = geometry_S != nullptr ? std::span<PrimitiveGradient>(geometry_S->primitives)
                                                : std::span<PrimitiveGradient>();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const VertexSdfLinearization& at = contacts[i];
    const ContactBar& bar = bars[i];
    const double along = bar.point_W.dot(at.normal);
    const double weight_bar = any_weight_bar(bar, at.distance, at.tau), closest_bar = at.choice * weight_bar,
                 distance_bar = bar.signed_distance - 0.5 * along +
                                at.weight * activity_d_penetration(at.distance, at.tau) * bar.activity +
                                closest_bar * at.closest_by_distance;
    const double area_bar = at.area_factor * at.area_by_facing * bar.area;
    // What turns with the owner, against the normal: its area vector and its normal cone.
    const Vec3<double> turned_bar = closest_bar * at.closest_by_normal - area_bar * at.area_vector;
    const Vec3<double> normal_bar =
        at.sign * bar.normal_AB_W - (at.radius + 0.5 * at.distance) * bar.point_W + turned_bar;
    const Vec3<double> y_bar = R_WS * jacobians.vjp(static_cast<std::size_t>(at.jacobian), distance_bar,
                                                    R_SW * normal_bar, primitives);
    const Vec3<double> x_W_bar = bar.point_W + y_bar;
    pose_O_bar += stack<double>(at.arm_O.cross(x_W_bar) + turned_bar.cross(at.normal), x_W_bar);
    pose_S_bar += stack<double>(at.normal.cross(normal_bar) - at.arm_S.cross(y_bar), -y_bar);
    weights.patch_bar += closest_bar * at.closest_by_patch;
    if (weights_change) weights.add_bars(at.point, at.closest * weight_bar, at.facing * bar.area);
    if (geometry_O == nullptr) continue;
    geometry_O->contact_points.col(at.point) += R_OW * x_W_bar;
    cone_edges_vjp(query, at.point, R_OW * at.normal, closest_bar * at.closest_by_cones[0],
                   closest_bar * at.closest_by_cones[1], geometry_O->contact_points);
    if (query.sliding->slides(at.point))
      seed_arrival_vjp(*query.owner_body, *query.sliding, at.point, R_OW * at.normal,
                       closest_bar * at.closest_by_arrival, *geometry_O);
    geometry_O->contact_radius -= distance_bar + along;
  }
}

}  // namespace abut
