#include "vertex_face.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut::paper000 {
namespace {

using test::close;

struct Case {
  Vec3<double> vertex, corners[3];
};

/// Four points uniform in a cube of the given side.
Case random_case(Random& random, double size = 1.0) {
  Case c;
  const auto point = [&] {
    return Vec3<double>(size * random.uniform(), size * random.uniform(), size * random.uniform());
  };
  c.vertex = point();
  for (Vec3<double>& corner : c.corners) corner = point();
  return c;
}

VertexFaceSettings settings_of_width(double width, double length = 1.0) {
  return {.clip = width, .minimum = width * length, .interior = width};
}

/// Widths relative to the triangle: a length is the root of the mean squared length of its sides.
VertexFaceSettings relative_settings(double width, const Case& c) {
  double square = 0.0;
  for (int k = 0; k < 3; ++k) square += (c.corners[(k + 1) % 3] - c.corners[k]).squaredNorm() / 3.0;
  return settings_of_width(width, std::sqrt(std::max(square, 1e-14)));
}

TEST_CASE("hard_vertex_face_witness: no point of a fine grid on the triangle is nearer",
          "[paper000][value]") {
  Random random(1);
  constexpr int n = 60;
  for (const double size : {1.0, 5.0}) {
    for (int trial = 0; trial < 1000; ++trial) {
      const Case c = random_case(random, size);
      const VertexFaceWitness<double> w = hard_vertex_face_witness(c.vertex, c.corners);
      double least = 1e30, largest_side = 0.0;
      for (int i = 0; i <= n; ++i) {
        for (int j = 0; i + j <= n; ++j) {
          const Vec3<double> x = c.corners[0] + (c.corners[1] - c.corners[0]) * (double(i) / n) +
                                 (c.corners[2] - c.corners[0]) * (double(j) / n);
          least = std::min(least, (x - c.vertex).norm());
        }
      }
      for (int k = 0; k < 3; ++k)
        largest_side = std::max(largest_side, (c.corners[(k + 1) % 3] - c.corners[k]).norm());
      const double mine = (w.point - c.vertex).norm();
      CAPTURE(trial, mine, least);
      REQUIRE(mine <= least + 1e-12 * size);
      REQUIRE(mine >= least - largest_side / n);
    }
  }
}

TEST_CASE("vertex_face_witness: is off by as much as measured for the mended routine", "[paper000][value]") {
  // Unit cube; an independent run: mean .025 (95 %: .053) at .1, .005 (.024) at .01.
  struct Row {
    double width, mean, quantile;
  };
  for (const Row row : {Row{0.1, 0.025, 0.053}, Row{0.01, 0.005, 0.024}}) {
    Random random(2);
    const VertexFaceSettings settings = settings_of_width(row.width);
    std::vector<double> errors;
    double sum = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
      const Case c = random_case(random);
      errors.push_back((vertex_face_witness(c.vertex, c.corners, settings).point -
                        hard_vertex_face_witness(c.vertex, c.corners).point)
                           .norm());
      sum += errors.back();
    }
    std::sort(errors.begin(), errors.end());
    CAPTURE(row.width, sum / 20000.0, errors[19000]);
    CHECK(close(sum / 20000.0, row.mean, 0.07, 0));
    CHECK(close(errors[19000], row.quantile, 0.04, 0));
  }
}

TEST_CASE("vertex_face_witness: has the derivatives of differences, and those of Jet",
          "[paper000][derivative]") {
  Random random(3);
  std::vector<double> errors;
  for (int trial = 0; trial < 2000; ++trial) {
    const Case c = random_case(random);
    const VertexFaceSettings settings = relative_settings(0.1, c);
    const auto of = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      const Vec3<S> corners[3] = {x.template segment<3>(3), x.template segment<3>(6),
                                  x.template segment<3>(9)};
      const VertexFaceWitness<S> w = vertex_face_witness<S>(x.template head<3>(), corners, settings);
      Vec4<S> y;
      y << w.point, w.inside;
      return y;
    };
    Eigen::Matrix<double, 12, 1> x;
    x << c.vertex, c.corners[0], c.corners[1], c.corners[2];
    const auto jet = test::jet_jacobian(of, x);
    const auto fd = test::fd_jacobian(of, x, 1e-6);
    errors.push_back((jet - fd).cwiseAbs().maxCoeff() / std::max(1.0, jet.cwiseAbs().maxCoeff()));
  }
  std::sort(errors.begin(), errors.end());
  CHECK(errors[1000] < 1e-8);
  CHECK(errors[1980] < 1e-5);
}

TEST_CASE("vertex_face_witness: moves with the frame and scales with the bodies", "[paper000][property]") {
  Random random(4);
  for (int trial = 0; trial < 500; ++trial) {
    const Case c = random_case(random);
    const Pose<double> X = test::random_pose(random);
    const double size = std::pow(10.0, random.uniform(-2.0, 2.0));
    const auto moved = [&](const Vec3<double>& x) { return Vec3<double>(size * (X.rotation() * x + X.p)); };
    const Case other{moved(c.vertex), {moved(c.corners[0]), moved(c.corners[1]), moved(c.corners[2])}};
    const auto a = vertex_face_witness(c.vertex, c.corners, relative_settings(0.1, c));
    const auto b = vertex_face_witness(other.vertex, other.corners, relative_settings(0.1, other));
    CHECK(close(moved(a.point), b.point, 1e-8, 1e-9 * size));
    CHECK(close(a.inside, b.inside, 1e-6, 1e-9));
  }
}

TEST_CASE("vertex_face_witness: packs, and triangles without an area, give finite points near a side",
          "[paper000][batch]") {
  Random random(5);
  using P = Pack<float, 8>;
  for (int trial = 0; trial < 200; ++trial) {
    Case c = random_case(random);
    const int kind = trial % 4;
    if (kind == 1) c.corners[2] = c.corners[0] + 0.3 * (c.corners[1] - c.corners[0]);
    if (kind == 2) c.corners[1] = c.corners[2] = c.corners[0];
    if (kind == 3) c.vertex = c.corners[1];
    const VertexFaceSettings settings = relative_settings(0.1, c);
    const auto a = vertex_face_witness(c.vertex, c.corners, settings);
    const auto hard = hard_vertex_face_witness(c.vertex, c.corners);
    const Vec3<P> corners[3] = {c.corners[0].cast<P>(), c.corners[1].cast<P>(), c.corners[2].cast<P>()};
    const auto b = vertex_face_witness<P>(c.vertex.cast<P>(), corners, settings);
    for (int i = 0; i < 3; ++i) {
      CHECK(std::isfinite(a.point[i]));
      CHECK(std::isfinite(b.point[i][3]));
      if (kind != 1) CHECK(close(b.point[i][3], a.point[i], 1e-3, 1e-3));
    }
    CHECK((a.point - hard.point).norm() < 0.6);
    if (kind == 2) CHECK(close(hard.point, c.corners[0], 1e-12, 0));
    if (kind == 3) CHECK(close(hard.point, c.vertex, 1e-9, 1e-12));
  }
}

}  // namespace
}  // namespace abut::paper000
