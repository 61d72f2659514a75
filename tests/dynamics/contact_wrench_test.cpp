#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "tests/support/close.h"
#include "tests/support/contact_wrench_cases.h"
#include "tests/support/samples.h"

namespace {

using namespace abut;
using namespace abut::test;

/// p = (k/A) delta with delta = a + b s on a patch at the origin, normal z.
PressurePatch linear_patch(double half_u, double half_v, double a, double b) {
  PressurePatch patch;
  patch.center.setZero();
  patch.u = Vec3<double>::UnitX();
  patch.v = Vec3<double>::UnitY();
  patch.half_u = half_u;
  patch.half_v = half_v;
  patch.normal = Vec3<double>::UnitZ();
  patch.depth = [=](double s, double) { return a + b * s; };
  return patch;
}

/// 16 to 32 cells across the patch, the finest with four times as many points as the coarsest; and an
/// irregular one.
struct Tessellated {
  std::vector<double> cells{16.0, 32.0, 16.0};
  std::vector<TestScene> scenes;

  explicit Tessellated(const WrenchCase& c) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      scenes.push_back(c.scene(tessellation_of(c, cells[i], i == 2)));
  }
  [[nodiscard]] std::vector<NetWrench> wrenches(const ContactConfig& contact) const {
    StepConfig config;
    config.contact = contact;
    std::vector<NetWrench> nets;
    for (const TestScene& scene : scenes) nets.push_back(net_contact_wrench(scene, config));
    return nets;
  }
};

void check_bounds(const WrenchCase& c, const Tessellated& tessellated, const WrenchSetting& setting,
                  bool flush_faces) {
  INFO(c.name << ", " << setting.name << (flush_faces ? ", few points of flush faces" : ""));
  ContactConfig contact = setting.contact;
  contact.flush_faces = flush_faces;
  const std::vector<NetWrench> nets = tessellated.wrenches(contact);
  if (contact.reduction == Reduction::none && !flush_faces)
    CHECK(nets[1].contacts > 3 * nets[0].contacts);  // it is four times as fine
  const NetWrench analytic = pressure_wrench(c.patches, k_wrench_stiffness, nets[0].tau, c.origin);
  REQUIRE(analytic.force.norm() > 1.0);
  for (std::size_t i = 0; i < nets.size(); ++i) {
    CAPTURE(tessellated.cells[i], nets[i].force, nets[i].torque, analytic.force, analytic.torque);
    CHECK(force_difference(nets[i], analytic) <= setting.force_bound);
    CHECK(arm_difference(nets[i], analytic, c.patch_size) <= setting.arm_bound);
  }
  const WrenchSpread over = spread(nets, analytic, c.patch_size);
  CHECK(over.force <= k_wrench_spread);
  CHECK(over.arm <= k_wrench_spread);
}

void check_bounds(const std::vector<WrenchCase>& cases) {
  std::size_t index = 0;
  for (const WrenchCase& c : cases) {
    const Tessellated tessellated(c);
    for (const WrenchSetting& setting : wrench_settings()) {
      for (const bool flush_faces : {true, false}) {
        if (test::is_drawn(index++)) check_bounds(c, tessellated, setting, flush_faces);
      }
    }
  }
}

}  // namespace

