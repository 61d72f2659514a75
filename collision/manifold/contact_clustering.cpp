#include "collision/manifold/contact_clustering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace abut {
namespace {

struct Cluster {
  std::vector<int> members;
  Vec3<double> centroid = Vec3<double>::Zero();
};

const Contact& contact_at(std::span<const Contact> contacts, int i) {
  return contacts[static_cast<std::size_t>(i)];
}

bool takes(const Cluster& cluster, std::span<const Contact> contacts, int i, double radius) {
  const Contact& contact = contact_at(contacts, i);
  if (!((contact.point_W - cluster.centroid).norm() <= radius)) return false;
  return std::all_of(cluster.members.begin(), cluster.members.end(), [&](int k) {
    const Vec3<double>& normal = contact_at(contacts, k).normal_AB_W;
    return contact.normal_AB_W.dot(normal) > k_reduction_cosine * contact.normal_AB_W.norm() * normal.norm();
  });
}

/// The member closest to `i` of contacts [begin, end) of `kept`, the earlier one of two.
int closest(std::span<const Contact> contacts, const std::vector<int>& kept, std::size_t begin, int i) {
  std::size_t best = begin;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = begin; k < kept.size(); ++k) {
    const double distance =
        (contact_at(contacts, kept[k]).point_W - contact_at(contacts, i).point_W).squaredNorm();
    if (distance < least) least = distance, best = k;
  }
  return static_cast<int>(best);
}

/// Over the contacts counted with each kept one.
struct Weights {
  std::vector<double> w;            // w_i
  std::vector<double> by_activity;  // w_i/activity_i, where that is 0 too

  Weights(std::span<const Contact> contacts, const ContactClusters& clusters, double depth)
      : w(contacts.size()), by_activity(contacts.size()) {
    std::vector<double> least(clusters.kept.size(), std::numeric_limits<double>::infinity()),
        total(clusters.kept.size(), 0.0);
    const auto group = [&](std::size_t i) { return static_cast<std::size_t>(clusters.kept_of[i]); };
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      if (contacts[i].activity > 0.0)
        least[group(i)] = std::min(least[group(i)], contacts[i].signed_distance);
    }
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const double exponent = (least[group(i)] - contacts[i].signed_distance) / depth;
      by_activity[i] = contacts[i].area * std::exp(std::min(exponent, 0.0));
      total[group(i)] += by_activity[i] * contacts[i].activity;
    }
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      // A cluster that has no activity says nothing.
      by_activity[i] = total[group(i)] > k_no_reduction_weight ? by_activity[i] / total[group(i)] : 0.0;
      w[i] = by_activity[i] * contacts[i].activity;
    }
  }
};

/// Sums over the contacts counted with each kept one.
struct Sums {
  std::vector<Vec3<double>> normal;  // sum w n
  std::vector<double> distance, area, active_area;

  Sums(std::span<const Contact> contacts, const ContactClusters& clusters, const std::vector<double>& w)
      : normal(clusters.kept.size(), Vec3<double>::Zero()),
        distance(clusters.kept.size()),
        area(clusters.kept.size()),
        active_area(clusters.kept.size()) {
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const auto k = static_cast<std::size_t>(clusters.kept_of[i]);
      normal[k] += w[i] * contacts[i].normal_AB_W;
      distance[k] += w[i] * contacts[i].signed_distance;
      area[k] += contacts[i].area;
      active_area[k] += contacts[i].area * contacts[i].activity;
    }
  }
};

}  // namespace

