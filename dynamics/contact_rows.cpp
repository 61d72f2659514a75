#include "dynamics/contact_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynamics/fixed_motion.h"
#include "engine/smooth.h"

namespace abut {
namespace {

double smallest_area(const Model& model, int body_A, int body_B) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const int body : {body_A, body_B}) {
    const auto& areas = model.bodies[static_cast<std::size_t>(body)].contact_areas;
    if (!areas.empty()) smallest = std::min(smallest, *std::min_element(areas.begin(), areas.end()));
  }
  return smallest;
}

/// D(x) and its derivative; see the head of contact_rows.h.
void share_denominator(double sum, double floor, double& value, double& slope) {
  const double t = 1.0 - sum / floor;
  value = sum + (t > 0.0 ? floor / 3.0 * t * t * t : 0.0);
  slope = 1.0 - (t > 0.0 ? t * t : 0.0);
}

/// Q(x), the integral of smoothstep5: 0 for x < 0, x - 1/2 for x > 1.
double smoothstep5_integral(double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return x - 0.5;
  return x * x * x * x * (2.5 + x * (x - 3.0));
}

}  // namespace

PairMaterial pair_material(const Model& model, int body_A, int body_B, double default_dissipation_time) {
  const Material& a = model.bodies[static_cast<std::size_t>(body_A)].material;
  const Material& b = model.bodies[static_cast<std::size_t>(body_B)].material;
  const auto tau = [&](double t) { return t < 0.0 ? default_dissipation_time : t; };
  PairMaterial pair;
  const double sum = a.friction + b.friction;
  pair.friction = sum > 0.0 ? 2.0 * a.friction * b.friction / sum : 0.0;
  pair.compliance = 1.0 / a.stiffness + 1.0 / b.stiffness;
  pair.dissipation_time = 0.5 * (tau(a.dissipation_time) + tau(b.dissipation_time));
  pair.restitution = 0.5 * (a.restitution + b.restitution);
  for (const PairOverride& o : model.pair_overrides) {
    if (o.body_A != body_A || o.body_B != body_B) continue;
    if (!std::isnan(o.friction)) pair.friction = o.friction;
    if (!std::isnan(o.stiffness)) pair.compliance = 1.0 / o.stiffness;
    if (!std::isnan(o.dissipation_time)) pair.dissipation_time = tau(o.dissipation_time);
    if (!std::isnan(o.restitution)) pair.restitution = o.restitution;
  }
  return pair;
}

