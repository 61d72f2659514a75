#include "dynamics/rows/joint_rows.h"

#include <cmath>

#include "dynamics/contact_laws/smooth_coulomb.h"
#include "engine/check.h"

namespace abut {
namespace {

struct JointImpulse {
  double value;             ///< lambda
  double d_velocity;        ///< by s, <= 0; by the target -d_velocity, or 1 of a load
  double d_resistance = 0;  ///< by R
  double d_limit = 0;       ///< by L
};

JointImpulse impulse_of(const JointRow& row, double stop_smoothing, double s) {
  if (row.law == JointLaw::load) return {row.target, 0.0};
  const double x = row.target - s, R = row.resistance;
  if (row.law == JointLaw::stop) {
    const auto gamma = smooth_coulomb::normal_impulse(s, row.target, 1.0 / R, stop_smoothing);
    return {gamma.value, gamma.d_velocity, -gamma.value / R, 0.0};
  }
  if (row.law == JointLaw::hold || std::isinf(row.limit)) return {x / R, -1.0 / R, -x / (R * R), 0.0};
  // With z = x/(R L), root = sqrt(1 + z^2), in a form that does not overflow:  y/sqrt(1 + (y/L)^2) = L
  // z/root.
  const double z = x / (R * row.limit), root = std::hypot(1.0, z), sine = z / root;
  const double slope = 1.0 / (R * root * root * root);
  return {row.limit * sine, -slope, -slope * x / R, sine * sine * sine};
}

double d_target(const JointRow& row, const JointImpulse& lambda) {
  return row.law == JointLaw::load ? 1.0 : -lambda.d_velocity;
}

}  // namespace

void JointRowBars::reset(const JointRows& of) {
  rows.assign(of.rows.size(), {});
  directions.assign(of.directions.size(), Vec6<double>::Zero());
}

JointRowBars& JointRowBars::operator+=(const JointRowBars& other) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += other.rows[i];
  for (std::size_t i = 0; i < directions.size(); ++i) directions[i] += other.directions[i];
  return *this;
}

void JointRowBars::add(const JointGroup& to, const JointRowBars& from, const JointGroup& group) {
  const int count = group.end - group.begin;
  for (int i = 0; i < count; ++i) rows[at(to.begin + i)] += from.rows[at(group.begin + i)];
  for (int i = 0; i < count * group.bodies; ++i)
    directions[at(to.first_direction + i)] += from.directions[at(group.first_direction + i)];
}

void JointRows::clear() {
  rows.clear();
  groups.clear();
  slots.clear();
  directions.clear();
}

JointGroup& JointRows::add_group(std::span<const int> slots_of_bodies) {
  JointGroup& group = groups.emplace_back();
  group.begin = group.end = static_cast<int>(rows.size());
  group.first_body = static_cast<int>(slots.size());
  group.bodies = static_cast<int>(slots_of_bodies.size());
  group.first_direction = static_cast<int>(directions.size());
  slots.insert(slots.end(), slots_of_bodies.begin(), slots_of_bodies.end());
  return group;
}

JointRow& JointRows::add_row(std::span<const Vec6<double>> directions_of_bodies) {
  JointGroup& group = groups.back();
  ABUT_ASSERT(static_cast<int>(directions_of_bodies.size()) == group.bodies);
  ABUT_ASSERT(group.end - group.begin < k_most_rows);
  group.end += 1;
  directions.insert(directions.end(), directions_of_bodies.begin(), directions_of_bodies.end());
  return rows.emplace_back();
}

void JointRows::append(const JointRows& whole, const JointGroup& group, std::span<const int> local_slot) {
  stop_smoothing = whole.stop_smoothing;
  JointGroup& own = groups.emplace_back(group);
  own.begin = static_cast<int>(rows.size());
  own.end = own.begin + group.end - group.begin;
  if (group.motor_row >= 0) own.motor_row += own.begin - group.begin;
  own.first_body = static_cast<int>(slots.size());
  own.first_direction = static_cast<int>(directions.size());
  rows.insert(rows.end(), whole.rows.begin() + group.begin, whole.rows.begin() + group.end);
  for (const int slot : whole.slots_of(group))
    slots.push_back(slot < 0 || local_slot.empty() ? slot : local_slot[at(slot)]);
  const auto first = whole.directions.begin() + group.first_direction;
  directions.insert(directions.end(), first, first + (group.end - group.begin) * group.bodies);
}

double JointRows::velocity(const JointGroup& group, int row, const GrowableVector& v) const {
  double s = 0.0;
  for (int k = 0; k < group.bodies; ++k) {
    const int slot = slots[at(group.first_body + k)];
    if (slot >= 0) s += direction(group, row, k).dot(v.segment<6>(6 * slot));
  }
  return s;
}

void JointRows::add_along(const JointGroup& group, int row, double x, GrowableVector& to) const {
  for (int k = 0; k < group.bodies; ++k) {
    const int slot = slots[at(group.first_body + k)];
    if (slot >= 0) to.segment<6>(6 * slot) += x * direction(group, row, k);
  }
}

