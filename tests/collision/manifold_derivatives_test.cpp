/// All derivatives of batches' contacts: by both poses, by shapes, and second ones of distances.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "collision/manifold/kernel/pair_kernels.h"
#include "collision/manifold/manifold_batch.h"
#include "collision/manifold/pair_derivatives.h"
#include "engine/instruction_set.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/jet_support.h"
#include "tests/support/manifold_cases.h"
#include "tests/support/manifold_reference.h"
#include "tests/support/no_alloc.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

using test::ContactKey;
using test::index_of;
using test::ManifoldReference;
using test::PairCase;
using test::ReferenceContact;
using Row12 = Eigen::Matrix<double, 1, 12>;
using Outputs = Eigen::Matrix<double, 8, 1>;  ///< of a contact, in the order of ContactNumbers
using OutputsJacobian = Eigen::Matrix<double, 8, 12>;

template <typename T>
Outputs outputs_of(const ManifoldView<T>& view, int i) {
  Outputs y;
  y << view.point(i).template cast<double>(), double(view.signed_distance(i)),
      view.normal(i).template cast<double>(), double(view.activity(i));
  return y;
}

template <typename T>
OutputsJacobian jacobian_of(const ManifoldView<T>& view, int i) {
  OutputsJacobian J;
  J.template topRows<3>() = view.point_jacobian(i).template cast<double>();
  J.row(3) = view.distance_jacobian(i).template cast<double>();
  J.template middleRows<3>(4) = view.normal_jacobian(i).template cast<double>();
  J.row(7) = view.activity_jacobian(i).template cast<double>();
  return J;
}

double at_quantile(std::vector<double>& errors, double q) {
  std::sort(errors.begin(), errors.end());
  return errors[static_cast<std::size_t>(q * static_cast<double>(errors.size() - 1))];
}

/// Errors of Jacobians, one list for each kind of output.
struct JacobianErrors {
  std::vector<double> point, distance, normal, activity;
  int contacts = 0, not_finite = 0;

  void add(const OutputsJacobian& found, const OutputsJacobian& expected) {
    ++contacts;
    for (int r = 0; r < 8; ++r) {
      // Of an element, but not below a thousandth of the largest of its row.
      const double largest = expected.row(r).cwiseAbs().maxCoeff();
      std::vector<double>& list = r < 3 ? point : r == 3 ? distance : r < 7 ? normal : activity;
      for (int k = 0; k < 12; ++k) {
        const double scale = std::max({std::abs(expected(r, k)), 1e-3 * largest, 1e-12});
        list.push_back(std::abs(found(r, k) - expected(r, k)) / scale);
        not_finite += std::isfinite(found(r, k)) ? 0 : 1;
      }
    }
  }
  void check(double median, double most) {
    for (std::vector<double>* list : {&point, &distance, &normal, &activity}) {
      const int output = list == &point ? 0 : list == &distance ? 1 : list == &normal ? 2 : 3;
      CAPTURE(output, contacts, at_quantile(*list, 0.5), at_quantile(*list, 0.99), list->back());
      CHECK(at_quantile(*list, 0.5) <= median);
      CHECK(at_quantile(*list, 0.99) <= most);
    }
    CHECK(not_finite == 0);
  }
};

/// Every contact's Jacobian by Jet from the plain formulas.
std::map<ContactKey, OutputsJacobian> expected_jacobians(const ManifoldReference& reference,
                                                         const Pose<double>& X_AB) {
  using Jet = test::Jet<12>;
  const auto tangent = test::variables(Eigen::Matrix<double, 12, 1>::Zero().eval());
  const Vec6<Jet> of_A = tangent.head<6>(), of_B = tangent.tail<6>();
  std::map<ContactKey, OutputsJacobian> result;
  for (const auto& [key, c] :
       reference.contacts<Jet>(retract(Pose<Jet>(), of_A), retract(X_AB.cast<Jet>(), of_B))) {
    OutputsJacobian J;
    for (int r = 0; r < 3; ++r) J.row(r) = c.point[r].v.transpose();
    J.row(3) = c.distance.v.transpose();
    for (int r = 0; r < 3; ++r) J.row(4 + r) = c.normal[r].v.transpose();
    J.row(7) = c.activity.v.transpose();
    result.emplace(key, J);
  }
  return result;
}

template <typename T>
void evaluate(const PairKernels& kernels, const PairProblem<T>& problem, const Pose<double>& X_AB,
              PairBuffers<T>& buffers) {
  const RelativePose<T> pose{X_AB.rotation().template cast<T>(), X_AB.p.template cast<T>()};
  while (!kernels.run<T>(problem, buffers.order(), pose, buffers))
    buffers.grow(buffers.selected[0].count * buffers.selected[1].padded);
}

