/// PairKernel: contacts of vertices that slide to the true contact point (surface_slide.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collision/manifold/kernel/pair_kernel.h"

namespace abut {
inline namespace ABUT_SIMD {

template <typename T, ManifoldOrder order>
bool PairKernel<T, order>::slid_contacts(int side) {
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  if (!owner.sliding.slide || solid.bounds.empty()) return true;
  const auto& [R, p] = X_.in_other[side];
  PointList<T> list{s_.list[0], s_.list[1], s_.list[2], s_.list[3], s_.list_primitives};
  list.clear();
  const T ratio = static_cast<T>(solid.sdf->distance_ratio()), reach = problem_.reach + owner.contact_radius;
  append_near_points(owner, solid, R, p, static_cast<const T*>(nullptr),
                     CullDistances<T>(solid, reach + ratio * owner.sliding.farthest), culling(), list);
  list.finish();
  const SlideLanes<T> slide = slide_lanes(side);
  for (int group = 0; group < list.groups(); ++group) {
    const int first = group * W;
    std::int32_t places[W];
    for (int i = 0; i < W; ++i) places[i] = static_cast<std::int32_t>(list.id[first + i]);
    const PointPack pack{loaded(list.x + first, list.y - list.x), places, first_lanes(list.count - first),
                         list.primitives[group]};
    if (!append_slid(side, slide, pack, sample_solid<SdfOrder::normal, T>(solid, pack.primitives, pack.x)))
      return false;
  }
  return true;
}

/// Appends those of a pack of seeds that touch where they slide to, given what the solid answers at the seeds.
template <typename T, ManifoldOrder order>
bool PairKernel<T, order>::append_slid(int side, const SlideLanes<T>& slide, const PointPack& pack,
                                       const SdfAnswer<SdfOrder::normal, P>& sample) {
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  std::int32_t points[W];
  for (int lane = 0; lane < W; ++lane) points[lane] = owner.points.point[at(pack.places[lane])];
  const P ratio(static_cast<T>(solid.sdf->distance_ratio()));
  std::uint32_t chosen = pack.lanes & bits(sample.distance < P(problem_.reach + owner.contact_radius) +
                                                                 ratio * slide.travel(points));
  if (chosen == 0) return true;
  const FramedSeed<P> seed = slide.seed(points);
  const Vec3<P> m_0 = convex_edges_detail::scaled(P(-1), slide.in_owner(sample.normal)),
                n_1 = slide.in_owner(slide.template sample<SdfOrder::normal>(slide.slid(seed, m_0).x).normal);
  const SlidPoint<P> slid = slide.slid(seed, slide_direction<P>(m_0, n_1, seed.n));
  const auto there = slide.template sample<SdfOrder::normal>(slid.x);
  const P distance = there.distance - P(owner.contact_radius);
  chosen &= bits(distance < P(problem_.reach)) & bits(slid.reaches > P(0));
  if (chosen == 0) return true;
  const Vec3<P> facing =
      rotated(owner.sliding.R_BP, facing_normal<P>(slide.in_owner(there.normal), slid.turn, seed.n));
  const P strict =
      slid.reaches * ConeLanes<T>(owner.point_edges, points, problem_.cone_width).values(facing, chosen).wide;
  chosen &= bits(strict > P(0));
  if (chosen == 0) return true;
  if (!has_room_for_vertices()) return false;
  const Vec3<P> vector(P::gather(owner.points.area_x.data(), pack.places),
                       P::gather(owner.points.area_y.data(), pack.places),
                       P::gather(owner.points.area_z.data(), pack.places));
  store_vertices(side,
                 {points,
                  pack.places,
                  slide.in_solid(slid.x),
                  distance,
                  there.normal,
                  convex_edges_detail::dot(vector, facing),
                  {strict, P(0)},
                  P(0),
                  true},
                 chosen);
  if constexpr (order != ManifoldOrder::value)
    touching_[side][1].append(pack.x, P(0), chosen, pack.primitives);
  return true;
}

/// With the owner moving by the field u against the solid, and both seen from the owner (frame P):
///   dn = N (u(x) + dx) - w x n   at the seed (dx = 0), where it slides to first, and where it slides to,
///   dx = X dm,   dd = g.(u + dx).
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::store_slid_derivatives(int side, const SlideLanes<T>& slide, const PointPack& pack,
                                                  const PatchShare<T>& patch, int contact) {
  using namespace convex_edges_detail;
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  std::int32_t points[W];
  for (int lane = 0; lane < W; ++lane)
    points[lane] =
        block_.feature(side, std::min(contact + lane, block_.ends[side] - 1)) - owner.points.points;
  const FramedSeed<P> seed = slide.seed(points);
  const auto at_seed = sample_solid<SdfOrder::jacobian, T>(solid, pack.primitives, pack.x);
  const Vec3<P> x_0 = slide.from_solid(pack.x), n_0 = slide.in_owner(at_seed.normal),
                m_0 = scaled(P(-1), n_0);
  const Mat3<P> N_0 = slide.in_owner(at_seed.normal_jacobian);
  const auto first = slide.slid_derivatives(seed, m_0);
  const Vec3<P> x_1(first.x[0].value, first.x[1].value, first.x[2].value);
  const auto at_first = slide.template sample<SdfOrder::jacobian>(x_1);
  const Vec3<P> n_1 = slide.in_owner(at_first.normal);
  const Mat3<P> N_1 = slide.in_owner(at_first.normal_jacobian);
  using D = Dual<P, 6>;
  Vec3<D> directions[2];
  for (int i = 0; i < 3; ++i) {
    directions[0][i] = D::variable(m_0[i], i);
    directions[1][i] = D::variable(n_1[i], 3 + i);
  }
  const Vec3<D> m =
      slide_direction<D>(directions[0], directions[1], {D(seed.n[0]), D(seed.n[1]), D(seed.n[2])});
  const auto last = slide.slid_derivatives(seed, {m[0].value, m[1].value, m[2].value});
  const Vec3<P> x(last.x[0].value, last.x[1].value, last.x[2].value),
      turn(last.turn[0].value, last.turn[1].value, last.turn[2].value);
  const auto there = slide.template sample<SdfOrder::jacobian>(x);
  const Vec3<P> n = slide.in_owner(there.normal), g = slide.in_owner(there.gradient);
  const Mat3<P> N = slide.in_owner(there.normal_jacobian);
  const Vec3<P> facing = facing_normal<P>(n, turn, seed.n);
  const NormalCone<P> cone = ConeLanes<T>(owner.point_edges, points, problem_.cone_width)
                                 .derivatives(rotated(owner.sliding.R_BP, facing))
                                 .wide;
  const auto& [R_CO, p_CO] = X_.in_center[side];
  const Mat3<T> R_PB = owner.sliding.R_BP.transpose(), R_CP = R_CO * owner.sliding.R_BP,
                R_PC = R_CP.transpose();
  const Vec3<T> origin = R_PC * Vec3<T>(-p_CO) - R_PB * owner.sliding.p_BP;
  const Vec3<P> center{P(origin[0]), P(origin[1]), P(origin[2])},
      cone_by_facing = rotated(R_PB, cone.by_normal);
  const auto times = [](const Mat3<P>& A, const Vec3<P>& v) {
    Vec3<P> r;
    for (int i = 0; i < 3; ++i) r[i] = A(i, 0) * v[0] + A(i, 1) * v[1] + A(i, 2) * v[2];
    return r;
  };
  const auto along = [](const Vec3<Dual<P, 3>>& f, const Vec3<P>& v) {
    Vec3<P> r;
    for (int i = 0; i < 3; ++i) r[i] = f[i].d[0] * v[0] + f[i].d[1] * v[1] + f[i].d[2] * v[2];
    return r;
  };
  const P radius(owner.contact_radius), distance = there.distance - radius,
                                        inward = radius + P(T(0.5)) * distance,
                                        sign(side == 1 ? T(1) : T(-1));
  const P exact(T(1) - patch.value),
      here = activity(distance) * exact,
      slope = last.reaches.value * cone.value * exact * activity_slope(distance);
  T* const to = block_.numbers.data() + contact;
  const auto store = [&](int c, const P& value) {
    value.store(to + static_cast<std::ptrdiff_t>(c) * block_.capacity);
  };
  for (int c = 0; c < 6; ++c) {
    const Vec3<T> axis = R_PC.col(c % 3);
    const Vec3<P> motion{sign * P(axis[0]), sign * P(axis[1]), sign * P(axis[2])};
    const bool turns = c < 3;
    const auto moved_by = [&](const Vec3<P>& y) -> Vec3<P> {
      return turns ? cross(motion, plus(y, P(-1), center)) : motion;
    };
    const auto seen = [&](const Vec3<P>& dn, const Vec3<P>& of) -> Vec3<P> {
      return turns ? plus(dn, P(-1), cross(motion, of)) : dn;
    };
    const Vec3<P> dm_0 = scaled(P(-1), seen(times(N_0, moved_by(x_0)), n_0)), dx_1 = along(first.x, dm_0),
                  dn_1 = seen(times(N_1, plus(moved_by(x_1), P(1), dx_1)), n_1);
    Vec3<P> dm;
    for (int i = 0; i < 3; ++i) {
      dm[i] = P(0);
      for (std::size_t k = 0; k < 3; ++k) {
        const auto row = static_cast<Eigen::Index>(k);
        dm[i] = dm[i] + m[i].d[k] * dm_0[row] + m[i].d[3 + k] * dn_1[row];
      }
    }
    const Vec3<P> dx = along(last.x, dm), moves = plus(moved_by(x), P(1), dx), turned = times(N, moves),
                  dn = seen(turned, n);
    const P dd = dot(g, moves);
    store(k_distance_by_motion + c, dd);
    // Seen from A: from the owner if that is A, else from the solid.
    const Vec3<P> dn_C = rotated(R_CP, side == 0 ? dn : turned);
    for (int i = 0; i < 3; ++i) store(k_normal_by_motion + 6 * i + c, sign * dn_C[i]);
    if constexpr (order == ManifoldOrder::complete) {
      const Vec3<P> n_C = rotated(R_CP, n), dx_C = rotated(R_CP, side == 0 ? dx : moves);
      for (int i = 0; i < 3; ++i)
        store(k_point_by_motion + 6 * i + c, dx_C[i] - P(T(0.5)) * dd * n_C[i] - inward * dn_C[i]);
      const Vec3<P> dturn = along(last.turn, dm);
      const Vec3<P> dfacing =
          plus(plus(plus(dn, dot(dturn, n) + dot(turn, dn), seed.n), P(0) - dot(seed.n, dn), turn),
               P(0) - dot(seed.n, n), dturn);
      const P dreaches = last.reaches.d[0] * dm[0] + last.reaches.d[1] * dm[1] + last.reaches.d[2] * dm[2];
      store(k_activity_by_motion + c,
            slope * dd + here * (dreaches * cone.value + last.reaches.value * dot(cone_by_facing, dfacing)));
    }
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut
