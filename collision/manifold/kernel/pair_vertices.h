/// PairKernel: contacts of vertices at the other solid.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "collision/manifold/facing_area.h"
#include "collision/manifold/kernel/pair_kernel.h"

namespace abut {
inline namespace ABUT_SIMD {

/// Appends the contacts of a body's points at the other's solid, but for their weights.
///
/// @param sums  added to: of the patch
template <typename T, ManifoldOrder order>
bool PairKernel<T, order>::vertex_contacts(int side, PatchSums<T>& sums) {
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  if (owner.points.points == 0 || solid.bounds.empty()) return true;
  const auto& [R, p] = X_.in_other[side];
  const FlushLanes<T> faces(problem_, X_, side, s_);
  const int flush_faces = faces.find(edges_left_);
  has_flush_[side] = flush_faces > 0;
  if constexpr (order == ManifoldOrder::complete) {
    if (has_flush_[side])
      std::fill_n(s_.contact_of_point[side], std::ptrdiff_t{owner.points.blocks} * k_block, -1);
  }

  for (int i = 0; i < flush_faces; ++i) {
    const auto& face = owner.flat_faces.faces[at(s_.flush_faces[i])];
    for (int k = 0; k < face.supports; k += W) {
      const int first = face.first_support + k;
      const std::int32_t* const places = owner.flat_faces.place.data() + first;
      const std::uint32_t lanes = first_lanes(face.supports - k) & bits(P::gather(s_.weights, places) > P(0));
      if (!append_vertices(side, {faces.supports(first), places, lanes, 1}, faces.at_supports(first), sums))
        return false;
      for (int lane = 0; lane < std::min(W, face.supports - k); ++lane) s_.weights[places[lane]] = T(0);
    }
  }
  PointList<T> list{s_.list[0], s_.list[1], s_.list[2], s_.list[3], s_.list_primitives};
  list.clear();
  append_near_points(owner, solid, R, p, has_flush_[side] ? s_.weights : nullptr,
                     CullDistances<T>(solid, problem_.reach + owner.contact_radius), culling(), list);
  list.finish();
  for (int group = 0; group < list.groups(); ++group) {
    const int first = group * W;
    std::int32_t places[W];
    for (int i = 0; i < W; ++i) places[i] = static_cast<std::int32_t>(list.id[first + i]);
    const PointPack pack{loaded(list.x + first, list.y - list.x), places, first_lanes(list.count - first),
                         list.primitives[group]};
    if (!append_vertices(
            side, pack,
            sample_solid<SdfOrder::normal, T>(solid, pack.primitives, pack.x, measures_to_rims(owner, solid)),
            sums))
      return false;
  }
  const T inverse_tau = T(1) / problem_.activity_smoothing;
  for (int i = first_vertex_[side]; i < block_.count; ++i)
    sums.add(*vertex_number(k_vertex_share, i) * *vertex_number(k_vertex_wide, i),
             std::max(T(0) - block_.number(k_contact_distance, i), T(0)) * inverse_tau);
  return true;
}

/// Appends those of a pack of contact points that may touch the solid, given what it answers there.
template <typename T, ManifoldOrder order>
ABUT_INLINE bool PairKernel<T, order>::append_vertices(int side, const PointPack& pack,
                                                       const SdfAnswer<SdfOrder::normal, P>& sample,
                                                       PatchSums<T>& sums) {
  const BodyFeatures<T>& owner = body(side);
  const P distance = sample.distance - P(owner.contact_radius);
  std::uint32_t chosen = pack.lanes & bits(distance < P(problem_.reach));
  if (chosen == 0) return true;
  std::int32_t points[W];
  for (int lane = 0; lane < W; ++lane)
    points[lane] = owner.points.point[static_cast<std::size_t>(pack.places[lane])];
  const bool has_vectors = !owner.points.area_x.empty();
  P along(0);  // A.n [m^2]
  if (has_vectors) {
    const Vec3<P> vector(P::gather(owner.points.area_x.data(), pack.places),
                         P::gather(owner.points.area_y.data(), pack.places),
                         P::gather(owner.points.area_z.data(), pack.places));
    along = convex_edges_detail::dot(rotated(X_.in_other[side].R, vector), sample.normal);
  }
  const ConeLanes<T> normal_cones(owner.point_edges, points, problem_.cone_width);
  ConePair<P> cones{P(1), P(1)};
  if (const std::uint32_t unknown = chosen & ~normal_cones.is_closest(along); unknown != 0)
    cones = normal_cones.values(rotated(X_.in_other[1 - side].R, sample.normal), unknown);
  P floor = patch_floor(side, points);
  cones.strict = is_feature(side, points) * cones.strict;
  if (owner.sliding.slide) {
    const SlideLanes<T> slide = slide_lanes(side);
    const FramedSeed<P> seed = slide.seed(points);
    const Vec3<P> m_0 = convex_edges_detail::scaled(P(-1), slide.in_owner(sample.normal));
    cones.strict = (P(1) - seed.slides) * cones.strict;
    floor = floor * (P(1) - seed.slides * slide.slid(seed, m_0).arrived);
  }
  const std::uint32_t deep = bits(distance < P(T(k_push_out_begin) * problem_.activity_smoothing));
  chosen &= bits(cones.wide > P(0)) | deep;
  if (!takes_all_) {
    const std::uint32_t left_out = chosen & ~(deep | bits(cones.strict > P(0)) | bits(floor > P(0)));
    if (left_out != 0) {
      leaves_out_ = true;
      chosen &= ~left_out;
      const P area = share_of(side, pack.places, false) * cones.wide,
              depth = max(P(0) - distance, P(0)) * P(T(1) / problem_.activity_smoothing);
      for (std::uint32_t left = left_out; left != 0; left &= left - 1)
        sums.add(area[std::countr_zero(left)], depth[std::countr_zero(left)]);
    }
  }
  if (chosen == 0) return true;
  if (!has_room_for_vertices()) return false;
  store_vertices(side, {points, pack.places, pack.x, distance, sample.normal, along, cones, floor, false},
                 chosen);
  if constexpr (order != ManifoldOrder::value)
    touching_[side][0].append(pack.x, P(0), chosen, pack.primitives);
  return true;
}

template <typename T, ManifoldOrder order>
ABUT_INLINE void PairKernel<T, order>::store_vertices(int side, const VertexPoints& at,
                                                      std::uint32_t chosen) {
  const BodyFeatures<T>& owner = body(side);
  const bool has_flush = has_flush_[side] && !at.slid;
  const P radius(owner.contact_radius), sign(side == 0 ? T(-1) : T(1));  // out of the solid, from A to B
  const auto& [R_CS, p_CS] = X_.in_center[1 - side];
  const Vec3<P> n = rotated(R_CS, at.normal), x_C = moved(R_CS, p_CS, at.x[0], at.x[1], at.x[2]);
  const P inward = radius + P(T(0.5)) * at.distance;
  for (int i = 0; i < 3; ++i) {
    (x_C[i] - inward * n[i]).store_chosen(column(k_contact_point + i), chosen);
    (sign * n[i]).store_chosen(column(k_contact_normal + i), chosen);
  }
  at.distance.store_chosen(column(k_contact_distance), chosen);
  P area = P::gather(owner.points.area.data(), at.places);
  const P flush = has_flush ? P::gather(s_.weights, at.places) : P(1);
  const auto store_number = [&](VertexNumber number, const P& value) {
    value.store_chosen(vertex_number(number, block_.count), chosen);
  };
  store_number(k_vertex_strict, at.cones.strict);
  store_number(k_vertex_wide, at.cones.wide);
  store_number(k_vertex_floor, at.floor);
  store_number(k_vertex_flush, flush);
  store_number(k_vertex_share, share_of(side, at.places, at.slid));
  if (!owner.points.area_x.empty()) area = facing_area<P>(area, at.along);
  if (has_flush) area = area * P::gather(s_.area_factors, at.places);
  area.store_chosen(column(k_contact_area), chosen);
  int *const of_owner = features(side), *const of_solid = features(1 - side);
  int count = 0;
  for (std::uint32_t left = chosen; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if constexpr (order == ManifoldOrder::complete) {
      if (has_flush) s_.contact_of_point[side][at.places[lane]] = block_.count + count;
    }
    of_owner[count] = at.points[lane] + (at.slid ? owner.points.points : 0);
    of_solid[count++] = -1;
  }
  block_.count += count;
}

/// Weights and activities of the contacts of vertices, once it is known how deep the pair is.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::weigh_vertices(int side) {
  weigh_vertices(first_vertex_[side], first_slid_[side], [&](int first, const P& distance) {
    return VertexWeight<P>(P::load(vertex_number(k_vertex_strict, first)),
                           P::load(vertex_number(k_vertex_wide, first)), P(s_.patch),
                           push_out<P>(distance, P(T(1) / problem_.activity_smoothing)),
                           P::load(vertex_number(k_vertex_floor, first)))
        .value;
  });
  weigh_vertices(first_slid_[side], block_.ends[side], [&](int first, const P& /*distance*/) {
    return P::load(vertex_number(k_vertex_strict, first)) * P(T(1) - s_.patch);
  });
}

/// @param closest  w of closest_features.h, of a pack of contacts: f(first, distances)
template <typename T, ManifoldOrder order>
template <typename F>
ABUT_INLINE void PairKernel<T, order>::weigh_vertices(int begin, int end, const F& closest) {
  for (int first = begin; first < end; first += W) {
    const auto loaded_column = [&](int c) {
      return P::load(block_.numbers.data() + static_cast<std::ptrdiff_t>(c) * block_.capacity + first);
    };
    const std::uint32_t lanes = first_lanes(end - first);
    const auto store = [&](const P& value, int c) {
      value.store_chosen(block_.numbers.data() + static_cast<std::ptrdiff_t>(c) * block_.capacity + first,
                         lanes);
    };
    const P distance = loaded_column(k_contact_distance);
    const P value = closest(first, distance), weight = P::load(vertex_number(k_vertex_flush, first)) * value;
    value.store_chosen(vertex_number(k_vertex_weight, first), lanes);
    store(weight, k_contact_weight);
    store(weight * activity(distance), k_contact_activity);
  }
}

template <typename T, ManifoldOrder order>
bool PairKernel<T, order>::vertex_derivatives(const PatchShare<T>& patch) {
  for (int side = 0; side < 2; ++side) {
    const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
    for (const bool slid : {false, true}) {
      PointList<T>& touching = touching_[side][slid ? 1 : 0];
      const int begin = slid ? first_slid_[side] : first_vertex_[side];
      touching.finish();
      if (begin + touching.groups() * W > block_.capacity) return false;
      for (int group = 0; group < touching.groups(); ++group) {
        const PointPack pack{loaded(touching.x + group * W, touching.y - touching.x), nullptr, 0,
                             touching.primitives[group]};
        const int contact = begin + group * W;
        if (slid) {
          store_slid_derivatives(side, slide_lanes(side), pack, patch, contact);
        } else {
          store_vertex_derivatives(side,
                                   sample_solid<SdfOrder::jacobian, T>(solid, pack.primitives, pack.x,
                                                                       measures_to_rims(owner, solid)),
                                   pack.x, patch, contact);
        }
      }
    }
  }
  if constexpr (order == ManifoldOrder::complete) {
    for (int side = 0; side < 2; ++side) {
      if (has_flush_[side]) add_flush_derivatives(side, patch);
    }
    if (!patch.changes()) return true;
    const T inverse_tau = T(1) / problem_.activity_smoothing;
    for (int i = first_vertex_[0]; i < block_.count; ++i) {
      const int side = i < block_.ends[0] ? 0 : 1;
      const T distance = block_.number(k_contact_distance, i), strict = *vertex_number(k_vertex_strict, i);
      const VertexWeight<T> of_vertex(strict, *vertex_number(k_vertex_wide, i), s_.patch,
                                      push_out<T>(distance, inverse_tau), *vertex_number(k_vertex_floor, i));
      const T by_patch = *vertex_number(k_vertex_flush, i) *
                         (i < first_slid_[side] ? of_vertex.by_patch : T(0) - strict) *
                         activity(P(distance))[0];
      for (int c = 0; c < 6; ++c)
        block_.set_number(k_activity_by_motion + c, i,
                          block_.number(k_activity_by_motion + c, i) + by_patch * patch_by_motion_[c]);
    }
  }
  return true;
}

/// A point of B moves by w x x + v; one of A, in the eyes of B, by the opposite, and B's normals turn.
template <typename T, ManifoldOrder order>
SolidAtPoints<Lanes<T>> PairKernel<T, order>::linearized(int side, const SdfSampleJacobian<P>& sample,
                                                         const Vec3<P>& x_S) const {
  using convex_edges_detail::cross;
  const bool is_point_of_B = side == 1;
  const auto& [R, p] = X_.in_center[1 - side];
  const Vec3<P> x = moved(R, p, x_S[0], x_S[1], x_S[2]), n = rotated(R, sample.normal),
                g = rotated(R, sample.gradient);
  Vec3<P> columns[3], rows[3];  // of dn/dx: R J R^T
  for (int j = 0; j < 3; ++j)
    columns[j] = rotated(
        R, Vec3<P>(sample.normal_jacobian(0, j), sample.normal_jacobian(1, j), sample.normal_jacobian(2, j)));
  for (int i = 0; i < 3; ++i) rows[i] = rotated(R, Vec3<P>(columns[0][i], columns[1][i], columns[2][i]));
  const P sign(is_point_of_B ? T(1) : T(-1));
  const Vec3<P> by_point(sign * g[0], sign * g[1], sign * g[2]);
  SolidAtPoints<P> at{x, convex_edges_detail::scaled(sign, n), {cross(x, by_point), by_point}, {}};
  for (int i = 0; i < 3; ++i) {  // of the normal from A to B, the sign of which is that of the motion
    at.by_normal[i] = {cross(x, rows[i]), rows[i]};
    if (!is_point_of_B) {  // -(w x n)_i
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      at.by_normal[i].w[j] = at.by_normal[i].w[j] - n[k];
      at.by_normal[i].w[k] = at.by_normal[i].w[k] + n[j];
    }
  }
  return at;
}

/// A number of the other solid's normal at points, which changes as the normal turns against their body.
///
/// @param by_normal  its derivative with respect to the normal, in the owner's frame
template <typename T, ManifoldOrder order>
MotionRow<Lanes<T>> PairKernel<T, order>::cone_by_motion(int side, const SolidAtPoints<P>& at,
                                                         const Vec3<P>& by_normal) const {
  using namespace convex_edges_detail;
  const P sign(side == 1 ? T(1) : T(-1));
  const Vec3<P> g = scaled(sign, rotated(X_.in_center[side].R, by_normal));
  MotionRow<P> row = scaled_row(g[0], at.by_normal[0]);
  for (int i = 1; i < 3; ++i) {
    row.w = plus(row.w, g[i], at.by_normal[i].w);
    row.v = plus(row.v, g[i], at.by_normal[i].v);
  }
  if (side == 1) row.w = plus(row.w, P(1), cross(g, at.normal));
  return row;
}

template <typename T, ManifoldOrder order>
void PairKernel<T, order>::store_vertex_derivatives(int side, const SdfSampleJacobian<P>& sample,
                                                    const Vec3<P>& x_S, const PatchShare<T>& patch,
                                                    int contact) {
  const SolidAtPoints<P> at = linearized(side, sample, x_S);
  store_row(k_distance_by_motion, contact, at.by_distance);
  for (int i = 0; i < 3; ++i) store_row(k_normal_by_motion + 6 * i, contact, at.by_normal[i]);
  if constexpr (order == ManifoldOrder::complete) {
    const BodyFeatures<T>& owner = body(side);
    const P sign(side == 1 ? T(1) : T(-1)), radius(owner.contact_radius),
        distance = sample.distance - radius, inward = radius + P(T(0.5)) * distance;
    for (int i = 0; i < 3; ++i) {  // x - (r + d/2) n
      const P by_distance = P(T(-0.5)) * (sign * at.normal[i]), by_normal = P(0) - inward * sign;
      MotionRow<P> row;
      for (int k = 0; k < 3; ++k) {
        row.w[k] = by_distance * at.by_distance.w[k] + by_normal * at.by_normal[i].w[k];
        row.v[k] = by_distance * at.by_distance.v[k] + by_normal * at.by_normal[i].v[k];
      }
      if (side == 1) add_motion_of_point(i, at.x, row);
      store_row(k_point_by_motion + 6 * i, contact, row);
    }
    std::int32_t points[W];
    for (int lane = 0; lane < W; ++lane)
      points[lane] = block_.feature(side, std::min(contact + lane, first_slid_[side] - 1));
    auto cones = ConeLanes<T>(owner.point_edges, points, problem_.cone_width)
                     .derivatives(rotated(X_.in_other[1 - side].R, sample.normal));
    FramedSeed<P> seed;
    if (owner.sliding.slide) seed = slide_lanes(side).seed(points);
    cones.strict.scale(owner.sliding.slide ? (P(1) - seed.slides) * is_feature(side, points)
                                           : is_feature(side, points));
    const P inverse_tau(T(1) / problem_.activity_smoothing),
        flush = P::load(vertex_number(k_vertex_flush, contact)), here = flush * activity(distance);
    const VertexWeight<P> weight(cones.strict.value, cones.wide.value, P(patch.value),
                                 push_out<P>(distance, inverse_tau),
                                 P::load(vertex_number(k_vertex_floor, contact)));
    Vec3<P> by_normal;
    for (int i = 0; i < 3; ++i)
      by_normal[i] = weight.by_strict * cones.strict.by_normal[i] + weight.by_wide * cones.wide.by_normal[i];
    if (owner.sliding.slide) {  // d f/dn
      const SlideLanes<T> slide = slide_lanes(side);
      const Vec3<P> m_0 = convex_edges_detail::scaled(P(-1), slide.in_owner(sample.normal));
      const auto arrived = slide.slid_derivatives(seed, m_0).arrived;
      by_normal = convex_edges_detail::plus(
          by_normal, weight.by_floor * patch_floor(side, points) * seed.slides,
          rotated(owner.sliding.R_BP, Vec3<P>(arrived.d[0], arrived.d[1], arrived.d[2])));
    }
    const MotionRow<P> by_cones = scaled_row(here, cone_by_motion(side, at, by_normal));
    const P by_distance = flush * weight.value * activity_slope(distance) +
                          here * weight.by_push_out * push_out_slope<P>(distance, inverse_tau);
    MotionRow<P> row = scaled_row(by_distance, at.by_distance);
    row.w = convex_edges_detail::plus(row.w, P(1), by_cones.w);
    row.v = convex_edges_detail::plus(row.v, P(1), by_cones.v);
    store_row(k_activity_by_motion, contact, row);
    if (!patch.changes()) return;
    const P share = P::load(vertex_number(k_vertex_share, contact)),
            depth = max(P(0) - distance, P(0)) * inverse_tau;
    const MotionRow<P> by_area = scaled_row(share * patch.template by_area<P>(depth),
                                            cone_by_motion(side, at, cones.wide.by_normal)),
                       by_depth = scaled_row(
                           P(0) - inverse_tau * patch.template by_depth<P>(share * cones.wide.value, depth),
                           at.by_distance);
    for (int lane = 0; lane < std::min(W, first_slid_[side] - contact); ++lane) {
      for (int k = 0; k < 3; ++k) {
        patch_by_motion_[k] += by_area.w[k][lane] + by_depth.w[k][lane];
        patch_by_motion_[3 + k] += by_area.v[k][lane] + by_depth.v[k][lane];
      }
    }
  }
}

/// Adds to the derivatives of activities what changes with how flush the faces of a body lie: the weights
/// 1 - psi of points that are no supports, and what is left of edges.
template <typename T, ManifoldOrder order>
void PairKernel<T, order>::add_flush_derivatives(int side, const PatchShare<T>& patch) {
  const BodyFeatures<T>&owner = body(side), &solid = body(1 - side);
  const FlushLanes<T> faces(problem_, X_, side, s_);
  faces.each([&](int which, T flush, T slope) {
    if (slope == T(0) || flush >= T(1)) return;
    const auto& face = owner.flat_faces.faces[at(which)];
    T means[4] = {}, row[6] = {};  // of distances and normals; dQ/d(motion)
    const auto add = [&](T by_number, const MotionRow<P>& by_motion, int lane) {
      for (int k = 0; k < 3; ++k) {
        row[k] += by_number * by_motion.w[k][lane];
        row[3 + k] += by_number * by_motion.v[k][lane];
      }
    };
    const Vec3<P> middle = faces.middle_of(which);
    const auto in_middle = sample_solid<SdfOrder::jacobian, T>(solid, 1, middle);
    const T share = T(1) / static_cast<T>(face.supports);
    T gap = 0;                                   // by its band, squared
    for (const bool is_known : {false, true}) {  // the means
      for (int first = 0; first < face.supports; first += W) {
        const Vec3<P> x = faces.supports(face.first_support + first);
        const auto sample = sample_solid<SdfOrder::jacobian, T>(solid, 1, x);
        const SolidAtPoints<P> there = linearized(side, sample, x);
        const P numbers[4] = {sample.distance, there.normal[0], there.normal[1], there.normal[2]};
        const MotionRow<P>* const rows[4] = {&there.by_distance, &there.by_normal[0], &there.by_normal[1],
                                             &there.by_normal[2]};
        const int lanes = std::min(W, face.supports - first);
        for (int i = 0; i < 4; ++i) {
          const T scale = T(1) / (i == 0 ? problem_.flush_distance : problem_.flush_normal);
          for (int lane = 0; lane < lanes; ++lane) {
            if (!is_known) {
              means[i] += share * numbers[i][lane];
              continue;
            }
            T by_number = T(2) * share * scale * scale * (numbers[i][lane] - means[i]);
            if (i == 0)
              by_number +=
                  T(2) * share *
                  ((means[0] - owner.contact_radius) / (problem_.flush_away * problem_.flush_away) + gap);
            add(by_number, *rows[i], lane);
          }
        }
      }
      gap = (means[0] - in_middle.distance[0]) / (problem_.flush_gap * problem_.flush_gap);
    }
    const SolidAtPoints<P> there = linearized(side, in_middle, middle);
    add(T(-2) * gap, there.by_distance, 0);
    const T turn = owner.flat_faces.reach[at(which)] / problem_.flush_distance,
            out = side == 1 ? T(1) : T(-1);  // of the solid, along the normal from A to B
    const Vec3<T> normal = out * (X_.in_center[side].R * faces.normal_of(which));
    for (int i = 0; i < 3; ++i) {
      const T by_off = T(2) * turn * turn * (there.normal[i][0] + normal[i]);
      add(by_off, there.by_normal[i], 0);
      if (side == 0) continue;
      const int j = (i + 1) % 3, k = (i + 2) % 3;  // the face turns with B: (w x f)_i
      row[j] += by_off * normal[k];
      row[k] -= by_off * normal[j];
    }
    for (int c = 0; c < 6 && owner.is_convex; ++c)
      edges_left_by_motion_[c] -= slope / (T(1) - flush) * row[c];
    for (int k = face.first_point; k < face.first_point + face.points; ++k) {
      const auto [place, factor] = owner.flat_faces.points[static_cast<std::size_t>(k)];
      const int contact = s_.contact_of_point[side][place];
      if (factor > T(0) || contact < 0) continue;
      const T distance = block_.number(k_contact_distance, contact),
              by_row = T(0) - activity(P(distance))[0] * *vertex_number(k_vertex_weight, contact) * slope,
              depth = std::max(T(0) - distance, T(0)) / problem_.activity_smoothing,
              patch_by_row = T(0) - patch.template by_area<T>(depth) * slope *
                                        *vertex_number(k_vertex_wide, contact) *
                                        owner.points.area[at(place)] * problem_.inverse_area;
      for (int c = 0; c < 6; ++c) {
        block_.set_number(k_activity_by_motion + c, contact,
                          block_.number(k_activity_by_motion + c, contact) + by_row * row[c]);
        patch_by_motion_[c] += patch_by_row * row[c];
      }
    }
  });
}

}  // namespace ABUT_SIMD
}  // namespace abut
