#include "collision/manifold/contact_blending.h"

#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

#include "engine/check.h"
#include "engine/smooth.h"

namespace abut {
namespace {

constexpr std::size_t k_groups = 42, k_supports = 4;

struct Group {
  Vec3<double> axis;
  std::array<Vec3<double>, k_supports> directions;
};

std::array<Group, k_groups> make_groups() {
  constexpr double golden = 1.6180339887498949;
  std::array<Vec3<double>, 12> corners;
  std::size_t count = 0;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double one : {-1.0, 1.0}) {
      for (const double g : {-golden, golden}) {
        Vec3<double>& corner = corners[count++];
        corner[axis] = 0.0;
        corner[(axis + 1) % 3] = one;
        corner[(axis + 2) % 3] = g;
      }
    }
  }
  std::array<Group, k_groups> groups;
  count = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    groups[count++].axis = corners[i].normalized();
    for (std::size_t k = 0; k < i; ++k) {
      const bool is_edge = (corners[i] - corners[k]).norm() < 2.1;  // edges have the length 2
      if (is_edge) groups[count++].axis = (corners[i] + corners[k]).normalized();
    }
  }
  ABUT_ASSERT(count == k_groups);
  for (Group& group : groups) {
    const Vec3<double> u = group.axis.unitOrthogonal(), v = group.axis.cross(u);
    group.directions = {u, v, Vec3<double>(-u), Vec3<double>(-v)};
  }
  return groups;
}

const std::array<Group, k_groups>& groups() {
  static const std::array<Group, k_groups> all = make_groups();
  return all;
}

/// S(2 K)/K, and its derivative below.
double sharing(double sum) { return sum > 0.0 ? smoothstep5(2.0 * sum) / sum : 0.0; }
double sharing_dsum(double sum) {
  return sum > 0.0 ? (2.0 * smoothstep5_dx(2.0 * sum) - sharing(sum)) / sum : 0.0;
}

/// v sqrt(1 + fade^2)/sqrt(|v|^2 + fade^2), and its VJP (the Jacobian is symmetric).
Vec3<double> faded(const Vec3<double>& v, double fade) {
  return v * std::sqrt((1.0 + fade * fade) / (v.squaredNorm() + fade * fade));
}
Vec3<double> faded_vjp(const Vec3<double>& v, double fade, const Vec3<double>& bar) {
  const double square = v.squaredNorm() + fade * fade;
  return std::sqrt((1.0 + fade * fade) / square) * (bar - v * (v.dot(bar) / square));
}

/// How much of each contact belongs to each group.
struct Membership {
  std::vector<Vec3<double>> normals;                 // N_i
  std::vector<std::array<double, k_groups>> kernel;  // k_ig
  std::vector<double> sum;                           // K_i
  std::array<Vec3<double>, k_groups> axes;           // in W
  std::array<double, k_groups> weight{};             // sum_i mu_i [m^2]
  double area = 0.0;

  Membership(std::span<const Contact> contacts, const Mat3<double>& R_WR, double fade) {
    for (std::size_t g = 0; g < k_groups; ++g) axes[g] = R_WR * groups()[g].axis;
    for (const Contact& contact : contacts) {
      normals.push_back(faded(contact.normal_AB_W, fade));
      std::array<double, k_groups>& k = kernel.emplace_back();
      double total = 0.0;
      for (std::size_t g = 0; g < k_groups; ++g) {
        k[g] = smoothstep5((normals.back().dot(axes[g]) - k_reduction_cosine) / (1.0 - k_reduction_cosine));
        total += k[g];
      }
      sum.push_back(total);
      for (std::size_t g = 0; g < k_groups; ++g)
        weight[g] += contact.area * contact.activity * k[g] * sharing(total);
      area += contact.area;
    }
  }

  [[nodiscard]] double share(std::size_t contact, std::size_t group) const {
    return kernel[contact][group] * sharing(sum[contact]);
  }
};

/// The weights of one support point.
struct Support {
  std::vector<double> w, factor;  // w_i, and dw_i/dmu_i less its part by the sum: exp(s_i)/sum mu exp(s)
  Vec3<double> mean_normal = Vec3<double>::Zero();

  void compute(std::span<const Contact> contacts, const Membership& membership, std::size_t group,
               const Vec3<double>& direction, const ContactBlendingSettings& settings) {
    w.assign(contacts.size(), 0.0);
    factor.assign(contacts.size(), 0.0);
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      w[i] = contacts[i].area * contacts[i].activity * membership.share(i, group);
      factor[i] =
          direction.dot(contacts[i].point_W) / settings.length - contacts[i].signed_distance / settings.depth;
      if (w[i] > 0.0) largest = std::max(largest, factor[i] + std::log(w[i]));
    }
    double total = 0.0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      factor[i] = std::exp(std::min(factor[i] - largest, 700.0));
      w[i] *= factor[i];
      total += w[i];
    }
    mean_normal.setZero();
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      factor[i] /= total;
      w[i] /= total;
      mean_normal += w[i] * contacts[i].normal_AB_W;
    }
  }
};

}  // namespace

