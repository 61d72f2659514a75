#include "collision/detectors/convex_contacts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "collision/detectors/convex_kinks.h"
#include "engine/check.h"

namespace abut {
namespace {

/// Columns of a derivative by a motion about one point as those by a motion about another, from which the
/// first is `from_other` [m] away.
template <int rows>
void move_origin(const Vec3<double>& from_other, Eigen::Matrix<double, rows, 6>& by_motion) {
  for (int row = 0; row < rows; ++row) {
    const Vec3<double> by_v = by_motion.template block<1, 3>(row, 3).transpose();
    by_motion.template block<1, 3>(row, 0) += from_other.cross(by_v).transpose();
  }
}

/// A witness with derivatives by the motion of B about a point.
Witness<PatchDual> moving_witness(const Witness<double>& at, const WitnessByB& by_B, const Vec3<double>& p_WB,
                                  const Vec3<double>& about) {
  Eigen::Matrix<double, 10, 6> rows;
  rows << by_B.normal, by_B.point_A, by_B.point_B, by_B.distance.transpose();
  move_origin<10>(p_WB - about, rows);
  const auto number = [&](double value, int row) {
    PatchDual r(value);
    for (int k = 0; k < 6; ++k) r.d[abut::at(k)] = rows(row, k);
    return r;
  };
  Witness<PatchDual> moving;
  for (int i = 0; i < 3; ++i) {
    moving.normal_AB_W[i] = number(at.normal_AB_W[i], i);
    moving.point_A_W[i] = number(at.point_A_W[i], 3 + i);
    moving.point_B_W[i] = number(at.point_B_W[i], 6 + i);
  }
  moving.distance = number(at.distance, 9);
  return moving;
}

PartPlacement<PatchDual> resting(const PartPlacement<double>& X) {
  PartPlacement<PatchDual> r;
  for (int i = 0; i < 3; ++i) {
    r.p_WP[i] = PatchDual(X.p_WP[i]);
    for (int j = 0; j < 3; ++j) r.R_WP(i, j) = PatchDual(X.R_WP(i, j));
  }
  return r;
}

/// The placement of a part that moves by (w; v) about a point.
PartPlacement<PatchDual> moving_placement(const PartPlacement<double>& X, const Vec3<double>& about) {
  PartPlacement<PatchDual> r = resting(X);
  const Vec3<double> arm = X.p_WP - about;
  for (int k = 0; k < 3; ++k) {
    const Vec3<double> turn = Vec3<double>::Unit(k), moved = turn.cross(arm);
    const Mat3<double> turned =
        (Mat3<double>() << turn.cross(X.R_WP.col(0)), turn.cross(X.R_WP.col(1)), turn.cross(X.R_WP.col(2)))
            .finished();
    for (int i = 0; i < 3; ++i) {
      r.p_WP[i].d[at(k)] = moved[i];
      for (int j = 0; j < 3; ++j) r.R_WP(i, j).d[at(k)] = turned(i, j);
    }
    r.p_WP[k].d[at(3 + k)] = 1.0;
  }
  return r;
}

/// @param about  of the motion that derivatives are by
PointContact contact_of(const PatchPoint<PatchDual>& point, const Vec3<double>& about) {
  PointContact contact;
  const auto set_row = [&](int row, const PatchDual& x) {
    for (int k = 0; k < 6; ++k) contact.by_motion(row, k) = x.d[at(k)];
    return x.value;
  };
  for (int i = 0; i < 3; ++i) {
    contact.point_W[i] = set_row(k_row_point + i, point.point_W[i]);
    contact.normal_AB_W[i] = set_row(k_row_normal + i, point.normal_AB_W[i]);
  }
  contact.signed_distance = set_row(k_row_distance, point.distance);
  contact.weight = set_row(k_row_weight, point.weight);
  move_origin<8>(about - contact.point_W, contact.by_motion);
  return contact;
}

PointContact contact_of(const PatchPoint<double>& point) {
  PointContact contact;
  contact.point_W = point.point_W;
  contact.normal_AB_W = point.normal_AB_W;
  contact.signed_distance = point.distance;
  contact.weight = point.weight;
  return contact;
}

/// Whether balls around two parts, or a half-space and a ball, are farther apart than that [m].
bool are_beyond(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                const Pose<double>& X_WB, double reach) {
  const Vec3<double> between = X_WB * B.X_BP.p - X_WA * A.X_BP.p;
  const auto up = [](const Pose<double>& X_W, const ConvexPart<double>& part) {
    return Vec3<double>(X_W.q * (part.X_BP.q * Vec3<double>::UnitZ()));
  };
  if (A.core == ConvexCore::half_space) return up(X_WA, A).dot(between) > B.size + B.radius + reach;
  if (B.core == ConvexCore::half_space) return -up(X_WB, B).dot(between) > A.size + A.radius + reach;
  return between.norm() > A.size + A.radius + B.size + B.radius + reach;
}

}  // namespace

SmoothingSettings smoothing_settings(const ContactConfig& config) {
  SmoothingSettings settings;
  switch (config.witness_derivative) {
    case WitnessDerivative::exact:
    case WitnessDerivative::finite_differences:
      settings.method = SmoothingMethod::finite_differences;
      break;
    case WitnessDerivative::zeroth_gaussian:
      settings.method = SmoothingMethod::zeroth_gaussian;
      break;
    case WitnessDerivative::first_gaussian:
      settings.method = SmoothingMethod::first_gaussian;
      break;
    case WitnessDerivative::first_gumbel:
      settings.method = SmoothingMethod::first_gumbel;
      break;
  }
  settings.epsilon = config.witness_epsilon;
  settings.samples = config.witness_samples + config.witness_samples % 2;  // even: they come in pairs
  settings.seed = static_cast<std::uint64_t>(config.witness_seed);
  return settings;
}

namespace {

/// Whether two derivatives of the same witness points differ by more than a hundredth.
bool differ(const WitnessByB& a, const WitnessByB& b) {
  constexpr double k_tolerance = 0.01;
  const auto is_off = [&](const auto& x, const auto& y) {
    return (x - y).norm() > k_tolerance * (x.norm() + y.norm());
  };
  return is_off(a.normal, b.normal) || is_off(a.point_A, b.point_A) || is_off(a.point_B, b.point_B);
}

}  // namespace

bool ConvexContacts::find_witness(int a, int b, const Pose<double>& X_WA, const Pose<double>& X_WB,
                                  double reach, ConvexContactScratch& scratch, Witness<double>& witness,
                                  AskedDerivatives* asked) const {
  const ConvexPart<double>&A = part_A(a), &B = part_B(b);
  if (are_beyond(A, X_WA, B, X_WB, reach)) return false;
  if (is_padded()) {
    return find_padded_witness(padded_A_[at(a)], X_WA, padded_B_[at(b)], X_WB, witness, asked) &&
           witness.distance < reach;
  }
  ConvexDistanceSettings settings;
  settings.cutoff = reach;
  const ConvexDistance<double> found = convex_distance(A, X_WA, B, X_WB, settings, scratch.convex);
  if (found.status == ConvexStatus::beyond || found.status == ConvexStatus::unbounded) return false;
  witness = {found.normal_AB_W, found.point_A_W, found.point_B_W, found.distance};
  if (asked == nullptr) return true;
  const auto by_B = [](const WitnessDerivatives& J) {
    return WitnessByB{J.distance_B, J.normal_B, J.point_A_B, J.point_B_B};
  };
  const WitnessByB exact = by_B(witness_derivatives(A, X_WA, B, X_WB, found));
  const bool is_exact = config_.witness_derivative == WitnessDerivative::exact ||
                        A.core == ConvexCore::half_space || B.core == ConvexCore::half_space;
  asked->by_B = is_exact ? exact
                         : by_B(smoothed_derivatives(A, X_WA, B, X_WB, found, smoothing_settings(config_),
                                                     scratch.smoothing));
  asked->differ_from_exact = !is_exact && differ(asked->by_B, exact);
  return true;
}

bool ConvexContacts::find_padded_witness(const PaddedPart& A, const Pose<double>& X_WA, const PaddedPart& B,
                                         const Pose<double>& X_WB, Witness<double>& witness,
                                         AskedDerivatives* asked) const {
  if (asked == nullptr) return padded_witness(A, X_WA, B, X_WB, {}, witness, {});
  // The second is a relaxation whose derivatives differences cannot tell from exact ones.
  const std::array<double, 2> relaxations{config_.qp_relaxation, 1e-13};
  const std::size_t count = relaxations[0] > relaxations[1] ? 2 : 1;
  std::array<WitnessByB, 2> by_B;
  const std::span<const double> wanted(relaxations.data(), count);
  if (!padded_witness(A, X_WA, B, X_WB, wanted, witness, {by_B.data(), count})) return false;
  *asked = {by_B[0], count == 2 && differ(by_B[0], by_B[1])};
  return true;
}

void ConvexContacts::find_of_parts(int a, int b, const Pose<double>& X_WA, const Pose<double>& X_WB,
                                   double reach, bool with_derivatives, ConvexContactScratch& scratch,
                                   std::vector<PointContact>& contacts) const {
  contacts.clear();
  const ConvexPart<double>&A = part_A(a), &B = part_B(b);
  Witness<double> witness;
  AskedDerivatives asked;
  if (!find_witness(a, b, X_WA, X_WB, reach, scratch, witness, with_derivatives ? &asked : nullptr)) return;
  bool has_kink = false, has_jump = false;  // of the witness points alone; of the patch, too
  if (with_derivatives) {
    has_jump = is_padded() ? do_cores_meet(padded_A_[at(a)], padded_B_[at(b)], witness)
                           : has_other_way_out(A, X_WA, B, X_WB, witness, scratch.convex);
    has_kink = asked.differ_from_exact || has_kink_of_faces(A, X_WA, B, X_WB, witness, asked.by_B);
  }
  const PartPlacement<double> X_A = part_placement(A, X_WA), X_B = part_placement(B, X_WB);
  const Vec3<double> about = 0.5 * (witness.point_A_W + witness.point_B_W);
  if (with_derivatives) {
    const Witness<PatchDual> moving = moving_witness(witness, asked.by_B, X_WB.p, about);
    FacePatch<PatchDual>& patch = scratch.dual_patch;
    if (config_.flush_faces) {
      find_face_patch<PatchDual>(A, resting(X_A), B, moving_placement(X_B, about), moving,
                                 scratch.dual_memory, patch);
    } else {
      take_witness_only(moving, patch);
    }
    for (const PatchPoint<PatchDual>& point : patch.points) {
      contacts.push_back(contact_of(point, about));
      contacts.back().is_near_kink =
          patch.has_kink || has_jump || (has_kink && point.weight.value > 0.0 && contacts.size() == 1);
    }
  } else {
    FacePatch<double>& patch = scratch.patch;
    if (config_.flush_faces) {
      find_face_patch<double>(A, X_A, B, X_B, witness, scratch.patch_memory, patch);
    } else {
      take_witness_only(witness, patch);
    }
    for (const PatchPoint<double>& point : patch.points) contacts.push_back(contact_of(point));
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    contacts[k].feature_A = a * count_B() + b;
    contacts[k].feature_B = static_cast<int>(k);
  }
}

void ConvexContacts::find(const Pose<double>& X_WA, const Pose<double>& X_WB, double reach,
                          ConvexContactScratch& scratch, std::vector<PointContact>& contacts) const {
  for (int a = 0; a < count_A(); ++a) {
    for (int b = 0; b < count_B(); ++b) {
      find_of_parts(a, b, X_WA, X_WB, reach, false, scratch, scratch.of_parts);
      for (const PointContact& contact : scratch.of_parts)
        if (contact.weight > 0.0 && contact.signed_distance < reach) contacts.push_back(contact);
    }
  }
}

void ConvexContacts::linearize(const Pose<double>& X_WA, const Pose<double>& X_WB,
                               std::span<const ContactFeature> features, ConvexContactScratch& scratch,
                               std::vector<PointContact>& contacts) const {
  std::vector<PointContact>& of_parts = scratch.of_parts;
  int pair_of_parts = -1;
  for (const ContactFeature& feature : features) {
    if (feature.feature_A != pair_of_parts) {
      pair_of_parts = feature.feature_A;
      find_of_parts(pair_of_parts / count_B(), pair_of_parts % count_B(), X_WA, X_WB, k_infinity, true,
                    scratch, of_parts);
    }
    if (of_parts.empty()) {  // two half-spaces, or a program without a solution
      contacts.emplace_back();
      continue;
    }
    const std::size_t point = at(feature.feature_B);
    const bool is_lost = point >= of_parts.size();
    contacts.push_back(of_parts[is_lost ? 0 : point]);
    if (!is_lost) continue;
    contacts.back().weight = 0.0;
    contacts.back().by_motion.row(k_row_weight).setZero();
  }
}

}  // namespace abut
