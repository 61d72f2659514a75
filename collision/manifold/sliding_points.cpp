#include "collision/manifold/sliding_points.h"

#include <algorithm>
#include <cmath>

#include "engine/dual.h"
#include "engine/surface_seeds.h"

namespace abut {
namespace {

constexpr double k_faces_axis = 1e-9;

bool slides(const Body& body) {
  if (body.seeds.normals.cols() == 0 || body.seeds.normals.cols() != body.contact_points.cols() ||
      body.selected_vertices > 0)
    return false;
  return !body.seeds.primitives.empty() ||
         (body.shape.primitives.size() == 1 && is_seed_surface(body.shape.primitives.front()));
}

bool is_framed(const Body& body) { return !body.seeds.primitives.empty(); }

/// P.
Pose<double> frame_of(const Body& body) {
  return is_framed(body) ? Pose<double>{} : body.shape.primitives.front().X_BP;
}

template <typename S>
SlidingSurface<S> sliding_surface(const SeedSurface<S>& of) {
  const auto& q = of.parameters;
  if (of.kind == PrimitiveKind::superquadric) return sliding_superquadric(q[0], q[1], q[2], q[3], q[4]);
  return {S(1), S(1), S(1), S(2), S(2), S(1), S(0), S(0)};
}

/// The seed of a contact point on a primitive.
///
/// @param v  the contact point in the frame of the primitive
template <typename S>
SlidingSeed<S> seed_on_primitive(const Body& body, int point, const SeedSurface<S>& of, const Vec3<S>& v) {
  using std::sqrt;
  const SlidingSurface<S> surface = sliding_surface<S>(of);
  const SeedPlace<S> place = seed_place<S>(of.kind, of.parameters, v);
  const SeedLengths<S> lengths = seed_lengths<S>(of.kind, of.parameters);
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
          S(of.kind == PrimitiveKind::cone ? 0.0 : 1.0)};
}

/// The seed of a contact point at the end of the x axis of its own ellipsoid, which has the principal radii r_1 = b^2/a
/// along y and r_2 = c^2/a along z, with a = max(r_1, r_2): exact on spheres, and along the less curved of both directions.
/// Where r_2 = 0 it is a circle of radius r_1, along which the seed slides.
///
/// @param x  the contact point in B
template <typename S>
FramedSeed<S> seed_on_patch(const Body& body, int point, const Vec3<S>& x) {
  const SurfaceSeeds& seeds = body.seeds;
  const Vec3<double> n = seeds.normals.col(point), e_1 = seeds.directions.col(point), e_2 = n.cross(e_1);
  const double r_1 = seeds.radii(0, point), r_2 = seeds.radii(1, point), a = std::max(r_1, r_2);
  const bool bends = r_2 > 0.0;
  const S zero(0.0), one(1.0);
  FramedSeed<S> at;
  at.surface = bends ? sliding_superquadric<S>(S(a), S(std::sqrt(r_1 * a)), S(std::sqrt(r_2 * a)), one, one)
                     : SlidingSurface<S>{one, one, one, S(2.0), S(2.0), one, zero, zero};
  const double r = bends ? 1.0 : a;
  at.seed = {S(r),
             zero,
             one,
             zero,
             one,
             zero,
             one,
             zero,
             {one, zero, zero},
             S(1.0 / seeds.cells(0, point)),
             S(1.0 / seeds.cells(1, point)),
             bends ? zero : S(r),
             zero,
             bends ? one : zero,
             one,
             bends ? one : zero};
  for (int i = 0; i < 3; ++i) {
    at.R_PF(i, 0) = S(n[i]);
    at.R_PF(i, 1) = S(e_1[i]);
    at.R_PF(i, 2) = S(e_2[i]);
    at.n[i] = S(n[i]);
    at.p_PF[i] = x[i] - S(a * n[i]);
  }
  at.slides = one;
  return at;
}

/// The seed of a contact point, as it follows from what may change.
///
/// @param q  parameters of its primitive, if it is on one
/// @param x  the contact point in P
template <typename S>
FramedSeed<S> make_seed(const Body& body, int point, const std::array<S, 5>& q, const Vec3<S>& x) {
  if (is_framed(body) && body.seeds.primitives[at(point)] == k_seed_on_patch)
    return seed_on_patch<S>(body, point, x);
  const Primitive& primitive = body.shape.primitives[at(primitive_of_seed(body, point))];
  const SeedSurface<S> of = seed_surface<S>(primitive.kind, q);
  const Pose<double> X_PF = is_framed(body) ? primitive.X_BP : Pose<double>{};
  const Mat3<double> R = X_PF.rotation();
  FramedSeed<S> at;
  Vec3<S> v;
  for (int i = 0; i < 3; ++i) {
    v[i] = S(R(0, i)) * (x[0] - S(X_PF.p[0])) + S(R(1, i)) * (x[1] - S(X_PF.p[1])) +
           S(R(2, i)) * (x[2] - S(X_PF.p[2]));
    at.p_PF[i] = S(X_PF.p[i]);
    for (int j = 0; j < 3; ++j) at.R_PF(i, j) = S(R(i, j));
  }
  at.seed = seed_on_primitive<S>(body, point, of, v);
  at.surface = sliding_surface<S>(of);
  const Vec3<double> n = R * body.seeds.normals.col(point);
  for (int i = 0; i < 3; ++i) at.n[i] = S(n[i]);
  at.slides = S(is_seed_surface(primitive) ? 1.0 : 0.0);
  return at;
}

/// What lanes of contact points that are no seeds have: finite numbers, on a circle of 1 m.
FramedSeed<double> no_seed() {
  FramedSeed<double> at;
  at.seed = {1, 0, 1, 0, 1, 0, 1, 0, {1, 0, 0}, 1, 1, 1, 0, 0, 1, 0};
  at.surface = {1, 1, 1, 2, 2, 1, 0, 0};
  at.R_PF = Mat3<double>::Identity();
  at.p_PF = Vec3<double>::Zero();
  at.n = Vec3<double>::UnitX();
  at.slides = 0.0;
  return at;
}

/// The parameters of the primitive that a seed is on; not used of others.
const std::array<double, 5>& parameters_of_seed(const Body& body, int point) {
  return body.shape.primitives[at(std::max(0, primitive_of_seed(body, point)))].parameters;
}

}  // namespace