void make_rows(const Model& model, const MassMatrix& mass, const State& state,
               const ContactManifold& manifold, const RowSettings& settings, ContactRows& out,
               std::span<const ContactClusters> clusters) {
  out.rows.clear();
  out.pairs.clear();
  out.members.clear();
  out.member_contacts.clear();
  for (const ContactPair& contact_pair : manifold.pairs) {
    const int A = contact_pair.body_A, B = contact_pair.body_B;
    const auto a = static_cast<std::size_t>(A), b = static_cast<std::size_t>(B);
    RowPair pair;
    pair.body_A = A;
    pair.body_B = B;
    pair.slot_A = mass.slot(A);
    pair.slot_B = mass.slot(B);
    if (pair.slot_A < 0) pair.V_A = fixed_twist(model, state, settings.h, A);
    if (pair.slot_B < 0) pair.V_B = fixed_twist(model, state, settings.h, B);
    const bool drifts = !pair.V_A.isZero(0.0) || !pair.V_B.isZero(0.0);
    pair.begin = static_cast<int>(out.rows.size());
    pair.member_begin = static_cast<int>(out.members.size());
    pair.tau = contact_pair.activity_smoothing + settings.resting_band;
    pair.reduction = contact_pair.reduction;
    const bool is_reduced = pair.reduction.kind != Reduction::none;
    const int number = static_cast<int>(out.pairs.size());
    const double inverse_mass = mass.inverse_mass(A) + mass.inverse_mass(B);
    const Vec3<double> p_A = state.X_WB[a].p, p_B = state.X_WB[b].p;
    const Vec6<double>&V_A = pair.slot_A < 0 ? pair.V_A : state.V_WB[a],
          &V_B = pair.slot_B < 0 ? pair.V_B : state.V_WB[b];
    const auto make_row = [&](const Contact& contact, int index) {
      ContactRow row;
      row.body_A = A;
      row.body_B = B;
      row.slot_A = pair.slot_A;
      row.slot_B = pair.slot_B;
      row.pair = number;
      row.contact = index;
      row.r_A = contact.point_W - p_A;
      row.r_B = contact.point_W - p_B;
      row.n = contact.normal_AB_W;
      const double band = 8.0 * pair.tau, above = (contact.penetration - contact.signed_distance) / band;
      row.distance = contact.signed_distance + band * smoothstep5_integral(above);
      row.distance_by_penetration = smoothstep5(above);
      row.area = contact.area;
      row.inverse_mass = inverse_mass;
      if (drifts) row.drift = point_velocity(pair.V_B, row.r_B) - point_velocity(pair.V_A, row.r_A);
      return row;
    };
    std::vector<ContactRow>& list = is_reduced ? out.members : out.rows;
    const double by_gap = 1.0 / (8.0 * pair.tau);
    for (int i = contact_pair.begin; i < contact_pair.end; ++i) {
      const Contact& contact = manifold.contacts[static_cast<std::size_t>(i)];
      const Vec3<double> r_A = contact.point_W - p_A, r_B = contact.point_W - p_B;
      const Vec3<double> u =
          V_B.tail<3>() + V_B.head<3>().cross(r_B) - V_A.tail<3>() - V_A.head<3>().cross(r_A);
      const double gap = contact.penetration + settings.h * contact.normal_AB_W.dot(u);
      const double x = 0.5 - gap * by_gap;
      if (!(x > 0.0 && contact.weight > 0.0)) continue;
      ContactRow row = make_row(contact, i);
      row.share_by_weight = contact.area * smoothstep5(x);
      row.share = contact.weight * row.share_by_weight;
      row.share_slope = -contact.area * contact.weight * smoothstep5_dx(x) * by_gap;
      list.push_back(row);
      if (!is_reduced) continue;
      out.member_contacts.push_back(contact);
      out.member_contacts.back().area = 1.0;  // areas may change with poses: the share says it all
      out.member_contacts.back().activity = row.share;
      out.member_contacts.back().signed_distance = row.distance;
    }
    pair.member_end = static_cast<int>(out.members.size());
    if (is_reduced) {
      pair.R_WA = state.X_WB[a].rotation();
      if (out.pairs.size() < clusters.size()) pair.clusters = clusters[out.pairs.size()];
      reduce_contacts(std::span(out.member_contacts).subspan(static_cast<std::size_t>(pair.member_begin)),
                      pair.R_WA, pair.reduction, pair.clusters, out.reduced);
      for (const Contact& contact : out.reduced) {
        ContactRow row = make_row(contact, -1);
        row.share = contact.area * contact.activity;
        out.rows.push_back(row);
      }
    }
    pair.end = static_cast<int>(out.rows.size());
    if (pair.end == pair.begin) continue;
    double sum = 0.0;
    for (int i = pair.begin; i < pair.end; ++i) sum += out.rows[static_cast<std::size_t>(i)].share;
    share_denominator(sum, 0.5 * smallest_area(model, A, B), pair.denominator, pair.denominator_slope);
    for (int i = pair.begin; i < pair.end; ++i) {
      ContactRow& row = out.rows[static_cast<std::size_t>(i)];
      row.weight = row.share / pair.denominator;
    }
    pair.material = pair_material(model, A, B, settings.default_dissipation_time);
    out.pairs.push_back(std::move(pair));
  }
}

namespace {

double inner_product(const ContactBar& bar, const ContactBar& dot) {
  return bar.point_W.dot(dot.point_W) + bar.signed_distance * dot.signed_distance +
         bar.normal_AB_W.dot(dot.normal_AB_W) + bar.activity * dot.activity +
         bar.penetration * dot.penetration + bar.weight * dot.weight + bar.area * dot.area;
}

/// The JVP of reduce_contacts(), by one VJP for each number of the few contacts that are left.
std::vector<ContactBar> reduce_contacts_jvp(std::span<const Contact> contacts, const RowPair& pair,
                                            std::span<const ContactBar> contacts_dot,
                                            const Vec3<double>& rotation_A_dot) {
  const auto left = static_cast<std::size_t>(pair.end - pair.begin);
  std::vector<ContactBar> reduced_dot(left), seed(left), contacts_bar;
  const auto slope = [&](double& bar) {
    bar = 1.0;
    contacts_bar.assign(contacts.size(), ContactBar{});
    Vec3<double> rotation_A_bar = Vec3<double>::Zero();
    reduce_contacts_vjp(contacts, pair.R_WA, pair.reduction, pair.clusters, seed, contacts_bar,
                        rotation_A_bar);
    bar = 0.0;
    double sum = rotation_A_bar.dot(rotation_A_dot);
    for (std::size_t i = 0; i < contacts.size(); ++i) sum += inner_product(contacts_bar[i], contacts_dot[i]);
    return sum;
  };
  for (std::size_t k = 0; k < left; ++k) {
    for (int axis = 0; axis < 3; ++axis) {
      reduced_dot[k].point_W[axis] = slope(seed[k].point_W[axis]);
      reduced_dot[k].normal_AB_W[axis] = slope(seed[k].normal_AB_W[axis]);
    }
    reduced_dot[k].signed_distance = slope(seed[k].signed_distance);
    reduced_dot[k].activity = slope(seed[k].activity);
  }
  return reduced_dot;
}

}  // namespace