TEST_CASE("manifold_derivatives: in every instruction set they are those of the plain formulas by Jet",
          "[collision][derivative][slow]") {
  std::vector<PairCase> pairs;
  const auto& cases = test::cases();
  for (const std::size_t at : {0u, 1u, 5u, 6u, 7u}) {
    pairs.push_back(cases[at]);
    pairs.back().X_AB = test::random_poses(pairs.back().A, pairs.back().B, 60, 0.25, 0.8, 11);
  }
  pairs.push_back(cases[10]);
  pairs.push_back(cases[11]);
  const auto sets = available_instruction_sets();
  std::vector<JacobianErrors> errors(sets.size()), errors_float(sets.size());
  for (const PairCase& c : pairs) {
    const ManifoldReference reference(c.A, c.B, {});
    const BodyFeatures<double> A(c.A), B(c.B);
    const BodyFeatures<float> A_float(c.A), B_float(c.B);
    const PairProblem<double> problem(A, B, {}, false);
    const PairProblem<float> problem_float(A_float, B_float, {}, false);
    PairBuffers<double> buffers(problem, ManifoldOrder::complete);
    PairBuffers<float> buffers_float(problem_float, ManifoldOrder::complete);
    for (const Pose<double>& X_AB : c.X_AB) {
      const auto expected = expected_jacobians(reference, X_AB);
      const auto compare = [&](const auto& view, JacobianErrors& list) {
        for (const auto& [key, i] : index_of(view)) {
          if (const auto it = expected.find(key); it != expected.end())
            list.add(jacobian_of(view, i), it->second);
        }
      };
      for (std::size_t k = 0; k < sets.size(); ++k) {
        evaluate(pair_kernels_for(sets[k]), problem, X_AB, buffers);
        compare(ManifoldView<double>(buffers.columns, buffers.capacity, buffers.count, A, B, buffers.order()),
                errors[k]);
        evaluate(pair_kernels_for(sets[k]), problem_float, X_AB, buffers_float);
        compare(ManifoldView<float>(buffers_float.columns, buffers_float.capacity, buffers_float.count,
                                    A_float, B_float, buffers_float.order()),
                errors_float[k]);
      }
    }
  }
  for (std::size_t k = 0; k < sets.size(); ++k) {
    CAPTURE(sets[k]);
    CHECK(errors[k].contacts >= 10000);
    errors[k].check(1e-8, 1e-5);
    // In float, a union's weights turn rounding of the size (1e-7) into 1e-4 of themselves.
    errors_float[k].check(1e-5, 1e-3);
  }
}

/// The outputs of each contact at poses moved by s times a tangent, times fixed numbers; all contacts that
/// count at s = 0. Says when one is missing.
class AlongTangent {
 public:
  AlongTangent(const PairManifold<double>& manifold, const Pose<double>& X_AB, Random& random)
      : manifold_(manifold), X_AB_(X_AB), buffers_(manifold.make_buffers(ManifoldOrder::complete)) {
    for (int k = 0; k < 12; ++k) tangent_[k] = random.uniform(-1.0, 1.0);
    manifold_.evaluate(X_AB_, ManifoldOrder::complete, buffers_);
    const ManifoldView<double> view = manifold_.view(buffers_);
    bars_ = ContactNumbers<double>::Zero(view.size(), 8);
    for (const auto& [key, i] : index_of(view)) {
      if (view.activity(i) < 1e-4) continue;
      Outputs bar;
      for (int k = 0; k < 8; ++k) bar[k] = random.uniform(-1.0, 1.0);
      bars_.row(i) = bar.transpose();
      bar_of_.emplace(key, bar);
    }
    slope_ = manifold_vjp(view, bars_).dot(tangent_);
  }

  [[nodiscard]] double loss(double s) {
    const Pose<double> X_WA = retract(Pose<double>(), Vec6<double>(s * tangent_.head<6>())),
                       X_WB = retract(X_AB_, Vec6<double>(s * tangent_.tail<6>()));
    manifold_.evaluate(X_WA.inverse() * X_WB, ManifoldOrder::complete, buffers_);
    const ManifoldView<double> view = manifold_.view(buffers_);
    const auto index = index_of(view);
    double sum = 0.0;
    for (const auto& [key, bar] : bar_of_) {
      const auto it = index.find(key);
      misses_ = misses_ || it == index.end();
      if (it == index.end()) continue;
      const int i = it->second;
      Outputs y;
      y << X_WA * view.point(i), view.signed_distance(i), X_WA.q * view.normal(i), view.activity(i);
      sum += bar.dot(y);
    }
    return sum;
  }
  [[nodiscard]] double slope() const { return slope_; }
  [[nodiscard]] int contacts() const { return static_cast<int>(bar_of_.size()); }
  [[nodiscard]] bool misses() const { return misses_; }

