#include "dynamics/kernel/row_kernels.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <span>
#include <utility>

#include "dynamics/contact_laws/dual_tangent.h"
#include "dynamics/contact_laws/friction.h"
#include "engine/instruction_set.h"
#include "engine/lie.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

namespace {

using namespace abut;

constexpr double k_sigma = 1e-3;

smooth_coulomb::Settings default_settings() {
  smooth_coulomb::Settings s;
  s.h = 2e-3;
  s.near_rigid = 2.5e-4;
  s.velocity_smoothing = 0.02 * 9.81 * s.h;
  s.stiction_speed = 0.01 * 9.81 * s.h;
  s.push_out_speed = 50.0 * 9.81 * s.h;
  return s;
}

/// Rows of one pair, as a manifold has them: r_B - r_A is the same for all. A body of infinite mass moves and
/// turns.
ContactRows random_rows(Random& random, int count, int slot_A, int slot_B) {
  ContactRows rows;
  RowPair pair;
  pair.slot_A = slot_A;
  pair.slot_B = slot_B;
  pair.end = count;
  pair.material.friction = random.uniform(0.1, 1.0);
  pair.material.compliance = random.uniform(0.0, 1e-4);
  pair.material.dissipation_time = random.uniform(0.0, 0.02);
  rows.pairs.push_back(pair);
  const Vec3<double> shift = test::random_vector(random, 0.3);
  for (int i = 0; i < count; ++i) {
    ContactRow row;
    row.slot_A = slot_A;
    row.slot_B = slot_B;
    row.pair = 0;
    row.r_A = test::random_vector(random, 0.2);
    row.r_B = row.r_A + shift;
    row.n = random.unit_vector();
    row.distance = random.uniform(-1e-3, 1e-3);
    row.weight = random.uniform(0.1, 1.0);
    row.inverse_mass = random.uniform(0.5, 2.0);
    rows.rows.push_back(row);
  }
  RowPair& moving = rows.pairs[0];
  if (slot_A < 0) moving.V_A = 0.001 * test::random_vector<6>(random);
  if (slot_B < 0) moving.V_B = 0.001 * test::random_vector<6>(random);
  if (!moving.both_move()) moving.turning = test::random_vector(random, 0.001);
  for (ContactRow& row : rows.rows) {
    row.drift = point_velocity(moving.V_B, row.r_B) - point_velocity(moving.V_A, row.r_A) + moving.turning -
                row.n.dot(moving.turning) * row.n;
  }
  return rows;
}

/// What a row contributes, by the formulas for single numbers.
struct RowTerms {
  const smooth_coulomb::Settings& s;
  const ContactRows& rows;
  const GrowableVector& before;                 ///< velocities that bound friction
  const impedance::Settings* mujoco = nullptr;  ///< of the cone, else it is Drake's