int primitive_of_seed(const Body& body, int point) {
  return is_framed(body) ? std::max(-1, body.seeds.primitives[at(point)]) : 0;
}

template <typename T>
SlidingPoints<T> sliding_points(const Body& body) {
  SlidingPoints<T> out;
  if (!slides(body)) return out;
  out.slide = true;
  out.framed = is_framed(body);
  const Pose<double> X_BP = frame_of(body);
  out.R_BP = X_BP.rotation().template cast<T>();
  out.p_BP = X_BP.p.template cast<T>();
  const int points = static_cast<int>(body.contact_points.cols());
  out.seeds = Columns<T>(k_seed_columns, points);
  if (out.framed) out.frames = Columns<T>(k_frame_columns, points);
  constexpr double k_never = -1e18;  // the travel of what is no seed: it is near nothing
  for (int i = 0; i < points; ++i) {
    const Vec3<double> x = inverse_point<double>(X_BP, Vec3<double>(body.contact_points.col(i)));
    const FramedSeed<double> framed = out.framed && body.seeds.primitives[at(i)] == k_no_seed
                                          ? no_seed()
                                          : make_seed<double>(body, i, parameters_of_seed(body, i), x);
    const SlidingSeed<double>& seed = framed.seed;
    const double travel = framed.slides == 0.0
                              ? k_never
                              : k_slide_whole * (1.0 / seed.inverse_parallel + 1.0 / seed.inverse_meridian);
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
    const SlidingSurface<double>& surface = framed.surface;
    if (!out.framed) {
      out.surface = surface.template cast<T>();
      continue;
    }
    const double of_surface[] = {surface.a,  surface.b,         surface.c,       surface.q1,
                                 surface.q2, surface.mean_axis, surface.still_1, surface.still_2};
    for (int c = 0; c < 8; ++c) out.frames.set(k_frame_surface + c, i, of_surface[c]);
    for (int c = 0; c < 9; ++c) out.frames.set(k_frame_rotation + c, i, framed.R_PF(c / 3, c % 3));
    for (int c = 0; c < 3; ++c) out.frames.set(k_frame_origin + c, i, framed.p_PF[c]);
    out.frames.set(k_frame_slides, i, framed.slides);
  }
  return out;
}