 private:
  const PairManifold<double>& manifold_;
  Pose<double> X_AB_;
  PairBuffers<double> buffers_;
  PosePairTangent<double> tangent_;
  ContactNumbers<double> bars_;
  std::map<ContactKey, Outputs> bar_of_;
  double slope_ = 0.0;
  bool misses_ = false;
};

TEST_CASE("manifold_derivatives: agree with central differences of swept steps", "[collision][derivative]") {
  const auto at = static_cast<std::size_t>(GENERATE(0, 1, 5, 6, 7));
  const PairCase& c = test::cases()[at];
  CAPTURE(c.name);
  const PairManifold<double> manifold(c.A, c.B, {});
  Random random(21);
  int checked = 0, contacts = 0;
  for (const Pose<double>& X_AB : c.X_AB) {
    AlongTangent along(manifold, X_AB, random);
    if (along.contacts() == 0) continue;
    const auto swept = test::fd_sweep([&](double s) { return along.loss(s); }, 0.0, 1e-4 * c.size(), 1e-6);
    if (along.misses() || swept.disagrees_with_itself) continue;
    ++checked;
    contacts += along.contacts();
    CAPTURE(along.slope(), swept.value, swept.error);
    CHECK(std::abs(along.slope() - swept.value) <= 2e-6 * std::abs(swept.value) + 10.0 * swept.error);
  }
  CAPTURE(contacts);
  CHECK(2 * checked >= static_cast<int>(c.X_AB.size()));
}

TEMPLATE_TEST_CASE("manifold_derivatives: JVP and VJP are the Jacobian and its transpose, one pose or many",
                   "[collision][derivative]", double, float) {
  using T = TestType;
  const auto at = static_cast<std::size_t>(GENERATE(0, 5, 7));
  const PairCase& c = test::cases()[at];
  CAPTURE(c.name);
  const double tolerance = sizeof(T) == sizeof(float) ? 1e-4 : 1e-12;
  const PairManifold<T> manifold(c.A, c.B, {});
  ManifoldBatch<T> batch;
  manifold.evaluate(c.X_AB, ManifoldOrder::complete, 2, batch);
  Random random(22);
  const auto uniform = [&](Eigen::Index rows, Eigen::Index columns) {
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> m(rows, columns);
    for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<T>(random.uniform(-1.0, 1.0));
    return m;
  };
  const Eigen::Matrix<T, 12, Eigen::Dynamic> tangents = uniform(12, batch.size());
  const ContactNumbers<T> bars = uniform(batch.contacts(), 8);
  ContactNumbers<T> dots(batch.contacts(), 8);
  Eigen::Matrix<T, 12, Eigen::Dynamic> pose_bars(12, batch.size());
  const test::NoAlloc guard;
  manifold_jvp(batch, tangents, dots);
  manifold_vjp(batch, bars, pose_bars);
  const auto allocations = guard.allocations();
  CHECK(allocations == 0);

  REQUIRE(batch.contacts() > 100);
  double loss = 0.0, adjoint = 0.0, size = 0.0;
  for (int pose = 0; pose < batch.size(); ++pose) {
    const ManifoldView<T> view = batch[pose];
    const int first = batch.first_contact(pose);
    PosePairTangent<double> sum = PosePairTangent<double>::Zero(), magnitude = sum;
    for (int i = 0; i < view.size(); ++i) {
      const OutputsJacobian J = jacobian_of(view, i);
      const Eigen::VectorXd tangent = tangents.col(pose).template cast<double>();
      const Outputs want = J * tangent, bar = bars.row(first + i).transpose().template cast<double>();
      const Outputs found = dots.row(first + i).transpose().template cast<double>();
      const Outputs scale = J.cwiseAbs() * tangent.cwiseAbs();
      REQUIRE(((found - want).array().abs() <= tolerance * scale.array()).all());
      sum += J.transpose() * bar;
      magnitude += J.transpose().cwiseAbs() * bar.cwiseAbs();
      loss += found.dot(bar);
    }
    const PosePairTangent<double> found = pose_bars.col(pose).template cast<double>();
    REQUIRE(((found - sum).array().abs() <= tolerance * magnitude.array()).all());
    adjoint += found.dot(tangents.col(pose).template cast<double>());
    size += magnitude.dot(tangents.col(pose).template cast<double>().cwiseAbs());
    CHECK(manifold_vjp(view, bars.middleRows(first, view.size())) == pose_bars.col(pose));
  }
  CHECK(std::abs(loss - adjoint) <= tolerance * size);
  CHECK(std::abs(loss) > 0.0);
}