  [[nodiscard]] smooth_coulomb::NormalImpulse normal(const ContactRow& row, const GrowableVector& v) const {
    const PairMaterial& material = rows.pairs[0].material;
    return smooth_coulomb::normal_impulse_derivatives(
        row.n.dot(relative_velocity(row, v)),
        {row.distance, row.weight, row.inverse_mass, material.compliance, material.dissipation_time}, s);
  }
  [[nodiscard]] double bound(const ContactRow& row) const {
    return rows.pairs[0].material.friction * normal(row, before).value;
  }
  [[nodiscard]] Friction friction(const ContactRow& row, const GrowableVector& v) const {
    return {relative_velocity(row, v), row.n, s.stiction_speed};
  }
  [[nodiscard]] convex_cone::Cone cone(const ContactRow& row, const GrowableVector& v) const {
    const PairMaterial& material = rows.pairs[0].material;
    const Vec3<double> u = relative_velocity(row, v);
    if (mujoco) {
      const auto response = impedance::response(row.distance, row.weight, row.inverse_mass, *mujoco);
      return {u, row.n, {response.target, response.scale, mujoco->ratio, material.friction}};
    }
    return {u, row.n,
            convex_cone::parameters_of(
                {row.distance, row.weight, row.inverse_mass, material.compliance, material.dissipation_time},
                material.friction, k_sigma, s)};
  }
  /// After one step, from `before` to v.
  struct Tangents {
    smooth_coulomb::NormalResponse<double> normal;
    Vec3<double> direction;
  };
  [[nodiscard]] Tangents tangents(const ContactRow& row, const GrowableVector& v) const {
    const PairMaterial& material = rows.pairs[0].material;
    const smooth_coulomb::NormalLaw of = smooth_coulomb::normal_law(
        {row.distance, row.weight, row.inverse_mass, material.compliance, material.dissipation_time}, s);
    const double to_stop = row.weight / (row.inverse_mass * of.scale);
    const Vec3<double> u_before = relative_velocity(row, before), u = relative_velocity(row, v);
    const auto x = [&](const Vec3<double>& u_at) { return (of.target - row.n.dot(u_at)) / of.width; };
    const auto tangent = dual_tangent::NormalTangent<double>::first(x(u_before), to_stop).next(x(u), to_stop);
    const Friction friction(u_before, row.n, s.stiction_speed);
    const Vec3<double> direction = friction.inverse_w * friction.P_u_t;
    return {tangent.response(x(u), of.scale, of.width),
            dual_tangent::next_direction(friction, u_before, direction, u)};
  }
  [[nodiscard]] Vec3<double> impulse(const ContactRow& row, const GrowableVector& v, RowLaw law) const {
    if (law == RowLaw::cone) return cone(row, v).impulse();
    if (law == RowLaw::dual) {
      const double gamma = tangents(row, v).normal.value;
      return gamma * row.n + friction(row, v).impulse(rows.pairs[0].material.friction * gamma);
    }
    const double gamma = normal(row, v).value;
    Vec3<double> sum = gamma * row.n;
    if (law == RowLaw::bounded) sum += friction(row, v).impulse(bound(row));
    if (law == RowLaw::coupled) sum += friction(row, v).impulse(rows.pairs[0].material.friction * gamma);
    return sum;
  }
  [[nodiscard]] Mat3<double> resistance(const ContactRow& row, const GrowableVector& v, RowLaw law) const {
    if (law == RowLaw::cone) return cone(row, v).resistance();
    if (law == RowLaw::dual) {
      const Tangents at = tangents(row, v);
      const double mu = rows.pairs[0].material.friction;
      const Friction of = friction(row, v);
      return -at.normal.d_velocity * (row.n * row.n.transpose()) +
             dual_tangent::friction_resistance<double>(of, mu * at.normal.value, at.direction) -
             of.impulse(mu * at.normal.d_velocity) * row.n.transpose();
    }
    const smooth_coulomb::NormalImpulse gamma = normal(row, v);
    Mat3<double> K = -gamma.d_velocity * (row.n * row.n.transpose());
    if (law == RowLaw::bounded) K += friction(row, v).resistance(bound(row));
    if (law == RowLaw::coupled) {
      const double mu = rows.pairs[0].material.friction;
      K += friction(row, v).resistance(mu * gamma.value);
      K -= friction(row, v).impulse(mu * gamma.d_velocity) * row.n.transpose();
    }
    return K;
  }
};

}  // namespace

