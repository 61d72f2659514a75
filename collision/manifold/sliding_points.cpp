#include "collision/manifold/sliding_points.h"

#include <algorithm>
#include <cmath>

#include "engine/dual.h"
#include "engine/surface_seeds.h"

namespace abut {
namespace {

/// Beyond 1 ridges are rounded (gauge.h), which the map leaves out; a little beyond, that is next to nothing.
constexpr double k_largest_exponent = 1.05;
constexpr double k_faces_axis = 1e-9;

bool slides(const Body& body) {
  if (body.seeds.normals.cols() == 0 || body.seeds.normals.cols() != body.contact_points.cols() ||
      body.selected_vertices > 0 || body.shape.primitives.size() != 1)
    return false;
  const Primitive& primitive = body.shape.primitives.front();
  return has_seeds(primitive.kind) &&
         (primitive.kind != PrimitiveKind::superquadric ||
          std::max(primitive.parameters[3], primitive.parameters[4]) <= k_largest_exponent);
}

template <typename S>
SlidingSurface<S> sliding_surface(PrimitiveKind kind, const std::array<S, 5>& q) {
  if (kind == PrimitiveKind::superquadric) return sliding_superquadric(q[0], q[1], q[2], q[3], q[4]);
  return {S(1), S(1), S(1), S(2), S(2), S(1), S(0), S(0)};
}

/// The seed of a contact point.
///
/// @param v  the contact point in the frame of the primitive
template <typename S>
SlidingSeed<S> make_seed(const Body& body, int point, const std::array<S, 5>& q, const Vec3<S>& v) {
  using std::sqrt;
  const PrimitiveKind kind = body.shape.primitives.front().kind;
  const SlidingSurface<S> surface = sliding_surface<S>(kind, q);
  const SeedPlace<S> place = seed_place<S>(kind, q, v);
  const SeedLengths<S> lengths = seed_lengths<S>(kind, q);
  const Vec3<double> n = body.seeds.normals.col(point);
  const Vec2<double> cell = body.seeds.cells.col(point), l = n.head<2>().normalized();
  const bool faces_axis = S(n.x()) * place.c_x + S(n.y()) * place.c_y < S(-k_faces_axis * k_faces_axis);
  const double side = faces_axis ? -1.0 : 1.0;
  const S n_r = S(side) * DualPoint<S>(surface.a * S(n.x()), surface.b * S(n.y()), surface.q2).norm /
                surface.mean_axis,
          n_z(n.z()), inverse = S(1) / sqrt(n_r * n_r + n_z * n_z);
  return {place.r,
          place.z,
          place.c_x,
          place.c_y,
          S(l.x()),
          S(l.y()),
          n_r * inverse,
          n_z * inverse,
          {S(n.x()), S(n.y()), S(n.z())},
          S(1.0 / cell[0]) / lengths.parallel,
          S(1.0 / cell[1]) / lengths.meridian,
          place.ring_r,
          place.ring_z,
          place.scale,
          S(side),
          S(kind == PrimitiveKind::cone ? 0.0 : 1.0)};
}

}  // namespace

template <typename T>
SlidingPoints<T> sliding_points(const Body& body) {
  SlidingPoints<T> out;
  if (!slides(body)) return out;
  out.slide = true;
  const Primitive& primitive = body.shape.primitives.front();
  out.surface = sliding_surface(primitive.kind, primitive.parameters).template cast<T>();
  out.R_BP = primitive.X_BP.rotation().template cast<T>();
  out.p_BP = primitive.X_BP.p.template cast<T>();
  out.seeds = Columns<T>(k_seed_columns, static_cast<int>(body.contact_points.cols()));
  for (int i = 0; i < out.seeds.stride; ++i) {
    const SlidingSeed<double> seed = make_seed<double>(
        body, i, primitive.parameters, inverse_point<double>(primitive.X_BP, body.contact_points.col(i)));
    const double travel = k_slide_whole * (1.0 / seed.inverse_parallel + 1.0 / seed.inverse_meridian);
    const double numbers[k_seed_columns] = {seed.r,
                                            seed.z,
                                            seed.c_x,
                                            seed.c_y,
                                            seed.l_x,
                                            seed.l_y,
                                            seed.n_r,
                                            seed.n_z,
                                            seed.n[0],
                                            seed.n[1],
                                            seed.n[2],
                                            seed.inverse_parallel,
                                            seed.inverse_meridian,
                                            seed.ring_r,
                                            seed.ring_z,
                                            seed.scale,
                                            seed.side,
                                            seed.bends,
                                            travel};
    for (int c = 0; c < k_seed_columns; ++c) out.seeds.set(c, i, numbers[c]);
    out.farthest = std::max(out.farthest, static_cast<T>(travel));
  }
  return out;
}

SlideBar slide_vjp(const Body& owner, int point, const Vec3<double>& direction,
                   const SlidPoint<double>& bar) {
  using D = Dual<double, 8>;
  const Primitive& primitive = owner.shape.primitives.front();
  const Vec3<double> v = inverse_point<double>(primitive.X_BP, owner.contact_points.col(point));
  std::array<D, 5> q;
  for (int k = 0; k < 5; ++k) q[at(k)] = D::variable(primitive.parameters[at(k)], k);
  const SlidingSeed<D> seed =
      make_seed<D>(owner, point, q, {D::variable(v[0], 5), D::variable(v[1], 6), D::variable(v[2], 7)});
  const SlidPoint<D> slid = slide<D>(sliding_surface<D>(primitive.kind, q), seed,
                                     {D(direction[0]), D(direction[1]), D(direction[2])});
  const auto sum = [&](std::size_t k) {
    double result = bar.reaches * slid.reaches.d[k] + bar.arrived * slid.arrived.d[k];
    for (int i = 0; i < 3; ++i) result += bar.x[i] * slid.x[i].d[k] + bar.turn[i] * slid.turn[i].d[k];
    return result;
  };
  SlideBar result;
  for (std::size_t k = 0; k < 5; ++k) result.parameters[k] = sum(k);
  for (std::size_t i = 0; i < 3; ++i) result.place[static_cast<Eigen::Index>(i)] = sum(5 + i);
  return result;
}

SeedArrival seed_arrival(const SlidingPoints<double>& sliding, int point, const Vec3<double>& n_B) {
  using D = Dual<double, 3>;
  const Vec3<double> m = -(sliding.R_BP.transpose() * n_B);
  const D arrived = slide<D>(sliding.surface.cast<D>(), seed_at(sliding, point).cast<D>(),
                             {D::variable(m[0], 0), D::variable(m[1], 1), D::variable(m[2], 2)})
                        .arrived;
  return {arrived.value, -(sliding.R_BP * Vec3<double>(arrived.d[0], arrived.d[1], arrived.d[2]))};
}

void seed_arrival_vjp(const Body& owner, const SlidingPoints<double>& sliding, int point,
                      const Vec3<double>& n_B, double arrived_bar, GeometryGradient& geometry) {
  if (arrived_bar == 0.0) return;
  const Pose<double>& X_BP = owner.shape.primitives.front().X_BP;
  const SlideBar bar = slide_vjp(owner, point, -(sliding.R_BP.transpose() * n_B),
                                 {Vec3<double>::Zero(), Vec3<double>::Zero(), 0.0, arrived_bar});
  const Vec3<double> normal_bar = arrived_bar * seed_arrival(sliding, point, n_B).by_normal;
  const auto place = inverse_point_vjp<double>(X_BP, owner.contact_points.col(point), bar.place);
  PrimitiveGradient& primitive = geometry.primitives.front();
  for (std::size_t k = 0; k < 5; ++k) primitive.parameters[k] += bar.parameters[k];
  primitive.pose += place.pose;
  primitive.pose.head<3>() -= n_B.cross(normal_bar);
  geometry.contact_points.col(point) += place.point;
}

template SlidingPoints<float> sliding_points(const Body&);
template SlidingPoints<double> sliding_points(const Body&);

}  // namespace abut