TEST_CASE("manifold_derivatives: a common motion of both bodies carries points and normals along",
          "[collision][property]") {
  const auto at = static_cast<std::size_t>(GENERATE(0, 1, 5, 7));
  const PairCase& c = test::cases()[at];
  CAPTURE(c.name);
  const PairManifold<double> manifold(c.A, c.B, {});
  auto buffers = manifold.make_buffers(ManifoldOrder::complete);
  Random random(4);
  int contacts = 0;
  for (const Pose<double>& X_AB : c.X_AB) {
    manifold.evaluate(X_AB, ManifoldOrder::complete, buffers);
    const ManifoldView<double> view = manifold.view(buffers);
    contacts += view.size();
    for (int i = 0; i < view.size(); ++i) {
      const Vec3<double> w = random.unit_vector(), v = random.unit_vector();
      PosePairTangent<double> motion;
      motion << w, v, w, v + w.cross(X_AB.p);
      const OutputsJacobian J = jacobian_of(view, i);
      Outputs want = Outputs::Zero();
      want.head<3>() = w.cross(view.point(i)) + v;
      want.segment<3>(4) = w.cross(view.normal(i));
      const Outputs found = J * motion;
      for (int r = 0; r < 8; ++r) REQUIRE(std::abs(found[r] - want[r]) < 1e-11 * (1.0 + J.row(r).norm()));
    }
  }
  CHECK(contacts > 100);
}

TEST_CASE("manifold_derivatives: are the same with A and B exchanged", "[collision][property]") {
  const auto at = static_cast<std::size_t>(GENERATE(0, 1, 5, 6));
  const PairCase& c = test::cases()[at];
  CAPTURE(c.name);
  const PairManifold<double> manifold(c.A, c.B, {}), exchanged(c.B, c.A, {});
  auto buffers = manifold.make_buffers(ManifoldOrder::complete),
       buffers_exchanged = exchanged.make_buffers(ManifoldOrder::complete);
  std::vector<double> errors;
  for (const Pose<double>& X_AB : c.X_AB) {
    manifold.evaluate(X_AB, ManifoldOrder::complete, buffers);
    exchanged.evaluate(X_AB.inverse(), ManifoldOrder::complete, buffers_exchanged);
    const ManifoldView<double> view = manifold.view(buffers), other = exchanged.view(buffers_exchanged);
    const auto index = index_of(other);
    // The world is B now: vectors and tangents turn by R_BA, and normals point the other way.
    const Mat3<double> R_BA = X_AB.rotation().transpose();
    Eigen::Matrix<double, 8, 8> turn = Eigen::Matrix<double, 8, 8>::Identity();
    turn.topLeftCorner<3, 3>() = R_BA;
    turn.block<3, 3>(4, 4) = -R_BA;
    Eigen::Matrix<double, 12, 12> of_tangents = Eigen::Matrix<double, 12, 12>::Zero();
    for (int k = 0; k < 4; ++k) of_tangents.block<3, 3>(3 * k, 3 * ((k + 2) % 4)) = R_BA.transpose();
    for (const auto& [key, i] : index_of(view)) {
      const auto [section, feature_A, feature_B] = key;
      const auto it = index.find(ContactKey(section ^ 1, feature_B, feature_A));
      if (it == index.end()) {
        REQUIRE(view.activity(i) < 2e-7);
        continue;
      }
      const OutputsJacobian want = turn * jacobian_of(view, i) * of_tangents,
                            found = jacobian_of(other, it->second);
      for (int r = 0; r < 8; ++r) {
        errors.push_back((found.row(r) - want.row(r)).norm() / std::max(want.row(r).norm(), 1e-9));
      }
    }
  }
  REQUIRE(errors.size() > 1000);
  CAPTURE(errors.size(), at_quantile(errors, 0.5), at_quantile(errors, 0.99), errors.back());
  CHECK(at_quantile(errors, 0.5) < 1e-10);
  CHECK(at_quantile(errors, 0.99) < 1e-7);
}

TEST_CASE("manifold_derivatives: the complete order says the same as those that it includes",
          "[collision][derivative]") {
  const PairCase& c = test::cases()[0];
  const PairManifold<double> manifold(c.A, c.B, {});
  ManifoldBatch<double> jacobian, complete;
  manifold.evaluate(c.X_AB, ManifoldOrder::jacobian, 1, jacobian);
  manifold.evaluate(c.X_AB, ManifoldOrder::complete, 1, complete);
  for (int pose = 0; pose < jacobian.size(); ++pose) {
    REQUIRE(jacobian[pose].size() == complete[pose].size());
    for (int k = 0; k < column_count(ManifoldOrder::jacobian); ++k) {
      const auto want = jacobian[pose].column(k), found = complete[pose].column(k);
      for (std::size_t i = 0; i < want.size(); ++i) REQUIRE(test::close(found[i], want[i], 1e-10, 1e-12));
    }
  }
}