TEST_CASE("RowKernels: every instruction set sums what the formulas say of each row", "[dynamics][value]") {
  const smooth_coulomb::Settings s = default_settings();
  const int count = GENERATE(1, 7, 8, 9, 61);
  const auto [slot_A, slot_B] =
      GENERATE(std::pair(0, 1), std::pair(1, 0), std::pair(-1, 0), std::pair(0, -1));
  struct Case {
    RowLaw law;
    bool is_impedance = false;
  };
  const auto [law, is_impedance] =
      GENERATE(Case{RowLaw::frictionless}, Case{RowLaw::bounded}, Case{RowLaw::coupled}, Case{RowLaw::dual},
               Case{RowLaw::cone}, Case{RowLaw::cone, true});
  Random random(static_cast<std::uint64_t>(100 * count + 10 * slot_A + slot_B + 11));
  const ContactRows rows = random_rows(random, count, slot_A, slot_B);
  const int velocities = slot_A >= 0 && slot_B >= 0 ? 12 : 6;
  const auto velocity = [&](double size) {
    GrowableVector v(velocities);
    for (double& x : v) x = random.uniform(-size, size);
    return v;
  };
  const GrowableVector before = velocity(0.01), v = velocity(0.01), dv = velocity(0.01);
  const double a = random.uniform(0.2, 0.8);
  const GrowableVector v_a = v + a * dv;
  const impedance::Settings mujoco = impedance::settings_of({.solimp = {0.1, 0.95, 1e-3, 0.3, 1.7}}, s.h);
  const RowTerms terms{s, rows, before, is_impedance ? &mujoco : nullptr};

  // Sums of the plain formulas, and of their magnitudes: what rounding is measured by.
  GrowableVector force = GrowableVector::Zero(v.size()), force_size = force;
  Mat3<double> S0 = Mat3<double>::Zero(), S1 = S0, T1 = S0, S2 = S0;
  double S_size = 0.0, slope = 0.0, slope_size = 0.0, curvature = 0.0;
  for (const ContactRow& row : rows.rows) {
    const Vec3<double> impulse = terms.impulse(row, v, law);
    add_impulse(row, impulse, force);
    force_size.array() += impulse.norm();
    const Mat3<double> K = terms.resistance(row, v, law), r = skew<double>(slot_A >= 0 ? row.r_A : row.r_B);
    S0 += K;
    S1 += r * K;
    T1 += K * r;
    S2 -= r * K * r;
    S_size += K.norm();
    const Vec3<double> du = relative_change(row, dv), at_a = terms.impulse(row, v_a, law);
    slope -= at_a.dot(du);
    slope_size += at_a.norm() * du.norm();
    curvature += du.dot(terms.resistance(row, v_a, law) * du);
  }

  for (const std::string_view set : available_instruction_sets()) {
    const RowKernels kernels = kernels_for<RowKernels>(set);
    CAPTURE(set, count, slot_A, slot_B, static_cast<int>(law), is_impedance);
    RowBlocks lanes;
    lanes.assign(rows);
    REQUIRE(lanes.pairs.size() == 1);
    const BlockPair& pair = lanes.pairs[0];
    const std::span<RowBlock> blocks = lanes.of(pair);
    REQUIRE(static_cast<int>(blocks.size()) == (count + 7) / 8);
    kernels.set_law(s, pair.compliance, pair.dissipation_time, blocks);
    Vec6<double> wrench;
    const Vec6<double> V_before = relative_twist(pair, before), V = relative_twist(pair, v),
                       dV = relative_twist_change(pair, dv);
    kernels.sum_impulses({s, RowLaw::frictionless, V_before.data(), pair.turning.data()}, blocks,
                         wrench.data());
    lanes.set_bounds();
    if (is_impedance) {
      kernels.set_impedance(mujoco, blocks);
    } else if (law == RowLaw::cone) {
      kernels.set_cone(s, k_sigma, pair.compliance, pair.dissipation_time, blocks);
    }

    RowKernelInput in{s, law, V.data(), pair.turning.data(), pair.friction};
    if (law == RowLaw::dual) {
      kernels.sum_impulses({s, law, V_before.data(), pair.turning.data(), pair.friction}, blocks,
                           wrench.data());
      in.V_before = V_before.data();
    }
    kernels.sum_impulses(in, blocks, wrench.data());
    GrowableVector sum = GrowableVector::Zero(v.size());
    add_wrench(pair, wrench, sum);
    // Velocities of 0.01 m/s differ by rounding, and tau_v is 4e-4 m/s.
    CHECK(((sum - force).array().abs() <= 1e-13 * force_size.array()).all());

    ResistanceSums sums;
    kernels.sum_resistances({s, law, V.data(), pair.turning.data(), pair.friction}, blocks, sums);
    CHECK(test::close(Eigen::Map<const Mat3<double>>(sums.S0), S0, 0, 1e-12 * S_size));
    CHECK(test::close(Eigen::Map<const Mat3<double>>(sums.S1), S1, 0, 1e-12 * S_size));
    CHECK(test::close(Eigen::Map<const Mat3<double>>(sums.T1), T1, 0, 1e-12 * S_size));
    CHECK(test::close(Eigen::Map<const Mat3<double>>(sums.S2), S2, 0, 1e-12 * S_size));

    if (law != RowLaw::dual) {
      LineSums line;
      kernels.sum_line({s, law, V.data(), pair.turning.data(), pair.friction}, dV.data(), a, blocks, line);
      CHECK(std::abs(line.slope - slope) <= 1e-13 * slope_size);
      // The terms of a K that is not symmetric may cancel.
      const double cancelled = law == RowLaw::coupled ? 1e-12 * S_size * dv.squaredNorm() : 0.0;
      CHECK(test::close(line.curvature, curvature, 1e-12, cancelled));
    }

    for (int i = 0; i < 8 * static_cast<int>(blocks.size()); ++i) {
      const RowBlock& block = blocks[static_cast<std::size_t>(i / 8)];
      const int lane = i % 8;
      CAPTURE(i);
      if (i >= count) {
        CHECK(block.impulse[lane] == 0.0);
        CHECK(block.bound[lane] == 0.0);
        continue;
      }
      const ContactRow& row = rows.rows[static_cast<std::size_t>(i)];
      if (law == RowLaw::cone) {
        CHECK(test::close(block.impulse[lane], terms.cone(row, v).normal_impulse(), 1e-12,
                          1e-15 * block.scale[lane]));
        continue;
      }
      if (law == RowLaw::dual) {
        const smooth_coulomb::NormalResponse<double> of_tangent = terms.tangents(row, v).normal;
        CHECK(test::close(block.impulse[lane], of_tangent.value, 1e-11, 0));
        CHECK(test::close(block.slope[lane], of_tangent.d_velocity, 1e-11, 0));
        continue;
      }
      const smooth_coulomb::NormalImpulse gamma = terms.normal(row, v);
      // A velocity off by 1e-17 m/s changes an impulse in the tail by as much over tau_v.
      CHECK(test::close(block.impulse[lane], gamma.value, 1e-12, 0));
      CHECK(test::close(block.slope[lane], gamma.d_velocity, 1e-12, 0));
      CHECK(test::close(block.bound[lane], terms.bound(row), 1e-12, 0));
    }
  }
}