TEST_CASE("pressure_wrench: the midpoint rule agrees with closed forms", "[dynamics][value]") {
  const double k = 1e4;
  // A cell at the end of the contact counts or does not: an error of (cell)/(length of the contact) at most.
  const Vec3<double> below(0.0, 0.0, -0.3);  // of the origin about which torques are: no part in them here
  SECTION("a rectangle, all of it in contact: F = k a, M_y = -k b (2l)^2/12") {
    const double l = 0.1, a = 2e-3, b = 0.01;
    const NetWrench net = pressure_wrench({linear_patch(l, 0.07, a, b)}, k, 0.0, below);
    CHECK(close(net.force.z(), k * a, 1e-9, 0));
    CHECK(close(net.torque.y(), -k * b * l * l / 3.0, 1e-4, 0));
    CHECK(close(net.torque.x(), 0.0, 0, 1e-9));
    // With indicators of any width the force of even overlap stays: k times the depth.
    CHECK(close(pressure_wrench({linear_patch(l, 0.07, a, 0.0)}, k, 1e-3, below).force.z(), k * a, 1e-9, 0));
  }
  SECTION("a rectangle, contact on part of it: a wedge of mean depth d/2 and centre a third from its edge") {
    const double l = 0.1, b = 0.04, d = 5e-3, length = d / b;  // delta(l) = d, 0 at l - length
    const int n = 1000;
    const double cut = 2.0 * l / n / length;
    const NetWrench net = pressure_wrench({linear_patch(l, 0.07, d - b * l, b)}, k, 0.0, below, n);
    CHECK(close(net.force.z(), 0.5 * k * d, cut, 0));
    CHECK(close(net.torque.y(), -0.5 * k * d * (l - length / 3.0), cut, 0));
  }
  SECTION("a disc, all of it or a segment") {
    const double R = 0.05, b = 0.03, a = GENERATE(2e-3, 1e-3, -5e-4), c = std::max(-R, -a / b);
    PressurePatch patch = linear_patch(R, R, a, b);
    patch.inside = [=](double s, double t) { return s * s + t * t <= R * R; };
    const double alpha = std::acos(c / R), root = std::sqrt(R * R - c * c);  // chord at s = c
    const double area = R * R * alpha - c * root, first = 2.0 / 3.0 * root * root * root,
                 second = 0.25 * R * R * R * R * (alpha - 0.25 * std::sin(4.0 * alpha));
    const int n = 1000;
    const double cut = 2.0 * R / n / (R - c);
    const NetWrench net = pressure_wrench({patch}, k, 0.0, below, n);
    CAPTURE(a);
    CHECK(close(net.force.z(), k * (a * area + b * first) / area, cut, 0));
    CHECK(close(net.torque.y(), -k * (a * first + b * second) / area, cut, 0));
  }
  SECTION("a parabola of width 2 sqrt(2 R a): mean depth 2/3 a") {
    PressurePatch patch = linear_patch(0.03, 0.06, 0.0, 0.0);
    const double R = 0.05, a = 1e-3, cut = 2.0 * 0.03 / 1000 / std::sqrt(2.0 * R * a);
    patch.depth = [=](double s, double) { return a - s * s / (2.0 * R); };
    CHECK(close(pressure_wrench({patch}, k, 0.0, below, 1000).force.z(), 2.0 / 3.0 * k * a, cut, 0));
  }
}

TEST_CASE("net contact wrench: box on box and plane, analytic within the bound, alike in all tessellations",
          "[dynamics][property][nightly]") {
  check_bounds(box_wrench_cases());
}

TEST_CASE("net contact wrench: cylinders, analytic within the bound, alike in all tessellations",
          "[dynamics][property][nightly]") {
  check_bounds(cylinder_wrench_cases());
}

TEST_CASE("net contact wrench: interlocking bodies, analytic within the bound, alike in all tessellations",
          "[dynamics][property][nightly]") {
  check_bounds(interlocking_wrench_cases());
}

TEST_CASE("net contact wrench: with indicators of no width it is that of an elastic foundation",
          "[dynamics][property]") {
  std::vector<WrenchCase> cases = box_wrench_cases();
  for (const auto& more : {cylinder_wrench_cases(), interlocking_wrench_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  StepConfig config;
  config.contact.activity_smoothing = 1e-4;
  for (const WrenchCase& c : cases) {
    CAPTURE(c.name);
    const double cells = 16.0;
    const NetWrench net = net_contact_wrench(c.scene(tessellation_of(c, cells)), config);
    const NetWrench foundation = pressure_wrench(c.patches, k_wrench_stiffness, 0.0, c.origin);
    CHECK(force_difference(net, foundation) <= 0.1);  // a row of cells, that counts or does not, of 16
    CHECK(arm_difference(net, foundation, c.patch_size) <= 0.05);
  }
}

TEST_CASE("net contact wrench: the penalty law has the same static limit", "[dynamics][property]") {
  // Its force sets in over tau/4, above and below the surface: 0.1 mm for bodies of 0.2 m.
  for (const WrenchCase& c : interlocking_wrench_cases()) {
    CAPTURE(c.name);
    StepConfig config;
    const TestScene scene = c.scene(tessellation_of(c, 16.0));
    const NetWrench smooth_coulomb = net_contact_wrench(scene, config);
    config.law = ContactLaw::penalty;
    const NetWrench penalty = net_contact_wrench(scene, config);
    CHECK(force_difference(penalty, smooth_coulomb) <= 0.02);
    CHECK(arm_difference(penalty, smooth_coulomb, c.patch_size) <= 0.02);
  }
}