/// A superquadric whose mesh has edges of 1e-13 m and of 1e-6 m.
Body with_short_edges() {
  Body body = test::superquadric_of_mass({0.1, 0.08, 0.06}, 0.4, 0.6, 1.0);
  const auto collapse = [&](std::size_t triangle, double length) {
    const Eigen::Vector3i t = body.mesh.triangles[triangle];
    body.mesh.vertices.col(t[1]) = body.mesh.vertices.col(t[0]) + Vec3<double>(length, 0.0, 0.0);
  };
  collapse(0, 1e-13);
  collapse(body.mesh.triangles.size() / 2, 1e-6);
  body.contact_points = body.mesh.vertices;
  return body;
}

TEMPLATE_TEST_CASE("manifold_derivatives: none is infinite or no number, however degenerate the pair",
                   "[collision][property]", double, float) {
  std::vector<PairCase> pairs;
  for (const std::size_t at : {2u, 4u, 5u, 9u, 10u, 11u, 13u}) pairs.push_back(test::cases()[at]);
  pairs.push_back(test::pair_of("short edges", with_short_edges(), with_short_edges(), 20, 0.0, 0.7));
  for (PairCase& c : pairs) {
    const double size = std::isfinite(c.size()) ? c.size() : 1.0;
    c.X_AB.emplace_back();
    c.X_AB.push_back(test::pose_at({1e-12, 0.0, 0.0}));
    c.X_AB.push_back(test::pose_at({0.0, 0.0, 0.0}, {std::numbers::pi, 0.0, 0.0}));
    c.X_AB.push_back(test::pose_at({0.0, 0.0, 1e-3 * size}, {0.0, 0.0, std::numbers::pi / 2.0}));
    c.X_AB.push_back(test::pose_at({size, 0.0, 0.0}));
    c.X_AB.push_back(test::pose_at({1e3, 0.0, 0.0}));
    // All pairs of an armadillo's edges with another's, in the same pose, would fill gigabytes.
    const bool is_small = c.A.mesh.edge_count() * c.B.mesh.edge_count() < 300000;
    for (const ManifoldScope scope : {ManifoldScope::active, ManifoldScope::all}) {
      if (scope == ManifoldScope::all && !is_small) continue;
      const PairManifold<TestType> manifold(c.A, c.B, {}, scope);
      ManifoldBatch<TestType> batch;
      manifold.evaluate(c.X_AB, ManifoldOrder::complete, 1, batch);
      int not_finite = 0, contacts = 0;
      for (int pose = 0; pose < batch.size(); ++pose) {
        contacts += batch[pose].size();
        for (int k = 0; k < column_count(ManifoldOrder::complete); ++k) {
          for (const TestType x : batch[pose].column(k)) not_finite += std::isfinite(x) ? 0 : 1;
        }
      }
      CAPTURE(c.name, static_cast<int>(scope), contacts);
      CHECK(not_finite == 0);
      CHECK(contacts > 0);
    }
  }
}

TEST_CASE("manifold_derivatives: what is asked for wrongly is refused", "[collision][value]") {
  const PairCase& c = test::cases()[5];
  const PairManifold<double> manifold(c.A, c.B, {});
  ManifoldBatch<double> batch;
  manifold.evaluate(c.X_AB, ManifoldOrder::jacobian, 1, batch);
  ContactNumbers<double> bars = ContactNumbers<double>::Zero(batch[0].size(), 8);
  CHECK_THROWS_AS(manifold_vjp(batch[0], bars), std::invalid_argument);
  manifold.evaluate(c.X_AB, ManifoldOrder::complete, 1, batch);
  CHECK_NOTHROW(manifold_vjp(batch[0], bars));
  bars.resize(batch[0].size() + 1, 8);
  CHECK_THROWS_AS(manifold_vjp(batch[0], bars), std::invalid_argument);
  CHECK_THROWS_AS(manifold_jvp(batch[0], PosePairTangent<double>::Zero(), bars), std::invalid_argument);
  ContactConfig config;
  config.fidelity = Fidelity::paper;
  CHECK_THROWS_AS(PairDerivatives(c.A, c.B, config), std::invalid_argument);
}

// By shapes -------------------------------------------------------------------------------------------------

