#include "collision/manifold/slid_vertices.h"

#include <cmath>

#include "collision/manifold/contact_activity.h"
#include "collision/manifold/facing_area.h"
#include "collision/manifold/sliding_points.h"
#include "collision/sdf/parameter_vjp.h"
#include "engine/dual.h"

namespace abut {
namespace {

using Mat = Mat3<double>;
using Vec = Vec3<double>;

/// Frames of a query: P of the owner's primitive, in S and in W.
struct Frames {
  Mat R_SP, R_WP;
  Vec p_SP, p_WP;

  explicit Frames(const VertexSdfQuery& query) {
    const SlidingPoints<double>& sliding = *query.sliding;
    const Mat R_WO = query.X_WO.rotation(), R_SW = query.X_WS.rotation().transpose();
    R_WP = R_WO * sliding.R_BP;
    p_WP = query.X_WO.p + R_WO * sliding.p_BP;
    R_SP = R_SW * R_WP;
    p_SP = R_SW * (p_WP - query.X_WS.p);
  }
};

SlidVertexLinearization::Place place_at(const VertexSdfQuery& query, const Frames& frames, const Vec& x) {
  SlidVertexLinearization::Place place;
  place.x = x;
  place.x_S = frames.R_SP * x + frames.p_SP;
  place.sample = query.sdf->evaluate_jacobian<double>(place.x_S);
  place.normal = frames.R_SP.transpose() * place.sample.normal;
  return place;
}

/// A number of derivatives with respect to it as variable i.
template <typename D>
Vec3<D> variables_of(const Vec& x, int first) {
  return {D::variable(x[0], first), D::variable(x[1], first + 1), D::variable(x[2], first + 2)};
}
template <typename D>
Vec3<D> constants_of(const Vec& x) {
  return {D(x[0]), D(x[1]), D(x[2])};
}

template <typename D>
Mat rows_of(const Vec3<D>& f, std::size_t first) {
  Mat J;
  for (int i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) J(i, static_cast<int>(k)) = f[i].d[first + k];
  }
  return J;
}
template <typename D>
Vec value_of_all(const Vec3<D>& f) {
  return {f[0].value, f[1].value, f[2].value};
}

template <typename D>
SlidPoint<D> slid_along(const FramedSeed<double>& seed, const Vec& direction) {
  return slide<D>(seed.cast<D>(), variables_of<D>(direction, 0));
}

/// Edges and area of a contact point against the solid's normal, as it faces them.
Vec facing_of(const SlidVertexLinearization& at) {
  return facing_normal<double>(at.places[2].normal, at.turn, at.seed_normal);
}

}  // namespace

SlidVertexLinearization linearize_slid_vertex(const VertexSdfQuery& query, int point, double patch) {
  const SlidingPoints<double>& sliding = *query.sliding;
  const Frames frames(query);
  const FramedSeed<double> seed = seed_at(sliding, point);
  SlidVertexLinearization at;
  at.point = point;
  at.sign = query.owner > query.solid ? 1.0 : -1.0;
  at.patch = patch;
  at.seed_normal = seed.n;
  at.places[0] = place_at(
      query, frames, sliding.R_BP.transpose() * (query.owner_body->contact_points.col(point) - sliding.p_BP));
  using D = Dual<double, 3>;
  const Vec m_0 = -at.places[0].normal;
  const SlidPoint<D> first = slid_along<D>(seed, m_0);
  at.x_by_direction[0] = rows_of(first.x, 0);
  at.places[1] = place_at(query, frames, value_of_all(first.x));
  using D6 = Dual<double, 6>;
  const Vec3<D6> direction = slide_direction<D6>(
      variables_of<D6>(m_0, 0), variables_of<D6>(at.places[1].normal, 3), constants_of<D6>(seed.n));
  at.direction_by_first = rows_of(direction, 0);
  at.direction_by_normal = rows_of(direction, 3);
  const SlidPoint<D> last = slid_along<D>(seed, value_of_all(direction));
  at.x_by_direction[1] = rows_of(last.x, 0);
  at.turn_by_direction = rows_of(last.turn, 0);
  at.turn = value_of_all(last.turn);
  at.reaches = last.reaches.value;
  at.reaches_by_direction = {last.reaches.d[0], last.reaches.d[1], last.reaches.d[2]};
  at.places[2] = place_at(query, frames, value_of_all(last.x));
  at.radius = query.owner_body->contact_radius;
  at.distance = at.places[2].sample.distance - at.radius;

  const Vec facing = facing_of(at);
  const NormalCone<double> cone =
      point_cones(query, point, query.X_WO.rotation(), query.X_WO.rotation() * (sliding.R_BP * facing)).wide;
  at.cone = cone.value;
  at.cone_by_facing = frames.R_WP.transpose() * cone.by_normal;
  at.area_vector = sliding.R_BP.transpose() * query.owner_body->contact_area_vectors.col(point);
  at.area_by_facing =
      facing_area_slope(query.owner_body->contact_areas[abut::at(point)], at.area_vector.dot(facing));
  return at;
}

