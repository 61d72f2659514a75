/// The signed distance functions of bodies against the nearest point of their collision meshes.
#include <cmath>
#include <string>

#include "accuracy_table.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/random.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

constexpr double k_shadowed = 0.99;  ///< points nearer to the mesh than that share of the gap are left out

}  // namespace

Table measure_vertex_sdf(bool quick) {
  const int count = quick ? 100 : 4000;
  Table table({"body", "union smoothing", "gap", "left out %", "error median", "error 95 %", "angle median",
               "angle 95 %"});
  for (const char* name : {"armadillo", "mustard_bottle"}) {
    const Body body = unit_size_asset(name);
    const Surface surface(body.mesh);
    for (const double smoothing : {0.5, 1.0, 2.0}) {
      Shape shape = body.shape;
      shape.union_smoothing *= smoothing;
      const ShapeSdf sdf(shape);
      for (const double gap : {1e-3, 1e-2, 1e-1}) {
        Random random(1);
        Samples errors, angles;
        for (int i = 0; i < count; ++i) {
          const Surface::Place place = surface.random_place(random);
          const Vec3<double> x = place.point + gap * place.normal, offset = surface.offset_of(x);
          if (offset.norm() < k_shadowed * gap) continue;
          const SdfNormal<double> found = sdf.evaluate_normal<double>(x);
          errors.add(std::abs(found.distance - offset.norm()));
          angles.add(angle_between(found.normal, offset));
        }
        const double left_out = 100.0 * (1.0 - static_cast<double>(errors.size()) / count);
        table.add_row({name, smoothing, gap, left_out, errors.median(), errors.quantile(0.95),
                       angles.median(), angles.quantile(0.95)});
      }
    }
  }
  return table;
}

}  // namespace abut::accuracy