void blend_contacts(std::span<const Contact> contacts, const Mat3<double>& R_WR,
                    const ContactBlendingSettings& settings, std::vector<Contact>& blended) {
  blended.clear();
  if (contacts.empty()) return;
  const Membership membership(contacts, R_WR, settings.fade);
  Support support;
  for (std::size_t g = 0; g < k_groups; ++g) {
    if (!(membership.weight[g] > k_no_reduction_weight)) continue;
    for (std::size_t j = 0; j < k_supports; ++j) {
      support.compute(contacts, membership, g, R_WR * groups()[g].directions[j], settings);
      Contact& contact = blended.emplace_back();
      const int number = static_cast<int>(k_supports * g + j);
      contact.feature = {ContactKind::blended, contacts[0].feature.body_A, contacts[0].feature.body_B, number,
                         number};
      contact.point_W.setZero();
      contact.normal_AB_W = faded(support.mean_normal, settings.fade);
      for (std::size_t i = 0; i < contacts.size(); ++i) {
        contact.point_W += support.w[i] * contacts[i].point_W;
        contact.signed_distance += support.w[i] * contacts[i].signed_distance;
      }
      contact.area = membership.area;
      contact.activity = membership.weight[g] / (k_supports * membership.area);
    }
  }
}

void blend_contacts_vjp(std::span<const Contact> contacts, const Mat3<double>& R_WR,
                        const ContactBlendingSettings& settings, std::span<const ContactBar> blended_bar,
                        std::span<ContactBar> contact_bar, Vec3<double>& rotation_bar) {
  if (contacts.empty()) return;
  const Membership membership(contacts, R_WR, settings.fade);
  Support support;
  std::vector<double> w_bar(contacts.size());
  std::vector<std::array<double, k_groups>> share_bar(contacts.size());
  for (auto& bars : share_bar) bars.fill(0.0);
  std::size_t output = 0;
  for (std::size_t g = 0; g < k_groups; ++g) {
    if (!(membership.weight[g] > k_no_reduction_weight)) continue;
    for (std::size_t j = 0; j < k_supports; ++j) {
      const ContactBar& bar = blended_bar[output++];
      const Vec3<double> direction = R_WR * groups()[g].directions[j];
      support.compute(contacts, membership, g, direction, settings);
      const Vec3<double> mean_bar = faded_vjp(support.mean_normal, settings.fade, bar.normal_AB_W);
      double mean = 0.0;
      for (std::size_t i = 0; i < contacts.size(); ++i) {
        w_bar[i] = bar.point_W.dot(contacts[i].point_W) + bar.signed_distance * contacts[i].signed_distance +
                   mean_bar.dot(contacts[i].normal_AB_W);
        mean += support.w[i] * w_bar[i];
      }
      Vec3<double> direction_bar = Vec3<double>::Zero();
      const double weight_bar = bar.activity / (k_supports * membership.area);
      for (std::size_t i = 0; i < contacts.size(); ++i) {
        ContactBar& to = contact_bar[i];
        const double w = support.w[i], score_bar = w * (w_bar[i] - mean);
        to.point_W += w * bar.point_W + (score_bar / settings.length) * direction;
        to.signed_distance += w * bar.signed_distance - score_bar / settings.depth;
        to.normal_AB_W += w * mean_bar;
        direction_bar += (score_bar / settings.length) * contacts[i].point_W;
        const double mu_bar = support.factor[i] * (w_bar[i] - mean) + weight_bar;
        to.activity += contacts[i].area * membership.share(i, g) * mu_bar;
        share_bar[i][g] += contacts[i].area * contacts[i].activity * mu_bar;
      }
      rotation_bar += direction.cross(direction_bar);
    }
  }
  ABUT_ASSERT(output == blended_bar.size());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    double sum_bar = 0.0;
    for (std::size_t g = 0; g < k_groups; ++g) sum_bar += share_bar[i][g] * membership.kernel[i][g];
    sum_bar *= sharing_dsum(membership.sum[i]);
    Vec3<double> normal_bar = Vec3<double>::Zero();
    for (std::size_t g = 0; g < k_groups; ++g) {
      const double cosine = membership.normals[i].dot(membership.axes[g]);
      const double cosine_bar = (share_bar[i][g] * sharing(membership.sum[i]) + sum_bar) *
                                smoothstep5_dx((cosine - k_reduction_cosine) / (1.0 - k_reduction_cosine)) /
                                (1.0 - k_reduction_cosine);
      normal_bar += cosine_bar * membership.axes[g];
      rotation_bar += membership.axes[g].cross(Vec3<double>(cosine_bar * membership.normals[i]));
    }
    contact_bar[i].normal_AB_W += faded_vjp(contacts[i].normal_AB_W, settings.fade, normal_bar);
  }
}

}  // namespace abut
