/// Which flat faces of a body lie flush on the other's solid (flush_faces.h), lanes at a time. For
/// instruction sets see engine/pack.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "collision/manifold/flush_faces.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

/// The faces of A (side 0) or of B (side 1) of a pair.
template <typename T>
class FlushLanes {
 public:
  using P = Lanes<T>;
  using Face = typename FaceSupports<T>::Face;

  FlushLanes(const PairProblem<T>& problem, const PairPoses<T>& X, int side, PairScratch<T>& scratch)
      : problem_(problem),
        s_(scratch),
        owner_(*problem.bodies[side]),
        solid_(*problem.bodies[1 - side]),
        in_solid_(X.in_other[side]),
        may_lie_flush_(problem.may_lie_flush[side] && problem.vertices[side]) {}

  /// Supports from the place `first` on, in the solid's frame.
  [[nodiscard]] ABUT_INLINE Vec3<P> supports(int first) const {
    const FaceSupports<T>& faces = owner_.flat_faces;
    return moved(in_solid_.R, in_solid_.p, P::load(faces.x.data() + first), P::load(faces.y.data() + first),
                 P::load(faces.z.data() + first));
  }

  /// The mean of a face's supports, in the solid's frame, in all lanes.
  [[nodiscard]] ABUT_INLINE Vec3<P> middle_of(int face) const {
    const FaceSupports<T>& faces = owner_.flat_faces;
    return moved(in_solid_.R, in_solid_.p, P(faces.middle_x[at(face)]), P(faces.middle_y[at(face)]),
                 P(faces.middle_z[at(face)]));
  }

  /// In the owner's frame.
  [[nodiscard]] Vec3<T> normal_of(int face) const {
    const FaceSupports<T>& faces = owner_.flat_faces;
    return {faces.normal_x[at(face)], faces.normal_y[at(face)], faces.normal_z[at(face)]};
  }

  /// The solid at these, once each() has come to their face.
  [[nodiscard]] ABUT_INLINE SdfAnswer<SdfOrder::normal, P> at_supports(int first) const {
    SdfAnswer<SdfOrder::normal, P> sample;
    sample.distance = P::load(s_.at_supports[0] + first);
    for (int i = 0; i < 3; ++i) sample.normal[i] = P::load(s_.at_supports[1 + i] + first);
    return sample;
  }

  /// f(index of the face, psi, dpsi/dQ) for each that lies flush.
  template <typename F>
  void each(const F& f) const {
    using convex_edges_detail::dot;
    if (!may_lie_flush_) return;
    const FaceSupports<T>& flat = owner_.flat_faces;
    const auto loaded = [](const std::vector<T>& numbers, int first) { return P::load(&numbers[at(first)]); };
    // A convex distance is least in the middle.
    const P cut(owner_.contact_radius + T(k_away) * problem_.flush_away);
    const int faces = static_cast<int>(flat.faces.size());
    for (int first = 0; first < faces; first += W) {
      const Vec3<P> middle = moved(in_solid_.R, in_solid_.p, loaded(flat.middle_x, first),
                                   loaded(flat.middle_y, first), loaded(flat.middle_z, first));
      std::uint32_t near = bits(lower_bound(solid_.bounds[0], middle, P(0)) < cut);
      if (faces - first < W) near &= (1u << (faces - first)) - 1u;
      if (near == 0) continue;
      const auto sample = sample_solid<SdfOrder::normal, T>(solid_, 1, middle);
      const Vec3<P> normal = rotated(in_solid_.R,
                                     Vec3<P>(loaded(flat.normal_x, first), loaded(flat.normal_y, first),
                                             loaded(flat.normal_z, first))),
                    off(sample.normal[0] + normal[0], sample.normal[1] + normal[1],
                        sample.normal[2] + normal[2]);
      const P turn = loaded(flat.reach, first) * P(T(1) / problem_.flush_distance),
              misaligned = turn * turn * dot(off, off);
      near &= bits(misaligned < P(2)) & bits(sample.distance < cut);
      for (; near != 0; near &= near - 1) {
        const int lane = std::countr_zero(near), face = first + lane;
        const P uneven(misaligned[lane] + unevenness(flat.faces[at(face)], sample.distance[lane]));
        const T flush = flushness<P>(uneven)[0];
        if (flush > T(0)) f(face, flush, flushness_dx<P>(uneven)[0]);
      }
    }
  }

  /// Which faces lie flush, and how many: fills in their list, weights and area factors of the owner's points
  /// if there is one, and multiplies what is left of edges.
  [[nodiscard]] int find(T& edges_left) const {
    int count = 0;
    each([&](int which, T flush, T) {
      const Face& face = owner_.flat_faces.faces[at(which)];
      if (count == 0) {
        const std::ptrdiff_t points = std::ptrdiff_t{owner_.points.blocks} * k_block;
        std::fill_n(s_.weights, points, T(1));
        std::fill_n(s_.area_factors, points, T(1));
      }
      s_.flush_faces[count++] = which;
      s_.faces_change = s_.faces_change || flush < T(1);
      if (owner_.is_convex) edges_left *= T(1) - flush;
      for (int k = face.first_point; k < face.first_point + face.points; ++k) {
        const auto [place, factor] = owner_.flat_faces.points[static_cast<std::size_t>(k)];
        if (factor > T(0)) {
          s_.area_factors[place] += flush * (factor - T(1));
        } else {
          s_.weights[place] = std::max(T(0), s_.weights[place] - flush);
        }
      }
    });
    return count;
  }

 private:
  static constexpr int W = k_width<T>;

  /// Q but for how the face is turned. What fills up the last pack is the first support again, and adds
  /// nothing.
  [[nodiscard]] T unevenness(const Face& face, T distance_in_middle) const {
    const P scales[2] = {P(T(1) / problem_.flush_distance), P(T(1) / problem_.flush_normal)};
    P sums[4] = {P(0), P(0), P(0), P(0)}, squares(0);
    T first[4] = {};
    for (int k = 0; k < face.supports; k += W) {
      const auto sample = sample_solid<SdfOrder::normal, T>(solid_, 1, supports(face.first_support + k));
      const P numbers[4] = {sample.distance, sample.normal[0], sample.normal[1], sample.normal[2]};
      for (int i = 0; i < 4; ++i) {
        numbers[i].store(s_.at_supports[i] + face.first_support + k);
        if (k == 0) first[i] = numbers[i][0];
        const P off = scales[i == 0 ? 0 : 1] * (numbers[i] - P(first[i]));
        sums[i] = sums[i] + off;
        squares = fma(off, off, squares);
      }
    }
    const T share = T(1) / static_cast<T>(face.supports);
    T uneven = share * reduce_sum(squares);
    for (const P& sum : sums) {
      const T mean = share * reduce_sum(sum);
      uneven -= mean * mean;
    }
    const T mean_distance = first[0] + problem_.flush_distance * share * reduce_sum(sums[0]),
            away = (mean_distance - owner_.contact_radius) / problem_.flush_away,
            gap = (mean_distance - distance_in_middle) / problem_.flush_gap;
    return uneven + away * away + gap * gap;
  }

  const PairProblem<T>& problem_;
  PairScratch<T>& s_;
  const BodyFeatures<T>& owner_;
  const BodyFeatures<T>& solid_;
  const typename PairPoses<T>::Map& in_solid_;
  bool may_lie_flush_;
};

}  // namespace ABUT_SIMD
}  // namespace abut