TEST_CASE("dual_tangent: tangents lie below the law, and are its own where Newton's method ends",
          "[dynamics][value]") {
  using dual_tangent::NormalTangent;
  Random random(5);
  for (int k = 0; k < 1000; ++k) {
    const double start = random.uniform(-40.0, 40.0), to_stop = std::pow(10.0, random.uniform(-6.0, 0.0));
    NormalTangent<double> tangent = NormalTangent<double>::first(start, to_stop);
    for (int step = 0; step < 5; ++step) {
      const double x = random.uniform(-40.0, 40.0);
      tangent = tangent.next(x, to_stop);
      CHECK(tangent.x <= x);
      const double of_tangent = tangent.response(x, 1.0, 1.0).value,
                   of_law = smooth_coulomb::Ramp<double>(x).value;
      CHECK(of_tangent > 0.0);
      CHECK(of_tangent <= of_law * (1.0 + 1e-14));
    }
    // Where x stays, tangents end at the law: it is unloaded by k_kept a step at most.
    const double x = random.uniform(-20.0, 0.0);
    for (int step = 0; step < 20; ++step) tangent = tangent.next(x, 1e-6);
    const auto at_end = tangent.response(x, 1.0, 1.0);
    const smooth_coulomb::Ramp<double> law(x);
    CHECK(test::close(at_end.value, law.value, 1e-12, 0));
    CHECK(test::close(at_end.d_velocity, -law.slope, 1e-4, 0));
  }

  // Friction: p of a step that has ended is the direction of slip, with which K is that of the law.
  for (int k = 0; k < 100; ++k) {
    const Vec3<double> u = test::random_vector(random, 0.01), n = random.unit_vector();
    const Friction friction(u, n, 2e-4);
    const Vec3<double> direction = friction.inverse_w * friction.P_u_t;
    const Vec3<double> p = dual_tangent::next_direction<double>(friction, u, test::random_vector(random), u);
    CHECK((p - direction).norm() <= 1e-15);
    CHECK((dual_tangent::friction_resistance<double>(friction, 2.0, p) - friction.resistance(2.0)).norm() <=
          1e-11 * friction.resistance(2.0).norm());
    // A step never leads to more than the whole of friction.
    const Vec3<double> next =
        dual_tangent::next_direction<double>(friction, u, direction, u + test::random_vector(random, 0.1));
    CHECK(next.norm() <= 1.0 + 1e-14);
  }
}