void rows_jvp(const ContactRows& rows, const MassMatrix& mass, double h, const Eigen::VectorXd& velocity,
              const ContactRowsDirection& direction, std::span<ContactRowBar> dots) {
  const auto pose_dot = [&](int body) -> const Vec6<double>& {
    return direction.state.pose[static_cast<std::size_t>(body)];
  };
  const auto inverse_mass_dot = [&](int body) {
    const int slot = mass.slot(body);
    const double inverse = mass.inverse_mass(body);
    return slot < 0 ? 0.0 : -direction.mass[static_cast<std::size_t>(slot)] * inverse * inverse;
  };
  const auto row_dot = [&](const RowPair& pair, const ContactRow& row, const ContactBar& contact) {
    ContactRowBar dot;
    dot.r_A = contact.point_W - pose_dot(row.body_A).tail<3>();
    dot.r_B = contact.point_W - pose_dot(row.body_B).tail<3>();
    dot.n = contact.normal_AB_W;
    dot.distance = contact.signed_distance +
                   row.distance_by_penetration * (contact.penetration - contact.signed_distance);
    dot.inverse_mass = inverse_mass_dot(row.body_A) + inverse_mass_dot(row.body_B);
    const auto point_velocity_dot = [&](int body, const Vec6<double>& V, const Vec3<double>& r,
                                        const Vec3<double>& r_dot) -> Vec3<double> {
      const Vec6<double>& V_dot = direction.state.twist[static_cast<std::size_t>(body)];
      return point_velocity(V_dot, r) + V.head<3>().cross(r_dot);
    };
    if (row.slot_A < 0) dot.drift -= point_velocity_dot(row.body_A, pair.V_A, row.r_A, dot.r_A);
    if (row.slot_B < 0) dot.drift += point_velocity_dot(row.body_B, pair.V_B, row.r_B, dot.r_B);
    return dot;
  };
  const auto share_dot = [&](const ContactRow& row, const ContactRowBar& dot, const ContactBar& contact) {
    const double gap_dot =
        contact.penetration + h * (dot.n.dot(relative_velocity(row, velocity)) +
                                   row.n.dot(relative_velocity_jvp(row, dot, velocity, direction.velocity)));
    return row.share_slope * gap_dot + row.share_by_weight * contact.weight +
           row.share / row.area * contact.area;
  };

  std::vector<ContactBar> members_dot, reduced_dot;
  std::vector<double> shares_dot;
  for (const RowPair& pair : rows.pairs) {
    const bool is_reduced = pair.reduction.kind != Reduction::none;
    if (is_reduced) {
      members_dot.clear();
      for (int i = pair.member_begin; i < pair.member_end; ++i) {
        const ContactRow& member = rows.members[static_cast<std::size_t>(i)];
        const ContactBar& contact = direction.contacts[static_cast<std::size_t>(member.contact)];
        const ContactRowBar member_dot = row_dot(pair, member, contact);
        members_dot.push_back(contact);
        members_dot.back().activity = share_dot(member, member_dot, contact);
        members_dot.back().signed_distance = member_dot.distance;
      }
      reduced_dot =
          reduce_contacts_jvp(std::span(rows.member_contacts)
                                  .subspan(static_cast<std::size_t>(pair.member_begin), members_dot.size()),
                              pair, members_dot, pose_dot(pair.body_A).head<3>());
    }
    shares_dot.clear();
    double sum_dot = 0.0;
    for (int i = pair.begin; i < pair.end; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const ContactRow& row = rows.rows[k];
      const ContactBar& contact = is_reduced ? reduced_dot[static_cast<std::size_t>(i - pair.begin)]
                                             : direction.contacts[static_cast<std::size_t>(row.contact)];
      dots[k] = row_dot(pair, row, contact);
      shares_dot.push_back(is_reduced ? row.area * contact.activity : share_dot(row, dots[k], contact));
      sum_dot += shares_dot.back();
    }
    for (int i = pair.begin; i < pair.end; ++i) {
      const auto k = static_cast<std::size_t>(i);
      dots[k].weight = (shares_dot[static_cast<std::size_t>(i - pair.begin)] -
                        rows.rows[k].weight * pair.denominator_slope * sum_dot) /
                       pair.denominator;
    }
  }
}

