/// Vertices that slide to the true contact point (surface_slide.h), lanes at a time. For instruction sets see
/// engine/pack.h.
#pragma once

#include <cstdint>

#include "collision/manifold/kernel/cone_lanes.h"
#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/kernel/solid_lanes.h"
#include "collision/manifold/surface_slide.h"
#include "engine/dual.h"

namespace abut {
inline namespace ABUT_SIMD {

/// The sliding points of an owner at a solid. Vectors of the owner are in the frame P of its primitive.
template <typename T>
class SlideLanes {
 public:
  using P = Lanes<T>;
  static constexpr int W = k_width<T>;

  /// @param in_solid  takes the owner's frame to the solid's
  /// @param reach     distance from which on contacts are left out [m]
  SlideLanes(const BodyFeatures<T>& owner, const BodyFeatures<T>& solid,
             const typename PairPoses<T>::Map& in_solid, T reach, const CullBuffers<T>& buffers)
      : owner_(owner),
        solid_(solid),
        R_SP_(in_solid.R * owner.sliding.R_BP),
        R_PS_(R_SP_.transpose()),
        p_SP_(in_solid.R * owner.sliding.p_BP + in_solid.p),
        cut_(reach + T(2) * owner.sliding.farthest),
        buffers_(buffers) {}

  [[nodiscard]] ABUT_INLINE FramedSeed<P> seed(const std::int32_t* points) const {
    const auto column = [&](int c) { return P::gather(owner_.sliding.seeds.column(c), points); };
    if (owner_.sliding.framed)
      return framed_seed_of<P>(column,
                               [&](int c) { return P::gather(owner_.sliding.frames.column(c), points); });
    const Vec3<P> zero(P(0), P(0), P(0));
    FramedSeed<P> at{seed_of<P>(column), {}, {}, zero, {}, P(1)};
    for (int i = 0; i < 3; ++i) at.R_PF.col(i) = zero;
    at.n = at.seed.n;
    return at;
  }
  [[nodiscard]] ABUT_INLINE P travel(const std::int32_t* points) const {
    return P::gather(owner_.sliding.seeds.column(k_seed_travel), points);
  }
  [[nodiscard]] ABUT_INLINE Vec3<P> in_owner(const Vec3<P>& v_S) const { return rotated(R_PS_, v_S); }
  [[nodiscard]] ABUT_INLINE Vec3<P> from_solid(const Vec3<P>& x_S) const {
    return in_owner(Vec3<P>(x_S[0] - P(p_SP_[0]), x_S[1] - P(p_SP_[1]), x_S[2] - P(p_SP_[2])));
  }
  [[nodiscard]] ABUT_INLINE Vec3<P> in_solid(const Vec3<P>& x_P) const {
    return moved(R_SP_, p_SP_, x_P[0], x_P[1], x_P[2]);
  }
  /// R^T J R of a matrix of the solid's frame.
  [[nodiscard]] Mat3<P> in_owner(const Mat3<P>& J_S) const {
    Mat3<P> half, J;
    for (int j = 0; j < 3; ++j) half.col(j) = in_owner(Vec3<P>(J_S.col(j)));
    for (int i = 0; i < 3; ++i) J.row(i) = in_owner(Vec3<P>(half.row(i).transpose())).transpose();
    return J;
  }

  /// The solid at points of P.
  template <SdfOrder order>
  [[nodiscard]] SdfAnswer<order, P> sample(const Vec3<P>& x_P) const {
    const Vec3<P> x = in_solid(x_P);
    std::uint32_t lanes = ~0u >> (32 - W);
    const std::uint64_t near = primitives_near(solid_, x, cut_, buffers_, lanes);
    return sample_solid<order, T>(solid_, near != 0 ? near : PrimitiveSet<T>(solid_).all(), x);
  }

  [[nodiscard]] SlidPoint<P> slid(const FramedSeed<P>& at, const Vec3<P>& direction) const {
    return owner_.sliding.framed ? slide<P>(at, direction) : slide<P>(surface(), at.seed, direction);
  }
  /// The same with derivatives with respect to the direction.
  [[nodiscard]] SlidPoint<Dual<P, 3>> slid_derivatives(const FramedSeed<P>& at,
                                                       const Vec3<P>& direction) const {
    using D = Dual<P, 3>;
    const Vec3<D> m{D::variable(direction[0], 0), D::variable(direction[1], 1), D::variable(direction[2], 2)};
    return owner_.sliding.framed ? slide<D>(at.template cast<D>(), m)
                                 : slide<D>(surface().template cast<D>(), at.seed.template cast<D>(), m);
  }

 private:
  [[nodiscard]] SlidingSurface<P> surface() const { return owner_.sliding.surface.template cast<P>(); }

  const BodyFeatures<T>& owner_;
  const BodyFeatures<T>& solid_;
  Mat3<T> R_SP_, R_PS_;
  Vec3<T> p_SP_;
  T cut_;
  CullBuffers<T> buffers_;
};

}  // namespace ABUT_SIMD
}  // namespace abut