Contact slid_contact(const VertexSdfQuery& query, const SlidVertexLinearization& at) {
  const Frames frames(query);
  const bool owner_is_A = query.owner < query.solid;
  const int feature = at.point + static_cast<int>(query.owner_body->contact_points.cols());
  const Vec n = frames.R_WP * at.places[2].normal;
  Contact contact;
  contact.feature = {ContactKind::vertex_sdf, std::min(query.owner, query.solid),
                     std::max(query.owner, query.solid), owner_is_A ? feature : -1,
                     owner_is_A ? -1 : feature};
  contact.signed_distance = at.distance;
  contact.point_W = frames.R_WP * at.places[2].x + frames.p_WP - (at.radius + 0.5 * at.distance) * n;
  contact.normal_AB_W = at.sign * n;
  contact.weight = at.strict() * (1.0 - at.patch);
  contact.activity = contact.weight * activity(at.distance, query.tau);
  contact.area = facing_area<double>(query.owner_body->contact_areas[abut::at(at.point)],
                                     at.area_vector.dot(facing_of(at)));
  return contact;
}

ContactBar slid_vertex_jvp(const VertexSdfQuery& query, const SlidVertexLinearization& at,
                           const Vec6<double>& pose_O, const Vec6<double>& pose_S, double patch_dot) {
  const Frames frames(query);
  const Mat R_PW = frames.R_WP.transpose();
  const Vec theta = R_PW * (pose_O.head<3>() - pose_S.head<3>());
  struct Seen {
    Vec moves, by_solid, by_owner;  // the point against the solid; the normal, seen from both
  };
  const auto seen = [&](int k, const Vec& dx) {
    const SlidVertexLinearization::Place& place = at.places[k];
    const Vec x_W = frames.R_WP * place.x + frames.p_WP;
    const Vec field =
        point_velocity(pose_O, Vec(x_W - query.X_WO.p)) - point_velocity(pose_S, Vec(x_W - query.X_WS.p));
    Seen r;
    r.moves = R_PW * field + dx;
    r.by_solid = frames.R_SP.transpose() * (place.sample.normal_jacobian * (frames.R_SP * r.moves));
    r.by_owner = r.by_solid - theta.cross(place.normal);
    return r;
  };
  const Vec dm_0 = -seen(0, Vec::Zero()).by_owner,
            dm = at.direction_by_first * dm_0 +
                 at.direction_by_normal * seen(1, at.x_by_direction[0] * dm_0).by_owner,
            dx = at.x_by_direction[1] * dm, dturn = at.turn_by_direction * dm;
  const Seen there = seen(2, dx);
  const Vec &n = at.places[2].normal, &n_v = at.seed_normal, &dn = there.by_owner;
  const Vec dfacing =
      dn + (dturn.dot(n) + at.turn.dot(dn)) * n_v - n_v.dot(dn) * at.turn - n_v.dot(n) * dturn;
  const Vec n_W = frames.R_WP * n, x_W = frames.R_WP * at.places[2].x + frames.p_WP,
            dn_W = frames.R_WP * there.by_solid + pose_S.head<3>().cross(n_W);
  ContactBar d;
  d.signed_distance = at.places[2].sample.gradient.dot(frames.R_SP * there.moves);
  d.normal_AB_W = at.sign * dn_W;
  d.point_W = frames.R_WP * there.moves + point_velocity(pose_S, Vec(x_W - query.X_WS.p)) -
              0.5 * d.signed_distance * n_W - (at.radius + 0.5 * at.distance) * dn_W;
  d.weight = (1.0 - at.patch) *
                 (at.reaches_by_direction.dot(dm) * at.cone + at.reaches * at.cone_by_facing.dot(dfacing)) -
             at.strict() * patch_dot;
  d.area = -at.area_by_facing * at.area_vector.dot(dfacing);
  d.activity =
      at.strict() * (1.0 - at.patch) * activity_d_penetration(at.distance, query.tau) * d.signed_distance +
      activity(at.distance, query.tau) * d.weight;
  return d;
}