/// A direction of all shape parameters of a body.
GeometryGradient random_direction(const Body& body, Random& random) {
  GeometryGradient d;
  d.set_zero(body);
  for (std::size_t i = 0; i < d.primitives.size(); ++i) {
    const int count = parameter_count(body.shape.primitives[i].kind);
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
      d.primitives[i].parameters[k] = random.uniform(-1.0, 1.0);
    for (double& value : d.primitives[i].values) value = random.uniform(-1.0, 1.0);
    d.primitives[i].pose = test::random_vector<6>(random);
  }
  for (Eigen::Index i = 0; i < d.contact_points.cols(); ++i)
    d.contact_points.col(i) = test::random_vector(random);
  if (body.shape.primitives[0].kind == PrimitiveKind::rounded_box) {
    // Pieces of a straight edge are one as long as they stay in line.
    Mat3<double> M;
    for (int axis = 0; axis < 3; ++axis) M.col(axis) = test::random_vector(random) / body.size;
    d.contact_points = M * body.contact_points;
  }
  if (body.contact_radius > 0.0) d.contact_radius = random.uniform(-1.0, 1.0);
  return d;
}

/// The body with its parameters moved by s along a direction; the vertices of its mesh go with the contact
/// points if they are the same.
Body moved_body(const Body& body, const GeometryGradient& direction, double s) {
  Body r = body;
  const bool is_mesh =
      body.mesh.vertex_count() == body.contact_points.cols() && body.mesh.vertices == body.contact_points;
  for (std::size_t i = 0; i < r.shape.primitives.size(); ++i) {
    Primitive& p = r.shape.primitives[i];
    for (std::size_t k = 0; k < p.parameters.size(); ++k)
      p.parameters[k] += s * direction.primitives[i].parameters[k];
    for (std::size_t k = 0; k < p.values.size(); ++k) p.values[k] += s * direction.primitives[i].values[k];
    p.X_BP = retract(p.X_BP, Vec6<double>(s * direction.primitives[i].pose));
  }
  r.contact_points += s * direction.contact_points;
  if (is_mesh) r.mesh.vertices = r.contact_points;
  r.contact_radius += s * direction.contact_radius;
  return r;
}

/// Exponents of exactly 1 made smaller: above 1 a superquadric's gauge is rounded, and at 1 it jumps.
void leave_jump(Body& body) {
  for (Primitive& p : body.shape.primitives) {
    for (const std::size_t k : {3u, 4u}) {
      if (p.kind == PrimitiveKind::superquadric && p.parameters[k] == 1.0) p.parameters[k] = 0.9;
    }
  }
}

std::vector<PairCase> shape_cases() {
  const auto& cases = test::cases();
  std::vector<PairCase> pairs{cases[0], cases[5], cases[6], cases[7], cases[2]};
  for (PairCase& c : pairs) {
    c.X_AB.resize(c.name == "armadillos" ? 2 : 5);
    leave_jump(c.A);
    leave_jump(c.B);
  }
  return pairs;
}

TEST_CASE("PairDerivatives: the way back to poses is that of the kernels", "[collision][derivative]") {
  std::vector<double> errors;
  for (const PairCase& c : shape_cases()) {
    CAPTURE(c.name);
    const PairManifold<double> manifold(c.A, c.B, {});
    const PairDerivatives derivatives(c.A, c.B, {});
    auto buffers = manifold.make_buffers(ManifoldOrder::complete);
    Random random(31);
    for (const Pose<double>& X_AB : c.X_AB) {
      manifold.evaluate(X_AB, ManifoldOrder::complete, buffers);
      const ManifoldView<double> view = manifold.view(buffers);
      for (int output = 0; output < 8; ++output) {  // each kind by itself
        ContactNumbers<double> bars = ContactNumbers<double>::Zero(view.size(), 8);
        for (int i = 0; i < view.size(); ++i) bars(i, output) = random.uniform(-1.0, 1.0);
        const PosePairTangent<double> want = manifold_vjp(view, bars);
        PosePairTangent<double> found = PosePairTangent<double>::Zero();
        std::array<GeometryGradient, 2> geometry;
        geometry[0].set_zero(c.A);
        geometry[1].set_zero(c.B);
        derivatives.shape_vjp(X_AB, view, bars, found, geometry);
        CAPTURE(output, view.size());
        CHECK(test::close(found, want, 1e-6, 1e-7 * (1.0 + want.norm())));
      }
    }
  }
}

