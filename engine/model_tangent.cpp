#include "engine/model_tangent.h"

namespace abut {

double inner_product(const BodyTangent& bar, const BodyTangent& dot) {
  return bar.mass * dot.mass + bar.inertia.cwiseProduct(dot.inertia).sum() + bar.friction * dot.friction +
         bar.compliance * dot.compliance + bar.dissipation_time * dot.dissipation_time +
         bar.restitution * dot.restitution + bar.linear_damping * dot.linear_damping +
         bar.angular_damping * dot.angular_damping + bar.external_wrench.dot(dot.external_wrench);
}

}  // namespace abut