void slid_vertex_vjp(const VertexSdfQuery& query, const SlidVertexLinearization& at, const ContactBar& bar,
                     double& patch_bar, Vec6<double>& pose_O_bar, Vec6<double>& pose_S_bar,
                     GeometryGradient* geometry_O, GeometryGradient* geometry_S) {
  const Frames frames(query);
  const Mat R_PW = frames.R_WP.transpose();
  const auto primitives = geometry_S != nullptr ? std::span<PrimitiveGradient>(geometry_S->primitives)
                                                : std::span<PrimitiveGradient>();
  Vec6<double> moved = Vec6<double>::Zero();  // by the pose of the owner
  /// From dL/d(distance, normal seen from the solid, normal seen from the owner) of a place to its point, in P, while
  /// the point is held by the owner.
  const auto go_back = [&](int k, double distance_bar, const Vec& by_solid, const Vec& by_owner,
                           const Vec& force) {
    const SlidVertexLinearization::Place& place = at.places[k];
    const Vec normal_bar = frames.R_SP * (by_solid + by_owner);
    const Vec x_bar_S = sample_vjp(place.sample, distance_bar, normal_bar),
              x_bar = frames.R_SP.transpose() * x_bar_S;
    if (!primitives.empty()) query.sdf->parameter_vjp(place.x_S, distance_bar, normal_bar, primitives);
    const Vec x_W = frames.R_WP * place.x + frames.p_WP, of_solid = frames.R_WP * x_bar,
              of_owner = of_solid + frames.R_WP * force, turn_O = frames.R_WP * by_owner.cross(place.normal),
              turn_S = frames.R_WP * place.normal.cross(by_solid + by_owner);
    moved += stack<double>((x_W - query.X_WO.p).cross(of_owner) + turn_O, of_owner);
    pose_S_bar += stack<double>(turn_S - (x_W - query.X_WS.p).cross(of_solid), -of_solid);
    return Vec(x_bar + force);
  };
  const Vec &n = at.places[2].normal, &n_v = at.seed_normal, point_bar = R_PW * bar.point_W;
  const double weight_bar = bar.weight + activity(at.distance, query.tau) * bar.activity,
               strict_bar = (1.0 - at.patch) * weight_bar, reaches_bar = strict_bar * at.cone;
  patch_bar -= at.strict() * weight_bar;
  const Vec facing = facing_of(at);
  const Vec facing_bar =
      strict_bar * at.reaches * at.cone_by_facing - bar.area * at.area_by_facing * at.area_vector;
  const Vec by_owner = facing_bar + n_v.dot(facing_bar) * at.turn - at.turn.dot(facing_bar) * n_v,
            turn_bar = n_v.dot(facing_bar) * n - n_v.dot(n) * facing_bar,
            by_solid = at.sign * (R_PW * bar.normal_AB_W) - (at.radius + 0.5 * at.distance) * point_bar;
  const double distance_bar =
      bar.signed_distance - 0.5 * point_bar.dot(n) +
      at.strict() * (1.0 - at.patch) * activity_d_penetration(at.distance, query.tau) * bar.activity;
  const Vec x_bar = go_back(2, distance_bar, by_solid, by_owner, point_bar),
            m_bar = at.x_by_direction[1].transpose() * x_bar + at.turn_by_direction.transpose() * turn_bar +
                    reaches_bar * at.reaches_by_direction,
            first_bar = go_back(1, 0.0, Vec::Zero(), at.direction_by_normal.transpose() * m_bar, Vec::Zero()),
            m_0_bar =
                at.direction_by_first.transpose() * m_bar + at.x_by_direction[0].transpose() * first_bar,
            seed_bar = go_back(0, 0.0, Vec::Zero(), -m_0_bar, Vec::Zero());
  pose_O_bar += moved;
  if (geometry_O == nullptr) return;
  const SlidingPoints<double>& sliding = *query.sliding;
  const Vec m_0 = -at.places[0].normal, direction = slide_direction<double>(m_0, at.places[1].normal, n_v);
  const SlideBar first = slide_vjp(*query.owner_body, at.point, m_0, {first_bar, Vec::Zero(), 0.0, 0.0}),
                 last =
                     slide_vjp(*query.owner_body, at.point, direction, {x_bar, turn_bar, reaches_bar, 0.0});
  const Vec place_bar = sliding.R_BP * (seed_bar + first.place + last.place);
  geometry_O->contact_points.col(at.point) += place_bar;
  geometry_O->contact_radius -= distance_bar + point_bar.dot(n);
  cone_edges_vjp(query, at.point, sliding.R_BP * facing, 0.0, strict_bar * at.reaches,
                 geometry_O->contact_points);
  const int number = primitive_of_seed(*query.owner_body, at.point);
  if (number < 0) return;
  PrimitiveGradient& primitive = geometry_O->primitives[abut::at(number)];
  for (std::size_t k = 0; k < 5; ++k) primitive.parameters[k] += first.parameters[k] + last.parameters[k];
  // The primitive carries all that its body does, but for the contact point, and for edges and areas, whose products with
  // the facing normal are all that matters.
  const Mat R_OW = query.X_WO.rotation().transpose();
  const Vec force = R_OW * moved.tail<3>() - place_bar,
            torque = R_OW * moved.head<3>() + sliding.R_BP * facing.cross(facing_bar) -
                     Vec(query.owner_body->contact_points.col(at.point)).cross(place_bar);
  const Vec& origin = query.owner_body->shape.primitives[abut::at(number)].X_BP.p;
  primitive.pose += stack<double>(torque - origin.cross(force), force);
}

}  // namespace abut