TEST_CASE("PairDerivatives: derivatives by shapes agree with differences of swept steps",
          "[collision][derivative][slow]") {
  const auto at = static_cast<std::size_t>(GENERATE(0, 1, 2, 3, 4));
  const PairCase c = shape_cases()[at];
  CAPTURE(c.name);
  const PairManifold<double> manifold(c.A, c.B, {});
  const PairDerivatives derivatives(c.A, c.B, {});
  auto buffers = manifold.make_buffers(ManifoldOrder::value);
  Random random(32);
  int checked = 0, skipped = 0;  // where a contact goes, or differences say nothing
  for (const Pose<double>& X_AB : c.X_AB) {
    manifold.evaluate(X_AB, ManifoldOrder::value, buffers);
    const ManifoldView<double> view = manifold.view(buffers);
    ContactNumbers<double> bars = ContactNumbers<double>::Zero(view.size(), 8);
    std::map<ContactKey, Outputs> bar_of;
    for (const auto& [key, i] : index_of(view)) {
      // Deep inside, a rounded box's normal jumps where its skeleton is.
      const bool may_jump = c.jumps != test::NormalJumps::none && std::get<0>(key) < k_edge_on_A &&
                            view.signed_distance(i) < -0.02 * c.size();
      if (view.activity(i) < 1e-4 || may_jump) continue;
      for (int k = 0; k < 8; ++k) bars(i, k) = random.uniform(-1.0, 1.0);
      bar_of.emplace(key, bars.row(i).transpose());
    }
    if (bar_of.empty()) continue;
    PosePairTangent<double> pose_bar = PosePairTangent<double>::Zero();
    std::array<GeometryGradient, 2> geometry;
    geometry[0].set_zero(c.A);
    geometry[1].set_zero(c.B);
    derivatives.shape_vjp(X_AB, view, bars, pose_bar, geometry);
    for (const std::size_t which : {0u, 1u}) {
      const GeometryGradient direction = random_direction(which == 0 ? c.A : c.B, random);
      bool misses = false;
      const auto loss = [&](double s) {
        const Body A = which == 0 ? moved_body(c.A, direction, s) : c.A,
                   B = which == 1 ? moved_body(c.B, direction, s) : c.B;
        const PairManifold<double> moved(A, B, {});
        auto moved_buffers = moved.make_buffers(ManifoldOrder::value);
        moved.evaluate(X_AB, ManifoldOrder::value, moved_buffers);
        const ManifoldView<double> moved_view = moved.view(moved_buffers);
        const auto index = index_of(moved_view);
        double sum = 0.0;
        for (const auto& [key, bar] : bar_of) {
          const auto it = index.find(key);
          misses = misses || it == index.end();
          if (it != index.end()) sum += bar.dot(outputs_of(moved_view, it->second));
        }
        return sum;
      };
      const auto swept = test::fd_sweep(loss, 0.0, 1e-5 * c.size(), 1e-6);
      if (misses || swept.disagrees_with_itself) {
        ++skipped;
        continue;
      }
      ++checked;
      const double found = inner_product(geometry[which], direction);
      CAPTURE(which, bar_of.size(), found, swept.value, swept.error);
      CHECK(std::abs(found - swept.value) <= 1e-5 * std::abs(swept.value) + 10.0 * swept.error);
    }
  }
  CAPTURE(skipped);
  CHECK(checked >= 3);
}

TEST_CASE("PairDerivatives: JVP by shapes is the transpose of the VJP", "[collision][derivative]") {
  for (const PairCase& c : shape_cases()) {
    CAPTURE(c.name);
    const PairManifold<double> manifold(c.A, c.B, {});
    const PairDerivatives derivatives(c.A, c.B, {});
    auto buffers = manifold.make_buffers(ManifoldOrder::value);
    Random random(33);
    int contacts = 0;
    for (std::size_t pose = 0; pose < 2; ++pose) {
      manifold.evaluate(c.X_AB[pose], ManifoldOrder::value, buffers);
      const ManifoldView<double> view = manifold.view(buffers);
      contacts += view.size();
      const std::array<GeometryGradient, 2> direction{random_direction(c.A, random),
                                                      random_direction(c.B, random)};
      ContactNumbers<double> dots(view.size(), 8);
      derivatives.shape_jvp(c.X_AB[pose], view, direction, dots);
      REQUIRE(dots.allFinite());
      for (int output = 0; output < 8; ++output) {
        ContactNumbers<double> bars = ContactNumbers<double>::Zero(view.size(), 8);
        for (int i = 0; i < view.size(); ++i) bars(i, output) = random.uniform(-1.0, 1.0);
        PosePairTangent<double> pose_bar = PosePairTangent<double>::Zero();
        std::array<GeometryGradient, 2> geometry;
        geometry[0].set_zero(c.A);
        geometry[1].set_zero(c.B);
        derivatives.shape_vjp(c.X_AB[pose], view, bars, pose_bar, geometry);
        const double forward = (dots.array() * bars.array()).sum();
        const double backward =
            inner_product(geometry[0], direction[0]) + inner_product(geometry[1], direction[1]);
        CAPTURE(output, view.size(), forward, backward);
        CHECK(std::abs(forward - backward) <= 1e-9 * (dots.cwiseAbs().cwiseProduct(bars.cwiseAbs())).sum());
      }
    }
    CHECK(contacts > 0);
  }
}

// Second derivatives ----------------------------------------------------------------------------------------

