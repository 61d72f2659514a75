#include "dynamics/rows/contact_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynamics/motion/fixed_motion.h"
#include "engine/smooth.h"

namespace abut {
namespace {

/// D(x) and its derivative; see the head of contact_rows.h.
void share_denominator(double sum, double floor, double& value, double& slope) {
  const double t = 1.0 - sum / floor;
  value = sum + (t > 0.0 ? floor / 3.0 * t * t * t : 0.0);
  slope = 1.0 - (t > 0.0 ? t * t : 0.0);
}

/// b = -h/2 w x (v_B - v_A), see the head of contact_rows.h; both are changes of it in the JVP.
struct SurfaceTurning {
  Vec3<double> w;        ///< of the body of infinite mass
  Vec3<double> passing;  ///< v_B - v_A

  SurfaceTurning(const RowPair& pair, const Vec6<double>& V_A, const Vec6<double>& V_B)
      : w(pair.slot_A < 0 ? V_A.head<3>() : V_B.head<3>()), passing(V_B.tail<3>() - V_A.tail<3>()) {}

  [[nodiscard]] Vec3<double> value(double h) const { return -0.5 * h * w.cross(passing); }
  [[nodiscard]] Vec3<double> jvp(double h, const SurfaceTurning& dot) const {
    return -0.5 * h * (dot.w.cross(passing) + w.cross(dot.passing));
  }
  /// dL/d(w) and dL/d(passing).
  [[nodiscard]] Vec3<double> vjp_w(double h, const Vec3<double>& bar) const {
    return -0.5 * h * passing.cross(bar);
  }
  [[nodiscard]] Vec3<double> vjp_passing(double h, const Vec3<double>& bar) const {
    return -0.5 * h * bar.cross(w);
  }
};

/// The part of b along a surface of normal n.
Vec3<double> along_surface(const Vec3<double>& b, const Vec3<double>& n) { return b - n.dot(b) * n; }

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

namespace {

/// Whether a body touches another such at one place, whichever detector finds it, but for triangles. Its kind
/// decides, no number of its shape: forces are continuous functions of those, and differentiated with respect
/// to them. A capsule of length 0 is a capsule.
bool is_ball_or_plane(const Body& body) {
  if (body.shape.primitives.size() != 1 || body.contact_points.cols() > 1) return false;
  const PrimitiveKind kind = body.shape.primitives[0].kind;
  return kind == PrimitiveKind::sphere || kind == PrimitiveKind::half_space;
}

}  // namespace

void make_rows(const Model& model, const MassMatrix& mass, const State& state, const ContactList& contacts,
               std::span<const ContactPair> pairs, const RowSettings& settings, ContactRows& out,
               std::span<const ContactClusters> clusters) {
  out.rows.clear();
  out.pairs.clear();
  out.members.clear();
  out.member_contacts.clear();
  const ContactBlock<double>& block = contacts.block();
  for (const ContactPair& contact_pair : pairs) {
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
    pair.known = contact_pair.known;
    pair.shares = !(is_ball_or_plane(model.bodies[a]) && is_ball_or_plane(model.bodies[b]));
    pair.reduction = contact_pair.reduction;
    const bool is_reduced = pair.reduction.kind != Reduction::none;
    const int number = static_cast<int>(out.pairs.size());
    const double inverse_mass = mass.inverse_mass(A) + mass.inverse_mass(B);
    const Vec3<double> p_A = state.X_WB[a].p, p_B = state.X_WB[b].p;
    const Vec6<double>&V_A = pair.slot_A < 0 ? pair.V_A : state.V_WB[a],
          &V_B = pair.slot_B < 0 ? pair.V_B : state.V_WB[b];
    // The relative velocity at a point r from A's centre is u + w x r.
    const Vec3<double> from_B = p_A - p_B, w = V_B.head<3>() - V_A.head<3>(),
                       u = point_velocity(V_B, from_B) - V_A.tail<3>();
    if (drifts) pair.turning = SurfaceTurning(pair, V_A, V_B).value(settings.h);
    const double band = 8.0 * pair.tau, by_gap = 1.0 / band;
    const auto add_row = [&](std::vector<ContactRow>& list, const Vec3<double>& point, const Vec3<double>& n,
                             double distance, double area, int index, double share, double share_slope,
                             double share_by_weight) {
      const Vec3<double> r_A = point - p_A, r_B = point - p_B;
      list.push_back({A, B, pair.slot_A, pair.slot_B, number, index, r_A, r_B, n, distance, 0.0, area, share,
                      share_slope, share_by_weight, inverse_mass});
      if (!drifts) return;
      list.back().drift =
          point_velocity(pair.V_B, r_B) - point_velocity(pair.V_A, r_A) + along_surface(pair.turning, n);
    };
    std::vector<ContactRow>& list = is_reduced ? out.members : out.rows;
    for (int i = contact_pair.begin; i < contact_pair.end; ++i) {
      const double distance = block.number(k_contact_distance, i), weight = block.number(k_contact_weight, i);
      const Vec3<double> point = block.vector(k_contact_point, i), n = block.vector(k_contact_normal, i);
      const double x = 0.5 - (distance + settings.h * n.dot(u + w.cross(point - p_A))) * by_gap;
      if (!(x > 0.0 && weight > 0.0)) continue;
      const double area = block.number(k_contact_area, i), share_by_weight = area * smoothstep5(x),
                   share = weight * share_by_weight;
      add_row(list, point, n, distance, area, i, share, -area * weight * smoothstep5_dx(x) * by_gap,
              share_by_weight);
      if (!is_reduced) continue;
      out.member_contacts.push_back(contacts[static_cast<std::size_t>(i)]);
      out.member_contacts.back().area = 1.0;  // areas may change with poses: the share says it all
      out.member_contacts.back().activity = share;
      out.member_contacts.back().signed_distance = list.back().distance;
    }
    pair.member_end = static_cast<int>(out.members.size());
    if (is_reduced) {
      pair.R_WR = state.X_WB[static_cast<std::size_t>(pair.reference_body())].rotation();
      if (out.pairs.size() < clusters.size()) pair.clusters = clusters[out.pairs.size()];
      reduce_contacts(std::span(out.member_contacts).subspan(static_cast<std::size_t>(pair.member_begin)),
                      pair.R_WR, pair.reduction, pair.clusters, out.reduced);
      for (const Contact& contact : out.reduced) {
        add_row(out.rows, contact.point_W, contact.normal_AB_W, contact.signed_distance, contact.area, -1,
                contact.area * contact.activity, 0.0, 0.0);
      }
    }
    pair.end = static_cast<int>(out.rows.size());
    if (pair.end == pair.begin) continue;
    double sum = 0.0;
    for (int i = pair.begin; i < pair.end; ++i) sum += out.rows[static_cast<std::size_t>(i)].share;
    share_denominator(sum, 0.5 * contact_pair.smallest_area, pair.denominator, pair.denominator_slope);
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
         bar.normal_AB_W.dot(dot.normal_AB_W) + bar.activity * dot.activity + bar.weight * dot.weight +
         bar.area * dot.area;
}

/// The JVP of reduce_contacts(), by one VJP for each number of the few contacts that are left.
std::vector<ContactBar> reduce_contacts_jvp(std::span<const Contact> contacts, const RowPair& pair,
                                            std::span<const ContactBar> contacts_dot,
                                            const Vec3<double>& rotation_dot) {
  const auto left = static_cast<std::size_t>(pair.end - pair.begin);
  std::vector<ContactBar> reduced_dot(left), seed(left), contacts_bar;
  const auto slope = [&](double& bar) {
    bar = 1.0;
    contacts_bar.assign(contacts.size(), ContactBar{});
    Vec3<double> rotation_bar = Vec3<double>::Zero();
    reduce_contacts_vjp(contacts, pair.R_WR, pair.reduction, pair.clusters, seed, contacts_bar, rotation_bar);
    bar = 0.0;
    double sum = rotation_bar.dot(rotation_dot);
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

void rows_jvp(const ContactRows& rows, const MassMatrix& mass, double h, const GrowableVector& velocity,
              const ContactRowsDirection& direction, std::span<ContactRowBar> dots) {
  const auto pose_dot = [&](int body) -> const Vec6<double>& {
    return direction.state.pose[static_cast<std::size_t>(body)];
  };
  const auto inverse_mass_dot = [&](int body) {
    const double inverse = mass.inverse_mass(body);
    double dot = 0.0;
    mass.each_fixed_together(
        body, [&](int slot) { dot -= direction.mass[static_cast<std::size_t>(slot)] * inverse * inverse; });
    return dot;
  };
  const auto twist_of = [](int slot, const Vec6<double>& of_fixed, const GrowableVector& of_moving) {
    return slot < 0 ? of_fixed : Vec6<double>(of_moving.segment<6>(6 * slot));
  };
  const auto pair_turning_dot = [&](const RowPair& pair) -> Vec3<double> {
    const auto twist_dot = [&](int body, int slot) {
      return twist_of(slot, direction.state.twist[static_cast<std::size_t>(body)], direction.velocity);
    };
    const SurfaceTurning turning(pair, twist_of(pair.slot_A, pair.V_A, velocity),
                                 twist_of(pair.slot_B, pair.V_B, velocity)),
        dot(pair, twist_dot(pair.body_A, pair.slot_A), twist_dot(pair.body_B, pair.slot_B));
    return turning.jvp(h, dot);
  };
  Vec3<double> turning_dot = Vec3<double>::Zero();  // of the pair at hand
  const auto row_dot = [&](const RowPair& pair, const ContactRow& row, const ContactBar& contact) {
    ContactRowBar dot;
    dot.r_A = contact.point_W - pose_dot(row.body_A).tail<3>();
    dot.r_B = contact.point_W - pose_dot(row.body_B).tail<3>();
    dot.n = contact.normal_AB_W;
    dot.distance = contact.signed_distance;
    dot.inverse_mass = inverse_mass_dot(row.body_A) + inverse_mass_dot(row.body_B);
    const auto point_velocity_dot = [&](int body, const Vec6<double>& V, const Vec3<double>& r,
                                        const Vec3<double>& r_dot) -> Vec3<double> {
      const Vec6<double>& V_dot = direction.state.twist[static_cast<std::size_t>(body)];
      return point_velocity(V_dot, r) + V.head<3>().cross(r_dot);
    };
    if (row.slot_A < 0) dot.drift -= point_velocity_dot(row.body_A, pair.V_A, row.r_A, dot.r_A);
    if (row.slot_B < 0) dot.drift += point_velocity_dot(row.body_B, pair.V_B, row.r_B, dot.r_B);
    if (!pair.both_move()) {
      dot.drift += along_surface(turning_dot, row.n) - dot.n.dot(pair.turning) * row.n -
                   row.n.dot(pair.turning) * dot.n;
    }
    return dot;
  };
  const auto share_dot = [&](const ContactRow& row, const ContactRowBar& dot, const ContactBar& contact) {
    const double gap_dot = contact.signed_distance +
                           h * (dot.n.dot(relative_velocity(row, velocity)) +
                                row.n.dot(relative_velocity_jvp(row, dot, velocity, direction.velocity)));
    return row.share_slope * gap_dot + row.share_by_weight * contact.weight +
           row.share / row.area * contact.area;
  };

  std::vector<ContactBar> members_dot, reduced_dot;
  for (const RowPair& pair : rows.pairs) {
    if (!pair.both_move()) turning_dot = pair_turning_dot(pair);
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
                              pair, members_dot, pose_dot(pair.reference_body()).head<3>());
    }
    double sum_dot = 0.0;
    for (int i = pair.begin; i < pair.end; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const ContactRow& row = rows.rows[k];
      const ContactBar& contact = is_reduced ? reduced_dot[static_cast<std::size_t>(i - pair.begin)]
                                             : direction.contacts[static_cast<std::size_t>(row.contact)];
      dots[k] = row_dot(pair, row, contact);
      dots[k].weight = is_reduced ? row.area * contact.activity : share_dot(row, dots[k], contact);
      sum_dot += dots[k].weight;  // of the share, until the sum is known
    }
    for (int i = pair.begin; i < pair.end; ++i) {
      const auto k = static_cast<std::size_t>(i);
      dots[k].weight =
          (dots[k].weight - rows.rows[k].weight * pair.denominator_slope * sum_dot) / pair.denominator;
    }
  }
}

namespace {

/// The way back of what the rows of a pair have in common with its bodies: sums over rows, added at the end.
class PairSums {
 public:
  PairSums(const ContactRows& rows, const RowPair& pair, double h, const GrowableVector& velocity)
      : pair_(pair),
        h_(h),
        V_A_(pair.slot_A < 0 ? pair.V_A : Vec6<double>(velocity.segment<6>(6 * pair.slot_A))),
        V_B_(pair.slot_B < 0 ? pair.V_B : Vec6<double>(velocity.segment<6>(6 * pair.slot_B))),
        turn_(V_B_.head<3>() - V_A_.head<3>()) {
    const ContactRow& first = rows.rows[static_cast<std::size_t>(pair.begin)];
    shift_ = first.r_B - first.r_A;
    speed_ = point_velocity(V_B_, shift_) - V_A_.tail<3>();
  }

  /// From dL/d(arms, drift) to the bodies; returns what it makes of dL/d(contact point).
  Vec3<double> add_arms(const ContactRow& row, const ContactRowBar& bar) {
    Vec3<double> r_A_bar = bar.r_A, r_B_bar = bar.r_B;
    if (pair_.slot_A < 0) {
      r_A_bar -= bar.drift.cross(V_A_.head<3>());
      add_wrench(row.r_A, bar.drift, wrench_A_);
    }
    if (pair_.slot_B < 0) {
      r_B_bar += bar.drift.cross(V_B_.head<3>());
      add_wrench(row.r_B, bar.drift, wrench_B_);
    }
    point_A_ += r_A_bar;
    point_B_ += r_B_bar;
    return r_A_bar + r_B_bar;
  }

  /// From dL/d(drift) to b; returns what it makes of dL/d(normal).
  Vec3<double> add_turning(const ContactRow& row, const Vec3<double>& drift_bar) {
    if (pair_.both_move()) return Vec3<double>::Zero();
    turning_bar_ += along_surface(drift_bar, row.n);
    return -row.n.dot(pair_.turning) * drift_bar - row.n.dot(drift_bar) * pair_.turning;
  }

  /// The share of a contact of the manifold by its penetration, weight, normal, arms and velocities.
  void add_share(const ContactRow& row, double share_bar, ContactBar& contact) {
    const double gap_bar = share_bar * row.share_slope;
    const Vec3<double> u = speed_ + turn_.cross(row.r_A), impulse = h_ * gap_bar * row.n;
    contact.signed_distance += gap_bar;
    contact.weight += share_bar * row.share_by_weight;
    contact.area += share_bar * row.share / row.area;
    contact.normal_AB_W += h_ * gap_bar * u;
    contact.point_W += impulse.cross(turn_);
    add_wrench(row.r_A, impulse, shares_);
  }

  void add_to(const ContactRowsGradient& gradient) const {
    const auto a = static_cast<std::size_t>(pair_.body_A), b = static_cast<std::size_t>(pair_.body_B);
    const Vec3<double> force = shares_.tail<3>(), torque = shares_.head<3>(),
                       torque_B = torque + shift_.cross(force);
    gradient.pose[a].tail<3>() -= point_A_ + V_A_.head<3>().cross(force);
    gradient.pose[b].tail<3>() -= point_B_ + force.cross(V_B_.head<3>());
    Vec6<double> by_A = wrench_A_ + shares_, by_B = wrench_B_ + stack<double>(torque_B, force);
    if (!pair_.both_move()) {
      const SurfaceTurning turning(pair_, V_A_, V_B_);
      const Vec3<double> passing_bar = turning.vjp_passing(h_, turning_bar_),
                         w_bar = turning.vjp_w(h_, turning_bar_);
      by_A.tail<3>() += passing_bar;
      by_B.tail<3>() += passing_bar;
      if (pair_.slot_A < 0) {
        by_A.head<3>() -= w_bar;
      } else {
        by_B.head<3>() += w_bar;
      }
    }
    if (pair_.slot_A < 0) {
      gradient.fixed_twist[a] -= by_A;
    } else {
      gradient.velocity->segment<6>(6 * pair_.slot_A) -= by_A;
    }
    if (pair_.slot_B < 0) {
      gradient.fixed_twist[b] += by_B;
    } else {
      gradient.velocity->segment<6>(6 * pair_.slot_B) += by_B;
    }
  }

 private:
  static void add_wrench(const Vec3<double>& arm, const Vec3<double>& force, Vec6<double>& wrench) {
    wrench.head<3>() += arm.cross(force);
    wrench.tail<3>() += force;
  }

  const RowPair& pair_;
  double h_;
  Vec6<double> V_A_, V_B_;
  Vec3<double> turn_, speed_;  ///< of B relative to A, at the centre of A
  Vec3<double> shift_;         ///< r_B - r_A, the same for all rows [m]
  Vec6<double> wrench_A_ = Vec6<double>::Zero(), wrench_B_ = Vec6<double>::Zero();  ///< of drifts
  Vec6<double> shares_ = Vec6<double>::Zero();                                      ///< on B, about A
  Vec3<double> turning_bar_ = Vec3<double>::Zero();                                 ///< dL/db
  Vec3<double> point_A_ = Vec3<double>::Zero(), point_B_ = Vec3<double>::Zero();
};

}  // namespace

void rows_vjp(const ContactRows& rows, const RowPair& pair, double h, const GrowableVector& velocity,
              std::span<const ContactRowBar> bars, const ContactRowsGradient& gradient) {
  PairSums sums(rows, pair, h, velocity);
  double shared = 0.0;
  for (int i = pair.begin; i < pair.end; ++i) {
    const auto k = static_cast<std::size_t>(i);
    shared += bars[k].weight * rows.rows[k].weight;
  }
  shared *= pair.denominator_slope / pair.denominator;
  const bool is_reduced = pair.reduction.kind != Reduction::none;
  std::vector<ContactBar> reduced_bar, member_bar;
  for (int i = pair.begin; i < pair.end; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const ContactRow& row = rows.rows[k];
    const double share_bar = bars[k].weight / pair.denominator - shared;
    ContactBar& bar =
        is_reduced ? reduced_bar.emplace_back() : gradient.contacts[static_cast<std::size_t>(row.contact)];
    bar.point_W += sums.add_arms(row, bars[k]);
    bar.signed_distance += bars[k].distance;
    bar.normal_AB_W += bars[k].n + sums.add_turning(row, bars[k].drift);
    if (is_reduced) {
      bar.activity = share_bar * row.area;
    } else {
      sums.add_share(row, share_bar, bar);
    }
  }
  if (!is_reduced) {
    sums.add_to(gradient);
    return;
  }
  const auto first = static_cast<std::size_t>(pair.member_begin),
             count = static_cast<std::size_t>(pair.member_end - pair.member_begin);
  member_bar.assign(count, ContactBar{});
  Vec3<double> rotation_bar = Vec3<double>::Zero();
  reduce_contacts_vjp(std::span(rows.member_contacts).subspan(first, count), pair.R_WR, pair.reduction,
                      pair.clusters, reduced_bar, member_bar, rotation_bar);
  gradient.pose[static_cast<std::size_t>(pair.reference_body())].head<3>() += rotation_bar;
  for (std::size_t i = 0; i < count; ++i) {
    const ContactRow& member = rows.members[first + i];
    ContactBar& bar = gradient.contacts[static_cast<std::size_t>(member.contact)];
    const double share_bar = member_bar[i].activity, distance_bar = member_bar[i].signed_distance;
    member_bar[i].activity = 0.0;  // the members' own: not that of their contacts, as their distance is
    member_bar[i].signed_distance = 0.0;
    bar += member_bar[i];
    bar.signed_distance += distance_bar;
    sums.add_share(member, share_bar, bar);
  }
  sums.add_to(gradient);
}

void rows_vjp(const ContactRows& rows, double h, const GrowableVector& velocity,
              std::span<const ContactRowBar> bars, const ContactRowsGradient& gradient) {
  for (const RowPair& pair : rows.pairs) rows_vjp(rows, pair, h, velocity, bars, gradient);
}

}  // namespace abut