ContactClusters cluster_contacts(std::span<const Contact> contacts,
                                 const ContactClusteringSettings& settings) {
  std::vector<int> order(contacts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int k) {
    return contact_at(contacts, i).signed_distance < contact_at(contacts, k).signed_distance;
  });
  std::vector<Cluster> clusters;
  for (const int i : order) {
    const auto found = std::find_if(clusters.begin(), clusters.end(), [&](const Cluster& cluster) {
      return takes(cluster, contacts, i, settings.radius);
    });
    Cluster& cluster = found == clusters.end() ? clusters.emplace_back() : *found;
    cluster.members.push_back(i);
    cluster.centroid +=
        (contact_at(contacts, i).point_W - cluster.centroid) / static_cast<double>(cluster.members.size());
  }

  ContactClusters result;
  result.kept_of.resize(contacts.size());
  for (const Cluster& cluster : clusters) {
    const std::size_t begin = result.kept.size();
    result.kept.push_back(cluster.members.front());  // the deepest
    while (static_cast<int>(result.kept.size() - begin) < settings.points) {
      int farthest = -1;
      double largest = 0.0;
      for (const int i : cluster.members) {
        const auto nearest = static_cast<std::size_t>(closest(contacts, result.kept, begin, i));
        const double away =
            (contact_at(contacts, result.kept[nearest]).point_W - contact_at(contacts, i).point_W)
                .squaredNorm();
        if (away > largest) largest = away, farthest = i;
      }
      if (farthest < 0) break;  // all are kept, or where a kept one is
      result.kept.push_back(farthest);
    }
    for (const int i : cluster.members)
      result.kept_of[static_cast<std::size_t>(i)] = closest(contacts, result.kept, begin, i);
  }
  return result;
}

void clustered_contacts(std::span<const Contact> contacts, const ContactClusters& clusters,
                        const ContactClusteringSettings& settings, std::vector<Contact>& clustered) {
  clustered.clear();
  const Sums sums(contacts, clusters, Weights(contacts, clusters, settings.depth).w);
  const double fade_squared = settings.fade * settings.fade;
  for (std::size_t k = 0; k < clusters.kept.size(); ++k) {
    Contact contact = contact_at(contacts, clusters.kept[k]);
    contact.normal_AB_W =
        sums.normal[k] * std::sqrt((1.0 + fade_squared) / (sums.normal[k].squaredNorm() + fade_squared));
    contact.signed_distance = sums.distance[k];
    contact.area = sums.area[k];
    contact.activity = sums.active_area[k] / sums.area[k];
    clustered.push_back(contact);
  }
}

void clustered_contacts_vjp(std::span<const Contact> contacts, const ContactClusters& clusters,
                            const ContactClusteringSettings& settings,
                            std::span<const ContactBar> clustered_bar, std::span<ContactBar> contact_bar) {
  const Weights weights(contacts, clusters, settings.depth);
  const std::vector<double>& w = weights.w;
  const Sums sums(contacts, clusters, w);
  const double fade_squared = settings.fade * settings.fade;
  std::vector<Vec3<double>> mean_bar(clusters.kept.size());
  std::vector<double> mean(clusters.kept.size());  // of dL/dw
  for (std::size_t k = 0; k < clusters.kept.size(); ++k) {
    const Vec3<double>& m = sums.normal[k];
    const Vec3<double>& bar = clustered_bar[k].normal_AB_W;
    const double square = m.squaredNorm() + fade_squared;
    mean_bar[k] = std::sqrt((1.0 + fade_squared) / square) * (bar - m * (m.dot(bar) / square));
    mean[k] = mean_bar[k].dot(m) + clustered_bar[k].signed_distance * sums.distance[k];
    contact_bar[static_cast<std::size_t>(clusters.kept[k])].point_W += clustered_bar[k].point_W;
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto k = static_cast<std::size_t>(clusters.kept_of[i]);
    const double distance_bar = clustered_bar[k].signed_distance;
    const double w_bar =
        mean_bar[k].dot(contacts[i].normal_AB_W) + distance_bar * contacts[i].signed_distance;
    contact_bar[i].normal_AB_W += w[i] * mean_bar[k];
    contact_bar[i].signed_distance += w[i] * distance_bar - w[i] * (w_bar - mean[k]) / settings.depth;
    contact_bar[i].activity += contacts[i].area / sums.area[k] * clustered_bar[k].activity +
                               weights.by_activity[i] * (w_bar - mean[k]);
  }
}

}  // namespace abut
