// Contacts of triangles at signed distance functions: which of them count as near a kink.
#include "collision/detectors/triangle_contacts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numbers>
#include <vector>

#include "engine/lie.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

using test::close;

/// The triangles of one body at the solid of another, which rests at the origin.
struct TrianglePair {
  TrianglePair(const Body& owner, const Body& solid) : triangles(owner.mesh), sdf(solid.shape) {
    query.triangles = &triangles;
    query.sdf = &sdf;
    query.radius = owner.contact_radius;
    query.settings = frank_wolfe_settings({}, query.radius);
  }
  TrianglePair(const TrianglePair&) = delete;
  TrianglePair& operator=(const TrianglePair&) = delete;

  /// With derivatives, those that the filter keeps.
  std::vector<PointContact> contacts() {
    std::vector<TriangleContact> memory;
    std::vector<PointContact> found, r;
    find_triangle_contacts(query, memory, found);
    for (const PointContact& contact : found)
      r.push_back(linearize_triangle_contact(query, contact.feature_A));
    return r;
  }
  /// The contact of any triangle, kept by the filter or not, that is nearest to a point of the mesh.
  PointContact nearest(const Vec3<double>& x_O) {
    std::vector<TriangleContact> all;
    triangles.contacts(sdf, query.X_WO, query.settings, all);
    double least = k_infinity;
    int triangle = 0;
    for (const TriangleContact& contact : all) {
      const double distance = (inverse_point<double>(query.X_WO, contact.point) - x_O).norm();
      if (distance < least) least = distance, triangle = contact.triangle;
    }
    return linearize_triangle_contact(query, triangle);
  }
  Vec3<double> point_of_mesh(const PointContact& contact) const {  // normals point from owner to solid
    const double depth = query.radius + 0.5 * contact.signed_distance;
    return inverse_point<double>(query.X_WO, contact.point_W - depth * contact.normal_AB_W);
  }

  TriangleSearch triangles;
  ShapeSdf sdf;
  TriangleQuery query;
};

int count_near_kink(const std::vector<PointContact>& contacts) {
  return static_cast<int>(std::count_if(contacts.begin(), contacts.end(),
                                        [](const PointContact& contact) { return contact.is_near_kink; }));
}

TEST_CASE("triangle_contacts: corners that lie on a face are no kinks, sides of triangles are",
          "[collision][derivative]") {
  const double half = 0.05, diagonal = half * std::sqrt(2.0), eighth = 0.25 * std::numbers::pi;
  const Body box = make_box({half, half, half}, 0.005, 4, 1000.0);
  const Body floor = make_half_space();
  TrianglePair on_floor(box, floor);
  on_floor.query.X_WO = test::pose_at({0.0, 0.0, half - 1e-4});
  const std::vector<PointContact> corners = on_floor.contacts();
  CHECK(corners.size() >= 4);
  CHECK(count_near_kink(corners) == 0);

  // Of a box across the edge of another the triangles' sides touch.
  TrianglePair on_edge(box, box);
  on_edge.query.X_WO = {exp_quaternion<double>(Vec3<double>(0.0, 0.0, 0.5 * std::numbers::pi)) *
                            exp_quaternion<double>(Vec3<double>(eighth, 0.0, 0.0)),
                        {0.013, 0.0, 0.0}};
  on_edge.query.X_WS = {exp_quaternion<double>(Vec3<double>(eighth, 0.0, 0.0)), {0.0, 0.0, 0.0}};
  on_edge.query.X_WO.p.z() = 2.0 * diagonal - 0.006;
  const std::vector<PointContact> crossing = on_edge.contacts();
  CHECK(!crossing.empty());
  CHECK(count_near_kink(crossing) == static_cast<int>(crossing.size()));
}

TEST_CASE("triangle_contacts: what does not count as near a kink stays at its point and has its derivative",
          "[collision][derivative][property]") {
  const Body box = make_box({0.06, 0.05, 0.04}, 0.006, 3, 1000.0);
  const std::vector<Body> solids{make_half_space(), box, make_sphere(0.06, 1000.0),
                                 make_capsule(0.04, 0.05, 1000.0),
                                 test::superquadric_of_mass({0.06, 0.05, 0.04}, 0.5, 0.8, 1.0, 1)};
  int held = 0, marked = 0, jumping = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    TrianglePair pair(box, solids[at(random.integer(static_cast<int>(solids.size())))]);
    const Vec3<double> way = seed % 5 == 0 ? Vec3<double>(Vec3<double>::UnitZ()) : random.unit_vector();
    pair.query.X_WO.q = test::random_pose(random).q;
    double deep = -0.2, apart = 0.4;
    for (int i = 0; i < 40; ++i) {
      const double s = 0.5 * (deep + apart);
      pair.query.X_WO.p = s * way;
      (pair.contacts().empty() ? apart : deep) = s;
    }
    pair.query.X_WO.p = (deep - random.uniform(1e-4, 0.01)) * way;
    const Pose<double> X_WO = pair.query.X_WO;
    const Vec6<double> motion = stack<double>(random.unit_vector(), 0.05 * random.unit_vector());
    for (const PointContact& contact : pair.contacts()) {
      const Vec3<double> x_O = pair.point_of_mesh(contact);
      const auto moved = [&](double step) {
        pair.query.X_WO = retract<double>(X_WO, step * motion);
        return pair.nearest(x_O);
      };
      constexpr double k_step = 2e-4;
      const PointContact ahead = moved(k_step);
      const Vec3<double> x_ahead = pair.point_of_mesh(ahead);
      const PointContact behind = moved(-k_step);
      const Vec3<double> x_behind = pair.point_of_mesh(behind);
      pair.query.X_WO = X_WO;
      if (contact.is_near_kink) {
        ++marked;
        jumping += !close(x_ahead, x_O, 0, 1e-9) || !close(x_behind, x_O, 0, 1e-9);
        continue;
      }
      ++held;
      CAPTURE(seed, contact.feature_A, contact.signed_distance);
      CHECK(close(x_ahead, x_O, 0, 1e-12));
      CHECK(close(x_behind, x_O, 0, 1e-12));
      const ContactBar dot =
          point_contact_jvp(contact, X_WO.p, Vec3<double>::Zero(), 1e-3, motion, Vec6<double>::Zero());
      CHECK(close((ahead.signed_distance - behind.signed_distance) / (2.0 * k_step), dot.signed_distance,
                  1e-4, 1e-5));
      CHECK(close(Vec3<double>((ahead.normal_AB_W - behind.normal_AB_W) / (2.0 * k_step)), dot.normal_AB_W,
                  1e-3, 1e-3));
      CHECK(close(Vec3<double>((ahead.point_W - behind.point_W) / (2.0 * k_step)), dot.point_W, 1e-4, 1e-5));
    }
  }
  CAPTURE(held, marked, jumping);
  CHECK(held > 300);
  CHECK(jumping > 50);
}

}  // namespace
}  // namespace abut
