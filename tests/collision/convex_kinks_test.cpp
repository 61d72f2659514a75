// Derivatives of contacts of convex parts where these line up: right on both sides, or counted as near a
// kink.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "collision/detectors/convex_contacts.h"
#include "engine/lie.h"
#include "engine/primitive_builder.h"
#include "tests/support/cases.h"
#include "tests/support/convex_parts.h"
#include "tests/support/convex_polygon.h"

namespace abut {
namespace {

constexpr double k_reach = 0.05, k_padding = 0.2, k_half = 0.06;

struct NamedPart {
  std::string name;
  ConvexPart<double> part;
};

ConvexPart<double> block_part() {
  Points corners(3, 8);
  for (int i = 0; i < 8; ++i)
    corners.col(i) = k_half * Vec3<double>(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0);
  return make_convex_part(corners);
}
ConvexPart<double> polygon_part() {
  return make_convex_part(make_padded_polygon(test::rectangle_corners(0.08, k_half), 0.04));
}

std::vector<NamedPart> parts() {
  return {{"sphere", test::sphere_part(k_half)},
          {"capsule", test::capsule_part(0.04, k_half)},
          {"box", test::box_part({0.08, k_half, k_half})},
          {"rounded box", test::box_part({0.08, k_half, k_half}, 0.01)},
          {"block", block_part()},
          {"polygon", polygon_part()},
          {"cylinder", test::cone_part(k_half, k_half, k_half)},
          {"cone", test::cone_part(0.08, 0.0, k_half)},
          {"ellipsoid", test::superquadric_part({0.08, k_half, 0.05})},
          {"half-space", test::half_space_part()}};
}

/// Contacts of two parts, A at the origin.
class Pair {
 public:
  Pair(const ConvexPart<double>& A, const ConvexPart<double>& B, bool is_padded,
       const ContactConfig& config = {})
      : config_(config) {
    A_ = {A};
    B_ = {B};
    if (!is_padded) return;
    padded_A_ = {make_padded_part(A, k_padding)};
    padded_B_ = {make_padded_part(B, k_padding)};
  }

  struct Sums {
    Eigen::Matrix<double, 7, 1> values = Eigen::Matrix<double, 7, 1>::Zero();  ///< of weighted p, phi, n
    Eigen::Matrix<double, 7, 6> by_B = Eigen::Matrix<double, 7, 6>::Zero();
    int contacts = 0, near_kink = 0;
  };
  [[nodiscard]] Sums sums(const Pose<double>& X_WB, bool with_derivatives) {
    std::vector<PointContact> found, contacts;
    contacts_of_parts().find({}, X_WB, k_reach, scratch_, found);
    if (with_derivatives) {
      std::vector<ContactFeature> features(found.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        features[i].feature_A = found[i].feature_A;
        features[i].feature_B = found[i].feature_B;
      }
      contacts_of_parts().linearize({}, X_WB, features, scratch_, contacts);
      found = contacts;
    }
    Sums sums;
    for (const PointContact& contact : found) {
      Eigen::Matrix<double, 7, 1> x;
      x << contact.point_W, contact.signed_distance, contact.normal_AB_W;
      sums.values += contact.weight * x;
      ++sums.contacts;
      sums.near_kink += contact.is_near_kink;
      for (int column = 0; column < 6; ++column) {
        const Eigen::Matrix<double, 8, 1> dot =
            contact.by_motion * motion_about(contact.point_W, X_WB.p, Vec6<double>::Unit(column));
        sums.by_B.col(column) += contact.weight * dot.head<7>() + dot[k_row_weight] * x;
      }
    }
    return sums;
  }