double rows_vjp(const ContactRows& rows, double h, const Eigen::VectorXd& velocity,
                std::span<const ContactRowBar> bars, const ContactRowsGradient& gradient) {
  double h_bar = 0.0;
  const auto pose_bar = [&](int body) -> Vec6<double>& {
    return gradient.pose[static_cast<std::size_t>(body)];
  };
  const auto add_arms = [&](const RowPair& pair, const ContactRow& row,
                            const ContactRowBar& bar) -> Vec3<double> {
    Vec3<double> r_A_bar = bar.r_A, r_B_bar = bar.r_B;
    if (row.slot_A < 0) {
      r_A_bar -= bar.drift.cross(pair.V_A.head<3>());
      gradient.fixed_twist[static_cast<std::size_t>(row.body_A)] -= wrench_of_force(row.r_A, bar.drift);
    }
    if (row.slot_B < 0) {
      r_B_bar += bar.drift.cross(pair.V_B.head<3>());
      gradient.fixed_twist[static_cast<std::size_t>(row.body_B)] += wrench_of_force(row.r_B, bar.drift);
    }
    pose_bar(row.body_A).tail<3>() -= r_A_bar;
    pose_bar(row.body_B).tail<3>() -= r_B_bar;
    return r_A_bar + r_B_bar;
  };
  // The share of a contact of the manifold by its penetration, weight, normal, arms and velocities.
  const auto add_share = [&](const RowPair& pair, const ContactRow& row, double share_bar,
                             ContactBar& contact) {
    const double gap_bar = share_bar * row.share_slope;
    const Vec3<double> u = relative_velocity(row, velocity);
    contact.penetration += gap_bar;
    contact.weight += share_bar * row.share_by_weight;
    contact.area += share_bar * row.share / row.area;
    contact.normal_AB_W += h * gap_bar * u;
    h_bar += gap_bar * row.n.dot(u);
    const Vec3<double> impulse = h * gap_bar * row.n;
    ContactRowBar arms;
    add_velocity_bar(row, impulse, velocity, arms);
    contact.point_W += add_arms(pair, row, arms);
    add_impulse(row, impulse, *gradient.velocity);
  };

  const auto add_distance = [](const ContactRow& row, double distance_bar, ContactBar& contact) {
    contact.signed_distance += (1.0 - row.distance_by_penetration) * distance_bar;
    contact.penetration += row.distance_by_penetration * distance_bar;
  };

  std::vector<ContactBar> reduced_bar, member_bar;
  for (const RowPair& pair : rows.pairs) {
    double shared = 0.0;
    for (int i = pair.begin; i < pair.end; ++i) {
      const auto k = static_cast<std::size_t>(i);
      shared += bars[k].weight * rows.rows[k].weight;
    }
    shared *= pair.denominator_slope / pair.denominator;
    const bool is_reduced = pair.reduction.kind != Reduction::none;
    reduced_bar.clear();
    for (int i = pair.begin; i < pair.end; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const ContactRow& row = rows.rows[k];
      const double share_bar = bars[k].weight / pair.denominator - shared;
      ContactBar& bar =
          is_reduced ? reduced_bar.emplace_back() : gradient.contacts[static_cast<std::size_t>(row.contact)];
      bar.point_W += add_arms(pair, row, bars[k]);
      add_distance(row, bars[k].distance, bar);
      bar.normal_AB_W += bars[k].n;
      if (is_reduced) {
        bar.activity = share_bar * row.area;
      } else {
        add_share(pair, row, share_bar, bar);
      }
    }
    if (!is_reduced) continue;
    const auto first = static_cast<std::size_t>(pair.member_begin),
               count = static_cast<std::size_t>(pair.member_end - pair.member_begin);
    member_bar.assign(count, ContactBar{});
    Vec3<double> rotation_A_bar = Vec3<double>::Zero();
    reduce_contacts_vjp(std::span(rows.member_contacts).subspan(first, count), pair.R_WA, pair.reduction,
                        pair.clusters, reduced_bar, member_bar, rotation_A_bar);
    pose_bar(pair.body_A).head<3>() += rotation_A_bar;
    for (std::size_t i = 0; i < count; ++i) {
      const ContactRow& member = rows.members[first + i];
      ContactBar& bar = gradient.contacts[static_cast<std::size_t>(member.contact)];
      const double share_bar = member_bar[i].activity, distance_bar = member_bar[i].signed_distance;
      member_bar[i].activity = 0.0;  // the members' own: not that of their contacts, as their distance is
      member_bar[i].signed_distance = 0.0;
      bar += member_bar[i];
      add_distance(member, distance_bar, bar);
      add_share(pair, member, share_bar, bar);
    }
  }
  return h_bar;
}

}  // namespace abut
