#include "dynamics/motion/link_motion.h"

namespace abut {
namespace {

Vec6<double> of_slot(const GrowableVector& v, int slot) {
  return slot < 0 ? Vec6<double>(Vec6<double>::Zero()) : Vec6<double>(v.segment<6>(6 * slot));
}

/// Rates of an allowed change of velocities.
LinkMotion::Rates rates_of(const LinkMotion& link, const GrowableVector& change) {
  return link.rates_of(of_slot(change, link.slot) - link.carried(of_slot(change, link.parent)));
}

/// Sums of wrenches over subtrees, about the links' centres of mass: f(link, its index, the sum there) of each.
template <typename F>
void each_subtree(const LinkMotions& links, GrowableVector sums, const F& f) {
  for (std::size_t k = links.size(); k-- > 0;) {
    const LinkMotion& link = links[k];
    const Vec6<double> sum = of_slot(sums, link.slot);
    f(link, k, sum);
    if (link.parent >= 0) sums.segment<6>(6 * link.parent) += link.on_parent(sum);
  }
}

}  // namespace

void allow(const LinkMotions& links, const GrowableVector& reference, GrowableVector& v) {
  for (const LinkMotion& link : links) {
    const auto change = [&](int slot) -> Vec6<double> { return of_slot(v, slot) - of_slot(reference, slot); };
    const Vec6<double> carried = link.parent < 0 ? change(-1) : link.carried(change(link.parent));
    v.segment<6>(6 * link.slot) =
        of_slot(reference, link.slot) + carried + link.S * link.rates_of(change(link.slot) - carried);
  }
}

void motion_vjp(const LinkMotions& links, const GrowableVector& g, const GrowableVector& change, double scale,
                std::span<LinkMotionBar> bars) {
  each_subtree(links, g, [&](const LinkMotion& link, std::size_t k, const Vec6<double>& sum) {
    bars[k].S += scale * sum * rates_of(link, change).transpose();
    if (link.parent < 0) return;
    const Vec3<double> force = sum.tail<3>(), w = change.segment<3>(6 * link.parent);
    bars[k].r += scale * force.cross(w);
  });
}

void motion_jvp(const LinkMotions& links, std::span<const LinkMotionBar> dots, const GrowableVector& change,
                GrowableVector& out) {
  out.setZero(change.size());
  for (std::size_t k = 0; k < links.size(); ++k) {
    const LinkMotion& link = links[k];
    Vec6<double> V = dots[k].S * rates_of(link, change);
    if (link.parent >= 0) {
      const Vec3<double> w = change.segment<3>(6 * link.parent);
      V += link.carried(of_slot(out, link.parent));
      V.tail<3>() += w.cross(dots[k].r);
    }
    out.segment<6>(6 * link.slot) = V;
  }
}

void subtract_reaction_jvp(const LinkMotions& links, std::span<const LinkMotionBar> dots,
                           const GrowableVector& F, GrowableVector& out) {
  each_subtree(links, F, [&](const LinkMotion& link, std::size_t k, const Vec6<double>& sum) {
    const Vec6<double> wrench = link.wrench_of(dots[k].S.transpose() * sum);
    out.segment<6>(6 * link.slot) -= wrench;
    if (link.parent < 0) return;
    const Vec3<double> force = sum.tail<3>();
    out.segment<6>(6 * link.parent) += link.on_parent(wrench);
    out.segment<3>(6 * link.parent) -= dots[k].r.cross(force);
  });
}

}  // namespace abut