TEST_CASE("PairDerivatives: Hessians of distances agree with differences of gradients",
          "[collision][derivative]") {
  const auto at = static_cast<std::size_t>(GENERATE(0, 1, 5, 7));
  const PairCase& c = test::cases()[at];
  CAPTURE(c.name);
  const PairManifold<double> manifold(c.A, c.B, {});
  const PairDerivatives derivatives(c.A, c.B, {});
  auto buffers = manifold.make_buffers(ManifoldOrder::jacobian),
       moved = manifold.make_buffers(ManifoldOrder::jacobian);
  Random random(41);
  int of_vertices = 0, of_edges = 0, contacts = 0;
  for (const Pose<double>& X_AB : c.X_AB) {
    manifold.evaluate(X_AB, ManifoldOrder::jacobian, buffers);
    const ManifoldView<double> view = manifold.view(buffers);
    const auto index = index_of(view);
    PosePairTangent<double> xi;
    for (int k = 0; k < 12; ++k) xi[k] = random.uniform(-1.0, 1.0);
    // Exp(s theta) is a straight line in the chart, and xi its velocity everywhere.
    const auto slope_of = [&](const ContactKey& key, double s) {
      const Pose<double> X_WA = retract(Pose<double>(), Vec6<double>(s * xi.head<6>())),
                         X_WB = retract(X_AB, Vec6<double>(s * xi.tail<6>()));
      manifold.evaluate(X_WA.inverse() * X_WB, ManifoldOrder::jacobian, moved);
      const ManifoldView<double> there = manifold.view(moved);
      const auto found = index_of(there);
      const auto it = found.find(key);
      if (it == found.end()) return std::numeric_limits<double>::quiet_NaN();
      PosePairTangent<double> seen_by_A;
      for (int k = 0; k < 12; k += 3)
        seen_by_A.segment<3>(k) = X_WA.q.conjugate() * Vec3<double>(xi.segment<3>(k));
      return (there.distance_jacobian(it->second) * seen_by_A).value();
    };
    int taken = 0;
    for (const auto& [key, i] : index) {
      if (view.activity(i) < 1e-2 || ++taken % 7 != 0) continue;
      const DistanceHessian found = derivatives.distance_hessian(X_AB, view, i);
      CHECK(test::close(found.distance, view.signed_distance(i), 1e-9, 1e-12));
      CHECK(test::close(found.gradient.transpose(), view.distance_jacobian(i), 1e-7,
                        1e-8 * found.gradient.norm()));
      CHECK(found.hessian == found.hessian.transpose());
      const auto swept =
          test::fd_sweep([&, &key = key](double s) { return slope_of(key, s); }, 0.0, 1e-3 * c.size(), 1e-6);
      if (swept.disagrees_with_itself) continue;
      const double want = xi.dot(found.hessian * xi);
      CAPTURE(i, want, swept.value, swept.error);
      CHECK(std::abs(want - swept.value) <= 1e-5 * std::abs(swept.value) + 10.0 * swept.error);
      ++contacts;
      ++(view.kind(i) == ContactKind::vertex_sdf ? of_vertices : of_edges);
    }
  }
  CAPTURE(of_vertices, of_edges);
  CHECK(contacts > 10);
  CHECK((at == 5 || of_edges > 0));
}

TEST_CASE("PairDerivatives: the distance to a sphere has the Hessian of a length", "[collision][value]") {
  const Body ball = make_sphere(0.1, 1000.0),
             body = test::superquadric_of_mass({0.05, 0.05, 0.05}, 1.0, 1.0, 1.0);
  const PairDerivatives derivatives(body, ball, {});
  const Pose<double> X_AB = test::pose_at({0.02, -0.03, 0.14}, {0.3, 0.2, -0.4});
  const ContactFeature feature{ContactKind::vertex_sdf, 0, 1, 3, -1, false};
  const DistanceHessian found = derivatives.distance_hessian(X_AB, feature);
  const Vec3<double> r = X_AB.p - Vec3<double>(body.contact_points.col(3)), n = r.normalized();
  CHECK(test::close(found.distance, r.norm() - 0.1 - body.contact_radius, 1e-12, 0));
  const Mat3<double> want = (Mat3<double>::Identity() - n * n.transpose()) / r.norm();
  CHECK(test::close(found.hessian.block<3, 3>(9, 9), want, 1e-9, 1e-9));  // by the translation of the ball
  CHECK(test::close(found.hessian.block<3, 3>(3, 9), Mat3<double>(-want), 1e-9, 1e-9));
  CHECK(test::close(found.hessian.block<3, 3>(6, 6), Mat3<double>(Mat3<double>::Zero()), 0, 1e-9));
}

}  // namespace
}  // namespace abut
