#include "collision/manifold/edge_edge.h"

#include <cstddef>

#include "engine/dual.h"

namespace abut {

DistanceHessian edge_distance_hessian(const Edge<double>& edge1, const Edge<double>& edge2,
                                      const Vec3<double>& origin1, const Vec3<double>& origin2,
                                      const EdgeEdgeSettings<double>& settings, double radii) {
  using namespace edge_edge_detail;
  using Number = Dual<double, 12>;
  const auto perturbed = [](const Vec3<double>& x, int first, bool translates) {
    Vec3<Number> r;
    for (int i = 0; i < 3; ++i) {
      const auto j = static_cast<std::size_t>((i + 1) % 3), k = static_cast<std::size_t>((i + 2) % 3);
      r[i] = Number(x[i]);
      const auto at = static_cast<std::size_t>(first);
      r[i].d[at + j] = x[static_cast<int>(k)];  // (w x x)_i = w_j x_k - w_k x_j
      r[i].d[at + k] = -x[static_cast<int>(j)];
      if (translates) r[i].d[at + 3 + static_cast<std::size_t>(i)] = 1.0;
    }
    return r;
  };
  // Each edge with its starting point relative to the origin o_b, which moves by v_b alone.
  const auto perturbed_edge = [&](const Edge<double>& edge, const Vec3<double>& origin, int first) {
    Edge<Number> r{perturbed(edge.start - origin, first, true), perturbed(edge.vector, first, false),
                   perturbed(edge.normal, first, false)};
    for (int i = 0; i < 3; ++i) r.start[i] = r.start[i] + origin[i];
    return r;
  };
  const auto moved_origin = [](const Vec3<double>& origin, int first) {
    Vec3<Number> r;
    for (int i = 0; i < 3; ++i) {
      r[i] = Number(origin[i]);
      r[i].d[static_cast<std::size_t>(first + 3 + i)] = 1.0;
    }
    return r;
  };
  const Edge<Number> moved1 = perturbed_edge(edge1, origin1, 0), moved2 = perturbed_edge(edge2, origin2, 6);
  const EdgeContact<Number> contact = edge_contact(moved1, moved2, settings);
  EdgeContactBar<Number> bar;
  bar.distance = Number(1.0);
  const Number length = sqrt(dot3(contact.normal.n, contact.normal.n));
  if (length.value > 0.0) {
    for (int i = 0; i < 3; ++i) bar.n[i] = contact.normal.n[i] / length * Number(-radii);
  }
  const EdgePairBar<Number> edges = edge_contact_vjp(moved1, moved2, contact, settings, bar);
  const Vec6<Number> halves[2] = {edge_tangent_bar(moved1, edges.edge1, moved_origin(origin1, 0)),
                                  edge_tangent_bar(moved2, edges.edge2, moved_origin(origin2, 6))};
  DistanceHessian r;
  r.distance = contact.distance.value - radii * length.value;
  Eigen::Matrix<double, 12, 12> change;
  for (int row = 0; row < 12; ++row) {
    const Number& slope = halves[row / 6][row % 6];
    r.gradient[row] = slope.value;
    for (int column = 0; column < 12; ++column)
      change(row, column) = slope.d[static_cast<std::size_t>(column)];
  }
  // `change` is that of the gradient by small turns on the left; by a rotation vector it differs from this by
  // its antisymmetric part, since the Jacobian of Exp is I + [theta]x/2 to first order.
  r.hessian = 0.5 * (change + change.transpose());
  return r;
}

}  // namespace abut