FramedSeed<double> seed_at(const SlidingPoints<double>& sliding, int point) {
  const auto column = [&](int c) { return sliding.seeds.column(c)[point]; };
  if (sliding.framed)
    return framed_seed_of<double>(column, [&](int c) { return sliding.frames.column(c)[point]; });
  FramedSeed<double> at{
      seed_of<double>(column), sliding.surface, Mat3<double>::Identity(), Vec3<double>::Zero(), {}, 1.0};
  at.n = at.seed.n;
  return at;
}

SlideBar slide_vjp(const Body& owner, int point, const Vec3<double>& direction,
                   const SlidPoint<double>& bar) {
  using D = Dual<double, 8>;
  const std::array<double, 5>& parameters = parameters_of_seed(owner, point);
  const Vec3<double> x =
      inverse_point<double>(frame_of(owner), Vec3<double>(owner.contact_points.col(point)));
  std::array<D, 5> q;
  for (int k = 0; k < 5; ++k) q[at(k)] = D::variable(parameters[at(k)], k);
  const FramedSeed<D> seed =
      make_seed<D>(owner, point, q, {D::variable(x[0], 5), D::variable(x[1], 6), D::variable(x[2], 7)});
  const SlidPoint<D> slid = slide<D>(seed, {D(direction[0]), D(direction[1]), D(direction[2])});
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
  const D arrived = slide<D>(seed_at(sliding, point).cast<D>(),
                             {D::variable(m[0], 0), D::variable(m[1], 1), D::variable(m[2], 2)})
                        .arrived;
  return {arrived.value, -(sliding.R_BP * Vec3<double>(arrived.d[0], arrived.d[1], arrived.d[2]))};
}

void seed_arrival_vjp(const Body& owner, const SlidingPoints<double>& sliding, int point,
                      const Vec3<double>& n_B, double arrived_bar, GeometryGradient& geometry) {
  if (arrived_bar == 0.0) return;
  const SlideBar bar = slide_vjp(owner, point, -(sliding.R_BP.transpose() * n_B),
                                 {Vec3<double>::Zero(), Vec3<double>::Zero(), 0.0, arrived_bar});
  const Vec3<double> normal_bar = arrived_bar * seed_arrival(sliding, point, n_B).by_normal,
                     place_bar = sliding.R_BP * bar.place;
  geometry.contact_points.col(point) += place_bar;
  const int number = primitive_of_seed(owner, point);
  if (number < 0) return;
  PrimitiveGradient& primitive = geometry.primitives[at(number)];
  for (std::size_t k = 0; k < 5; ++k) primitive.parameters[k] += bar.parameters[k];
  // As the point does on the primitive, and n_B against it, the other way round.
  const Vec3<double> arm =
      Vec3<double>(owner.contact_points.col(point)) - owner.shape.primitives[at(number)].X_BP.p;
  primitive.pose -= stack<double>(arm.cross(place_bar) + n_B.cross(normal_bar), place_bar);
}

template SlidingPoints<float> sliding_points(const Body&);
template SlidingPoints<double> sliding_points(const Body&);

}  // namespace abut