TEST_CASE("RowKernels: a number that is none in one row is seen in the sums", "[dynamics][value]") {
  Random random(3);
  ContactRows rows = random_rows(random, 19, 0, 1);
  rows.rows[12].distance = std::nan("");
  const smooth_coulomb::Settings s = default_settings();
  const Vec6<double> V = Vec6<double>::Constant(1e-3);
  for (const std::string_view set : available_instruction_sets()) {
    const RowKernels kernels = kernels_for<RowKernels>(set);
    RowBlocks lanes;
    lanes.assign(rows);
    const BlockPair& pair = lanes.pairs[0];
    kernels.set_cone(s, k_sigma, pair.compliance, pair.dissipation_time, lanes.of(pair));
    for (const RowLaw law : {RowLaw::frictionless, RowLaw::cone}) {
      Vec6<double> wrench;
      kernels.sum_impulses({s, law, V.data(), pair.turning.data(), pair.friction}, lanes.of(pair),
                           wrench.data());
      CAPTURE(set, static_cast<int>(law));
      CHECK(wrench.array().isNaN().all());
    }
  }
}

TEST_CASE("RowKernels: every instruction set multiplies and solves blocks as Eigen does",
          "[dynamics][value]") {
  Random random(7);
  const auto block = [&] {
    Mat6<double> X;
    for (double& x : X.reshaped()) x = random.uniform(-1.0, 1.0);
    return X;
  };
  const Mat6<double> A = block(), B = block(), C = block();
  Mat6<double> L = block();
  for (int i = 0; i < 6; ++i) L(i, i) = random.uniform(1.0, 2.0);
  const Mat6<double> product = C - A * B.transpose();
  // Only the lower triangle of L counts.
  const Mat6<double> solved = L.triangularView<Eigen::Lower>().solve(C.transpose()).transpose();
  for (const std::string_view set : available_instruction_sets()) {
    const RowKernels kernels = kernels_for<RowKernels>(set);
    CAPTURE(set);
    Mat6<double> X = C;
    kernels.subtract_block_product(A.data(), B.data(), X.data());
    CHECK((X - product).norm() <= 1e-15 * 36.0);
    X = C;
    kernels.solve_block_transposed(L.data(), X.data());
    CHECK((X - solved).norm() <= 1e-15 * solved.norm() * 36.0);
    CHECK((X * L.triangularView<Eigen::Lower>().toDenseMatrix().transpose() - C).norm() <= 1e-13);
  }
}