 private:
  [[nodiscard]] ConvexContacts contacts_of_parts() const {
    return padded_A_.empty() ? ConvexContacts(A_, B_, config_)
                             : ConvexContacts(padded_A_, padded_B_, config_);
  }
  ContactConfig config_;
  std::vector<ConvexPart<double>> A_, B_;
  std::vector<PaddedPart> padded_A_, padded_B_;
  ConvexContactScratch scratch_;
};

bool takes(const ConvexPart<double>& part, bool is_padded) {
  return !is_padded || (part.core != ConvexCore::cone && part.core != ConvexCore::superquadric);
}

struct AlignedPose {
  const char* name;
  Vec3<double> rotation_vector, shift, direction;  ///< shift in units of k_half
};

std::vector<AlignedPose> aligned_poses() {
  const double quarter = 0.5 * std::numbers::pi, eighth = 0.5 * quarter;
  const Vec3<double> none = Vec3<double>::Zero(), x = Vec3<double>::UnitX(), z = Vec3<double>::UnitZ();
  return {{"above", none, none, z},
          {"above, shifted by half", none, {1, 0, 0}, z},
          {"above, shifted along two axes", none, {1, 1, 0}, z},
          {"above, aside", none, {0.3, 0.2, 0}, z},
          {"edges above each other", none, {2, 0, 0}, z},
          {"beside", none, none, x},
          {"beside, shifted by half", none, {0, 0, 1}, x},
          {"crossing", {0, 0, quarter}, none, z},
          {"lying across", {quarter, 0, 0}, none, x},
          {"end on side", {0, quarter, 0}, none, z},
          {"on an edge", {0, eighth, 0}, none, z},
          {"on an edge, beside", {eighth, 0, 0}, {0, 0, 1}, x},
          {"askew", {0.3, 0.4, 0.5}, {0.3, 0.2, 0}, z},
          {"askew, at a border", {0.3, 0.4, 0.5}, {1, 0, 0}, z},
          {"corner on corner", none, none, {0.6, 0.48, 0.64}},
          {"tilted by little", {1e-5, 2e-5, 0}, {0.3, 0.2, 0}, z}};
}

/// B moved off along the direction until both are `depth` deep, or less where they never are.
Pose<double> touching(const ConvexPart<double>& A, const ConvexPart<double>& B, const AlignedPose& pose,
                      double depth) {
  ConvexScratch scratch;
  double deep = 0.0, apart = 1.0;
  const auto at = [&](double along) {
    return Pose<double>{exp_quaternion<double>(pose.rotation_vector),
                        k_half * pose.shift + along * pose.direction.normalized()};
  };
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (deep + apart);
    (convex_distance(A, {}, B, at(middle), {}, scratch).distance < -depth ? deep : apart) = middle;
  }
  return at(apart);
}

struct Judgement {
  int cases = 0, counted = 0, wrong = 0;
  std::string worst;
};

/// Differences at several steps, the best of which count.
void judge(const std::string& name, Pair& pair, const Pose<double>& X_WB, Judgement& judgement) {
  const Pair::Sums at = pair.sums(X_WB, true);
  if (at.contacts == 0) return;
  ++judgement.cases;
  if (at.near_kink > 0) {
    ++judgement.counted;
    return;
  }
  for (int column = 0; column < 6; ++column) {
    for (const double sign : {1.0, -1.0}) {
      double error = k_infinity;
      for (const double h : {1e-5, 1e-6, 1e-7}) {
        const double unit = column < 3 ? 1.0 : k_half;
        const auto moved = [&](double s) {
          return pair.sums(retract<double>(X_WB, s * unit * Vec6<double>::Unit(column)), false).values;
        };
        // Second order to one side
        const Eigen::Matrix<double, 7, 1> difference =
            (-3.0 * at.values + 4.0 * moved(sign * h) - moved(2.0 * sign * h)) / (2.0 * sign * h * unit);
        const Eigen::Matrix<double, 7, 1> off = at.by_B.col(column) - difference;
        error = std::min(error, (off.array().abs() / (1.0 / unit + difference.array().abs())).maxCoeff());
      }
      if (error <= 1e-4) continue;
      ++judgement.wrong;
      if (judgement.worst.empty())
        judgement.worst = name + ", column " + std::to_string(column) + ": " + std::to_string(error);
      WARN(name << ", column " << column << " to " << sign << ": " << error);
    }
  }
}

TEST_CASE("convex contacts: derivatives of aligned parts are right on both sides, or counted as near a kink",
          "[collision][derivatives][property]") {
  const std::vector<NamedPart> all = parts();
  for (const bool is_padded : {false, true}) {
    Judgement judgement;
    for (const NamedPart& A : all) {
      for (const NamedPart& B : all) {
        if (!takes(A.part, is_padded) || !takes(B.part, is_padded)) continue;
        const bool has_floor = A.part.core == ConvexCore::half_space;
        if (B.part.core == ConvexCore::half_space) continue;
        Pair pair(A.part, B.part, is_padded);
        for (const AlignedPose& pose : aligned_poses()) {
          if (has_floor && pose.direction.z() < 1.0) continue;
          for (const double depth : {-1e-4, 1e-5, 0.008, 0.03, 1.0}) {
            const std::string name = A.name + ", " + B.name + ", " + pose.name + ", " +
                                     std::to_string(depth) + (is_padded ? " deep, padded" : " deep");
            judge(name, pair, touching(A.part, B.part, pose, depth), judgement);
          }
        }
      }
    }
    CAPTURE(is_padded, judgement.worst, judgement.cases, judgement.counted);
    CHECK(judgement.cases > (is_padded ? 1000 : 3000));
    CHECK(judgement.wrong == 0);
  }
}

TEST_CASE(
    "convex contacts: smoothed derivatives count as near a kink where they are those of another contact",
    "[collision][derivatives]") {
  const ConvexPart<double> capsule = test::capsule_part(0.02, k_half),
                           box = test::box_part({0.08, k_half, k_half});
  const auto is_marked = [&](const ConvexPart<double>& part, bool is_padded, const Vec3<double>& turn,
                             const ContactConfig& config) {
    Pair pair(part, part, is_padded, config);
    const AlignedPose pose{"", turn, {0.3, 0.2, 0.1}, Vec3<double>(0.1, 1.0, 0.2)};
    const Pair::Sums at = pair.sums(touching(part, part, pose, 1e-5), true);
    REQUIRE(at.contacts > 0);
    return at.near_kink > 0;
  };
  const Vec3<double> crossing(0.0, 0.3, 0.0), askew(0.3, 0.4, 0.5);
  ContactConfig config;
  CHECK(!is_marked(capsule, true, crossing, config));
  config.qp_relaxation = 1e-8;
  CHECK(!is_marked(capsule, true, crossing, config));
  config.qp_relaxation = 1e-3;
  CHECK(is_marked(capsule, true, crossing, config));

  CHECK(!is_marked(box, false, askew, config));  // a setting of the other detector
  config.witness_derivative = WitnessDerivative::finite_differences;
  config.witness_epsilon = 1e-8;
  CHECK(!is_marked(box, false, askew, config));
  for (const WitnessDerivative how :
       {WitnessDerivative::zeroth_gaussian, WitnessDerivative::first_gaussian}) {
    config.witness_derivative = how;
    config.witness_epsilon = 0.1;
    CHECK(is_marked(box, false, askew, config));
  }
}

TEST_CASE("convex contacts: hardly any contact of parts at random poses counts as near a kink",
          "[collision][derivatives][property]") {
  const std::vector<NamedPart> all = parts();
  for (const bool is_padded : {false, true}) {
    Judgement judgement;
    Random random(1);
    for (int i = 0; i < 3000; ++i) {
      const NamedPart &A = all[at(random.integer(static_cast<int>(all.size())))],
                      &B = all[at(random.integer(static_cast<int>(all.size()) - 1))];
      if (!takes(A.part, is_padded) || !takes(B.part, is_padded)) continue;
      const Vec3<double> direction =
          A.part.core == ConvexCore::half_space ? Vec3<double>(Vec3<double>::UnitZ()) : random.unit_vector();
      const AlignedPose pose{"", 2.0 * random.uniform(0.0, 1.0) * random.unit_vector(),
                             0.3 * random.unit_vector(), direction};
      Pair pair(A.part, B.part, is_padded);
      judge(A.name + ", " + B.name + ", random " + std::to_string(i), pair,
            touching(A.part, B.part, pose, random.uniform(-1e-4, 0.01)), judgement);
    }
    CAPTURE(is_padded, judgement.worst, judgement.cases, judgement.counted);
    CHECK(judgement.cases > 1000);
    CHECK(judgement.counted < judgement.cases / 50);
    CHECK(judgement.wrong == 0);
  }
}

}  // namespace
}  // namespace abut