void JointRows::add_gradient(const GrowableVector& v, GrowableVector& gradient) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      const double lambda =
          impulse_of(row, stop_smoothing, row.drift + velocity(group, i, v)).value - row.borne;
      add_along(group, i, -lambda, gradient);
    }
  }
}

void JointRows::add_gradient_sizes(const GrowableVector& v, GrowableVector& sizes) const {
  for (const JointGroup& group : groups) {
    const auto each_moving = [&](int row, const auto& f) {
      for (int k = 0; k < group.bodies; ++k) {
        const int slot = slots[at(group.first_body + k)];
        if (slot >= 0) f(slot, direction(group, row, k).cwiseAbs());
      }
    };
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      const double k = -impulse_of(row, stop_smoothing, row.drift + velocity(group, i, v)).d_velocity;
      const bool is_load = row.law == JointLaw::load;
      double speed = std::abs(row.drift) + (is_load ? 0.0 : std::abs(row.target));
      each_moving(i, [&](int slot, const auto& J) { speed += J.dot(v.segment<6>(6 * slot).cwiseAbs()); });
      const double impulse = is_load ? std::abs(row.target) : k * speed;
      each_moving(i, [&](int slot, const auto& J) { sizes.segment<6>(6 * slot) += impulse * J; });
    }
  }
}

void JointRows::find_curvatures(const JointGroup& group, const GrowableVector& v,
                                std::span<double> curvatures) const {
  for (int i = group.begin; i < group.end; ++i) {
    const JointRow& row = rows[at(i)];
    curvatures[at(i - group.begin)] =
        -impulse_of(row, stop_smoothing, row.drift + velocity(group, i, v)).d_velocity;
  }
}

void JointRows::add_line(const GrowableVector& v, const GrowableVector& dv, double a, double& slope,
                         double& curvature) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      const double ds = velocity(group, i, dv);
      const JointImpulse lambda = impulse_of(row, stop_smoothing, row.drift + velocity(group, i, v) + a * ds);
      slope -= (lambda.value - row.borne) * ds;
      curvature -= lambda.d_velocity * ds * ds;
    }
  }
}

void JointRows::impulses(const GrowableVector& v, std::vector<double>& impulses) const {
  impulses.resize(rows.size());
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      impulses[at(i)] = impulse_of(row, stop_smoothing, row.drift + velocity(group, i, v)).value - row.borne;
    }
  }
}

void JointRows::add_motor_impulses(const GrowableVector& v, std::span<double> impulses) const {
  for (const JointGroup& group : groups) {
    if (group.motor_row < 0) continue;
    const JointRow& row = rows[at(group.motor_row)];
    impulses[at(group.motor)] +=
        impulse_of(row, stop_smoothing, row.drift + velocity(group, group.motor_row, v)).value - row.borne;
  }
}

void JointRows::set_borne(const GrowableVector& v) {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      JointRow& row = rows[at(i)];
      row.borne = impulse_of(row, stop_smoothing, row.drift + velocity(group, i, v)).value;
    }
  }
}

void JointRows::borne_vjp(const GrowableVector& v, JointRowBars& bars, GrowableVector& v_bar) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      JointRowBar& bar = bars.rows[at(i)];
      const JointImpulse lambda = impulse_of(row, stop_smoothing, row.drift + velocity(group, i, v));
      const double s_bar = bar.borne * lambda.d_velocity;
      for (int k = 0; k < group.bodies; ++k) {
        const int slot = slots[at(group.first_body + k)];
        if (slot >= 0) bars.directions[place_of(group, i, k)] += s_bar * v.segment<6>(6 * slot);
      }
      add_along(group, i, s_bar, v_bar);
      bar.drift += s_bar;
      bar.target += bar.borne * d_target(row, lambda);
      bar.resistance += bar.borne * lambda.d_resistance;
      bar.limit += bar.borne * lambda.d_limit;
      bar.borne = 0.0;
    }
  }
}

void JointRows::vjp(const GrowableVector& v, const GrowableVector& w, JointRowBars& bars) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      JointRowBar& bar = bars.rows[at(i)];
      const double s_w = velocity(group, i, w);
      const JointImpulse lambda = impulse_of(row, stop_smoothing, row.drift + velocity(group, i, v));
      const double s_bar = s_w * lambda.d_velocity;
      for (int k = 0; k < group.bodies; ++k) {
        const int slot = slots[at(group.first_body + k)];
        if (slot >= 0) {
          bars.directions[place_of(group, i, k)] +=
              (lambda.value - row.borne) * w.segment<6>(6 * slot) + s_bar * v.segment<6>(6 * slot);
        }
      }
      bar.drift += s_bar;
      bar.target += s_w * d_target(row, lambda);
      bar.resistance += s_w * lambda.d_resistance;
      bar.limit += s_w * lambda.d_limit;
      bar.borne -= s_w;
    }
  }
}

}  // namespace abut
