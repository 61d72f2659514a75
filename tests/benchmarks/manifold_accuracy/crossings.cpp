/// Edges of convex bodies that cross just below each other's surface: whether a contact is found there, and
/// how far it is from the exact one.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "accuracy_table.h"
#include "collision/manifold/contact_detector.h"
#include "convex_bodies.h"
#include "samples.h"

namespace abut::accuracy {
namespace {

constexpr double k_depth = 1e-3;           ///< by the size of the smaller body
constexpr double k_active = 1e-2;          ///< activity from which on a contact counts as found
constexpr double k_nearly_parallel = 0.3;  ///< sine of the angle between the edges
constexpr double k_same_normal = 1e-3;     ///< angle between normals of the same pair of edges [degrees]
constexpr int k_poses = 10;                ///< of each pair of bodies

/// Crossings of a range of angles.
struct Crossings {
  double count = 0.0, without_edges = 0.0, without_any = 0.0, of_others = 0.0;
  Samples activities, distances, normals;  ///< of the strongest contact of edges; errors [size], [degrees]

  void add(const ContactManifold& manifold, const ConvexTouch& touch, double depth, double size) {
    Contact strongest;  // of edges
    strongest.normal_AB_W.setZero();
    double of_any = 0.0;
    for (const Contact& contact : manifold.contacts) {
      of_any = std::max(of_any, contact.activity);
      if (contact.feature.kind != ContactKind::edge_edge) continue;
      if (contact.activity > strongest.activity) strongest = contact;
    }
    const double activity = strongest.activity;
    ++count;
    activities.add(activity);
    without_any += of_any < k_active ? 1.0 : 0.0;
    if (activity < k_active) {
      ++without_edges;
      return;
    }
    distances.add(std::abs(strongest.signed_distance + depth) / size);
    const double angle = angle_between(strongest.normal_AB_W, touch.normal_W);
    normals.add(angle);
    of_others += angle > k_same_normal ? 1.0 : 0.0;
  }

  void add_row(const char* bodies, const char* angles, Table& table) {
    if (distances.size() == 0) return;
    table.add_row({bodies, angles, count, 100.0 * without_edges / count, 100.0 * without_any / count,
                   of_others, activities.median(), activities.quantile(0.01),
                   shown_error(distances.quantile(0.99)), shown_error(distances.largest()),
                   shown_error(normals.quantile(0.99)), shown_error(normals.largest())});
  }
};

enum class Kind { boxes, prisms, box_and_prism };

}  // namespace

Table measure_crossings(bool quick) {
  const int wanted = quick ? 300 : 10000;
  Table table({"bodies", "sine", "crossings", "without edges %", "without any %", "other edges",
               "activity median", "activity 1 %", "d 99 %", "d max", "n 99 %", "n max"});
  for (const auto& [kind, name] : {std::pair(Kind::boxes, "boxes"), std::pair(Kind::prisms, "prisms"),
                                   std::pair(Kind::box_and_prism, "box and prism")}) {
    Random random(3);
    Crossings all, nearly_parallel;
    while (static_cast<int>(all.count) < wanted) {
      const ConvexBody A = kind == Kind::prisms ? random_prism(random) : random_box(random),
                       B = kind == Kind::boxes ? random_box(random) : random_prism(random);
      Model model;
      model.bodies = {A.body, B.body};
      const ContactDetector detector(model, ContactConfig());
      DetectorScratch scratch;
      ContactManifold manifold;
      const double size = std::min(A.body.size, B.body.size), depth = k_depth * size;
      for (int i = 0; i < k_poses; ++i) {
        const Quat<double> q_WA = random.quaternion(), q_WB = random.quaternion();
        const ConvexTouch found = touch(A, q_WA, B, q_WB, random.unit_vector(), depth);
        if (found.sine == 0.0) continue;
        const std::array<Pose<double>, 2> X_W{Pose<double>{q_WA, Vec3<double>::Zero()},
                                              Pose<double>{q_WB, found.p_AB}};
        detector.detect(X_W, {}, scratch, manifold);
        all.add(manifold, found, depth, size);
        if (found.sine < k_nearly_parallel) nearly_parallel.add(manifold, found, depth, size);
      }
    }
    all.add_row(name, "all", table);
    nearly_parallel.add_row(name, "below 0.3", table);
  }
  return table;
}

}  // namespace abut::accuracy
